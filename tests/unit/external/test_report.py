"""The weekly report: each figure by hand, and the same after a replay."""

from pathlib import Path

from lakehouse.external.events import happening_of
from lakehouse.external.report import gaps, most_used, usage_report, weekly_analysis
from schemas.knowledge import DocumentEvent, Lookup, UsageReport
from tests.unit.external.keeping import PAGE, after, deprecation, document, event, fetched, lookup, new_store, page

RUN, WAIT = document("asyncio.run"), document("asyncio.wait")
LOOKUPS = (
    lookup(after(hours=1), "hit", stage="project", query="how do we deploy", milliseconds=4.0),
    lookup(after(hours=2), "fresh", of=RUN, milliseconds=1.0),
    lookup(after(hours=3), "fresh", of=RUN, milliseconds=3.0),
    lookup(after(hours=4), "stale", of=WAIT, milliseconds=2.0),
    lookup(after(hours=5), "negative", query="no.such", milliseconds=1.0, agent="a"),
    lookup(after(hours=6), "budget", stage="external", query="no.such", milliseconds=100.0, agent="b"),
    lookup(after(hours=7), "hit", stage="external", of=RUN, milliseconds=50.0),
    lookup(after(hours=8), "miss", query="asked.once", milliseconds=1.0),
)
EVENTS = (
    fetched(after(hours=1), RUN, WAIT, bytes=1000, milliseconds=10.0),
    event("NOT_MODIFIED", after(hours=2), page=page(after(hours=2)), milliseconds=4.0),
    event("FETCH_FAILED", after(hours=3), page=page(after(hours=3)), milliseconds=30.0),
    event("FETCH_FAILED", after(hours=3), page=page(after(hours=3), "symbol:python:no.such"), number=1),
    event("BLOCKED", after(hours=4), page=page(after(hours=4)), source="other"),
    event("DEPRECATED", after(hours=5), deprecation=deprecation()),
    event("ACCESSED", after(hours=9), lookups=LOOKUPS),
)


def of(lookups: tuple[Lookup, ...] = LOOKUPS, events: tuple[DocumentEvent, ...] = EVENTS) -> UsageReport:
    happened = [happening_of(one) for one in events if one.action != "ACCESSED"]
    return usage_report(lookups, happened, since=after(), until=after(days=7))


def test_the_hit_rate_is_what_was_kept_of_what_came_so_far() -> None:
    report = of()
    assert report.cache_hit_rate == round(3 / 7, 4)
    assert (report.further["fresh_share"], report.further["stale_share"]) == (round(2 / 7, 4), round(1 / 7, 4))
    assert (report.further["negative_share"], report.further["budget_misses"]) == (round(1 / 7, 4), 1)


def test_times_are_told_all_in_all_and_by_stage() -> None:
    report = of()
    assert report.avg_query_time_ms == 20.25
    times = report.further["query_time_ms"]
    assert isinstance(times, dict)
    assert times["external"] == {"n": 2, "mean": 75.0, "p50": 50.0, "p95": 100.0, "p99": 100.0}
    assert times["cache"] == {"n": 5, "mean": 1.6, "p50": 1.0, "p95": 3.0, "p99": 3.0}


def test_the_most_used_documents_are_counted() -> None:
    first, second = of().most_used_docs
    assert (first["document_id"], first["name"], first["lookups"]) == (RUN.id, "asyncio.run", 3)
    assert (second["name"], second["source"], second["project"]) == ("asyncio.wait", "python_docs", "python")
    assert first["last"] == after(hours=7).isoformat()


def test_twenty_documents_at_most_are_named() -> None:
    many = [lookup(after(), of=document(f"m.f{number}")) for number in range(30)]
    assert len(most_used(many)) == 20
    assert len(most_used(many, 3)) == 3


def test_sources_are_told_with_what_they_gave_and_took() -> None:
    docs, other = of().sources_by_usage
    assert docs == {
        "source": "python_docs", "lookups": 4, "served": 4, "fetches": 3, "bytes": 1000, "not_modified_share": 0.5,
        "updated_share": 0.0, "failures": 1, "blocked": 0, "new_deprecations": 1, "median_fetch_ms": 10.0,
    }  # fmt: skip
    assert (other["source"], other["blocked"], other["fetches"], other["median_fetch_ms"]) == ("other", 1, 0, None)
    assert other["not_modified_share"] is None


def test_a_page_that_is_told_in_parts_was_fetched_once() -> None:
    parts = (
        fetched(after(), RUN, bytes=1000, milliseconds=10.0),
        event("FETCHED", after(seconds=1), WAIT, page=page(after()), bytes=1000, milliseconds=10.0),
    )
    (line,) = of((), parts).sources_by_usage
    assert (line["fetches"], line["bytes"]) == (1, 1000)


def test_gaps_are_what_was_asked_for_again_in_vain() -> None:
    (gap,) = of().knowledge_gaps
    assert (gap["query"], gap["asked"], gap["agents"]) == ("no.such", 2, 2)
    assert gap["outcomes"] == {"budget": 1, "negative": 1}
    assert gap["last"] == after(hours=6).isoformat()


def test_what_was_answered_at_last_is_no_gap_and_more_agents_count_more() -> None:
    answered = [lookup(after(), "miss"), lookup(after(), "miss"), lookup(after(), "fresh", of=RUN, project="python")]
    assert [line["query"] for line in gaps([*answered[:2], lookup(after(), "fresh")])] == []
    one_agent = [lookup(after(), "miss", query="one", agent="a") for _ in range(3)]
    two_agents = [lookup(after(), "miss", query="two", agent=agent) for agent in "ab"]
    assert [line["query"] for line in gaps(one_agent + two_agents)] == ["two", "one"]
    assert len(gaps(one_agent + two_agents, 1)) == 1


def test_of_nothing_there_are_no_shares() -> None:
    report = of((), ())
    assert (report.cache_hit_rate, report.avg_query_time_ms) == (None, None)
    assert report.most_used_docs == report.sources_by_usage == report.knowledge_gaps == ()
    assert report.further["fresh_share"] is None


async def test_after_a_replay_the_report_is_the_same(tmp_path: Path) -> None:
    live, replayed = await new_store(tmp_path / "live"), await new_store(tmp_path / "replayed")
    for one in EVENTS:
        await live.apply([one])
    await replayed.rebuild([*EVENTS, *EVENTS[2:]])

    report = await weekly_analysis(live, until=after(days=7))

    assert report == of()
    assert report == await weekly_analysis(replayed, until=after(days=7))
    assert UsageReport.decode(report.encode()) == report
    assert (await weekly_analysis(live, until=after(hours=2), days=1)).further["lookups"] == 1
    assert (await weekly_analysis(live, until=after(days=30))).further["lookups"] == 0


def test_an_event_says_whether_a_host_was_asked() -> None:
    asked = [happening_of(one).asked for one in EVENTS]
    assert asked == [True, True, True, False, False, False, False]
    assert happening_of(EVENTS[0]).url == PAGE
