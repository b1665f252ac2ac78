"""Documentation through a real worker: served from this machine over HTTP, asked for as users do."""

import asyncio
import functools
import http.server
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from lakehouse.embedding import load_embedder
from lakehouse.external.advice import ADVISORY, PROJECT
from lakehouse.external.report import weekly_analysis
from lakehouse.external.store import DocumentStore
from lakehouse.store import Lake
from lakehouse.tables import LakeShape
from schemas.conversation import Scope
from schemas.knowledge import DocumentEvent, KnowledgeMaintenance, RefreshRequest, UsageReport
from schemas.message import header
from streams.refreshing import refresh_of
from streams.wire import Outbox
from tests.integration.stage import Deployment, until

SITE = Path(__file__).parents[2] / "data" / "docs" / "python-3.11"
PAGE = "/library/asyncio-runner.html"
pytestmark = pytest.mark.broker


@dataclass
class Host:
    """A site on this machine; it knows when a page was changed, and counts who asks."""

    port: int
    asked: list[tuple[str, int]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def times(self, path: str, status: int = 200) -> int:
        return self.asked.count((path, status))


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    told: list[Host] = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_request(self, code: Any = "-", size: Any = "-") -> None:
            told[0].asked.append((self.path, int(code)))

        def log_message(self, *_: Any) -> None:
            """Nothing on stderr."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(SITE)))
    told.append(Host(server.server_address[1]))
    serving = threading.Thread(target=server.serve_forever, daemon=True)
    serving.start()
    yield told[0]
    server.shutdown()
    server.server_close()
    serving.join()


@pytest.fixture(scope="module")
def deployment(host: Host, deploy_once: Callable[..., Deployment]) -> Deployment:
    deployment = deploy_once(docs=f"python_docs:python={host.url}/", docs_loopback=True, unhealthy_after_s=30)
    deployment.start()
    return deployment


def test_a_symbol_is_fetched_once_with_all_that_its_page_tells(deployment: Deployment, host: Host) -> None:
    first = deployment.cli("knowledge", "get", "python", "asyncio.run", "--json")
    other = deployment.cli("knowledge", "get", "python", "asyncio.Runner.close", "--json")

    assert (first.returncode, other.returncode) == (0, 0), first.stderr + other.stderr
    told = json.loads(first.stdout)
    assert (told["name"], told["version"], told["anchor"]) == ("asyncio.run", "3.11", "asyncio.run")
    assert told["pageUrl"] == f"{host.url}{PAGE}"
    assert told["summary"].startswith("Execute the coroutine coro and return the result.")
    assert host.times(PAGE) == 1


def test_asked_again_the_host_says_that_nothing_has_changed(deployment: Deployment, host: Host) -> None:
    deployment.cli("knowledge", "get", "python", "asyncio.run")
    again = deployment.cli("knowledge", "refresh", "asyncio.run")

    assert again.returncode == 0, again.stderr
    assert (host.times(PAGE), host.times(PAGE, 304)) == (1, 1)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("get", "python", "asyncio.runn"), "no site knows this symbol"),
        (("get", "rust", "std.vec"), "no site of 'rust' is configured: MEMLAKE_DOCS"),
        (("refresh", "https://elsewhere.example/x.html"), "MEMLAKE_DOCS names the sites that may be asked"),
        (("refresh", "http://me:secret@127.0.0.1/"), "127.0.0.1"),
    ],
)
def test_what_cannot_be_had_is_told_with_its_reason(
    deployment: Deployment, arguments: tuple[str, ...], reason: str
) -> None:
    refused = deployment.cli("knowledge", *arguments)

    assert refused.returncode == 1
    assert reason in refused.stderr


def test_deprecations_are_listed_with_what_to_use_instead(deployment: Deployment) -> None:
    assert deployment.cli("knowledge", "get", "python", "imp.reload").returncode == 0

    (told,) = map(json.loads, deployment.cli("knowledge", "deprecations", "imp.reload", "--json").stdout.splitlines())

    assert (told["status"], told["since"], told["replacements"]) == ("deprecated", "3.4", ["importlib.reload"])


async def test_an_agents_context_has_the_project_first_and_comes_back_without_a_trace(
    deployment: Deployment, scope: Scope
) -> None:
    async with deployment.client(scope) as memory:
        said = memory.turn("We always reload plugins with imp.reload in production.", agent_id="builder")
        await memory.publish_and_wait(said)
        assert deployment.cli("knowledge", "get", "python", "imp.reload").returncode == 0
        reply = await memory.ask(
            "Which documentation is there of imp.reload, with which we reload plugins?",
            format="agent_context",
            agent_id="builder",
        )
        context = reply.context or ""
        before = len(await deployment.events())
        for role in ("user", "assistant"):
            await memory.publish_and_wait(memory.turn(context, role=role))

    assert context.startswith(f"{PROJECT}\n- ")
    assert (
        context.index("We always reload plugins") < context.index(ADVISORY) < context.index("[python_docs] imp.reload")
    )
    assert "imp.reload is deprecated since 3.4; use importlib.reload" in context
    assert reply.degraded == ()
    events = (await deployment.events())[before:]
    assert [event.text for event in events if event.event != "NONE"] == []


async def test_a_question_finds_documents_beside_memories(deployment: Deployment, scope: Scope) -> None:
    assert deployment.cli("knowledge", "get", "python", "asyncio.run").returncode == 0

    async with deployment.client(scope) as memory:
        reply = await memory.ask("What does asyncio.run do?", kinds=("knowledge", "external"))

    assert reply.results[0].source == "external"
    assert reply.results[0].id.startswith("doc:")
    assert reply.results[0].text.startswith("asyncio.run(")


async def test_requests_that_come_again_ask_nobody(deployment: Deployment, host: Host) -> None:
    assert deployment.cli("knowledge", "get", "python", "asyncio.run").returncode == 0
    requests = [
        record for record in await deployment.records("knowledge.refresh") if _kind(record) == "refresh-request"
    ]
    asked = len(host.asked)
    old = RefreshRequest(
        url=f"{host.url}/library/imp.html", source="python_docs", project="python", reason="stale",
        requested_at=datetime.now(UTC) - timedelta(hours=2),
    )  # fmt: skip

    outbox = await Outbox(deployment.settings, deployment.bootstrap, "again").start()
    await outbox.send([refresh_of(RefreshRequest.decode(record.value), "/again") for record in requests])
    await outbox.send([refresh_of(old, "/again")])
    await outbox.stop()
    await _followed(deployment)

    assert requests
    assert len(host.asked) == asked


async def test_the_log_alone_makes_the_same_tables_and_the_same_report(
    deployment: Deployment, scope: Scope, tmp_path: Path
) -> None:
    async with deployment.client(scope) as memory:
        for _ in range(3):
            await memory.ask("How do I call asyncio.run?", format="agent_context")
        await memory.keep_up()
    reports = await until(lambda: _reports(deployment))
    await _followed(deployment)
    settings = deployment.settings
    embedder = await load_embedder(settings.embedder, settings.cache, threads=1, cache_size=0)
    live = await DocumentStore.open(settings.lake_uri)
    await Lake.make(str(tmp_path / "lake"), LakeShape(settings.partitions, embedder.id, embedder.dimension))
    anew = await DocumentStore.open(str(tmp_path / "lake"), embedder)

    await anew.rebuild([DocumentEvent.decode(record.value) for record in await deployment.records("knowledge.changes")])

    assert await anew.everything() == await live.everything()
    until_when = datetime.now(UTC)
    told = await weekly_analysis(live, until=until_when)
    assert await weekly_analysis(anew, until=until_when) == told
    assert told.most_used_docs[0]["name"] == "asyncio.run"
    assert {type(report) for report in reports} == {KnowledgeMaintenance, UsageReport}
    await embedder.close()


def test_the_report_is_a_table_a_line_of_json_and_a_page(deployment: Deployment, tmp_path: Path) -> None:
    shown = deployment.cli("report")
    told = json.loads(deployment.cli("knowledge", "report", "--json").stdout)
    page = tmp_path / "report.html"
    written = deployment.cli("report", "--html", str(page))

    assert "cache_hit_rate" in shown.stdout
    assert {
        "cache_hit_rate",
        "most_used_docs",
        "sources_by_usage",
        "knowledge_gaps",
        "avg_query_time_ms",
    } <= told.keys()
    assert (written.returncode, page.read_text("utf-8").count("<table>")) == (0, 3 + bool(told["knowledge_gaps"]) - 0)


async def _reports(deployment: Deployment) -> list[Any]:
    kinds = {message.kind: message for message in (KnowledgeMaintenance, UsageReport)}
    found = [
        kinds[_kind(record)].decode(record.value)
        for record in await deployment.records("reports")
        if _kind(record) in kinds
    ]
    return found if len({type(report) for report in found}) == len(kinds) else []


async def _followed(deployment: Deployment) -> None:
    """Wait until the tables hold all that is in the log."""

    async def look() -> bool:
        store = await DocumentStore.open(deployment.settings.lake_uri)
        await asyncio.sleep(1.5)
        return await store.applied() == len(await deployment.records("knowledge.changes"))

    await until(look)


def _kind(record: Any) -> str:
    return (header(record.headers, "ce_type") or "").removeprefix("memlake.").partition(".")[0]


async def test_a_worker_that_does_not_own_the_requests_goes_on_and_answers(
    host: Host, deploy: Callable[..., Deployment], scope: Scope
) -> None:
    deployment = deploy(docs=f"python_docs:python={host.url}/", docs_loopback=True)
    for _ in range(2):
        deployment.start()
    assert deployment.cli("knowledge", "get", "python", "asyncio.run").returncode == 0
    async with deployment.client(scope) as memory:
        reply = await memory.ask("What does asyncio.run do?", kinds=("external",))

    assert [worker.process.poll() for worker in deployment.workers if worker.process] == [None, None]
    assert reply.results[0].source == "external"
