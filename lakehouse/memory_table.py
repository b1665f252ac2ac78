"""``memories_NNNN``: one row per event, and how a row becomes columns and comes back.

Rule of this file: columns only; what a row means is in ``versions``. The event stands in the row twice: whole in
``payload``, which is what we read (one column is far cheaper than forty, and it comes back to the last byte), and field
by field, which is what filters and other programs read. Both are written in the same breath.
"""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from lancedb.expr import Expr, col, lit

from lakehouse import keywords, tables
from lakehouse.versions import ROW_COLUMNS, MemoryRow
from schemas.errors import Unavailable
from schemas.identity import scope_key
from schemas.memory import MemoryEvent

KEY = "event_id"
NORM_TOLERANCE = 1e-3

_TIME = pa.timestamp("us", tz="UTC")
_TEXT = pa.list_(pa.field("item", pa.string(), nullable=False))
_EVENT_COLUMNS: tuple[tuple[str, pa.DataType], ...] = (
    ("sequence", pa.int64()),
    ("id", pa.int64()),
    ("revision", pa.int64()),
    ("event", pa.string()),
    ("text", pa.string()),
    ("old_memory", pa.string()),
    ("tags", _TEXT),
    ("confidence", pa.float64()),
    ("reasoning", pa.string()),
    ("importance", pa.int64()),
    ("domain", pa.string()),
    ("code_pattern", pa.string()),
    ("quality_source", pa.string()),
    ("source_session_id", pa.string()),
    ("timestamp", _TIME),
    ("recorded_at", _TIME),
    ("fact_id", pa.string()),
    ("command_id", pa.string()),
    ("source_turn_ids", _TEXT),
    ("agent_id", pa.string()),
    ("role", pa.string()),
    ("subject", pa.string()),
    ("attribute", pa.string()),
    ("value", pa.string()),
    ("polarity", pa.string()),
    ("mood", pa.string()),
    ("language", pa.string()),
    ("embedder", pa.string()),
)
READ = ("payload", *ROW_COLUMNS)
"""Columns that make a row, but for its vector."""
ANSWERS = (
    *READ,
    KEY,
    "id",
    "text",
    "sequence",
    "subject",
    "language",
    "source_session_id",
    "source_turn_ids",
    "keywords",
)
"""Columns that search asks of a row, but for its vector."""


def table_name(partition: int) -> str:
    """``memories_0007``."""
    return f"memories_{partition:04}"


def schema(dimension: int) -> pa.Schema:
    """The table's columns.

    Args:
        dimension: Length of a vector.
    """
    return pa.schema(
        [
            pa.field(KEY, pa.string(), nullable=False),
            pa.field("scope", pa.string(), nullable=False),
            pa.field("project_id", pa.string()),
            pa.field("user_id", pa.string()),
            *(pa.field(name, kind) for name, kind in _EVENT_COLUMNS),
            pa.field("metadata", pa.string()),
            pa.field("decision", pa.string()),
            pa.field("payload", pa.string()),
            pa.field("record_id", pa.string()),
            pa.field("facts_offset", pa.int64()),
            pa.field("status", pa.string()),
            pa.field("valid_from", _TIME),
            pa.field("valid_to", _TIME),
            pa.field("superseded_at", _TIME),
            pa.field("touched", pa.int64()),
            pa.field("tag_line", pa.string()),
            pa.field("keywords", pa.string()),
            pa.field("vector", pa.list_(pa.float32(), dimension)),
        ]
    )


def to_table(rows: Sequence[MemoryRow], dimension: int) -> pa.Table:
    """Rows as an Arrow table.

    Raises:
        Unavailable: A vector has another length, is not finite or no unit vector: the embedder is at fault.
    """
    return pa.Table.from_pylist([_columns(row, dimension) for row in rows], schema=schema(dimension))


def _columns(row: MemoryRow, dimension: int) -> dict[str, Any]:
    event = row.event
    told = {name: getattr(event, name) for name, _ in _EVENT_COLUMNS}
    return told | {
        KEY: event.event_id,
        "scope": event.scope.key,
        "project_id": event.scope.project_id,
        "user_id": event.scope.user_id,
        "metadata": None if event.metadata is None else json.dumps(event.metadata, ensure_ascii=False),
        "decision": json.dumps(event.decision.to_wire(), ensure_ascii=False),
        "payload": event.encode().decode(),
        "tag_line": _tag_line(event.tags),
        "keywords": " ".join(keywords.index_terms(event.text)) if row.vector is not None else None,
        "vector": None if row.vector is None else checked(row.vector, dimension),
        **{name: getattr(row, name) for name in ROW_COLUMNS},
    }


def _tag_line(tags: Sequence[str]) -> str:
    """Tags as one text to search in: LanceDB has no typed condition on lists. As JSON, no tag holds a line end."""
    return "".join(f"\n{json.dumps(tag, ensure_ascii=False)}\n" for tag in tags)


def has_tag(tag: str) -> Expr:
    """The memory has this tag."""
    return col("tag_line").contains(lit(_tag_line((tag,))))


def has_feedback() -> Expr:
    """The metadata may hold feedback; whether they do is for the event to say."""
    return col("metadata").contains(lit('"feedback"'))


def checked(vector: Any, dimension: int) -> Any:
    """The vector, if it is one.

    Raises:
        Unavailable: It has another length, is not finite, or its norm is not 1.
    """
    array = np.asarray(vector, dtype=np.float32)
    if array.shape != (dimension,) or not math.isclose(float(np.linalg.norm(array)), 1.0, abs_tol=NORM_TOLERANCE):
        raise Unavailable(f"the embedder gave no unit vector of {dimension} numbers")
    return array


def from_columns(told: Mapping[str, Any]) -> MemoryRow:
    """A row of the table, read by its ``READ`` columns, as a version; its vector only where it was read."""
    vector = told.get("vector")
    return MemoryRow(
        event=MemoryEvent.decode(told["payload"]),
        vector=None if vector is None else np.asarray(vector, dtype=np.float32),
        **{name: told[name] for name in ROW_COLUMNS},
    )


def in_scope(project_id: str, user_id: str) -> Expr:
    """The condition that every read carries: a scope never sees another."""
    return tables.equals("scope", scope_key(project_id, user_id))
