"""The indexes of the scopes that were asked last, never older than the tables.

Rule of this file: an index is a fold of a table's rows. Before each use the table's version is read; where it has
moved, whoever moved it, only the rows of the scope that changed since are read. So an answer sees every commit before
it, and no writer has to tell anybody.

Theory of operation: ``touched`` is the sequence of the event that last changed a row, and a turn has its offset in the
inbox. Both only grow within a scope, so "changed since" is a condition on them. A row that is no longer current leaves
the index, and one that is read twice changes nothing. A *position* is a number that was never given before: what is
read again after it was let go may look the same in all its figures, and hold less.

What an index reads it reads to the end, even if who asked first has gone meanwhile: otherwise a scope that takes longer
to read than anybody waits would never be read. Many rows are put into a new index, in a thread, which then takes the
old one's place: an index that somebody has in hand never changes while it is being looked at.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Coroutine, Iterable, Mapping
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
AT_ONCE: Final = 200
"""Changed rows that an index takes in place, some milliseconds of work."""


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

    def become(self, anew: "Kept") -> None:
        """Hold what another holds, which is newer; the lock and the version are its own."""
        self.index, self.position, self.large, self.said = anew.index, anew.position, anew.large, anew.said
        self.touched, self.offset = anew.touched, anew.offset

    def take_all(self, kind: Kind, rows: Iterable[Mapping[str, Any]], vectors: Iterable[Any]) -> None:
        """Follow rows."""
        for columns, vector in zip(rows, vectors, strict=True):
            self._take(kind, columns, vector)

    def _take(self, kind: Kind, columns: Mapping[str, Any], vector: Any) -> None:
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
        self._reading: set[asyncio.Task[None]] = set()

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
        if await shard.version(kind) != kept.version:
            await self._to_the_end(self._caught_up(kept, shard, scope, kind))
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

    async def _to_the_end(self, reading: Coroutine[Any, Any, None]) -> None:
        """Wait for a read that goes on when this wait is given up."""
        task = asyncio.create_task(reading)
        self._reading.add(task)
        task.add_done_callback(self._read)
        await asyncio.shield(task)

    def _read(self, task: asyncio.Task[None]) -> None:
        self._reading.discard(task)
        if not task.cancelled():
            task.exception()  # seen: whoever still waits has it too, and the next who asks reads again

    async def _caught_up(self, kept: Kept, shard: Shard, scope: Scope, kind: Kind) -> None:
        async with kept.lock:
            version = await shard.version(kind)
            if version == kept.version:
                return
            if kept.large:
                kept.position = next(self._positions)
            elif not await self._followed(kept, shard, scope, kind):
                await self._begin_anew(kept, shard, scope, kind)
            kept.version = version  # rows may be newer than that: they are then read once more

    async def _followed(self, kept: Kept, shard: Shard, scope: Scope, kind: Kind) -> bool:
        """Whether all that has changed was taken in place."""
        if kept.version < 0:
            return False
        rows, vectors = await shard.rows_of(scope, kind, _changed(kept, kind), AT_ONCE + 1)
        if len(rows) > AT_ONCE:
            return False
        if rows:
            kept.take_all(kind, rows, vectors)
            kept.position = next(self._positions)
        return len(kept.index) <= self._most_rows

    async def _begin_anew(self, kept: Kept, shard: Shard, scope: Scope, kind: Kind) -> None:
        """Read all that holds now, and what held before."""
        rows, vectors = await shard.rows_of(scope, kind, _all(kind), self._most_rows + 1)
        anew = Kept(ScopeIndex(self._dimension), next(self._positions), large=len(rows) > self._most_rows)
        if not anew.large:
            await asyncio.to_thread(anew.take_all, kind, rows, vectors)
        kept.become(anew)

    def _shrink(self) -> None:
        total = sum(map(_room, self._kept.values()))
        while total > self._max_rows and len(self._kept) > 1:
            _, gone = self._kept.popitem(last=False)
            total -= _room(gone)


def _room(kept: Kept) -> int:
    """Rows that an index counts for: one of few, or of none, takes its room all the same."""
    return max(ROOM, len(kept.index))


def _all(kind: Kind) -> Expr:
    if kind == "knowledge":
        return tables.one_of("status", FOUND_BY_SEARCH)
    return tables.equals("status", STATUS[kind])


def _changed(kept: Kept, kind: Kind) -> Expr:
    """What a row must be to have changed since it was read, whatever it is now."""
    if kind == "knowledge":
        return col("touched") > lit(kept.touched)
    turns = tables.one_of("status", turn_table.TURNS)
    return turns & ((col("touched") > lit(kept.touched)) | (col("source_offset") > lit(kept.offset)))
