"""Commands that name memories, and what was known at a moment, over random histories: what holds for any of them."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakehouse.versions import ScopeMemory, as_known, fold
from schemas.errors import Conflict
from streams.changing import change_by, named
from tests.property.stories import EVENT, START, STORIES, Told, changes_of, command_of, snapshot


@settings(max_examples=30, deadline=None)
@given(STORIES, st.integers(0, 26))
def test_what_was_known_at_a_moment_is_what_the_events_up_to_then_fold_to(story: list[Told], count: int) -> None:
    changes = changes_of(story)
    rows = list(fold(changes).values())

    known = as_known(reversed(rows), START + timedelta(days=1, seconds=count))

    assert {row.event.event_id: row for row in known} == fold(changes[:count])
    assert len(known) == len(changes[:count])


@settings(max_examples=30, deadline=None)
@given(STORIES, st.lists(st.integers(0, 30), max_size=10))
def test_what_was_known_is_told_whatever_else_was_known_or_not(story: list[Told], moments: list[int]) -> None:
    """Imported events were recorded long before those that stand before them in the log."""
    changes = changes_of(story)
    rows = [
        replace(row, event=row.event.model_copy(update={"recorded_at": START + timedelta(seconds=moment)}))
        for row, moment in zip(fold(changes).values(), [*moments, *range(30)], strict=False)
    ]

    for moment in range(-1, 31):
        known = as_known(rows, START + timedelta(seconds=moment))
        current = [row.event.id for row in known if row.status == "current"]
        assert len(set(current)) == len(current)
        assert len(known) == sum(row.event.recorded_at <= START + timedelta(seconds=moment) for row in rows)


@settings(max_examples=30, deadline=None)
@given(STORIES)
def test_forgetting_all_leaves_nothing_and_restoring_each_brings_all_back(story: list[Told]) -> None:
    memory = ScopeMemory()
    for change in changes_of(story):
        memory.apply(change)
    before = [row.event for row in memory.current]
    forgetting = command_of(EVENT.scope, 100, op="forget", everything=True)
    ids = named(forgetting, memory)

    for memory_id in ids:
        memory.apply(change_by(forgetting, memory_id, memory, 1))

    assert ids == tuple(event.id for event in before)
    assert list(memory.current) == []
    assert named(forgetting, memory) == ()
    texts: list[str] = []
    for number, memory_id in enumerate(ids, 101):
        restoring = command_of(EVENT.scope, number, op="restore", id=memory_id)
        event = change_by(restoring, memory_id, memory, 2).event
        if event.event == "UPDATE":
            memory.apply(change_by(restoring, memory_id, memory, 2))
            texts.append(event.text)
    assert sorted(set(texts)) == sorted({event.text for event in before})
    assert [row.event.text for row in memory.current] == texts


@settings(max_examples=30, deadline=None)
@given(STORIES, st.sets(st.integers(1, 12), min_size=1))
def test_feedback_is_one_event_for_each_memory_that_is_there_and_changes_nothing_that_was(
    story: list[Told], ids: set[int]
) -> None:
    memory = ScopeMemory()
    for change in changes_of(story):
        memory.apply(change)
    _, *before = snapshot(memory)
    record = command_of(EVENT.scope, 100, op="feedback", unhelpful=tuple(sorted(ids)), query="Why?")
    told = named(record, memory)

    rows = [memory.apply(change_by(record, memory_id, memory, 1)) for memory_id in told]

    assert told == tuple(memory_id for memory_id in sorted(ids) if memory_id <= memory.last_id)
    assert [(row.event.id, row.status, others) for row, *others in rows] == [(one, "none", []) for one in told]
    _, *after = snapshot(memory)
    assert after == before
    assert memory.obeyed("command-100") == bool(told)


@pytest.mark.parametrize(
    "fields",
    [
        {"command_id": None},
        {"fact_id": "f"},
        {"status": "historic", "timestamp": START},
        {"event": "DELETE"},
        {"text": "what it never said"},
        {"id": 2},
    ],
)
def test_only_a_command_makes_a_text_of_a_forgotten_memory_current_again(fields: dict[str, Any]) -> None:
    changes = changes_of([Told("ADD", 0, 1), Told("DELETE", 0, 4)])
    memory = ScopeMemory()
    for change in changes:
        memory.apply(change)
    restoring = change_by(command_of(EVENT.scope, 3, op="restore", id=1), 1, memory, 3)
    before = snapshot(memory)

    with pytest.raises(Conflict):
        memory.apply(replace(restoring, event=restoring.event.model_copy(update=fields)))

    assert snapshot(memory) == before
    memory.apply(restoring)
    assert [row.event.text for row in memory.current] == ["text 1"]
