"""Pages over real connections: bodies, validators, packings, kinds, limits of time and size."""

import asyncio
import gzip
import tracemalloc
import zlib
from collections.abc import Iterator
from datetime import timedelta

import pytest

from lakehouse.external.fetch import agent_of
from lakehouse.external.source import Blocked, Failed, Fetch, Gone, NotModified, Page
from schemas.knowledge import PageState
from tests.unit.external.serving import QUICK, Asked, Clock, Host, chunked, fetcher, reply, served, slow

BODY = b"<html><body><p>Flask.</p></body></html>"
MEBIBYTE = 1024 * 1024


async def test_a_page_comes_with_what_its_host_said_of_it() -> None:
    clock = Clock()
    async with served() as host, fetcher(host, clock=clock) as fetch:
        host.pages["/api.html"] = reply(BODY, etag='"v1"', last_modified="Sun, 01 Mar 2026 11:00:00 GMT")
        asks: Fetch = fetch

        page = await asks.get(host.site(), host.url("/api.html#flask.Flask"))

    assert isinstance(page, Page)
    assert (page.body, page.content_type) == (BODY, "text/html; charset=utf-8")
    assert page.url == page.state.url == host.url("/api.html")
    assert (page.state.etag, page.state.last_modified) == ('"v1"', "Sun, 01 Mar 2026 11:00:00 GMT")
    assert (page.state.source, page.state.project, page.state.version) == ("sphinx", "flask", "3.0")
    assert page.state.fetched_at == page.state.checked_at == clock.now


async def test_a_request_says_who_asks_and_nothing_else() -> None:
    async with served() as host, fetcher(host) as fetch:
        host.pages["/a"] = reply(BODY, set_cookie="who=you; Path=/")

        await fetch.get(host.site(), host.url("/a"))
        await fetch.get(host.site(), host.url("/a"))

    assert host.asked[-1].headers == {
        "host": f"127.0.0.1:{host.port}",
        "user-agent": "memlake (+mailto:ops@example.org)",
        "accept": "text/html, application/json;q=0.9, text/plain;q=0.9, */*;q=0.5",
        "accept-encoding": "gzip, deflate",
        "connection": "close",
    }


def test_without_a_contact_the_name_stands_alone() -> None:
    assert agent_of("") == "memlake"


async def test_neither_proxies_nor_credentials_of_the_environment_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    async with served() as host, fetcher(host) as fetch:
        host.pages["/a"] = reply(BODY)

        assert isinstance(await fetch.get(host.site(), host.url("/a")), Page)


def _validated(asked: Asked) -> bytes:
    return reply(status=304) if asked.headers.get("if-none-match") == '"v1"' else reply(BODY, etag='"v1"')


async def test_a_page_that_did_not_change_is_not_sent_again() -> None:
    clock = Clock()
    async with served() as host, fetcher(host, clock=clock) as fetch:

        async def send(asked: Asked, writer: asyncio.StreamWriter) -> None:
            writer.write(_validated(asked))

        host.pages["/a"] = send
        first = await fetch.get(host.site(), host.url("/a"))
        clock.pass_by(days=30)
        second = await fetch.get(host.site(), host.url("/a"), first.state)
        clock.pass_by(days=30)
        third = await fetch.get(host.site(), host.url("/a"), second.state)
        removed = third.state.model_copy(update={"content_hash": None})
        fourth = await fetch.get(host.site(), host.url("/a"), removed)

    assert [type(outcome) for outcome in (first, second, third, fourth)] == [Page, NotModified, NotModified, Page]
    assert third.state.content_hash == first.state.content_hash
    assert (third.state.etag, third.state.fetched_at) == ('"v1"', first.state.fetched_at)
    assert third.state.checked_at == clock.now
    assert isinstance(fourth, Page)
    assert fourth.body == BODY


async def test_not_modified_without_a_copy_is_asked_for_once_more_in_full() -> None:
    async with served() as host, fetcher(host) as fetch:

        async def send(asked: Asked, writer: asyncio.StreamWriter) -> None:
            writer.write(reply(BODY) if asked.headers.get("cache-control") == "no-cache" else reply(status=304))

        host.pages["/a"] = send
        page = await fetch.get(host.site(), host.url("/a"))

    assert isinstance(page, Page)
    assert page.body == BODY


async def test_a_host_that_never_sends_the_page_is_not_asked_for_ever() -> None:
    async with served() as host, fetcher(host) as fetch:
        host.pages["/a"] = reply(status=304)

        failed = await fetch.get(host.site(), host.url("/a"))

    assert isinstance(failed, Failed)
    assert "without a page (status 304)" in failed.reason
    assert host.paths == ["/a", "/a"]


async def test_by_date_where_there_is_no_tag() -> None:
    date = "Sun, 01 Mar 2026 11:00:00 GMT"
    known = PageState(url="x", source="sphinx", project="flask", last_modified=date, content_hash="a" * 64)
    async with served() as host, fetcher(host) as fetch:
        host.pages["/a"] = reply(status=304)

        held = await fetch.get(host.site(), host.url("/a"), known)

    assert isinstance(held, NotModified)
    assert host.asked[-1].headers["if-modified-since"] == date


@pytest.mark.parametrize("status", [404, 410])
async def test_a_page_that_is_gone_is_not_asked_for_again_for_a_day(status: int) -> None:
    clock = Clock()
    async with served() as host, fetcher(host, clock=clock) as fetch:
        host.pages["/a"] = reply(status=status)

        gone = await fetch.get(host.site(), host.url("/a"))

    assert isinstance(gone, Gone)
    assert (gone.state.status, gone.state.negative_until) == (status, clock.now + timedelta(days=1))


async def test_a_refusal_holds_for_a_day_and_a_fault_for_a_minute() -> None:
    clock = Clock()
    async with served() as host, fetcher(host, clock=clock) as fetch:
        host.pages |= {"/403": reply(status=403), "/500": reply(status=500)}

        refused = await fetch.get(host.site(), host.url("/403"))
        broken = await fetch.get(host.site(), host.url("/500"))

    assert isinstance(refused, Failed)
    assert isinstance(broken, Failed)
    assert (refused.permanent, refused.state.negative_until) == (True, clock.now + timedelta(days=1))
    assert (broken.permanent, broken.state.negative_until) == (False, clock.now + timedelta(minutes=1))


@pytest.mark.parametrize(
    ("packing", "body"), [("gzip", gzip.compress(BODY)), ("deflate", zlib.compress(BODY)), ("identity", BODY)]
)
async def test_packed_bodies_are_unpacked(packing: str, body: bytes) -> None:
    async with served() as host, fetcher(host) as fetch:
        host.pages["/a"] = reply(body, content_encoding=packing)

        page = await fetch.get(host.site(), host.url("/a"))

    assert isinstance(page, Page)
    assert page.body == BODY


BROKEN = {
    "packing that was not asked for": reply(BODY, content_encoding="br"),
    "packing that ends early": reply(gzip.compress(BODY)[:-9], content_encoding="gzip"),
    "body that ends early": reply(BODY, content_length="10000"),
    "no HTTP at all": b"220 mail.example.org ESMTP\r\n",
    "nothing": b"",
    "endless headers": b"HTTP/1.1 200 OK\r\n" + b"X-A: " + b"a" * 300_000,
}


@pytest.mark.parametrize("answer", BROKEN.values(), ids=BROKEN)
async def test_a_broken_answer_is_a_fault_of_the_host(answer: bytes) -> None:
    async with served() as host, fetcher(host) as fetch:
        host.pages["/a"] = answer

        failed = await fetch.get(host.site(), host.url("/a"))

    assert isinstance(failed, Failed)
    assert failed.reason.startswith(f"127.0.0.1:{host.port} gave a broken answer: ")
    assert not failed.permanent


async def test_a_host_that_is_down_is_told_as_such() -> None:
    async with served() as host:
        pass
    async with fetcher(host) as fetch:
        failed = await fetch.get(host.site(), host.url("/a"))

    assert isinstance(failed, Failed)
    assert "cannot be connected to" in failed.reason


async def test_a_large_body_is_not_read_to_its_end() -> None:
    sent = 0

    def pieces() -> Iterator[bytes]:
        nonlocal sent
        for _ in range(26):
            yield bytes(MEBIBYTE)
            sent += MEBIBYTE

    async with served() as host, fetcher(host) as fetch:
        host.pages["/a"] = chunked(pieces())
        blocked = await fetch.get(host.site(), host.url("/a"))

    assert isinstance(blocked, Blocked)
    assert blocked.reason == f"127.0.0.1:{host.port} sends more than {2 * MEBIBYTE} bytes"
    assert sent < 20 * MEBIBYTE  # what lies in the buffers of both ends included


async def test_a_bomb_is_stopped_before_it_takes_memory() -> None:
    packer = zlib.compressobj(wbits=16 + zlib.MAX_WBITS)
    bomb = b"".join(packer.compress(bytes(MEBIBYTE)) for _ in range(200)) + packer.flush()
    async with served() as host, fetcher(host) as fetch:
        host.pages["/a"] = reply(bomb, content_encoding="gzip")
        await fetch.get(host.site(), host.url("/missing"))
        tracemalloc.start()
        try:
            blocked = await fetch.get(host.site(), host.url("/a"))
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert isinstance(blocked, Blocked)
    assert "sends more than" in blocked.reason
    assert peak < 12 * MEBIBYTE


async def test_the_limit_is_the_callers_where_one_is_named() -> None:
    async with served() as host, fetcher(host) as fetch:
        host.pages["/objects.inv"] = reply(bytes(3 * MEBIBYTE), content_type="application/octet-stream")

        usual = await fetch.get(host.site(), host.url("/objects.inv"))
        larger = await fetch.get(host.site(), host.url("/objects.inv"), limit=4 * MEBIBYTE)
        exact = await fetch.get(host.site(), host.url("/objects.inv"), limit=3 * MEBIBYTE)
        smaller = await fetch.get(host.site(), host.url("/objects.inv"), limit=3 * MEBIBYTE - 1)

    assert [type(outcome) for outcome in (usual, larger, exact, smaller)] == [Blocked, Page, Page, Blocked]


async def _drip(_: Asked, writer: asyncio.StreamWriter) -> None:
    writer.write(reply(content_length="1000"))
    while True:
        writer.write(b"a")
        await writer.drain()
        await asyncio.sleep(0.02)


async def _never(_: Asked, writer: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


@pytest.mark.parametrize("answer", [_drip, _never], ids=["drips", "never answers"])
@pytest.mark.parametrize("path", ["/a", "/robots.txt"])
async def test_a_host_that_takes_for_ever_is_left_at_the_total_deadline(path: str, answer: object) -> None:
    clock = Clock()
    async with asyncio.timeout(30), served() as host, fetcher(host, limits=slow(), clock=clock) as fetch:
        host.pages[path] = answer  # type: ignore[assignment]

        failed = await fetch.get(host.site(), host.url("/a"))

    assert isinstance(failed, Failed)
    assert failed.reason == f"127.0.0.1:{host.port} did not answer in full within 0.2 s"
    assert failed.state.negative_until == clock.now + timedelta(minutes=1)


@pytest.mark.parametrize(
    "kind", ["application/pdf", "image/png", "video/mp4", "text/css", "TEXT/JavaScript; charset=x"]
)
async def test_what_is_no_documentation_is_not_read(kind: str) -> None:
    async with served() as host, fetcher(host) as fetch:
        host.pages["/a"] = chunked([b"x" * 1000] * 10, content_type=kind)

        blocked = await fetch.get(host.site(), host.url("/a"))

    assert isinstance(blocked, Blocked)
    assert "which is no kind of documentation" in blocked.reason


@pytest.mark.parametrize("kind", ["text/plain", "application/octet-stream", "APPLICATION/JSON", "text/x-rst", ""])
async def test_inventories_and_data_are_read(kind: str) -> None:
    async with served() as host, fetcher(host) as fetch:
        host.pages["/a"] = reply(bytes(range(256)), content_type=kind)

        assert isinstance(await fetch.get(host.site(), host.url("/a")), Page)


async def test_a_page_whose_letters_cannot_be_read_is_not_kept() -> None:
    async with served() as host, fetcher(host) as fetch:
        host.pages["/a"] = reply(b"<p>" + b"ab\xff" * 100)

        blocked = await fetch.get(host.site(), host.url("/a"))

    assert isinstance(blocked, Blocked)
    assert "letters that cannot be read" in blocked.reason


async def test_fifty_who_ask_for_one_page_share_one_request() -> None:
    async with served() as host, fetcher(host) as fetch:
        gate = _gated(host, reply(BODY))
        tasks = [asyncio.create_task(fetch.get(host.site(), host.url("/a"))) for _ in range(50)]
        await host.until_asked(1)
        gate.set()
        outcomes = await asyncio.gather(*tasks)

    assert {type(outcome) for outcome in outcomes} == {Page}
    assert [asked.path for asked in host.asked] == ["/robots.txt", "/a"]


async def test_fifty_share_a_failure_which_is_not_remembered() -> None:
    async with served() as host, fetcher(host) as fetch:
        gate = _gated(host, reply(status=500))
        tasks = [asyncio.create_task(fetch.get(host.site(), host.url("/a"))) for _ in range(50)]
        await host.until_asked(1)
        gate.set()
        outcomes = await asyncio.gather(*tasks)
        host.pages["/a"] = reply(BODY)
        afterwards = await fetch.get(host.site(), host.url("/a"))

    assert {type(outcome) for outcome in outcomes} == {Failed}
    assert isinstance(afterwards, Page)
    assert host.paths == ["/a", "/a"]


async def test_the_others_get_their_page_when_the_one_who_asks_is_gone() -> None:
    async with served() as host, fetcher(host) as fetch:
        gate = _gated(host, reply(BODY))
        first, *others = [asyncio.create_task(fetch.get(host.site(), host.url("/a"))) for _ in range(10)]
        await host.until_asked(1)
        first.cancel()
        gate.set()
        outcomes = await asyncio.gather(*others)

    assert first.cancelled()
    assert {type(outcome) for outcome in outcomes} == {Page}
    assert host.paths == ["/a", "/a"]


async def test_what_differs_in_anything_that_counts_is_asked_for_apart() -> None:
    known = PageState(url="x", source="sphinx", project="flask", etag='"v1"', content_hash="a" * 64)
    async with served() as host, fetcher(host, limits=QUICK) as fetch:
        host.pages |= dict.fromkeys(["/a", "/a?b", "/A"], reply(BODY))
        await asyncio.gather(
            fetch.get(host.site(), host.url("/a")),
            fetch.get(host.site(), host.url("/a#b")),
            fetch.get(host.site(), host.url("/a?b")),
            fetch.get(host.site(), host.url("/A")),
            fetch.get(host.site(), host.url("/a"), known),
            fetch.get(host.site(), host.url("/a"), limit=10),
        )

    assert sorted(host.paths) == ["/A", "/a", "/a", "/a", "/a?b"]


def _gated(host: Host, answer: bytes) -> asyncio.Event:
    """The page is sent when the gate opens."""
    gate = asyncio.Event()

    async def send(_: Asked, writer: asyncio.StreamWriter) -> None:
        await gate.wait()
        writer.write(answer)

    host.pages["/a"] = send
    return gate
