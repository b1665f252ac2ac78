"""How the tables of the lake are opened and read: connection, marker, typed filters.

Rule of this file: third-party errors become ours here; columns are in ``memory_table`` and ``turn_table``.
No value is ever pasted into filter text: conditions are typed expressions.
"""

import asyncio
import fcntl
import functools
import itertools
import operator
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import lancedb
import numpy as np
import pyarrow as pa
from lancedb.expr import Expr, col, lit
from lancedb.index import FTS, Bitmap

from lakehouse import keywords
from schemas.errors import Misconfigured, Unavailable

Item = TypeVar("Item")
LAYOUT = 2
"""Version of the tables' columns. A lake of a newer one is refused, never dropped."""
MARKER = "lake"
CACHE_BYTES = 64 * 1024 * 1024
"""Each of LanceDB's two caches: of indexes and of metadata."""
PAGE = 5000
"""Rows read at once where a whole table is read."""
KEYS_A_READ = 500
"""Keys in one condition; more are read in several goes."""

_MARKER_SCHEMA = pa.schema(
    [
        pa.field("layout", pa.int64(), nullable=False),
        pa.field("partitions", pa.int64(), nullable=False),
        pa.field("embedder", pa.string(), nullable=False),
        pa.field("dimension", pa.int64(), nullable=False),
        pa.field("keywords", pa.string(), nullable=False),
    ]
)


@dataclass(frozen=True)
class LakeShape:
    """What a lake was made for. Rows of two embedders are never compared, so a lake has one."""

    partitions: int
    embedder: str
    dimension: int


@contextmanager
def lake_errors() -> Iterator[None]:
    """Turn LanceDB's errors, disk and network faults into ``Unavailable``: they are the environment's.

    Bad rows never get that far: they are checked before they are written.
    """
    try:
        yield
    except (OSError, RuntimeError) as error:
        raise Unavailable(f"the lake cannot be used just now: {_first_line(error)}") from error
    except ValueError as error:
        if "not found" not in str(error):
            raise
        raise Unavailable(f"the lake is not where it was: {_first_line(error)}") from error


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0][:300]


def batched(items: Iterable[Item], size: int) -> Iterator[tuple[Item, ...]]:
    """The items in their order, so many at once."""
    iterator = iter(items)
    while some := tuple(itertools.islice(iterator, size)):
        yield some


async def connect(uri: str) -> Any:
    """Connect to a lake; reads see every commit at once.

    Args:
        uri: A folder or an object-store URI.
    """
    with lake_errors():
        return await lancedb.connect_async(
            uri,
            read_consistency_interval=timedelta(0),
            session=lancedb.Session(index_cache_size_bytes=CACHE_BYTES, metadata_cache_size_bytes=CACHE_BYTES),
        )


def require_present(uri: str) -> None:
    """Refuse to read or write where a local lake has gone.

    LanceDB would answer from an emptied folder as if nothing had ever been known, and write into it.

    Raises:
        Unavailable: The marker is not there.
    """
    folder = local_folder(uri)
    if folder is not None and not (folder / f"{MARKER}.lance").is_dir():
        raise Unavailable(f"the lake is not where it was: {folder}")


def local_folder(uri: str) -> Path | None:
    """The folder of a local lake; None for an object store."""
    if uri.startswith("file://"):
        return Path(uri.removeprefix("file://"))
    return None if "://" in uri else Path(uri)


async def read_shape(connection: Any) -> LakeShape | None:
    """What the lake was made for; None where there is none yet.

    Raises:
        Misconfigured: It was made by a newer memlake, or with another recipe of keywords.
    """
    try:
        with lake_errors():
            rows = await (await connection.open_table(MARKER)).query().to_list()
    except Unavailable as error:
        if isinstance(error.__cause__, ValueError):  # LanceDB's "not found"
            return None
        raise
    if not rows:
        return None
    row = rows[0]
    if row["layout"] > LAYOUT:
        raise Misconfigured(f"the lake has layout {row['layout']}, this memlake knows {LAYOUT}: upgrade memlake")
    if row["layout"] < LAYOUT:
        raise Misconfigured(f"the lake has layout {row['layout']}, this memlake writes {LAYOUT}: rebuild it")
    if row["keywords"] != keywords.RECIPE:
        raise Misconfigured(f"the lake's words are of recipe {row['keywords']}, not {keywords.RECIPE}: rebuild it")
    return LakeShape(row["partitions"], row["embedder"], row["dimension"])


def require_shape(found: LakeShape, wanted: LakeShape) -> None:
    """Refuse a lake that was made for something else.

    Raises:
        Misconfigured: Naming both, and the remedy.
    """
    if found.partitions != wanted.partitions:
        raise Misconfigured(
            f"the lake has {found.partitions} shards and MEMLAKE_PARTITIONS is {wanted.partitions}: set it back, or "
            "choose another MEMLAKE_NAME and fill it by a replay"
        )
    if (found.embedder, found.dimension) != (wanted.embedder, wanted.dimension):
        raise Misconfigured(
            f"the lake was embedded by {found.embedder} and MEMLAKE_EMBEDDER gives {wanted.embedder}: vectors of two "
            "models are never mixed; set it back, or rebuild the lake with the new one"
        )


async def write_shape(connection: Any, shape: LakeShape) -> None:
    """Mark a new lake."""
    row = {
        "layout": LAYOUT,
        "partitions": shape.partitions,
        "embedder": shape.embedder,
        "dimension": shape.dimension,
        "keywords": keywords.RECIPE,
    }
    with lake_errors():
        table = await connection.create_table(MARKER, schema=_MARKER_SCHEMA, exist_ok=True)
        await table.add(pa.Table.from_pylist([row], schema=_MARKER_SCHEMA))


async def create_table(connection: Any, name: str, schema: pa.Schema, key: str, bitmaps: Sequence[str]) -> None:
    """Make a table with its primary key and indexes, or complete one that a crash left half made.

    The key gets no index: ``merge_insert`` of two writers then sees each other's new rows.
    """
    with lake_errors():
        table = await _opened_or_new(connection, name, schema)
        if not (await table.schema()).field(key).metadata:  # it holds the declaration
            await table.set_unenforced_primary_key(key)
        present = {column for index in await table.list_indices() for column in index.columns}
        for column in bitmaps:
            if column not in present:
                await table.create_index(column, config=Bitmap())
        if "keywords" in schema.names and "keywords" not in present:
            await table.create_index("keywords", config=words_index())


async def _opened_or_new(connection: Any, name: str, schema: pa.Schema) -> Any:
    """The table; LanceDB's own ``exist_ok`` refuses one whose key was declared meanwhile."""
    try:
        return await connection.open_table(name)
    except ValueError as error:
        if "not found" not in str(error):
            raise
    try:
        return await connection.create_table(name, schema=schema)
    except ValueError as error:
        if "already exists" not in str(error):
            raise
    return await connection.open_table(name)  # another process was faster


def words_index() -> FTS:
    """The keyword index: the words are cut by ``keywords`` already, so it only splits at blanks."""
    return FTS(
        base_tokenizer="whitespace",
        max_token_length=4 * keywords.MAX_TERM + 1,  # in bytes, and tokens must be shorter
        lower_case=False,
        stem=False,
        remove_stop_words=False,
        ascii_folding=False,
        with_position=False,
    )


@asynccontextmanager
async def making(uri: str) -> AsyncIterator[None]:
    """Only one process at a time makes tables in a local lake; an object store has conditional writes instead."""
    folder = local_folder(uri)
    if folder is None:
        yield
        return
    with lake_errors():
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / ".making").open("w")
    with lock:
        await asyncio.get_running_loop().run_in_executor(None, fcntl.flock, lock, fcntl.LOCK_EX)
        yield


def matrix(vectors: pa.ChunkedArray, dimension: int) -> Any:
    """A column of vectors as an array (rows x dimension); zeros where there is none."""
    found = np.zeros((len(vectors), dimension), dtype=np.float32)
    there = vectors.is_valid().to_numpy()
    found[there] = vectors.drop_null().combine_chunks().flatten().to_numpy(zero_copy_only=False).reshape(-1, dimension)
    return found


async def merge(table: Any, key: str, rows: pa.Table) -> None:
    """Write new rows and newer versions of old ones in one commit; a stale overwrite changes nothing.

    Args:
        table: The table; it has a column ``touched``.
        key: Its primary key. Two rows with one key must not be given.
        rows: In the table's schema. Vectors were checked; a null one stays null.
    """
    with lake_errors():
        await (
            table.merge_insert(key)
            .when_matched_update_all(where="target.touched < source.touched")
            .when_not_matched_insert_all()
            .use_index(False)  # noqa: FBT003 - LanceDB's own
            .execute(rows, on_bad_vectors="null")
        )


def all_of(conditions: Iterable[Expr]) -> Expr:
    """Every condition holds; there must be one."""
    return functools.reduce(operator.and_, conditions)


def any_of(conditions: Iterable[Expr]) -> Expr:
    """At least one condition holds; there must be one."""
    return functools.reduce(operator.or_, conditions)


def equals(column: str, value: Any) -> Expr:
    """The column has this value."""
    return col(column) == lit(value)


def one_of(column: str, values: Sequence[Any]) -> Expr:
    """The column has one of these values; there must be one."""
    return col(column).isin([lit(value) for value in values])
