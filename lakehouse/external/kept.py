"""What is kept of the outside, as a question asks for it: by symbol, or by what fits; the last used at hand.

Rule of this file: it reads. What is at hand is at most a minute old, which a document that only advises may be.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from lakehouse.embedding import Embedder
from lakehouse.external.cache import AtHand
from lakehouse.external.events import DocumentRow
from lakehouse.external.policy import is_stale
from lakehouse.external.retriever import Kept
from lakehouse.external.scoring import calculate_relevance_score, most_relevant
from lakehouse.external.store import DocumentStore
from schemas.knowledge import Deprecation, PageState

FLOOR: Final = 0.45
"""Least cosine of a task and a document's summary. A guess: nothing was at hand to measure it on."""
EXACT: Final = 1.0
"""Similarity of a document that was asked for by its symbol."""


class KeptKnowledge:
    """Documents of the lake for ``retriever``. For one event loop."""

    def __init__(
        self, store: DocumentStore, embedder: Embedder, clock: Callable[[], datetime], *, floor: float = FLOOR
    ) -> None:
        """Begin with nothing at hand.

        Args:
            store: Where from.
            embedder: Of the lake.
            clock: Now, timezone-aware.
            floor: Least similarity of what is advised, 0 … 1.
        """
        self._store = store
        self._embedder = embedder
        self._clock = clock
        self._floor = floor
        self._at_hand = AtHand[DocumentRow](clock)

    async def find(self, symbol: str, project: str | None, version: str | None) -> Kept | None:
        """See ``retriever.Cache``."""
        key = (symbol, project, version)
        row = self._at_hand.get(key)
        if row is None:
            found = await self._store.find(symbol, project, version)
            if not found:
                return None
            row = found[0].row
            self._at_hand.put(key, row)
        return self._kept(row, EXACT, calculate_relevance_score(row, EXACT, now=self._clock()))

    async def relevant(self, context: str, limit: int) -> Sequence[Kept]:
        """See ``retriever.Cache``."""
        (vector,) = await self._embedder.embed([context])
        found = await self._store.search(context, vector)
        best = most_relevant(found, floor=self._floor, now=self._clock(), limit=limit)
        return [self._kept(one.doc, one.similarity, one.score) for one in best]

    async def page(self, url: str) -> PageState | None:
        """See ``retriever.Cache``."""
        return await self._store.page(url)

    async def deprecations(self, symbols: Sequence[str]) -> Sequence[Deprecation]:
        """See ``retriever.Cache``: of each symbol what its newest documentation says."""
        newest: dict[tuple[str, str], Deprecation] = {}
        for found in await self._store.deprecations_of(None, symbols):
            newest.setdefault((found.project, found.symbol), found)
        return [found for found in newest.values() if found.status != "undeprecated"]

    def _kept(self, row: DocumentRow, similarity: float, score: float) -> Kept:
        return Kept(row.document, row.checked_at, is_stale(row, self._clock()), similarity, round(score, 4))
