"""The daily maintenance: what it asks for, lets go, counts and weighs, and that it does so once."""

from datetime import datetime
from pathlib import Path

import pytest

from lakehouse.external.maintenance import (
    cleanup_cache,
    daily_maintenance,
    recalculate_relevance_scores,
    refresh_docs_if_needed,
)
from lakehouse.external.opened import NAMES
from lakehouse.external.store import DocumentStore
from schemas.knowledge import Document, DocumentEvent
from tests.unit.external.keeping import after, document, event, fetched, lookup, new_store, page


def url(name: str) -> str:
    return f"https://docs.example/{name}.html"


HOT, WARM, COLD = (document(f"m.{name}", page_url=url(name)) for name in ("hot", "warm", "cold"))
NEIGHBOUR = document("m.neighbour", page_url=url("hot"))
REST = tuple(document(f"m.rest{number}", page_url=url("cold")) for number in range(3))
UNUSED = tuple(sorted(one.id for one in (COLD, *REST)))


def used(at: datetime, of: Document, times: int, number: int = 0) -> DocumentEvent:
    return event("ACCESSED", at, lookups=tuple(lookup(at, of=of) for _ in range(times)), number=number)


@pytest.fixture
async def store(tmp_path: Path) -> DocumentStore:
    """Three pages, fetched at the start; one used often, one once, one never."""
    store = await new_store(tmp_path / "lake")
    await store.apply(
        [
            fetched(after(), HOT, NEIGHBOUR, url=url("hot")),
            fetched(after(), WARM, url=url("warm")),
            fetched(after(), COLD, *REST, url=url("cold")),
            used(after(days=1), HOT, 5),
            used(after(days=2), WARM, 1),
        ]
    )
    return store


async def wanted(store: DocumentStore, now: datetime) -> list[str]:
    return [request.url for request in await refresh_docs_if_needed(store, now=now)]


async def test_nothing_is_asked_for_before_it_is_stale(store: DocumentStore) -> None:
    assert await wanted(store, after(days=30)) == []


async def test_a_stale_page_is_asked_for_once_if_it_is_valuable(store: DocumentStore) -> None:
    (request,) = await refresh_docs_if_needed(store, now=after(days=31))
    assert (request.url, request.source, request.project, request.version) == (
        url("hot"),
        "python_docs",
        "python",
        "3.11",
    )
    assert (request.reason, request.requested_at, request.symbol) == ("scheduled", after(days=31), None)


async def test_a_stale_page_is_asked_for_if_it_was_used_this_week(store: DocumentStore) -> None:
    await store.apply([used(after(days=28), WARM, 1)])
    assert await wanted(store, after(days=31)) == [url("hot"), url("warm")]


async def test_the_percentile_is_an_option(store: DocumentStore) -> None:
    requests = await refresh_docs_if_needed(store, now=after(days=31), access_count_percentile=0.5)
    assert [request.url for request in requests] == [url("hot"), url("warm")]


async def test_a_page_that_cannot_be_had_just_now_is_not_asked_for(store: DocumentStore) -> None:
    refused = page(after(days=31), url("hot"), negative_until=after(days=32), status=503, checked_at=None)
    await store.apply([event("FETCH_FAILED", after(days=31), page=refused)])
    assert await wanted(store, after(days=31, hours=1)) == []
    assert await wanted(store, after(days=32)) == [url("hot")]


async def test_a_page_is_let_go_only_if_none_of_its_documents_is_used(store: DocumentStore) -> None:
    await store.apply([used(after(days=80), NEIGHBOUR, 1)])
    assert await cleanup_cache(store, now=after(days=90)) == []
    events = await cleanup_cache(store, now=after(days=91))
    assert [one.document_ids for one in events] == [UNUSED]
    events = await cleanup_cache(store, now=after(days=93))
    assert {one.document_ids for one in events} == {UNUSED, (WARM.id,)}
    everything = await cleanup_cache(store, now=after(days=93), unused=False)
    assert sum(len(one.document_ids) for one in everything) == 7
    assert await cleanup_cache(store, now=after(days=93), older_than_days=94, unused=False) == []


async def test_what_was_let_go_is_not_found_and_is_fetched_as_new_when_it_is_asked_for(store: DocumentStore) -> None:
    await store.apply(await cleanup_cache(store, now=after(days=91)))
    state = await store.page(url("cold"))
    assert await store.find("m.cold") == []
    assert state is not None
    assert (state.etag, state.content_hash) == (None, None)
    await store.apply([fetched(after(days=92), COLD, url=url("cold"))])
    assert [one.row.document for one in await store.find("m.cold")] == [COLD]


async def test_counts_and_scores_are_renewed_once(store: DocumentStore) -> None:
    events = await recalculate_relevance_scores(store, now=after(days=3))
    assert [one.event_id for one in events] == [
        one.event_id for one in await recalculate_relevance_scores(store, now=after(days=3))
    ]
    await store.apply(events)

    hot, cold = await store.get(HOT.id), await store.get(COLD.id)
    assert hot is not None
    assert cold is not None
    assert (hot.access_count, hot.last_accessed) == (5, after(days=1))
    assert (cold.access_count, cold.last_accessed) == (0, None)
    assert hot.relevance_score == pytest.approx(0.4 * 0.95 + 0.2 * (1 - 3 / 730) + 0.2 * 0.05, abs=1e-4)
    assert await recalculate_relevance_scores(store, now=after(days=3, hours=5)) == []
    assert len(await recalculate_relevance_scores(store, now=after(days=40))) == 1


async def test_a_count_never_falls_when_look_ups_are_lost(store: DocumentStore) -> None:
    await store.apply(await recalculate_relevance_scores(store, now=after(days=3)))
    await store.accesses.delete("true")
    assert await recalculate_relevance_scores(store, now=after(days=3)) == []
    await store.apply([used(after(hours=1), HOT, 1, number=1)])
    assert await recalculate_relevance_scores(store, now=after(days=3)) == []


async def test_the_day_is_told_and_done_again_it_finds_nothing_to_do(store: DocumentStore) -> None:
    now = after(days=93)
    await store.apply([used(after(days=88), HOT, 1)])
    done = await daily_maintenance(store, now=now)

    assert (done.report.evicted, done.report.refreshed, done.report.rescored, done.report.rolled_up) == (5, 1, 2, 7)
    assert [request.url for request in done.requests] == [url("hot")]
    assert {one.action for one in done.events} == {"EVICTED", "RESCORED"}
    assert set(done.report.tables) == set(NAMES)
    assert store.commits["documents"] == 0

    died_before_it_was_applied = await daily_maintenance(store, now=now)
    assert died_before_it_was_applied.events == done.events
    await store.apply(done.events)
    again = await daily_maintenance(store, now=now)
    assert again.events == ()
    assert again.report.rolled_up == 0


async def test_a_table_that_another_writer_is_busy_with_is_told_and_the_others_are_compacted(
    store: DocumentStore,
) -> None:
    class Busy:
        async def stats(self) -> None:
            raise RuntimeError("commit conflict\nand so on")

    store.happenings = Busy()
    tables = (await daily_maintenance(store, now=after(days=1))).report.tables
    assert tables["happenings"] == {"failed": "the lake cannot be used just now: commit conflict"}
    assert isinstance(tables["documents"], dict)
    assert tables["documents"]["rows"] == 7


async def test_many_documents_are_told_in_several_events(store: DocumentStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lakehouse.external.maintenance.DOCUMENTS_AN_EVENT", 3)
    events = await recalculate_relevance_scores(store, now=after(days=3))
    assert [len(one.scores) for one in events] == [3, 3, 1]
    assert len({one.event_id for one in events}) == 3
