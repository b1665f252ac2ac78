"""The fold from events to versions, over random histories: what holds for any of them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakehouse.known import KnownScope
from lakehouse.versions import FOUND_BY_SEARCH, MemoryRow, ScopeMemory, fold
from schemas.conversation import Scope
from schemas.errors import Conflict
from tests.property.stories import (
    DIMENSION,
    EVENT,
    START,
    STORIES,
    Told,
    by_memory,
    changes_of,
    read_back,
    snapshot,
)


@settings(max_examples=30, deadline=None)
@given(STORIES)
def test_each_live_memory_has_exactly_one_current_row_and_no_other_has_one(story: list[Told]) -> None:
    changes = changes_of(story)

    rows = fold(changes).values()

    current = [row.event.id for row in rows if row.status == "current"]
    last = {change.event.id: change.event.event for change in changes if change.event.event != "NONE"}
    assert sorted(current) == sorted(memory_id for memory_id, event in last.items() if event != "DELETE")
    for row in rows:
        if row.status in FOUND_BY_SEARCH:
            assert (row.valid_to is None) == (row.superseded_at is None) == (row.status == "current")


@settings(max_examples=30, deadline=None)
@given(STORIES)
def test_the_versions_of_a_memory_are_counted_from_one_without_gaps(story: list[Told]) -> None:
    memory = ScopeMemory()
    for change in changes_of(story):
        memory.apply(change)

    for memory_id in range(1, memory.last_id + 1):
        versions = memory.history(memory_id)
        assert [row.event.revision for row in versions] == list(range(1, len(versions) + 1))
    assert memory.history(memory.last_id + 1) == ()


@settings(max_examples=30, deadline=None)
@given(STORIES)
def test_the_times_at_which_versions_held_are_ordered_and_never_overlap(story: list[Told]) -> None:
    for versions in by_memory(fold(changes_of(story)).values()).values():
        told = [row for row in versions if row.status in FOUND_BY_SEARCH]
        assert all(row.valid_to is None or row.valid_from <= row.valid_to for row in told)
        held = sorted((row for row in told if row.valid_to != row.valid_from), key=lambda row: row.valid_from)
        for one, following in pairwise(held):
            assert one.valid_to is not None
            assert one.valid_from < one.valid_to <= following.valid_from


@settings(max_examples=30, deadline=None)
@given(STORIES)
def test_what_no_search_may_find_has_no_vector_and_held_for_no_time(story: list[Told]) -> None:
    for row in fold(changes_of(story)).values():
        hidden = row.status in {"none", "deleted"}
        assert (row.vector is None) == hidden
        assert not hidden or row.valid_to == row.valid_from


@settings(max_examples=30, deadline=None)
@given(STORIES)
def test_a_version_is_closed_when_its_successor_was_recorded(story: list[Told]) -> None:
    changes = changes_of(story)
    rows = fold(changes)

    for versions in by_memory(rows.values()).values():
        said = [row for row in versions if row.status != "historic" and row.event.status == "current"]
        for one, following in pairwise(sorted(said, key=lambda row: row.event.sequence)):
            if one.status == "deleted":
                assert following.event.by_command
                continue
            assert one.superseded_at == following.event.recorded_at
            assert one.touched >= following.event.sequence


@settings(max_examples=30, deadline=None)
@given(STORIES, st.data())
def test_an_event_out_of_turn_is_a_conflict_and_changes_nothing(story: list[Told], data: st.DataObject) -> None:
    changes = changes_of(story)
    memory = ScopeMemory()
    place = data.draw(st.integers(0, len(changes) - 1))
    for change in changes[:place]:
        memory.apply(change)
    before = snapshot(memory)

    for number in {*range(len(changes) + 2), 99} - {place + 1}:
        strange = replace(changes[place], event=changes[place].event.model_copy(update={"sequence": number}))
        with pytest.raises(Conflict):
            memory.apply(strange)

    assert snapshot(memory) == before


@settings(max_examples=30, deadline=None)
@given(STORIES, st.lists(st.integers(1, 5), min_size=1, max_size=30))
def test_folding_in_batches_with_rows_read_back_in_between_gives_what_one_fold_gives(
    story: list[Told], sizes: list[int]
) -> None:
    changes = changes_of(story)
    stored: dict[str, MemoryRow] = {}
    rest, sizes = list(changes), [*sizes, len(changes)]
    while rest:
        batch, rest = rest[: sizes[0]], rest[sizes[0] :]
        sizes = sizes[1:] or [1]
        memory = ScopeMemory.of_rows(reversed(read_back(list(stored.values()))))
        for change in batch:
            stored |= {row.event.event_id: row for row in memory.apply(change)}

    assert stored == fold(changes)
    again = ScopeMemory.of_rows(stored.values())
    live = ScopeMemory()
    for change in changes:
        live.apply(change)
    assert snapshot(again) == snapshot(live)
    assert len(again) == len(live) == len(changes)


@settings(max_examples=30, deadline=None)
@given(STORIES)
def test_an_event_becomes_a_row_of_columns_and_comes_back_as_it_was(story: list[Told]) -> None:
    rows = list(fold(changes_of(story)).values())

    back = read_back(rows)

    assert back == rows
    for row, same in zip(rows, back, strict=True):
        assert row.event.encode() == same.event.encode()
        assert (row.vector is None) == (same.vector is None)
        assert row.vector is None or np.array_equal(row.vector, same.vector)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
MOMENTS = st.datetimes(datetime(1900, 1, 1), datetime(2900, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - bounds
SHARES = st.floats(0, 1)
VALUES = st.recursive(st.none() | st.booleans() | st.integers(-(2**70), 2**70) | SHARES | TEXTS,
                      lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
                      max_leaves=5)  # fmt: skip
FIELDS = st.fixed_dictionaries(
    {
"scope": st.sampled_from([Scope(project_id=name, user_id="a\nb") for name in ("p", "o'neil", "50%")]),
        "text": TEXTS,
        "tags": st.lists(TEXTS, max_size=3).map(tuple),
        "source_turn_ids": st.lists(TEXTS, max_size=3).map(tuple),
        "metadata": st.none() | st.dictionaries(TEXTS, VALUES, max_size=3),
        "confidence": SHARES,
        "importance": st.integers(1, 10),
        "timestamp": MOMENTS,
        "recorded_at": MOMENTS,
        "mood": st.sampled_from(["assertion", "retraction"]),
        "status": st.sampled_from(["current", "historic"]),
        "sequence": st.integers(1, 2**62),
    },
    optional=dict.fromkeys(
        ["old_memory", "domain", "code_pattern", "source_session_id", "fact_id", "command_id", "agent_id", "subject",
         "attribute", "value"],
        st.none() | TEXTS,
    ),
)  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(st.lists(FIELDS, min_size=1, max_size=3), st.sampled_from(["current", "historic", "none"]))
def test_any_event_with_any_fields_comes_back_from_its_columns(told: list[dict[str, Any]], status: Any) -> None:
    rows = [
        MemoryRow(
            event=EVENT.model_copy(update=fields),
            record_id="r",
            facts_offset=number,
            status=status,
            valid_from=fields["timestamp"],
            valid_to=None if status == "current" else fields["recorded_at"],
            superseded_at=None if status == "current" else fields["timestamp"],
            touched=number,
        )
        for number, fields in enumerate(told)
    ]

    back = read_back(rows)

    assert back == rows
    assert [row.event.encode() for row in back] == [row.event.encode() for row in rows]


@settings(max_examples=30, deadline=None)
@given(STORIES)
def test_the_indexes_of_a_known_scope_follow_its_memory(story: list[Told]) -> None:
    known = KnownScope.of(ScopeMemory(), DIMENSION)
    for change in changes_of(story):
        known.apply(change)
    fresh = KnownScope.of(ScopeMemory.of_rows(fold(changes_of(story)).values()), DIMENSION)

    asked = np.full(DIMENSION, 0.5)
    live = sorted(row.event.id for row in known.memory.current)

    assert known.shelf.nearest(asked, 50) == fresh.shelf.nearest(asked, 50)
    assert sorted(memory_id for memory_id, _ in known.shelf.nearest(asked, 50)) == live
    claims = sorted(row.event.id for row in known.memory.current if row.event.subject)
    assert known.same_claim(EVENT.subject, EVENT.attribute) == claims
    assert known.same_claim(None, EVENT.attribute) == []
    assert known.same_claim("nobody", "nothing") == []


@pytest.mark.parametrize(
    ("event", "fields"),
    [
        ("ADD", {"id": 1}),
        ("ADD", {"id": 3}),
        ("UPDATE", {"id": 7}),
        ("DELETE", {"id": 7}),
        ("UPDATE", {"status": "historic", "timestamp": START + timedelta(minutes=5)}),
        ("UPDATE", {"status": "historic", "timestamp": START + timedelta(minutes=9)}),
    ],
)
def test_an_event_that_does_not_fit_what_is_known_is_a_conflict(event: str, fields: dict[str, Any]) -> None:
    memory = ScopeMemory()
    first = changes_of([Told("ADD", 0, 5)])[0]
    memory.apply(first)
    made = {"event": event, "sequence": 2, "event_id": "e2", "revision": 2} | fields

    with pytest.raises(Conflict):
        memory.apply(replace(first, event=first.event.model_copy(update=made)))

    assert memory.sequence == 1
    assert memory.holds(first.event.event_id)
    assert not memory.holds("e2")


def test_a_history_keeps_every_text_after_a_deletion() -> None:
    changes = changes_of([Told("ADD", 0, 1), Told("UPDATE", 0, 2), Told("UPDATE", 0, 3), Told("DELETE", 0, 4)])
    memory = ScopeMemory()
    for change in changes:
        memory.apply(change)

    versions = memory.history(1)

    assert [row.event.event for row in versions] == ["ADD", "UPDATE", "UPDATE", "DELETE"]
    assert [row.event.old_memory for row in versions] == [None, "text 1", "text 2", "text 3"]
    assert [row.status for row in versions] == ["superseded", "superseded", "superseded", "deleted"]
    assert memory.current_of(1) is None
