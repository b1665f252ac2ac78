"""The indexes of the scopes that were asked last, never older than the tables.

Rule of this file: an index is a fold of a table's rows. Before each use the table's version is read; where it has
moved, whoever moved it, only the rows of the scope that changed since are read. So an answer sees every commit before
it, and no writer has to tell anybody.

Theory of operation: ``touched`` is the sequence of the event that last changed a row, and a turn has its offset in the
inbox. Both only grow within a scope, so "changed since" is a condition on them. A row that is no longer current leaves
the index, and one that is read twice changes nothing.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from lancedb.expr import Expr, col, lit

from lakehouse import tables, turn_table
from lakehouse.retrieval.feedback import Judged, judged_by
from lakehouse.retrieval.items import ITEM, KEY
from lakehouse.retrieval.scope_index import ScopeIndex
from lakehouse.store import Shard
from schemas.conversation import Scope
from schemas.retrieval import Kind

MOST_ROWS: Final = 20_000
"""Of one scope and kind that are kept in memory; a larger one is searched in its table."""
STATUS: Final[dict[Kind, str]] = {"knowledge": "current", "episode": turn_table.EPISODE}
"""Of the rows that a plain question is about."""


@dataclass
class _Kept:
    """An index with how far it has followed its table."""

    index: ScopeIndex
    version: int = -1
    touched: int = -1
    offset: int = -1
    large: bool = False
    said: tuple[Judged, ...] | None = None
    """What was said of its memories as results; None where that must be read again."""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def position(self) -> Hashable:
        """Equal where the scope's rows are the same."""
        return (self.version,) if self.large else (self.touched, self.offset)

    def take(self, kind: Kind, columns: Mapping[str, Any], vector: Any) -> None:
        """Follow one row."""
        self.touched = max(self.touched, columns["touched"])
        if kind == "episode":
            self.offset = max(self.offset, columns["source_offset"])
        elif columns["status"] == "none" and '"feedback"' in columns["payload"]:
            self.said = None
        if columns["status"] == STATUS[kind]:
            self.index.put(ITEM[kind](columns), vector)
        else:
            self.index.drop(columns[KEY[kind]])


class Catalogue:
    """Indexes by scope and kind, within a bound of rows. For one event loop."""

    def __init__(self, dimension: int, max_rows: int, *, most_rows: int = MOST_ROWS) -> None:
        """Make an empty catalogue.

        Args:
            dimension: Length of a vector.
            max_rows: Rows kept in all; what was asked longest ago goes first.
            most_rows: See ``MOST_ROWS``.
        """
        self._dimension = dimension
        self._max_rows = max_rows
        self._most_rows = most_rows
        self._kept: OrderedDict[tuple[str, Kind], _Kept] = OrderedDict()

    async def index(self, shard: Shard, scope: Scope, kind: Kind) -> tuple[ScopeIndex | None, Hashable]:
        """What may answer now in a scope, and its position: two equal positions hold the same rows.

        Returns:
            No index where the scope is too large to be kept.

        Raises:
            Unavailable: The lake cannot be read.
        """
        kept = self._kept.setdefault((scope.key, kind), _Kept(ScopeIndex(self._dimension)))
        self._kept.move_to_end((scope.key, kind))
        async with kept.lock:
            version = await shard.version(kind)
            if version != kept.version:
                await self._follow(kept, shard, scope, kind)
                kept.version = version  # rows may be newer than that: they are then read once more
        self._shrink()
        return None if kept.large else kept.index, kept.position

    def position(self, scope: Scope, kinds: Iterable[Kind]) -> Hashable:
        """What these indexes have followed, as they were last looked at."""
        kept = (self._kept.get((scope.key, kind)) for kind in kinds)
        return tuple(one and one.position for one in kept)

    async def feedback(self, shard: Shard, scope: Scope) -> tuple[Judged, ...]:
        """What was said of a scope's memories as results, as of when its memories were last looked at."""
        kept = self._kept.get((scope.key, "knowledge"))
        if kept is None or kept.large or kept.said is None:
            said = tuple(judged_by(await shard.feedback(scope)))
            if kept is None:
                return said
            kept.said = said
        return kept.said

    def clear(self) -> None:
        """Forget everything: the tables may be others."""
        self._kept.clear()

    async def _follow(self, kept: _Kept, shard: Shard, scope: Scope, kind: Kind) -> None:
        if kept.large:
            return
        room = self._most_rows - len(kept.index) + 1
        rows, vectors = await shard.rows_of(scope, kind, _changed(kept, kind), room)
        if len(rows) == room:
            kept.index, kept.large = ScopeIndex(self._dimension), True
            return
        for columns, vector in zip(rows, vectors, strict=True):
            kept.take(kind, columns, vector)

    def _shrink(self) -> None:
        total = sum(len(kept.index) for kept in self._kept.values())
        while total > self._max_rows and len(self._kept) > 1:
            _, gone = self._kept.popitem(last=False)
            total -= len(gone.index)


def _changed(kept: _Kept, kind: Kind) -> Expr:
    """What a row must be to be read: at first what holds now, then whatever changed since."""
    if kept.version < 0:
        return tables.equals("status", STATUS[kind])
    if kind == "knowledge":
        return col("touched") > lit(kept.touched)
    turns = tables.one_of("status", turn_table.TURNS)
    return turns & ((col("touched") > lit(kept.touched)) | (col("source_offset") > lit(kept.offset)))
