"""What a change means: the fold from events to row versions, shared by live writing and rebuilding.

Rule of this file: pure. A scope's memory is a function of its events in order; nothing here reads a clock or a table.
What else changes with it: the columns in ``memory_table``, the digest, and ``docs/decisions`` on times.

Times of a version: *valid* (event time: when it was true) and *known* (recording time: when we learned and unlearned
it). Current is exactly the version with status ``current``; its ``valid_to`` and ``superseded_at`` are open.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
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

    @property
    def told_at(self) -> datetime:
        """Event time that another statement is compared with, to see which is newer."""
        return self.event.told_at or self.valid_from

    def held_at(self, moment: datetime) -> bool:
        """Whether it was true at a moment of event time."""
        return (
            self.status in FOUND_BY_SEARCH
            and self.valid_from <= moment
            and (self.valid_to is None or moment < self.valid_to)
        )


ROW_COLUMNS = tuple(column.name for column in fields(MemoryRow) if column.name not in {"event", "vector"})
"""What a row holds beside its event and its vector."""


@dataclass(frozen=True)
class Change:
    """An event with what its row holds beside it."""

    event: MemoryEvent
    record_id: str
    facts_offset: int
    vector: Any = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Retired:
    """A memory that is forgotten: what it said last, and up to which event time all that was said of it is retired."""

    event: MemoryEvent
    at: datetime


class ScopeMemory:
    """All that one scope knows and knew: its rows, folded from its events.

    Attributes:
        sequence: The last event's sequence, 0 before the first.
        last_id: The last memory's id, 0 before the first.
        retired: The memories that are forgotten now, by id.
    """

    def __init__(self) -> None:
        self.sequence = 0
        self.last_id = 0
        self.retired: dict[int, Retired] = {}
        self._versions: dict[int, list[MemoryRow]] = {}
        self._current: dict[int, MemoryRow] = {}
        self._event_ids: set[str] = set()
        self._obeyed: set[str] = set()
        self._sources: dict[int, dict[str, None]] = {}
        self._told_in: dict[str, set[int]] = {}
        self._told_by: dict[str, int] = {}

    @classmethod
    def of_rows(cls, rows: Iterable[MemoryRow]) -> "ScopeMemory":
        """Take up rows as a table holds them, in any order."""
        memory = cls()
        for row in sorted(rows, key=lambda row: row.event.sequence):
            memory._note(row.event)
            if row.status != "none":
                memory._keep(row)
        return memory

    def __len__(self) -> int:
        """Number of its events."""
        return len(self._event_ids)

    def holds(self, event_id: str) -> bool:
        """Whether this event was folded in already."""
        return event_id in self._event_ids

    def obeyed(self, command_id: str) -> bool:
        """Whether this command, which names memories, has caused an event already."""
        return command_id in self._obeyed

    @property
    def current(self) -> Iterator[MemoryRow]:
        """The current version of each memory, by id."""
        return (self._current[memory_id] for memory_id in sorted(self._current))

    def current_of(self, memory_id: int) -> MemoryRow | None:
        """The current version of one memory; None when it is unknown or deleted."""
        return self._current.get(memory_id)

    def history(self, memory_id: int) -> tuple[MemoryRow, ...]:
        """The versions of one memory, oldest revision first; empty when it is unknown."""
        return tuple(self._versions.get(memory_id, ()))

    def told_by(self, fact_id: str) -> int | None:
        """The memory that has a version which this fact told; None where none has."""
        return self._told_by.get(fact_id)

    def sources(self, memory_id: int) -> Iterable[str]:
        """Ids of the turns that told a memory, agreed with it, or asked to forget it."""
        return self._sources.get(memory_id, {}).keys()

    def told_in(self, turn_id: str) -> frozenset[int]:
        """The memories that a turn is a source of."""
        return frozenset(self._told_in.get(turn_id, ()))

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
        if event.event != "NONE":
            self._require_fitting(event)
        new, closed = _effect(change, self._versions.get(event.id, ()))
        self._note(event)
        for row in (*closed, new):
            if row.status != "none":
                self._keep(row)
        return (new, *closed)

    def _require_fitting(self, event: MemoryEvent) -> None:
        told = f"of {event.scope.key}"
        if event.event == "ADD":
            if event.id != self.last_id + 1:
                raise Conflict(f"memory {event.id} {told} cannot be added after {self.last_id}")
            return
        current = self._current.get(event.id)
        if current is None:
            if not self._is_restored_by(event):
                raise Conflict(f"memory {event.id} {told} is not there to be changed")
        elif event.status == "historic" and event.timestamp >= current.told_at:
            raise Conflict(f"event {event.sequence} {told} is not older than what it joins")

    def _is_restored_by(self, event: MemoryEvent) -> bool:
        """Whether an event makes a text of a forgotten memory current again: only a command can ask for that."""
        return (
            event.event == "UPDATE"
            and event.status == "current"
            and event.by_command
            and any(row.event.text == event.text for row in self._versions.get(event.id, ()))
        )

    def _note(self, event: MemoryEvent) -> None:
        self.sequence = max(self.sequence, event.sequence)
        self.last_id = max(self.last_id, event.id)
        self._event_ids.add(event.event_id)
        if event.by_command and event.command_id is not None:
            self._obeyed.add(event.command_id)
        if event.id:
            self._sources.setdefault(event.id, {}).update(dict.fromkeys(event.source_turn_ids))
            for turn_id in event.source_turn_ids:
                self._told_in.setdefault(turn_id, set()).add(event.id)

    def _keep(self, row: MemoryRow) -> None:
        memory_id = row.event.id
        versions = self._versions.setdefault(memory_id, [])
        if row.event.fact_id is not None:
            self._told_by[row.event.fact_id] = memory_id
        if row.status == "deleted":  # it says the text that it retired
            gone = [version.event for version in versions if version.event.text == row.event.text]
            self.retired[memory_id] = Retired(gone[-1], row.told_at)
        for index, known in enumerate(versions):
            if known.event.event_id == row.event.event_id:
                versions[index] = row
                break
        else:
            versions.append(row)
        if row.status == "current":
            self._current[memory_id] = row
            self.retired.pop(memory_id, None)
        elif (held := self._current.get(memory_id)) and held.event.event_id == row.event.event_id:
            del self._current[memory_id]


def fold(changes: Iterable[Change]) -> dict[str, MemoryRow]:
    """All rows of one scope after its events, by event id: what a rebuild writes."""
    memory, rows = ScopeMemory(), dict[str, MemoryRow]()
    for change in changes:
        rows.update((row.event.event_id, row) for row in memory.apply(change))
    return rows


def as_known(rows: Iterable[MemoryRow], moment: datetime) -> list[MemoryRow]:
    """A scope's rows as they were when only what was recorded up to a moment was known, in sequence.

    What closed a version, or cut it short, may have been learned later: so the events known by then are folded again.

    Args:
        rows: All of the scope, in any order.
        moment: Recording time. What was imported with an early one counts as known from then on.
    """
    known: dict[str, MemoryRow] = {}
    by_memory: dict[int, dict[str, MemoryRow]] = {}
    for row in sorted(rows, key=lambda row: row.event.sequence):
        event = row.event
        if event.recorded_at > moment:
            continue
        versions = by_memory.setdefault(event.id, {})
        new, closed = _effect(Change(event, row.record_id, row.facts_offset, row.vector), tuple(versions.values()))
        then = {one.event.event_id: one for one in (new, *closed)}
        known.update(then)
        versions.update((key, one) for key, one in then.items() if one.status != "none")
    return list(known.values())


def _effect(change: Change, versions: Sequence[MemoryRow]) -> tuple[MemoryRow, tuple[MemoryRow, ...]]:
    """The row that an event makes, and those that it closes or cuts short.

    Args:
        change: The event.
        versions: All of its memory before it. Where some were left out, what it names may not be there.
    """
    event = change.event
    if event.event == "NONE":
        return _row(change, "none", valid_to=event.timestamp), ()
    current = next((row for row in reversed(versions) if row.status == "current"), None)
    if event.event == "DELETE":
        return _row(change, "deleted", valid_to=event.timestamp), _closed(event, current, versions)
    if event.status == "historic" and current is not None and event.timestamp < current.told_at:
        return _late(change, versions)
    return _row(change, "current"), _closed(event, current, versions)


def _late(change: Change, versions: Sequence[MemoryRow]) -> tuple[MemoryRow, tuple[MemoryRow, ...]]:
    """An older statement that came late joins the history between the versions around its event time."""
    event = change.event
    held = [row for row in versions if row.held_at(event.timestamp)]
    later = [row for row in versions if row.valid_from > event.timestamp and _holds_at_all(row)]
    ends = [row.valid_from for row in later] + [row.valid_to for row in held if row.valid_to is not None]
    new = _row(change, "historic", valid_to=min(ends), superseded_at=event.recorded_at)
    return new, tuple(replace(row, valid_to=event.timestamp, touched=event.sequence) for row in held)


def _holds_at_all(row: MemoryRow) -> bool:
    return row.status in FOUND_BY_SEARCH and (row.valid_to is None or row.valid_from < row.valid_to)


def _closed(event: MemoryEvent, current: MemoryRow | None, versions: Sequence[MemoryRow]) -> tuple[MemoryRow, ...]:
    """What no longer holds from the event on: the current version, and what held later than the event says."""
    if current is None:
        return ()
    ended = replace(
        current,
        status="superseded",
        valid_to=max(event.timestamp, current.valid_from),
        superseded_at=event.recorded_at,
        touched=event.sequence,
    )
    if event.timestamp >= current.valid_from:
        return (ended,)
    cut = (
        replace(row, valid_to=max(event.timestamp, row.valid_from), touched=event.sequence)
        for row in versions
        if row.valid_to is not None and row.valid_to > event.timestamp and _holds_at_all(row)
    )
    return (ended, *cut)


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
