"""Each trap of Faust twice: as it stands in the pinned version, and the same situation with our own loop around it.

The first kind asserts a fault that is not ours: when one of those tests fails, Faust has changed, and the loop, the
committer and the batcher may be simpler.
"""

import asyncio
import json
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from aiokafka.admin import NewTopic

from streams.admin import apply_topics
from streams.deployment import environment
from tests.integration.conftest import Deploy
from tests.integration.stage import (
    Deployment,
    admin_client,
    committed_of,
    eventually,
    plain_producer,
    scopes,
    turn,
    until,
)

pytestmark = pytest.mark.broker

HERE = Path(__file__).parent
AGENTS = ("raises", "takes", "gaps", "asked", "late", "batches")
SAID: dict[str, list[bytes]] = {
    "raises": [b'"one"', b'"bad"', b'"two"'],
    "takes": [b'"1"', b'"2"', b"{", b'"3"', b'"4"'],
    "gaps": [b'"slow"', b'"1"', b'"2"', b'"3"'],
    "batches": [b'"1"', b'"2"', b'"3"', b'"4"', b'"5"'],
    "asked": [],
}


class Script:
    """A process that tells JSON lines."""

    def __init__(self, folder: Path, script: str, *arguments: str, env: dict[str, str] | None = None) -> None:
        self._out = folder / f"{uuid.uuid4()}.jsonl"
        command = [sys.executable, str(HERE / script), *arguments]
        with self._out.open("wb") as out, self._out.with_suffix(".log").open("wb") as log:
            self.process = subprocess.Popen(command, stdout=out, stderr=log, env=env)

    def told(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._out.read_text().splitlines() if line.startswith("{")]

    def end(self, number: int = signal.SIGTERM, timeout_s: float = 10) -> int | None:
        """Signal it; None where it had to be killed."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            return self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return None


@dataclass(frozen=True)
class Naive:
    """What naive agents saw, what they had committed, and how their stop ended (None: it had to be killed)."""

    told: list[dict[str, Any]]
    committed: dict[str, int]
    exit_code: int | None

    def seen(self, agent: str) -> list[Any]:
        return [line["value"] for line in self.told if line["agent"] == agent]


async def _naive(bootstrap: str, folder: Path) -> Naive:
    name = f"naive-{uuid.uuid4().hex[:6]}"
    async with admin_client(bootstrap) as admin, plain_producer(bootstrap) as producer:
        await admin.create_topics([NewTopic(f"{name}.{agent}", 1, 1) for agent in SAID])
        for agent, values in SAID.items():
            for value in values:
                await producer.send_and_wait(f"{name}.{agent}", value)
        script = Script(folder, "naive_faust.py", bootstrap, name, *AGENTS)
        try:
            await asyncio.to_thread(eventually, lambda: any(line["agent"] == "ask" for line in script.told()))
            await admin.create_topics([NewTopic(f"{name}.late", 1, 1)])
            await producer.send_and_wait(f"{name}.late", b'"late"')
            await producer.send_and_wait(f"{name}.takes", b'"5"')
            await asyncio.sleep(2)  # time enough to handle them, if they were ever to be handled
            committed = await committed_of(bootstrap, name)
            exit_code = await asyncio.to_thread(script.end, timeout_s=4)
        finally:
            script.end(signal.SIGKILL)
    by_agent = {topic.rpartition(".")[2]: offset for (topic, _), offset in committed.items()}
    return Naive(script.told(), by_agent, exit_code)


@pytest.fixture(scope="module")
def naive(bootstrap: str, tmp_path_factory: pytest.TempPathFactory) -> Naive:
    return asyncio.run(_naive(bootstrap, tmp_path_factory.mktemp("naive")))


def test_in_faust_an_exception_in_an_agent_loses_the_event(naive: Naive) -> None:
    assert naive.seen("raises") == ["one", "two"]
    assert naive.committed["raises"] == 3


def test_in_faust_take_is_deaf_after_a_value_that_cannot_be_decoded(naive: Naive) -> None:
    assert naive.seen("takes") == ["1", "2"]
    assert naive.committed["takes"] == 3


def test_in_faust_take_acknowledges_a_batch_that_nobody_handled(naive: Naive) -> None:
    assert naive.seen("batches") == ["begun"]
    assert naive.committed["batches"] == 5


def test_in_faust_the_committed_offset_passes_what_is_still_in_hand(naive: Naive) -> None:
    assert naive.seen("gaps") == ["slow is in hand", "1", "2", "3"]
    assert naive.committed["gaps"] == 4


def test_in_faust_an_event_that_is_never_acknowledged_hangs_the_stop(naive: Naive) -> None:
    assert naive.exit_code is None


def test_in_faust_a_topic_that_is_missing_at_the_start_leaves_its_agent_idle(naive: Naive) -> None:
    assert naive.seen("late") == []
    assert "late" not in naive.committed


def test_in_faust_ask_waits_for_ever_where_no_reply_comes(naive: Naive) -> None:
    assert naive.seen("asked") == ["anybody?"]
    assert naive.seen("ask") == ["no answer"]


@pytest.fixture
async def quiet(deploy: Deploy) -> Deployment:
    """A deployment with one partition and its topics, and no worker."""
    deployment = deploy(partitions=1, batch_size=10, attempts=2)
    await apply_topics(deployment.settings, deployment.bootstrap)
    return deployment


class Own:
    """Our loop with a misbehaving handler, in processes of its own."""

    def __init__(self, deployment: Deployment) -> None:
        self.deployment = deployment
        self.scripts: list[Script] = []

    def start(self) -> Script:
        self.scripts.append(Script(self.deployment.folder, "own_agent.py", env=environment(self.deployment.settings)))
        return self.scripts[-1]

    async def say(self, *orders: str) -> None:
        async with plain_producer(self.deployment.bootstrap) as producer:
            for order in orders:
                await producer.send_and_wait(self.deployment.topic("queries"), order.encode())

    def told(self, what: str) -> list[Any]:
        return [line["value"] for script in self.scripts for line in script.told() if line["what"] == what]

    async def committed(self) -> int | None:
        found = await committed_of(self.deployment.bootstrap, self.deployment.name)
        return found.get((self.deployment.topic("queries"), 0))


@pytest.fixture
def own(quiet: Deployment) -> Iterator[Own]:
    own = Own(quiet)
    yield own
    for script in own.scripts:
        script.end(signal.SIGKILL)


async def test_a_handler_that_raises_loses_nothing(own: Own) -> None:
    await own.say("fine a", "once b", "raises c", "away:2 d", "fine e")
    own.start()

    async def all_done() -> bool:
        return await own.committed() == 5

    await until(all_done)
    assert set(own.told("done")) == {"fine a", "once b", "away:2 d", "fine e"}
    (letter,) = await own.deployment.records("deadletters")
    told = json.loads(letter.value)
    assert (told["value"], told["error"], told["offset"], told["attempt"]) == ("raises c", "RuntimeError", 2, 2)


async def test_a_kill_with_work_in_hand_commits_nothing_of_it(own: Own) -> None:
    orders = ["slow:3 a", *(f"fine {number}" for number in range(5))]
    await own.say(*orders)
    first = own.start()
    await asyncio.to_thread(eventually, lambda: own.told("begun"))
    await asyncio.sleep(0.6)  # two rounds of commits
    assert await own.committed() in {None, 0}
    first.end(signal.SIGKILL)
    own.start()

    async def all_done() -> bool:
        return await own.committed() == len(orders)

    await until(all_done)
    assert own.told("done") == orders


async def test_a_stop_with_full_buffers_loses_nothing(own: Own) -> None:
    orders = ["fine first", "slow:60 stuck", *(f"fine {number}" for number in range(400))]
    await own.say(*orders)
    first = own.start()
    await asyncio.to_thread(eventually, lambda: own.told("begun"))
    started = time.monotonic()
    assert await asyncio.to_thread(first.end, signal.SIGTERM) == 0
    assert time.monotonic() - started < 8
    assert own.told("finished") == [False]
    assert await own.committed() in {None, 0, 1}
    second = own.start()
    await asyncio.to_thread(eventually, lambda: len(own.told("begun")) == 2)
    second.end(signal.SIGKILL)
    assert not [order for order in own.told("done") if order.startswith("fine 3")]


async def test_a_slow_handler_keeps_its_place_in_the_group(own: Own) -> None:
    await own.say("slow:14 a", "fine b")  # more than twice the session's time-out
    own.start()

    async def all_done() -> bool:
        return await own.committed() == 2

    await until(all_done, 40)
    assert own.told("begun") == ["slow:14 a"]
    assert own.told("done") == ["slow:14 a", "fine b"]
    assert len(own.told("assigned")) == 1


@pytest.fixture(scope="module")
def running(deploy_once: Deploy) -> Deployment:
    """A deployment whose worker finds no topic at its start, and ten turns in the inbox at its first one ever."""
    return deploy_once(partitions=1)


def memories(deployment: Deployment) -> Any:
    return deployment.client(scopes(1)[0], timeout_s=20)


async def test_topics_that_are_missing_at_the_start_are_made(running: Deployment) -> None:
    async with admin_client(running.bootstrap) as admin:
        assert not [name for name in await admin.list_topics() if name.startswith(running.name)]
    running.start()
    async with memories(running) as memory:
        assert (await memory.publish_and_wait("I keep bees.")).success


async def test_a_new_group_begins_at_the_beginning(deploy: Deploy) -> None:
    deployment = deploy(partitions=1)
    await apply_topics(deployment.settings, deployment.bootstrap)
    scope = scopes(1)[0]
    async with plain_producer(deployment.bootstrap) as producer:
        for number in range(10):
            await producer.send_and_wait(deployment.topic("turns"), turn(scope, f"My locker is number {number}."))
    deployment.start()
    await deployment.settled()
    assert deployment.metric("memlake_handled_total") >= 20
    assert len({event.source_turn_ids for event in await deployment.events()}) == 10


async def test_a_value_that_cannot_be_decoded_in_a_batch_stops_nobody(running: Deployment) -> None:
    scope, before = scopes(1)[0], len(await running.records("deadletters"))
    values = [turn(scope, f"I own boat number {number}.") for number in range(5)]
    async with plain_producer(running.bootstrap) as producer:
        for value in (values[0], values[1], b"{", values[2], values[3]):
            await producer.send(running.topic("turns"), value, key=b"k")
        await producer.flush()
        await running.settled()
        await producer.send_and_wait(running.topic("turns"), values[4], key=b"k")
    await running.settled()
    assert len(await running.records("deadletters")) == before + 1
    texts = [event.text for event in await running.events()]
    assert [sum(f"boat number {number}" in text for text in texts) for number in range(5)] == [1] * 5


async def test_gaps_of_transactions_are_stepped_over_and_what_was_aborted_is_not_read(running: Deployment) -> None:
    scope = scopes(1)[0]
    async with plain_producer(running.bootstrap, transactional_id=f"t-{uuid.uuid4()}") as producer:
        for part, commits in enumerate((True, False, True)):
            await producer.begin_transaction()
            for number in range(5):
                text = f"{'I kept' if commits else 'I never kept'} ferret number {part * 5 + number}."
                await producer.send(running.topic("turns"), turn(scope, text), key=b"k")
            await producer.flush()
            await (producer.commit_transaction() if commits else producer.abort_transaction())
    await running.settled()

    async def no_lag() -> bool:
        return bool(running.health()["lag"] == 0)

    await until(no_lag)
    assert running.health()["status"] == "ready"
    texts = [event.text for event in await running.events()]
    assert sum("ferret" in text for text in texts) == 10
    assert not [text for text in texts if "never" in text]


async def test_a_restart_after_everything_is_committed_reads_nothing_again(running: Deployment) -> None:
    assert running.workers[-1].end() == 0
    running.start()
    async with memories(running) as memory:
        await memory.ask("Anything?")
    assert running.metric("memlake_handled_total") == 1


async def test_a_topic_that_was_deleted_and_made_again_ends_the_worker_and_the_next_one_reads_it(
    running: Deployment,
) -> None:
    worker, name, scope = running.workers[-1], running.topic("turns"), scopes(1)[0]
    async with admin_client(running.bootstrap) as admin:
        await admin.delete_topics([name])

        async def gone() -> bool:
            return name not in await admin.list_topics()

        await until(gone)
        await apply_topics(running.settings, running.bootstrap)
    async with plain_producer(running.bootstrap) as producer:
        for number in range(5):
            await producer.send_and_wait(name, turn(scope, f"I own kite number {number}."), key=b"k")
    assert worker.process is not None
    code = await asyncio.to_thread(worker.process.wait, 60)
    assert code == 70
    assert "was deleted under this worker" in worker.told()
    running.start()
    await running.settled()
    texts = [event.text for event in await running.events()]
    assert [sum(f"kite number {number}" in text for text in texts) for number in range(5)] == [1] * 5


def test_two_workers_on_one_machine_tell_each_its_port(running: Deployment) -> None:
    running.start()
    assert {running.health(worker)["status"] for worker in (-1, -2)} == {"ready"}
    told = [running.get("/metrics", worker)[0] for worker in (-1, -2)]
    assert told == [200, 200]


def test_a_fixed_port_that_is_taken_is_refused_with_its_variable(running: Deployment) -> None:
    port = next(line for line in running.workers[-1].told().splitlines() if '"listening"' in line)
    taken = json.loads(port)["health"].rpartition(":")[2].partition("/")[0]
    refused = running.start(wait=False, web_port=taken)
    assert refused.process is not None
    assert refused.process.wait(60) == 1
    assert "MEMLAKE_WEB_PORT" in refused.told()
    assert "Traceback" not in refused.told()
