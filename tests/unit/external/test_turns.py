"""How hosts are asked: their rules, how often, how many at once, and when they are left alone."""

import asyncio
import socket
import threading
from dataclasses import replace
from datetime import timedelta
from email.utils import format_datetime

import pytest

from lakehouse.external.hosts import Pace
from lakehouse.external.names import MAX_WAITING, SystemNames
from lakehouse.external.source import Blocked, Failed, Outcome, Page
from tests.unit.external.serving import QUICK, Asked, Clock, Reply, fetcher, redirect, reply, served, slow

BODY = b"<html><body><p>Flask.</p></body></html>"
DISALLOW = reply(b"User-agent: *\nDisallow: /private/\n", content_type="text/plain")


async def test_rules_are_asked_for_once_a_day_and_followed() -> None:
    clock = Clock()
    async with served() as host, fetcher(host, clock=clock) as fetch:
        host.pages |= {"/robots.txt": DISALLOW, "/a": reply(BODY), "/private/b": reply(BODY)}

        outcomes = [await fetch.get(host.site(), host.url(path)) for path in ("/a", "/private/b", "/a")]
        clock.pass_by(hours=23, minutes=59)
        await fetch.get(host.site(), host.url("/a"))
        before = len([asked for asked in host.asked if asked.path == "/robots.txt"])
        clock.pass_by(minutes=2)
        await fetch.get(host.site(), host.url("/a"))

    assert [type(outcome) for outcome in outcomes] == [Page, Blocked, Page]
    assert isinstance(outcomes[1], Blocked)
    assert f"robots.txt of 127.0.0.1:{host.port} does not allow" in outcomes[1].reason
    assert before == 1
    assert [asked.path for asked in host.asked][-2:] == ["/robots.txt", "/a"]
    assert "/private/b" not in host.paths


async def test_many_pages_of_a_host_ask_for_its_rules_once() -> None:
    async with served() as host, fetcher(host) as fetch:
        host.pages |= {f"/{number}": reply(BODY) for number in range(20)}

        await asyncio.gather(*(fetch.get(host.site(), host.url(f"/{number}")) for number in range(20)))

    assert [asked.path for asked in host.asked].count("/robots.txt") == 1


RULES: dict[str, tuple[Reply, type[Outcome]]] = {
    "none": (reply(status=404), Page),
    "closed": (reply(status=403), Page),
    "a page": (reply(b"<html>User-agent: *\nDisallow: /</html>"), Page),
    "all forbidden": (reply(b"User-agent: *\nDisallow: /\n", content_type="text/plain"), Blocked),
    "of a strange type": (reply(b"User-agent: *\nDisallow: /\n", content_type="image/png"), Blocked),
    "too long": (reply(b"User-agent: *\nDisallow: /\n" + b"# long\n" * 100_000, content_type="text/plain"), Blocked),
    "redirected": (redirect("/rules"), Blocked),
    "redirected away": (redirect("https://login.example/"), Page),
    "redirected in a circle": (redirect("/robots.txt"), Page),
    "in trouble": (reply(status=503), Failed),
    "too busy": (reply(status=429), Failed),
    "broken": (b"nonsense\r\n", Failed),
}


@pytest.mark.parametrize(("answer", "outcome"), RULES.values(), ids=RULES)
async def test_each_answer_to_the_question_for_rules_is_taken_as_the_table_says(
    answer: Reply, outcome: type[Outcome]
) -> None:
    async with served() as host, fetcher(host) as fetch:
        rules = reply(b"User-agent: *\nDisallow: /\n", content_type="text/plain")
        host.pages |= {"/robots.txt": answer, "/rules": rules, "/a": reply(BODY)}

        found = await fetch.get(host.site(), host.url("/a"))

    assert type(found) is outcome
    assert host.paths.count("/a") == (outcome is Page)


async def test_rules_that_could_not_be_had_are_asked_for_again() -> None:
    async with served() as host, fetcher(host) as fetch:
        host.pages |= {"/robots.txt": reply(status=503), "/a": reply(BODY)}
        failed = await fetch.get(host.site(), host.url("/a"))
        host.pages["/robots.txt"] = reply(status=404)

        page = await fetch.get(host.site(), host.url("/a"))

    assert isinstance(failed, Failed)
    assert failed.reason == f"robots.txt of 127.0.0.1:{host.port} has a fault of its own (status 503)"
    assert isinstance(page, Page)


async def test_a_host_that_fails_in_a_row_is_left_alone_and_then_looked_at_by_one() -> None:
    clock = Clock()
    async with served() as host, fetcher(host, clock=clock) as fetch:
        pages = [host.url(f"/{number}") for number in range(20)]
        host.pages |= {f"/{number}": reply(status=500) for number in range(20)}
        for url in pages[:5]:
            await fetch.get(host.site(), url)

        alone = await fetch.get(host.site(), pages[5])
        clock.pass_by(seconds=59)
        still = await fetch.get(host.site(), pages[6])
        asked = len(host.paths)
        clock.pass_by(seconds=1)
        looked = await asyncio.gather(*(fetch.get(host.site(), url) for url in pages[7:12]))

    assert isinstance(alone, Failed)
    assert alone.reason == f"127.0.0.1:{host.port} is left alone for another 60 s"
    assert alone.retry_after_s == 60
    assert isinstance(still, Failed)
    assert asked == 5
    assert len(host.paths) == 6
    assert {type(outcome) for outcome in looked} == {Failed}


async def test_a_host_that_is_back_is_asked_by_all() -> None:
    clock = Clock()
    async with served() as host, fetcher(host, clock=clock) as fetch:
        host.pages |= {f"/{number}": reply(status=500) for number in range(5)}
        for number in range(5):
            await fetch.get(host.site(), host.url(f"/{number}"))
        host.pages |= {f"/{number}": reply(BODY) for number in range(5)}
        clock.pass_by(seconds=60)

        outcomes = [await fetch.get(host.site(), host.url(f"/{number}")) for number in range(5)]

    assert {type(outcome) for outcome in outcomes} == {Page}


async def test_time_outs_count_as_failures_and_what_a_caller_gives_up_does_not() -> None:
    async def never(_: Asked, writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    async with served() as host, fetcher(host, limits=slow(failures=2)) as fetch:
        host.pages |= {"/a": never, "/b": never, "/c": reply(BODY)}
        for _ in range(3):
            given_up = asyncio.create_task(fetch.get(host.site(), host.url("/a")))
            await host.until_asked(len(host.paths) + 1)
            given_up.cancel()
            await asyncio.wait({given_up})
        page = await fetch.get(host.site(), host.url("/c"))
        await fetch.get(host.site(), host.url("/a"))
        await fetch.get(host.site(), host.url("/b"))
        alone = await fetch.get(host.site(), host.url("/c"))

    assert isinstance(page, Page)
    assert isinstance(alone, Failed)
    assert "is left alone" in alone.reason


async def test_a_host_that_sends_what_is_not_wanted_is_in_no_trouble() -> None:
    async with served() as host, fetcher(host, limits=replace(QUICK, failures=1)) as fetch:
        host.pages |= {"/a": reply(BODY, content_type="image/png"), "/b": reply(BODY * 100), "/c": reply(BODY)}

        outcomes = [
            await fetch.get(host.site(), host.url("/a")),
            await fetch.get(host.site(), host.url("/b"), limit=100),
            await fetch.get(host.site(), host.url("/c")),
        ]

    assert [type(outcome) for outcome in outcomes] == [Blocked, Blocked, Page]


async def test_nobody_queues_for_a_host_that_is_left_alone() -> None:
    limits = replace(QUICK, pace=Pace(per_s=0.001, burst=2, at_once=2), queue_s=0.05, failures=1)
    async with served() as host, fetcher(host, limits=limits) as fetch:
        host.pages["/a"] = reply(status=500)
        await fetch.get(host.site(), host.url("/a"))

        alone = await fetch.get(host.site(), host.url("/b"))

    assert isinstance(alone, Failed)
    assert "is left alone" in alone.reason


async def test_one_host_in_trouble_leaves_the_others_as_they_are() -> None:
    async with served() as broken, served() as sound, fetcher(broken, sound) as fetch:
        broken.pages["/robots.txt"] = reply(status=500)
        sound.pages["/a"] = reply(BODY)
        for number in range(6):
            await fetch.get(broken.site(), broken.url(f"/{number}"))

        page = await fetch.get(sound.site(), sound.url("/a"))

    assert isinstance(page, Page)
    assert len(broken.asked) == 5


@pytest.mark.parametrize("told", ["120", None], ids=["seconds", "a date"])
@pytest.mark.parametrize("status", [429, 503])
async def test_a_host_is_left_alone_for_as_long_as_it_asks(status: int, told: str | None) -> None:
    clock = Clock()
    after = told or format_datetime(clock.now + timedelta(seconds=120), usegmt=True)
    async with served() as host, fetcher(host, clock=clock) as fetch:
        host.pages |= {"/a": reply(status=status, retry_after=after), "/b": reply(BODY)}

        waits = await fetch.get(host.site(), host.url("/a"))
        clock.pass_by(seconds=119)
        alone = await fetch.get(host.site(), host.url("/b"))
        clock.pass_by(seconds=1)
        page = await fetch.get(host.site(), host.url("/b"))

    assert isinstance(waits, Failed)
    assert waits.retry_after_s == 120
    assert waits.state.negative_until == clock.now
    assert isinstance(alone, Failed)
    assert alone.retry_after_s == 1
    assert isinstance(page, Page)
    assert host.paths == ["/a", "/b"]


async def test_no_more_requests_are_under_way_than_allowed() -> None:
    limits = replace(QUICK, pace=Pace(per_s=10_000, burst=1_000, at_once=2))

    async def slowly(_: Asked, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.01)
        writer.write(reply(BODY))

    async with served() as host, fetcher(host, limits=limits) as fetch:
        host.pages |= {f"/{number}": slowly for number in range(12)}
        found = await asyncio.gather(*(fetch.get(host.site(), host.url(f"/{number}")) for number in range(12)))

    assert {type(outcome) for outcome in found} == {Page}
    assert host.most_at_once == 2


async def test_a_registry_is_asked_one_request_after_another() -> None:
    pace = Pace(per_s=10_000, burst=1_000, at_once=1)
    limits = replace(QUICK, serial_pace=pace, serial_hosts=frozenset({"127.0.0.1"}))
    async with served() as host, fetcher(host, limits=limits) as fetch:
        host.pages |= {f"/{number}": reply(BODY) for number in range(12)}
        found = await asyncio.gather(*(fetch.get(host.site(), host.url(f"/{number}")) for number in range(12)))

    assert {type(outcome) for outcome in found} == {Page}
    assert host.most_at_once == 1


async def test_one_whose_turn_does_not_come_is_told_so_and_the_host_is_not_blamed() -> None:
    limits = replace(QUICK, pace=Pace(per_s=0.001, burst=2, at_once=2), queue_s=0.05, failures=1)
    async with served() as host, fetcher(host, limits=limits) as fetch:
        host.pages |= {"/a": reply(BODY), "/b": reply(BODY)}

        page = await fetch.get(host.site(), host.url("/a"))
        failed = [await fetch.get(host.site(), host.url("/b")) for _ in range(2)]

    assert isinstance(page, Page)
    for outcome in failed:
        assert isinstance(outcome, Failed)
        assert "wait for their turn" in outcome.reason
    assert host.paths == ["/a"]


async def test_waiting_for_a_turn_is_no_time_of_the_host() -> None:
    limits = slow(pace=Pace(per_s=2.5, burst=1, at_once=1))  # the second request waits for 0.4 s of a total of 0.2 s
    async with served() as host, fetcher(host, limits=limits) as fetch:
        host.pages["/a"] = reply(BODY)

        assert isinstance(await fetch.get(host.site(), host.url("/a")), Page)


async def test_names_are_asked_of_the_system() -> None:
    assert "127.0.0.1" in await SystemNames()("localhost", 80)
    assert list(await SystemNames()("127.0.0.1", 80)) == ["127.0.0.1"]


async def test_a_name_that_nobody_knows_is_an_error() -> None:
    with pytest.raises(OSError, match=r".+"):
        await SystemNames()("no-such-name.invalid", 80)


async def test_names_that_are_never_answered_hold_up_nobody_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's resolver hangs: each question can be given up, and further ones are refused at once."""
    gate = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: gate.wait() and [])
    resolve = SystemNames()
    waiting = [asyncio.create_task(resolve("docs.example.org", 443)) for _ in range(MAX_WAITING)]
    await asyncio.sleep(0)
    for task in waiting:
        task.cancel()
    await asyncio.wait(waiting)

    with pytest.raises(OSError, match="names are being asked for already"):
        await resolve("docs.example.org", 443)
    gate.set()
    while True:
        try:
            assert list(await resolve("docs.example.org", 443)) == []
        except OSError:
            await asyncio.sleep(0.001)
        else:
            break
