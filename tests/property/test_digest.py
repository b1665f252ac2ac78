"""The fingerprint of a memory, over random histories: what it depends on, and on what it does not."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from lakehouse.digest import digest_of
from lakehouse.versions import fold
from schemas.conversation import Scope
from tests.property.stories import START, STORIES, Told, changes_of, told


@settings(max_examples=30, deadline=None)
@given(STORIES, st.randoms(use_true_random=False))
def test_a_digest_depends_neither_on_order_nor_on_where_the_memory_lies(story: list[Told], dice: Any) -> None:
    there = Scope(project_id="elsewhere", user_id="bo")
    rows, moved = list(fold(changes_of(story)).values()), list(fold(changes_of(story, there)).values())
    moved = [replace(row, facts_offset=row.facts_offset + 7, record_id="x") for row in moved]
    dice.shuffle(moved)

    assert digest_of(moved) == digest_of(rows)
    both = [*rows, *moved]
    dice.shuffle(both)
    assert digest_of(both).digest == digest_of([*moved, *rows]).digest != digest_of(rows).digest or not told(rows)


@settings(max_examples=30, deadline=None)
@given(STORIES)
def test_a_digest_leaves_out_what_changed_nothing(story: list[Told]) -> None:
    rows = list(fold(changes_of(story)).values())

    found = digest_of(rows)

    assert digest_of(told(rows)) == found
    assert found.versions == len(told(rows))
    assert found.memories == sum(row.status == "current" for row in rows)
    assert found.scopes == (1 if told(rows) else 0)


@settings(max_examples=30, deadline=None)
@given(STORIES, st.data())
def test_a_digest_changes_with_any_text_time_or_revision(story: list[Told], data: st.DataObject) -> None:
    rows = told(list(fold(changes_of([Told("ADD", 0, 0), *story])).values()))
    place = data.draw(st.integers(0, len(rows) - 1))
    row, later = rows[place], timedelta(microseconds=1)
    changed = [
        replace(row, event=row.event.model_copy(update={"text": row.event.text + " "})),
        replace(row, event=row.event.model_copy(update={"timestamp": row.event.timestamp + later})),
        replace(row, event=row.event.model_copy(update={"recorded_at": row.event.recorded_at + later})),
        replace(row, event=row.event.model_copy(update={"revision": (row.event.revision or 0) + 1})),
        replace(row, event=row.event.model_copy(update={"tags": (*row.event.tags, "x")})),
        replace(row, valid_to=(row.valid_to or START) + later),
        replace(row, valid_from=row.valid_from - later),
        replace(row, superseded_at=(row.superseded_at or START) + later),
        replace(row, status="deleted" if row.status != "deleted" else "superseded"),
    ]

    digests = {digest_of([*rows[:place], other, *rows[place + 1 :]]).digest for other in changed}

    assert len(digests | {digest_of(rows).digest}) == len(changed) + 1
