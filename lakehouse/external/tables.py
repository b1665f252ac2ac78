"""The tables of external knowledge: their columns.

Rule of this file: columns only, and the one way in which rows are written; what a row means is in ``events``. Each row
that can change has ``touched``, the number of its writes: a writer who did not see the last of them changes nothing,
and is told so.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from lancedb.index import BTree

from lakehouse import keywords, tables
from lakehouse.external.events import DocumentRow, FindingRow, Happening, PageRow, Stamp
from lakehouse.memory_table import checked
from schemas.errors import Conflict
from schemas.knowledge import Deprecation, Document, Lookup, PageState

DOCUMENTS, PAGES, INVENTORIES = "documents", "pages", "inventories"
DEPRECATIONS, ACCESSES, HAPPENINGS = "deprecations", "accesses", "happenings"
PROGRESS = "progress"
KEY = "id"

_TIME = pa.timestamp("us", tz="UTC")
_TOUCHED = pa.field("touched", pa.int64())
_STAMPED = (pa.field("told_at", _TIME), pa.field("told_by", pa.string()))
_ID = pa.field(KEY, pa.string(), nullable=False)
_TOLD_TEXTS = ("source", "project", "version", "role", "name", "title", "summary", "text", "content_hash", "page_url")
_MORE_TEXTS = ("anchor", "category", "language", "licence")
_ROW_TIMES = ("fetched_at", "updated_at", "checked_at", "evicted_at", "last_accessed")
_LOOKUP_TEXTS = ("stage", "outcome", "query", "project", "document_id", "source", "agent")


def documents_schema(dimension: int) -> pa.Schema:
    """Columns of ``documents``.

    Args:
        dimension: Length of a vector.
    """
    return pa.schema(
        [
            _ID,
            *(pa.field(name, pa.string()) for name in (*_TOLD_TEXTS, *_MORE_TEXTS)),
            pa.field("last_name", pa.string()),
            pa.field("trust", pa.float64()),
            pa.field("flags", pa.list_(pa.field("item", pa.string(), nullable=False))),
            pa.field("status", pa.string()),
            *_STAMPED,
            *(pa.field(name, _TIME) for name in _ROW_TIMES),
            pa.field("stale_since", _TIME),
            pa.field("access_count", pa.int64()),
            pa.field("relevance_score", pa.float64()),
            pa.field("scored_at", _TIME),
            pa.field("scored_by", pa.string()),
            _TOUCHED,
            pa.field("keywords", pa.string()),
            pa.field("vector", pa.list_(pa.float32(), dimension)),
        ]
    )


PAGES_SCHEMA = pa.schema(
    [
        _ID,  # the address
        pa.field("source", pa.string()),
        pa.field("project", pa.string()),
        pa.field("negative_until", _TIME),
        pa.field("state", pa.string()),
        *_STAMPED,
        pa.field("held_at", _TIME),
        pa.field("replaced_at", _TIME),
        pa.field("replaced_by", pa.string()),
        _TOUCHED,
    ]
)
INVENTORIES_SCHEMA = pa.schema(
    [_ID, pa.field("state", pa.string()), pa.field("body", pa.binary()), pa.field("kept_at", _TIME), _TOUCHED]
)
DEPRECATIONS_SCHEMA = pa.schema(
    [
        _ID,
        *(pa.field(name, pa.string()) for name in ("source", "project", "symbol", "version", "status")),
        pa.field("finding", pa.string()),
        *_STAMPED,
        _TOUCHED,
    ]
)
ACCESSES_SCHEMA = pa.schema(
    [
        _ID,
        pa.field("at", _TIME),
        *(pa.field(name, pa.string()) for name in _LOOKUP_TEXTS),
        pa.field("milliseconds", pa.float64()),
    ]
)
HAPPENINGS_SCHEMA = pa.schema(
    [
        _ID,
        pa.field("at", _TIME),
        *(pa.field(name, pa.string()) for name in ("action", "source", "url", "reason")),
        pa.field("documents", pa.int64()),
        pa.field("asked", pa.bool_()),
        pa.field("bytes", pa.int64()),
        pa.field("milliseconds", pa.float64()),
    ]
)
PROGRESS_SCHEMA = pa.schema([_ID, pa.field("offset", pa.int64()), _TOUCHED])
SCHEMAS = {
    PAGES: PAGES_SCHEMA,
    INVENTORIES: INVENTORIES_SCHEMA,
    DEPRECATIONS: DEPRECATIONS_SCHEMA,
    ACCESSES: ACCESSES_SCHEMA,
    HAPPENINGS: HAPPENINGS_SCHEMA,
    PROGRESS: PROGRESS_SCHEMA,
}
"""All but ``documents``, whose vectors have a length."""
LOOKED_UP = {DOCUMENTS: (KEY, "last_name", "page_url"), PAGES: (KEY,), DEPRECATIONS: (KEY, "symbol")}
"""Columns that rows are looked up by. An index on a key is safe, as ``write`` does not use it."""
ROW_COLUMNS = tuple(
    name
    for name in documents_schema(1).names
    if name not in {"last_name", "touched", "stale_since", "keywords", "vector"}
)
"""Columns that make a row of ``documents``, but for its vector."""


def last_name(symbol: str) -> str:
    """What stands after a symbol's last point: all that may be asked for by the end of a name have it in common."""
    return symbol.rpartition(".")[2]


def document_columns(row: DocumentRow, vector: Any, dimension: int) -> dict[str, Any]:
    """A row of ``documents``; ``touched`` is its writer's.

    Raises:
        Unavailable: The vector is no unit vector of the right length.
    """
    told, is_live = row.document, row.status == "live"
    return {name: getattr(told, name) for name in (*_TOLD_TEXTS, *_MORE_TEXTS)} | {
        KEY: told.id,
        "last_name": last_name(told.name),
        "trust": told.trust,
        "flags": list(told.flags),
        "status": row.status,
        **_stamp("told", row.told),
        **{name: getattr(row, name) for name in _ROW_TIMES},
        "stale_since": row.stale_since,
        "access_count": row.access_count,
        "relevance_score": row.relevance_score,
        **_stamp("scored", row.scored),
        "keywords": " ".join(keywords.index_terms(f"{told.name}\n{told.title}\n{told.summary}")) if is_live else None,
        "vector": checked(vector, dimension) if is_live and vector is not None else None,
    }


def document_row(told: Mapping[str, Any]) -> DocumentRow:
    """A row of ``documents`` as it was folded, read by its ``ROW_COLUMNS``."""
    texts = {name: told[name] for name in (*_TOLD_TEXTS, *_MORE_TEXTS)}
    stamp = _stamp_of("told", told)
    assert stamp is not None
    return DocumentRow(
        document=Document(id=told[KEY], trust=told["trust"], flags=tuple(told["flags"]), **texts),
        told=stamp,
        status=told["status"],
        access_count=told["access_count"],
        relevance_score=told["relevance_score"],
        scored=_stamp_of("scored", told),
        **{name: told[name] for name in _ROW_TIMES},
    )


def page_columns(row: PageRow) -> dict[str, Any]:
    """A row of ``pages``."""
    state = row.state
    return {
        KEY: state.url,
        "source": state.source,
        "project": state.project,
        "negative_until": state.negative_until,
        "state": state.model_dump_json(by_alias=True, exclude_none=True),
        **_stamp("told", row.told),
        "held_at": row.held_at,
        **_stamp("replaced", row.replaced),
    }


def page_row(told: Mapping[str, Any]) -> PageRow:
    """A row of ``pages`` as it was folded."""
    stamp = _stamp_of("told", told)
    assert stamp is not None
    return PageRow(page_state(told), stamp, told["held_at"], _stamp_of("replaced", told))


def page_state(told: Mapping[str, Any]) -> PageState:
    """The state that a row of ``pages`` or ``inventories`` holds."""
    return PageState.model_validate_json(told["state"], by_alias=True)


def finding_columns(row: FindingRow) -> dict[str, Any]:
    """A row of ``deprecations``."""
    found = row.finding
    return {name: getattr(found, name) for name in ("project", "symbol", "version", "status")} | {
        KEY: row.id,
        "source": row.source,
        "finding": found.model_dump_json(by_alias=True, exclude_none=True),
        **_stamp("told", row.told),
    }


def finding_row(told: Mapping[str, Any]) -> FindingRow:
    """A row of ``deprecations`` as it was folded."""
    stamp = _stamp_of("told", told)
    assert stamp is not None
    return FindingRow(told["source"], Deprecation.model_validate_json(told["finding"], by_alias=True), stamp)


def access_columns(key: str, lookup: Lookup) -> dict[str, Any]:
    """A row of ``accesses``."""
    return {name: getattr(lookup, name) for name in ("at", *_LOOKUP_TEXTS, "milliseconds")} | {KEY: key}


def access_row(told: Mapping[str, Any]) -> Lookup:
    """The look-up that a row of ``accesses`` holds."""
    return Lookup(**{name: told[name] for name in ("at", *_LOOKUP_TEXTS, "milliseconds")})


def happening_columns(row: Happening) -> dict[str, Any]:
    """A row of ``happenings``."""
    return {name: getattr(row, name) for name in HAPPENINGS_SCHEMA.names}


def happening_row(told: Mapping[str, Any]) -> Happening:
    """The happening that a row of ``happenings`` holds."""
    return Happening(**{name: told[name] for name in HAPPENINGS_SCHEMA.names})


async def create_lookups(table: Any, names: Sequence[str]) -> None:
    """Make the indexes that are not there yet.

    Args:
        table: The table.
        names: Of the columns.
    """
    with tables.lake_errors():
        present = {column for index in await table.list_indices() for column in index.columns}
        for name in names:
            if name not in present:
                await table.create_index(name, config=BTree())


def _stamp(name: str, stamp: Stamp | None) -> dict[str, Any]:
    return {f"{name}_at": stamp.at if stamp else None, f"{name}_by": stamp.by if stamp else None}


def _stamp_of(name: str, told: Mapping[str, Any]) -> Stamp | None:
    return None if told[f"{name}_at"] is None else Stamp(told[f"{name}_at"], told[f"{name}_by"])


async def write(table: Any, rows: Sequence[dict[str, Any]], seen: Mapping[str, int], schema: pa.Schema) -> None:
    """Write rows in one commit, each only over what its writer saw.

    Args:
        table: The table; its key is declared, so that two writers of a new row see each other.
        rows: As columns, each key once.
        seen: ``touched`` of the rows as they were read, by key; a key without one is a new row.
        schema: Of the table.

    Raises:
        Conflict: Another writer was there meanwhile; the rows that it did not touch are written.
    """
    if not rows:
        return
    stamped = [row | {"touched": seen.get(row[KEY], 0) + 1} for row in rows]
    data = pa.Table.from_pylist(stamped, schema=schema)
    with tables.lake_errors():
        done = await (
            table.merge_insert(KEY)
            .when_matched_update_all(where="target.touched < source.touched")
            .when_not_matched_insert_all()
            .use_index(False)  # noqa: FBT003 - LanceDB's own
            .execute(data, on_bad_vectors="null")
        )
    if done.num_updated_rows + done.num_inserted_rows < len(rows):
        raise Conflict(f"{table.name}: another writer was faster")


async def append(table: Any, rows: Sequence[dict[str, Any]], schema: pa.Schema) -> None:
    """Write rows that never change in one commit; those that are there already stay as they are."""
    if not rows:
        return
    data = pa.Table.from_pylist(list({row[KEY]: row for row in rows}.values()), schema=schema)
    with tables.lake_errors():
        await (
            table.merge_insert(KEY)
            .when_not_matched_insert_all()
            .use_index(False)  # noqa: FBT003 - LanceDB's own
            .execute(data)
        )
