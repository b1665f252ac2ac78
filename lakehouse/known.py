"""What the writer of a shard keeps in memory of the scopes it just wrote: their rows, and their vectors in one matrix.

Rule of this file: a cache with a bound, and never the truth. It is dropped when partitions move, and for a scope whose
commit failed; the tables are then read again.
"""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lakehouse.similarity import DIGITS
from lakehouse.store import Shard
from lakehouse.versions import Change, MemoryRow, ScopeMemory
from schemas.conversation import Scope


class VectorShelf:
    """Unit vectors by memory id, compared all at once.

    Products are made in double precision, so that a similarity does not depend on how many others stand beside it.
    """

    def __init__(self, dimension: int) -> None:
        self._matrix = np.zeros((16, dimension), dtype=np.float64)
        self._ids: list[int] = []
        self._places: dict[int, int] = {}

    def put(self, memory_id: int, vector: Any) -> None:
        """Set a memory's vector."""
        place = self._places.get(memory_id)
        if place is None:
            place = len(self._ids)
            if place == len(self._matrix):
                self._matrix = np.concatenate([self._matrix, np.zeros_like(self._matrix)])
            self._ids.append(memory_id)
            self._places[memory_id] = place
        self._matrix[place] = vector

    def remove(self, memory_id: int) -> None:
        """Forget a memory's vector; unknown ids are none of its business."""
        place = self._places.pop(memory_id, None)
        if place is None:
            return
        last = self._ids.pop()
        if last != memory_id:
            self._matrix[place] = self._matrix[len(self._ids)]
            self._ids[place] = last
            self._places[last] = place

    def nearest(self, vector: Any, limit: int) -> list[tuple[int, float]]:
        """The closest memories with their cosines (0 … 1, rounded), best first; equal ones by id."""
        if not self._ids:
            return []
        products = self._matrix[: len(self._ids)] @ np.asarray(vector, dtype=np.float64)
        scored = np.round(np.clip(products, 0.0, 1.0), DIGITS)
        if len(scored) > limit:
            edge = np.partition(scored, len(scored) - limit)[len(scored) - limit]
            places = np.nonzero(scored >= edge)[0]
        else:
            places = np.arange(len(scored))
        found = sorted(
            ((self._ids[place], float(scored[place])) for place in places), key=lambda hit: (-hit[1], hit[0])
        )
        return found[:limit]

    def similarity(self, memory_id: int, vector: Any) -> float:
        """Cosine to one memory, 0 … 1, rounded; 0 where it has no vector."""
        place = self._places.get(memory_id)
        if place is None:
            return 0.0
        product = self._matrix[place] @ np.asarray(vector, dtype=np.float64)
        return float(np.round(np.clip(product, 0.0, 1.0), DIGITS))  # as ``nearest`` rounds, not as Python does


@dataclass
class KnownScope:
    """A scope's memory with the indexes that a decision asks."""

    memory: ScopeMemory
    shelf: VectorShelf
    by_claim: dict[tuple[str, str], set[int]] = field(default_factory=dict)
    """Current memories by subject and attribute."""

    @classmethod
    def of(cls, memory: ScopeMemory, dimension: int) -> "KnownScope":
        """Index a memory as it was read."""
        known = cls(memory, VectorShelf(dimension))
        for row in memory.current:
            known._index(row)
        return known

    def apply(self, change: Change) -> tuple[MemoryRow, ...]:
        """Fold one event in; see ``ScopeMemory.apply``."""
        before = self.memory.current_of(change.event.id)
        rows = self.memory.apply(change)
        after = self.memory.current_of(change.event.id)
        if before is not after:
            if before is not None:
                self._unindex(before)
            if after is not None:
                self._index(after)
        return rows

    def same_claim(self, subject: str | None, attribute: str | None) -> list[int]:
        """Current memories about this subject and attribute, by id."""
        if subject is None or attribute is None:
            return []
        return sorted(self.by_claim.get((subject, attribute), ()))

    def _index(self, row: MemoryRow) -> None:
        event = row.event
        self.shelf.put(event.id, row.vector)
        if event.subject is not None and event.attribute is not None:
            self.by_claim.setdefault((event.subject, event.attribute), set()).add(event.id)

    def _unindex(self, row: MemoryRow) -> None:
        event = row.event
        self.shelf.remove(event.id)
        if event.subject is not None and event.attribute is not None:
            self.by_claim[event.subject, event.attribute].discard(event.id)


class KnownScopes:
    """The scopes of a worker's shards that were written last, within a bound of rows."""

    def __init__(self, dimension: int, max_rows: int) -> None:
        self._dimension = dimension
        self._max_rows = max_rows
        self._scopes: OrderedDict[str, KnownScope] = OrderedDict()
        self._generation = 0

    async def get(self, shard: Shard, scope: Scope) -> KnownScope:
        """A scope as the log left it, from memory or read from the shard."""
        generation = self._generation
        known = self._scopes.pop(scope.key, None)
        if known is None:
            known = KnownScope.of(await shard.scope_memory(scope), self._dimension)
        if generation == self._generation:  # else it may be older than what another worker wrote meanwhile
            self._scopes[scope.key] = known
        return known

    def drop(self, scopes: Iterable[Scope]) -> None:
        """Read these again when they are next asked for."""
        for scope in scopes:
            self._scopes.pop(scope.key, None)

    def clear(self) -> None:
        """Read everything again: another worker may have written meanwhile."""
        self._generation += 1
        self._scopes.clear()

    def shrink(self) -> None:
        """Let go of the scopes that were used longest ago; whoever has one in hand keeps it for the batch."""
        total = sum(len(known.memory) for known in self._scopes.values())
        while total > self._max_rows and len(self._scopes) > 1:
            _, known = self._scopes.popitem(last=False)
            total -= len(known.memory)
