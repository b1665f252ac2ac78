"""What is kept of the outside is a function of what happened: batches and repetitions change nothing."""

import asyncio
import itertools
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakehouse.external.events import Fold, folded
from schemas.knowledge import DocumentEvent, Lookup
from tests.property.knowledge_stories import STORIES, Told, events_of
from tests.unit.external.keeping import after, new_store

REPEATS = st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), max_size=8)
CUTS = st.lists(st.integers(0, 20), max_size=6)


def repeated(events: list[DocumentEvent], repeats: list[tuple[int, int]]) -> list[DocumentEvent]:
    """The events with some of them told again, at any place after the first time."""
    told = list(enumerate(events))
    for which, where in repeats:
        number = which % len(events)
        first = next(place for place, (known, _) in enumerate(told) if known == number)
        told.insert(first + 1 + where % (len(told) - first), (number, events[number]))
    return [event for _, event in told]


def batches(events: list[DocumentEvent], cuts: list[int]) -> list[list[DocumentEvent]]:
    places = sorted({0, len(events), *(cut % (len(events) + 1) for cut in cuts)})
    return [events[start:end] for start, end in itertools.pairwise(places)]


@given(story=STORIES, repeats=REPEATS)
def test_events_that_are_told_again_change_no_row(story: list[Told], repeats: list[tuple[int, int]]) -> None:
    events = events_of(story)
    if not events:
        return
    assert folded(repeated(events, repeats)) == folded(events)


@given(story=STORIES)
def test_a_document_is_live_exactly_if_the_last_word_on_it_says_so(story: list[Told]) -> None:
    live: dict[str, str] = {}
    events = events_of(story)
    for event in events:
        if event.page is not None and (event.replaces_page or event.action == "GONE"):
            live = {key: url for key, url in live.items() if url != event.page.url}
        if event.action == "EVICTED":
            live = {key: url for key, url in live.items() if key not in event.document_ids}
        if event.action in {"FETCHED", "UPDATED"}:
            live |= {document.id: document.page_url for document in event.documents}

    rows = folded(events).documents.values()

    assert {row.document.id: row.document.page_url for row in rows if row.status == "live"} == live
    assert all(bool(row.document.text) == (row.status == "live") for row in rows)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(story=STORIES, repeats=REPEATS, cuts=CUTS)
def test_tables_that_are_rebuilt_are_equal_whatever_the_batches(
    story: list[Told], repeats: list[tuple[int, int]], cuts: list[int]
) -> None:
    events = events_of(story)
    if not events:
        return
    with tempfile.TemporaryDirectory() as folder:
        kept, lookups = asyncio.run(_kept(Path(folder) / "lake", batches(repeated(events, repeats), cuts)))

    assert kept == folded(events)
    assert sorted(lookups, key=repr) == sorted((one for event in events for one in event.lookups), key=repr)


async def _kept(folder: Path, told: list[list[DocumentEvent]]) -> tuple[Fold, list[Lookup]]:
    store = await new_store(folder)
    for batch in told:
        await store.apply(batch)
    found = await store.lookups(after(), after(days=99))
    return await store.everything(), list(found.values())
