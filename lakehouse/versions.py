"""What a change means: the fold from events to row versions, shared by live writing and rebuilding.

Rule of this file: pure. A scope's memory is a function of its events in order; nothing here reads a clock or a table.
What else changes with it: the columns in ``memory_table``, the digest, and ``docs/decisions`` on times.

Times of a version: *valid* (event time: when it was true) and *known* (recording time: when we learned and unlearned
it). Current is exactly the version with status ``current``; its ``valid_to`` and ``superseded_at`` are open.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from schemas.errors import Conflict
from schemas.memory import MemoryEvent

RowStatus = Literal["current", "superseded", "historic", "deleted", "none"]
FOUND_BY_SEARCH: tuple[RowStatus, ...] = ("current", "superseded", "historic")
"""Rows of these statuses have a vector; a default search reads only ``current``."""


@dataclass(frozen=True)
class MemoryRow:
    """One version of a memory, or the record of a decision that made none: one row per event.

    Attributes:
        event: All that the event said.
        record_id: The record on ``facts`` that caused it.
        facts_offset: Where that record stands; never compared across lakes.
        status: What the row is now.
        valid_from: Event time from which it holds.
        valid_to: Event time until which it held; None while it holds.
        superseded_at: When we learned that it no longer holds; None while we don't.
        touched: Sequence of the event that last changed this row: fences a stale writer.
        vector: Unit vector of the text; None where no search may find the row.
    """

    event: MemoryEvent
    record_id: str
    facts_offset: int
    status: RowStatus
    valid_from: datetime
    valid_to: datetime | None
    superseded_at: datetime | None
    touched: int
    vector: Any = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Change:
    """An event with what its row holds beside it."""

    event: MemoryEvent
    record_id: str
    facts_offset: int
    vector: Any = field(default=None, compare=False, repr=False)


class ScopeMemory:
    """All that one scope knows and knew: its rows, folded from its events.

    Attributes:
        sequence: The last event's sequence, 0 before the first.
        last_id: The last memory's id, 0 before the first.
    """

    def __init__(self) -> None:
        self.sequence = 0
        self.last_id = 0
        self._versions: dict[int, list[MemoryRow]] = {}
        self._current: dict[int, MemoryRow] = {}
        self._event_ids: set[str] = set()
        self.retired: list[tuple[MemoryEvent, datetime]] = []
        """What was deleted: the last version of each memory, and the event time at which it was retired."""

    @classmethod
    def of_rows(cls, rows: Iterable[MemoryRow]) -> "ScopeMemory":
        """Take up rows as a table holds them, in any order."""
        memory = cls()
        for row in sorted(rows, key=lambda row: row.event.sequence):
            memory.sequence = max(memory.sequence, row.event.sequence)
            memory.last_id = max(memory.last_id, row.event.id)
            memory._event_ids.add(row.event.event_id)
            if row.status != "none":
                memory._keep(row)
        return memory

    def __len__(self) -> int:
        """Number of its events."""
        return len(self._event_ids)

    def holds(self, event_id: str) -> bool:
        """Whether this event was folded in already."""
        return event_id in self._event_ids

    @property
    def current(self) -> Iterator[MemoryRow]:
        """The current version of each memory, by id."""
        return iter(self._current.values())

    def current_of(self, memory_id: int) -> MemoryRow | None:
        """The current version of one memory; None when it is unknown or deleted."""
        return self._current.get(memory_id)

    def history(self, memory_id: int) -> tuple[MemoryRow, ...]:
        """The versions of one memory, oldest revision first; empty when it is unknown."""
        return tuple(self._versions.get(memory_id, ()))

    def apply(self, change: Change) -> tuple[MemoryRow, ...]:
        """Fold one event in.

        Args:
            change: The scope's next event.

        Returns:
            The rows to write in one commit: the new one first, then those it closed.

        Raises:
            Conflict: The event is not the next one, or names a memory that isn't there to be changed.
        """
        event = change.event
        if event.sequence != self.sequence + 1:
            raise Conflict(f"event {event.sequence} of {event.scope.key} came after {self.sequence}: read it again")
        new, closed = self._fold(change)
        self.sequence = event.sequence
        self.last_id = max(self.last_id, event.id)
        self._event_ids.add(event.event_id)
        for row in (*closed, new):
            if row.status != "none":
                self._keep(row)
        return (new, *closed)

    def _fold(self, change: Change) -> tuple[MemoryRow, tuple[MemoryRow, ...]]:
        event = change.event
        if event.event == "NONE":
            return _row(change, "none", valid_to=event.timestamp), ()
        if event.event == "ADD":
            if event.id != self.last_id + 1:
                raise Conflict(f"memory {event.id} of {event.scope.key} cannot be added after {self.last_id}")
            return _row(change, "current"), ()
        old = self._current.get(event.id)
        if old is None:
            raise Conflict(f"memory {event.id} of {event.scope.key} is not there to be changed")
        if event.event == "DELETE":
            return _row(change, "deleted", valid_to=event.timestamp), (_closed(old, event),)
        if event.status == "historic":
            return self._insert_late(change, old)
        return _row(change, "current"), (_closed(old, event),)

    def _insert_late(self, change: Change, current: MemoryRow) -> tuple[MemoryRow, tuple[MemoryRow, ...]]:
        """An older statement that came late joins the history between the versions around its event time."""
        event = change.event
        if event.timestamp >= current.valid_from:
            raise Conflict(f"event {event.sequence} of {event.scope.key} is not older than what it joins")
        told = sorted(
            (row for row in self._versions[event.id] if row.status in FOUND_BY_SEARCH),
            key=lambda row: (row.valid_from, row.event.sequence),
        )
        before = [row for row in told if row.valid_from <= event.timestamp]
        following = next(row for row in told if row.valid_from > event.timestamp)  # the current one at the latest
        new = _row(change, "historic", valid_to=following.valid_from, superseded_at=event.recorded_at)
        shortened = tuple(replace(row, valid_to=event.timestamp, touched=event.sequence) for row in before[-1:])
        return new, shortened

    def _keep(self, row: MemoryRow) -> None:
        versions = self._versions.setdefault(row.event.id, [])
        if row.status == "deleted":  # it says the text that it retired
            gone = [version.event for version in versions if version.event.text == row.event.text]
            self.retired.extend((event, row.valid_from) for event in gone[-1:])
        for index, known in enumerate(versions):
            if known.event.event_id == row.event.event_id:
                versions[index] = row
                break
        else:
            versions.append(row)
        if row.status == "current":
            self._current[row.event.id] = row
        elif (held := self._current.get(row.event.id)) and held.event.event_id == row.event.event_id:
            del self._current[row.event.id]


def fold(changes: Iterable[Change]) -> dict[str, MemoryRow]:
    """All rows of one scope after its events, by event id: what a rebuild writes."""
    memory, rows = ScopeMemory(), dict[str, MemoryRow]()
    for change in changes:
        rows.update((row.event.event_id, row) for row in memory.apply(change))
    return rows


def _row(
    change: Change, status: RowStatus, valid_to: datetime | None = None, superseded_at: datetime | None = None
) -> MemoryRow:
    event = change.event
    return MemoryRow(
        event=event,
        record_id=change.record_id,
        facts_offset=change.facts_offset,
        status=status,
        valid_from=event.timestamp,
        valid_to=valid_to,
        superseded_at=superseded_at,
        touched=event.sequence,
        vector=change.vector if status in FOUND_BY_SEARCH else None,
    )


def _closed(row: MemoryRow, event: MemoryEvent) -> MemoryRow:
    return replace(
        row,
        status="superseded",
        valid_to=max(event.timestamp, row.valid_from),
        superseded_at=event.recorded_at,
        touched=event.sequence,
    )
