"""Stories of one scope: any order of what can be told and commanded, as a writer tells it event by event."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from lakehouse import memory_table
from lakehouse.versions import Change, MemoryRow, ScopeMemory
from schemas.commands import Command
from schemas.conversation import Scope
from schemas.facts import CommandRecord, Extraction, Source
from schemas.memory import MemoryEvent
from streams.changing import change_by, named

GOLDEN = Path(__file__).parents[1] / "data" / "golden" / "memory-event.v1.json"
EVENT = MemoryEvent.decode(GOLDEN.read_bytes())
START = datetime(2025, 1, 1, tzinfo=UTC)
DIMENSION = 4
SOURCE = Source(topic="commands", partition=0, offset=0)
NOTHING_TOLD = Extraction(extractor="none")
EVENTS = ("ADD", "UPDATE", "UPDATE", "DELETE", "NONE", "forget", "restore", "restore", "feedback")


@dataclass(frozen=True)
class Told:
    """One step of a story: what is told or commanded, of which memory, at which minute of event time."""

    event: str
    which: int
    minute: int


STORIES = st.lists(
    st.builds(Told, st.sampled_from(EVENTS), st.integers(0, 3), st.integers(0, 12)), min_size=1, max_size=25
)


def changes_of(story: Sequence[Told], scope: Scope = EVENT.scope) -> list[Change]:
    """The story as a writer tells it: what is impossible becomes an ADD, what is late joins the history."""
    memory, changes = ScopeMemory(), list[Change]()
    for told in story:
        changes.append(_change(told, memory, scope))
        memory.apply(changes[-1])
    return changes


def _change(told: Told, memory: ScopeMemory, scope: Scope) -> Change:
    if told.event in {"forget", "restore", "feedback"} and memory.last_id:
        return _by_command(told, memory, scope)
    return _by_fact(told, memory, scope)


def command_of(scope: Scope, number: int, **fields: Any) -> CommandRecord:
    """The ``number``-th thing that happens to a scope is a command."""
    command = Command(command_id=f"command-{number}", scope=scope, **fields)
    moment = START + timedelta(days=1, seconds=number)
    return CommandRecord(
        record_id=f"record-{number}", recorded_at=moment, source=SOURCE, command=command, extraction=NOTHING_TOLD
    )


def _by_command(told: Told, memory: ScopeMemory, scope: Scope) -> Change:
    memory_id = 1 + told.which % memory.last_id
    named_by = {"helpful": (memory_id,)} if told.event == "feedback" else {"id": memory_id}
    fields: dict[str, Any] = {"op": told.event, "timestamp": START + timedelta(minutes=told.minute), **named_by}
    if told.event == "restore" and told.minute % 3:
        fields["revision"] = 1 + told.minute % len(memory.history(memory_id))
    record = command_of(scope, memory.sequence + 1, **fields)
    assert named(record, memory) == (memory_id,)
    return change_by(record, memory_id, memory, memory.sequence + 1)


def _by_fact(told: Told, memory: ScopeMemory, scope: Scope) -> Change:
    moment, sequence = START + timedelta(minutes=told.minute), memory.sequence + 1
    live = sorted(row.event.id for row in memory.current)
    kind = told.event if (live and told.event.isupper()) or told.event == "NONE" else "ADD"
    target = memory.current_of(live[told.which % len(live)]) if live and kind != "ADD" else None
    late = target is not None and moment < target.told_at
    if late and kind == "DELETE":
        kind = "NONE"
    made: dict[str, Any] = {
        "event_id": f"{scope.key}-{sequence}",
        "scope": scope,
        "sequence": sequence,
        "event": kind,
        "id": memory.last_id + 1 if kind == "ADD" else target.event.id if target else 0,
        "revision": None if kind == "NONE" else 1 if target is None else len(memory.history(target.event.id)) + 1,
        "text": target.event.text if target and kind in {"NONE", "DELETE"} else f"text {sequence}",
        "old_memory": target.event.text if target and kind in {"UPDATE", "DELETE"} else None,
        "status": "historic" if late and kind == "UPDATE" else "current",
        "subject": EVENT.subject if told.which else None,
        "fact_id": f"fact-{sequence}",
        "source_turn_ids": (f"turn-{sequence}", f"turn-{told.which}"),
        "timestamp": moment,
        "recorded_at": START + timedelta(days=1, seconds=sequence),
    }
    vector = np.zeros(DIMENSION, dtype=np.float32)
    vector[sequence % DIMENSION] = 1
    return Change(EVENT.model_copy(update=made), f"record-{sequence}", sequence, vector)


def read_back(rows: list[MemoryRow]) -> list[MemoryRow]:
    return [memory_table.from_columns(told) for told in memory_table.to_table(rows, DIMENSION).to_pylist()]


def told(rows: list[MemoryRow]) -> list[MemoryRow]:
    return [row for row in rows if row.status != "none"]


def by_memory(rows: Any) -> dict[int, list[MemoryRow]]:
    found: dict[int, list[MemoryRow]] = {}
    for row in rows:
        if row.status != "none":
            found.setdefault(row.event.id, []).append(row)
    return found


def snapshot(memory: ScopeMemory) -> tuple[Any, ...]:
    histories = {memory_id: memory.history(memory_id) for memory_id in range(1, memory.last_id + 1)}
    turns = {turn: memory.told_in(turn) for memory_id in histories for turn in memory.sources(memory_id)}
    current = {row.event.id: row for row in memory.current}
    return memory.sequence, memory.last_id, histories, current, memory.retired, turns
