"""The product's own search as a ``Searcher``.

Rule of this file: a seam; it changes no result and no order. What is now is the moment of the question.
"""

from dataclasses import asdict
from datetime import UTC, datetime

from lakehouse.embedding import Embedder
from lakehouse.retrieval.config import RAGConfig
from lakehouse.retrieval.engine import Retrieval
from lakehouse.store import Lake
from schemas.retrieval import SearchRequest
from streams.bench.retrieval.memlake import Answer, Open


class Product:
    """Results with the turns that they come from, and the times that the search itself tells."""

    def __init__(self, lake: Lake, embedder: Embedder, config: RAGConfig) -> None:
        self._now = datetime.min.replace(tzinfo=UTC)
        self._retrieval = Retrieval(lake, embedder, lambda: self._now, config=config)

    async def search(self, request: SearchRequest, asked_at: datetime) -> Answer:
        """See ``Searcher``."""
        self._now = asked_at
        found = await self._retrieval.search(request)
        return Answer([hit.item.sources for hit in found.hits], asdict(found.times), found.degraded)


def opened(config: RAGConfig) -> Open:
    """How the product's search is opened over a lake, with what the settings leave on."""
    return lambda lake, embedder: Product(lake, embedder, config)
