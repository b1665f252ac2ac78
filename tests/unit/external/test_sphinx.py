"""A site that Sphinx made, served from this machine: what its index, its pages and its list of modules tell."""

import asyncio
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from lakehouse.external.source import Page, Ref, Site, Source
from lakehouse.external.sources.sphinx import PYTHON_DOCS, SphinxSource
from schemas.errors import Unavailable
from schemas.knowledge import Deprecation, document_id
from tests.unit.external.serving import Asked, Clock, Host, Reply, fetcher, reply, served

DOCS = Path(__file__).parents[2] / "data" / "docs"
INDEX = "/3/objects.inv"
RUNNER = "/3/library/asyncio-runner.html"


def conditional(body: bytes, kind: str) -> Reply:
    """Answers in full, and to who knows it already with 304."""

    async def send(asked: Asked, writer: asyncio.StreamWriter) -> None:
        known = asked.headers.get("if-none-match") == '"v1"'
        writer.write(reply(status=304, etag='"v1"') if known else reply(body, etag='"v1"', content_type=kind))

    return send


def publish(host: Host, folder: str) -> None:
    root = DOCS / folder
    for path in root.rglob("*"):
        if path.suffix in {".html", ".inv"}:
            kind = "text/html" if path.suffix == ".html" else "application/octet-stream"
            host.pages[f"/3/{path.relative_to(root).as_posix()}"] = conditional(path.read_bytes(), kind)


@asynccontextmanager
async def site(
    folder: str = "python-3.11", clock: Clock | None = None
) -> AsyncIterator[tuple[Host, Site, SphinxSource]]:
    clock = clock or Clock()
    async with served() as host, fetcher(host, clock=clock) as fetch:
        publish(host, folder)
        told = Site("python_docs", "python", host.url("/3/"), language="python", licence="PSF")
        yield host, told, SphinxSource(fetch, clock=clock, name="python_docs")


async def page_of(source: SphinxSource, ref: Ref) -> Page:
    found = await source._fetch.get(ref.site, ref.url)
    assert isinstance(found, Page)
    return found


async def told_of(source: SphinxSource, symbol: str, at: Site) -> Deprecation | None:
    (ref, *_) = await source.resolve(symbol, at)
    found = await source.deprecations(ref, await page_of(source, ref))
    assert len(found) <= 1
    return found[0] if found else None


async def test_a_symbol_is_told_of_where_the_index_says() -> None:
    async with site() as (host, python, source):
        asked: Source = source
        (ref,) = await asked.resolve("asyncio.run", python)

    assert ref == Ref(python, "py:function", "asyncio.run", host.url(RUNNER), "asyncio.run", "3.11")
    assert host.paths == [INDEX]


async def test_the_end_of_a_name_is_enough_where_only_one_ends_so() -> None:
    async with site() as (_, python, source):
        found = {
            name: [ref.name for ref in await source.resolve(name, python)] for name in ("Runner.run", "reload()", "x")
        }

    assert found == {"Runner.run": ["asyncio.Runner.run"], "reload()": ["imp.reload"], "x": []}


async def test_one_page_tells_of_all_its_symbols() -> None:
    async with site() as (_, python, source):
        (ref,) = await source.resolve("asyncio.run", python)
        page = await page_of(source, ref)
        documents = {document.name: document for document in source.documents(page, python)}

    assert {"asyncio.run", "asyncio.Runner", "asyncio.Runner.run", "library/asyncio-runner"} <= documents.keys()
    run = documents["asyncio.run"]
    assert run.id == document_id("python_docs", "python", "3.11", "py:function", "asyncio.run")
    assert (run.title, run.page_url, run.anchor) == ("asyncio.run(coro, *, debug=None)", ref.url, "asyncio.run")
    assert (run.category, run.trust, run.language, run.licence) == ("official_docs", 0.95, "python", "PSF")


async def test_without_an_index_a_page_tells_what_it_names_itself() -> None:
    async with site() as (host, python, source):
        ref = Ref(python, "", "", host.url(RUNNER), "", None)
        documents = source.documents(await page_of(source, ref), replace(python, version="3.11.2"))

    assert [document.name for document in documents] == [
        "asyncio.run",
        "asyncio.Runner",
        "asyncio.Runner.run",
        "asyncio.Runner.close",
        "asyncio.Runner.get_loop",
    ]
    assert {document.version for document in documents} == {"3.11.2"}


async def test_an_index_holds_for_a_day_and_is_asked_for_on_condition_then() -> None:
    clock = Clock()
    async with site(clock=clock) as (host, python, source):
        assert await source.prepare(python) == "3.11"
        clock.pass_by(hours=23, minutes=59)
        await source.resolve("asyncio.run", python)
        assert host.paths == [INDEX]
        clock.pass_by(minutes=1)
        assert await source.resolve("asyncio.run", python) != []
        await source.resolve("asyncio.run", python)

    assert host.paths == [INDEX, INDEX]
    assert host.asked[-1].headers["if-none-match"] == '"v1"'


async def test_many_who_ask_at_once_share_one_index() -> None:
    async with site() as (host, python, source):
        await asyncio.gather(*(source.resolve("asyncio.run", python) for _ in range(20)))

    assert host.paths == [INDEX]


async def test_an_index_that_is_kept_holds_on_while_its_host_is_away() -> None:
    clock = Clock()
    async with site(clock=clock) as (host, python, source):
        await source.resolve("asyncio.run", python)
        host.pages[INDEX] = reply(status=500)
        clock.pass_by(days=2)
        assert await source.resolve("asyncio.run", python) != []
        asked = len(host.paths)
        assert await source.resolve("asyncio.run", python) != []
        assert len(host.paths) == asked


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (reply(status=404), "no such page"),
        (reply(status=500), "fault of its own"),
        (reply(b"<p>Welcome", content_type="application/octet-stream"), "cannot be read: it does not begin"),
        (reply(b"x", content_type="image/png"), "no kind of documentation"),
    ],
)
async def test_an_index_that_cannot_be_had_is_told_with_the_reason(answer: bytes, reason: str) -> None:
    async with site() as (host, python, source):
        host.pages[INDEX] = answer

        for _ in range(2):
            with pytest.raises(Unavailable, match=reason):
                await source.resolve("asyncio.run", python)


async def test_an_index_that_becomes_unreadable_does_not_replace_the_one_that_is_kept() -> None:
    clock = Clock()
    async with site(clock=clock) as (host, python, source):
        await source.resolve("asyncio.run", python)
        host.pages[INDEX] = reply(b"<p>Moved", content_type="application/octet-stream")
        clock.pass_by(days=1)

        assert await source.resolve("asyncio.run", python) != []


async def test_what_an_index_names_outside_of_its_site_is_not_followed() -> None:
    async with site() as (host, python, source):
        for path in (
            "../library/asyncio-runner.html",
            "https://elsewhere.example/a.html",
            "//elsewhere.example/a.html",
        ):
            lines = f"a.b py:function 1 {path}#$ -\n".encode()
            host.pages[INDEX] = reply(_packed(lines), content_type="application/octet-stream")
            fresh = SphinxSource(source._fetch, clock=Clock())
            assert await fresh.resolve("a.b", python) == []


def _packed(lines: bytes) -> bytes:
    head = b"# Sphinx inventory version 2\n# Project: a\n# Version: 1\n# The remainder is compressed using zlib.\n"
    return head + zlib.compress(lines)


async def test_a_current_function_is_not_deprecated() -> None:
    async with site() as (_, python, source):
        assert await told_of(source, "asyncio.run", python) is None


async def test_a_notice_of_its_own_is_found() -> None:
    async with site() as (_, python, source):
        found = await told_of(source, "imp.reload", python)

    assert found is not None
    assert (found.status, found.since, found.scope) == ("deprecated", "3.4", "symbol")
    assert (found.replacements, found.confidence) == (("importlib.reload",), 1.0)


async def test_what_is_in_a_module_that_the_list_marks_is_deprecated() -> None:
    async with site() as (host, python, source):
        found = await told_of(source, "crypt.crypt", python)

    assert found is not None
    assert (found.scope, found.since, found.removed_in) == ("module", "3.11", "3.13")
    assert found.evidence[0].kind == "module_list"
    assert host.paths.count("/3/py-modindex.html") == 1


async def test_a_module_that_is_told_of_on_another_page_is_looked_at_once() -> None:
    async with site() as (host, python, source):
        found = await told_of(source, "distutils.core.setup", python)
        assert await told_of(source, "distutils.core.setup", python) == found

    assert found is not None
    assert (found.scope, found.removed_in, found.evidence[0].url) == (
        "module",
        "3.12",
        host.url("/3/library/distutils.html"),
    )
    assert host.paths.count("/3/library/distutils.html") == 1


async def test_a_notice_in_a_module_about_something_else_tells_nothing_of_its_functions() -> None:
    async with site() as (_, python, source):
        assert await told_of(source, "webbrowser.open", python) is None


async def test_a_module_that_says_so_in_its_text_is_deprecated_with_all_that_is_in_it() -> None:
    async with site() as (_, python, source):
        module = await told_of(source, "email.encoders", python)
        function = await told_of(source, "email.encoders.encode_noop", python)

    assert module is not None
    assert function is not None
    assert (module.scope, function.scope) == ("symbol", "module")


async def test_a_parameter_is_deprecated_and_not_its_method() -> None:
    async with site("pandas-1.5") as (_, pandas, source):
        found = await told_of(source, "Series.mean", pandas)

    assert found is not None
    assert (found.symbol, found.version, found.scope) == ("pandas.Series.mean", "1.5.3", "parameter")
    assert found.parts == ("level", "numeric_only")


async def test_without_its_page_at_hand_the_page_is_asked_for() -> None:
    async with site() as (host, python, source):
        (ref,) = await source.resolve("imp.reload", python)
        (found,) = await source.deprecations(ref, None)
        assert found.since == "3.4"

        host.pages["/3/library/imp.html"] = reply(status=404)
        with pytest.raises(Unavailable, match="no such page"):
            await source.deprecations(ref, None)
        host.pages["/3/library/imp.html"] = reply(status=500)
        with pytest.raises(Unavailable, match="fault of its own"):
            await source.deprecations(ref, None)


async def test_a_list_of_modules_that_is_not_there_marks_none() -> None:
    async with site() as (host, python, source):
        host.pages["/3/py-modindex.html"] = reply(status=404)

        found = await told_of(source, "crypt.crypt", python)

    assert found is not None
    assert found.evidence[0].kind == "inherited"


async def test_a_list_of_modules_that_could_not_be_had_this_time_is_waited_for() -> None:
    async with site() as (host, python, source):
        host.pages["/3/py-modindex.html"] = reply(status=503)

        with pytest.raises(Unavailable, match="py-modindex"):
            await told_of(source, "crypt.crypt", python)


async def test_notices_are_kept_of_a_few_pages_only() -> None:
    async with site() as (_, python, source):
        (ref,) = await source.resolve("imp.reload", python)
        page = await page_of(source, ref)
        for number in range(20):
            other = replace(page, url=f"{page.url}?{number}")
            await source.deprecations(ref, other)

        assert len(source._notices) <= 16


def test_pythons_own_documentation_is_one_site_of_it() -> None:
    assert (PYTHON_DOCS.source, PYTHON_DOCS.url) == ("python_docs", "https://docs.python.org/3/")
