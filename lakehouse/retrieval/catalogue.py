"""The indexes of the scopes that were asked last, never older than the tables.

Rule of this file: an index is a fold of a table's rows. Before each use the table's version is read; where it has
moved, whoever moved it, only the rows of the scope that changed since are read. So an answer sees every commit before
it, and no writer has to tell anybody.

Theory of operation: ``touched`` is the sequence of the event that last changed a row, and a turn has its offset in the
inbox. Both only grow within a scope, so "changed since" is a condition on them. A row that is no longer current leaves
the index, and one that is read twice changes nothing. A *position* is a number that was never given before: what is
read again after it was let go may look the same in all its figures, and hold less.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final

from lancedb.expr import Expr, col, lit

from lakehouse import tables, turn_table
from lakehouse.retrieval.config import MOST_ROWS
from lakehouse.retrieval.feedback import Judged, judged_by
from lakehouse.retrieval.items import ITEM, KEY, is_found
from lakehouse.retrieval.scope_index import ROOM, ScopeIndex
from lakehouse.store import Shard
from lakehouse.versions import FOUND_BY_SEARCH
from schemas.conversation import Scope
from schemas.retrieval import Kind

STATUS: Final[dict[Kind, str]] = {"knowledge": "current", "episode": turn_table.EPISODE}
"""Of the rows that a plain question is about."""


@dataclass
class Kept:
    """An index with how far it has followed its table.

    Attributes:
        index: What may answer now in a scope; empty where the scope is too large to be kept.
        position: Two equal ones, of whatever scopes and times, hold the same rows.
        large: Whether the scope is searched in its table.
    """

    index: ScopeIndex
    position: int
    version: int = -1
    touched: int = -1
    offset: int = -1
    large: bool = False
    said: tuple[Judged, ...] | None = None
    """What was said of its memories as results; None where that must be read again."""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def take(self, kind: Kind, columns: Mapping[str, Any], vector: Any) -> None:
        """Follow one row."""
        self.touched = max(self.touched, columns["touched"])
        if kind == "episode":
            self.offset = max(self.offset, columns["source_offset"])
        elif columns["status"] == "none" and '"feedback"' in columns["payload"]:
            self.said = None
        if columns["status"] == STATUS[kind] and is_found(columns):
            self.index.put(ITEM[kind](columns), vector)
            return
        self.index.drop(columns[KEY[kind]])
        if kind == "knowledge" and columns["status"] in FOUND_BY_SEARCH:
            self.index.outdate(str(columns["id"]), columns["source_turn_ids"])


class Catalogue:
    """Indexes by scope and kind, within a bound of rows. For one event loop."""

    def __init__(self, dimension: int, max_rows: int, *, most_rows: int = MOST_ROWS) -> None:
        """Make an empty catalogue.

        Args:
            dimension: Length of a vector.
            max_rows: Rows kept in all, an index being 16 at least; what was asked longest ago goes first.
            most_rows: See ``MOST_ROWS``.
        """
        self._dimension = dimension
        self._max_rows = max_rows
        self._most_rows = most_rows
        self._kept: OrderedDict[tuple[str, Kind], Kept] = OrderedDict()
        self._positions = count()

    async def kept(self, shard: Shard, scope: Scope, kind: Kind) -> Kept:
        """What may answer now in a scope.

        Whoever has it in hand sees it follow its table until it is let go, and then no more; its position tells.

        Raises:
            Unavailable: The lake cannot be read.
        """
        kept = self._kept.get((scope.key, kind))
        if kept is None:
            kept = self._kept[scope.key, kind] = Kept(ScopeIndex(self._dimension), next(self._positions))
        self._kept.move_to_end((scope.key, kind))
        async with kept.lock:
            version = await shard.version(kind)
            if version != kept.version:
                await self._follow(kept, shard, scope, kind)
                kept.version = version  # rows may be newer than that: they are then read once more
        self._shrink()
        return kept

    async def feedback(self, shard: Shard, scope: Scope) -> tuple[Judged, ...]:
        """What was said of a scope's memories as results, as of when its memories were last looked at."""
        kept = self._kept.get((scope.key, "knowledge"))
        if kept is None or kept.large or kept.said is None:
            position = kept and kept.position
            said = tuple(judged_by(await shard.feedback(scope)))
            if kept is None or kept.position != position:  # what was followed meanwhile may not be in it
                return said
            kept.said = said
        return kept.said

    def clear(self) -> None:
        """Forget everything: the tables may be others."""
        self._kept.clear()

    async def _follow(self, kept: Kept, shard: Shard, scope: Scope, kind: Kind) -> None:
        if not kept.large:
            room = self._most_rows - len(kept.index) + 1
            rows, vectors = await shard.rows_of(scope, kind, _changed(kept, kind), room)
            if not rows:
                return
            if len(rows) == room:
                kept.index, kept.large = ScopeIndex(self._dimension), True
            else:
                for columns, vector in zip(rows, vectors, strict=True):
                    kept.take(kind, columns, vector)
        kept.position = next(self._positions)

    def _shrink(self) -> None:
        total = sum(map(_room, self._kept.values()))
        while total > self._max_rows and len(self._kept) > 1:
            _, gone = self._kept.popitem(last=False)
            total -= _room(gone)


def _room(kept: Kept) -> int:
    """Rows that an index counts for: one of few, or of none, takes its room all the same."""
    return max(ROOM, len(kept.index))


def _changed(kept: Kept, kind: Kind) -> Expr:
    """What a row must be to be read: at first what holds now and what held before, then whatever changed since."""
    if kept.version < 0 and kind == "knowledge":
        return tables.one_of("status", FOUND_BY_SEARCH)
    if kept.version < 0:
        return tables.equals("status", STATUS[kind])
    if kind == "knowledge":
        return col("touched") > lit(kept.touched)
    turns = tables.one_of("status", turn_table.TURNS)
    return turns & ((col("touched") > lit(kept.touched)) | (col("source_offset") > lit(kept.offset)))
