"""``turns_NNNN``: the masked inputs with what was understood of them, and how they become columns.

Rule of this file: columns only. A turn is an *episode*: evidence for citations and context for the next turns; one
that told what was forgotten is out of search (see ``episodes``). A command is kept here too, so that a redelivered one
finds what it was read as, and that it changed nothing; no search reads it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from lakehouse import keywords
from lakehouse.memory_table import checked
from schemas.facts import CommandRecord, TurnRecord

KEY = "record_id"
EPISODE, FORGOTTEN = "episode", "forgotten"
"""Of a turn: found by search, or not. Both are context for the turns after it."""
COMMAND, IDLE = "command", "idle"
"""Of a command: taken in, or carried out without an event, since there was nothing that it could change."""
TURNS = (EPISODE, FORGOTTEN)

ANSWERS = (
    KEY,
    "status",
    "session_id",
    "turn_id",
    "role",
    "name",
    "text",
    "language",
    "facts",
    "timestamp",
    "source_offset",
    "touched",
    "record",
    "keywords",
)
"""Columns that search asks of a row, but for its vector."""

_TIME = pa.timestamp("us", tz="UTC")


@dataclass(frozen=True)
class InputRow:
    """A record as it is taken in, with its vector; commands have none, and may be known to be idle."""

    record: TurnRecord | CommandRecord
    vector: Any = field(default=None, compare=False, repr=False)
    idle: bool = False


def table_name(partition: int) -> str:
    """``turns_0007``."""
    return f"turns_{partition:04}"


def schema(dimension: int) -> pa.Schema:
    """The table's columns.

    Args:
        dimension: Length of a vector.
    """
    return pa.schema(
        [
            pa.field(KEY, pa.string(), nullable=False),
            pa.field("scope", pa.string(), nullable=False),
            pa.field("status", pa.string()),
            pa.field("session_id", pa.string()),
            pa.field("turn_id", pa.string()),
            pa.field("role", pa.string()),
            pa.field("name", pa.string()),
            pa.field("text", pa.string()),
            pa.field("language", pa.string()),
            pa.field("facts", pa.int64()),
            pa.field("timestamp", _TIME),
            pa.field("recorded_at", _TIME),
            pa.field("topic", pa.string()),
            pa.field("source_offset", pa.int64()),
            pa.field("touched", pa.int64()),
            pa.field("record", pa.string()),
            pa.field("keywords", pa.string()),
            pa.field("vector", pa.list_(pa.float32(), dimension)),
        ]
    )


def to_table(rows: Sequence[InputRow], dimension: int) -> pa.Table:
    """Rows as an Arrow table.

    Raises:
        Unavailable: A vector is no unit vector of the right length.
    """
    return of_columns([_columns(row, dimension) for row in rows], dimension)


def of_columns(rows: Sequence[dict[str, Any]], dimension: int) -> pa.Table:
    """Rows that are columns already as an Arrow table."""
    return pa.Table.from_pylist(rows, schema=schema(dimension))


def _columns(row: InputRow, dimension: int) -> dict[str, Any]:
    record = row.record
    told = {
        KEY: record.record_id,
        "recorded_at": record.recorded_at,
        "topic": record.source.topic,
        "source_offset": record.source.offset,
        "touched": int(row.idle),  # what events do to it counts from 1, by their sequence
        "record": record.encode().decode(),
    }
    if isinstance(record, CommandRecord):
        return told | {"scope": record.scope.key if record.scope else "", "status": IDLE if row.idle else COMMAND}
    turn = record.turn
    return told | {
        "scope": turn.scope.key,
        "status": EPISODE,
        "session_id": turn.session_id,
        "turn_id": turn.turn_id,
        "role": turn.role,
        "name": turn.name,
        "text": turn.content,
        "language": facts[0].language if (facts := record.extraction.facts) else "und",
        "facts": len(facts),
        "timestamp": turn.timestamp,
        "keywords": " ".join(keywords.index_terms(turn.content)) if row.vector is not None else None,
        "vector": None if row.vector is None else checked(row.vector, dimension),
    }


def from_columns(told: Mapping[str, Any]) -> TurnRecord | CommandRecord:
    """The record that a row holds."""
    kind = TurnRecord if told["status"] in TURNS else CommandRecord
    return kind.from_wire(json.loads(told["record"]))
