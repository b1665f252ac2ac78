"""``RAGService``: search and reranking for one scope.

Rule of this file: names, arguments and defaults are promised to programs that have them already; what is done is the
engine's.
"""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from lakehouse.embedding import Embedder, load_embedder
from lakehouse.retrieval.config import RAGConfig
from lakehouse.retrieval.engine import Retrieval, Retrieved
from lakehouse.retrieval.ranking import Hit
from lakehouse.retrieval.reranking import Reranker
from lakehouse.store import Lake
from lakehouse.tables import LakeShape, require_shape
from schemas.conversation import Scope
from schemas.errors import Misconfigured, Unavailable
from schemas.retrieval import SearchRequest

RESULTS: Final = 5
EMBEDDED: Final = 1_000
"""Questions whose vectors are kept."""


@dataclass(frozen=True)
class RAGMetrics:
    """What one search took, in seconds, and what it gave.

    Attributes:
        retrieval_time: Embedding and search.
        reranking_time: Reading the best again.
        total_time: Both.
        documents_considered: Results, and the best of those under the threshold.
        degraded: What could not be had.
        rejected: The best of those under the threshold.
    """

    retrieval_time: float
    reranking_time: float
    total_time: float
    documents_considered: int
    degraded: tuple[str, ...]
    rejected: tuple[Hit, ...]


class KnowledgeBase:
    """What one scope knows, as a service sees it: the engine with the scope that it may read."""

    def __init__(self, engine: Retrieval, scope: Scope, *, embedder: Embedder | None = None) -> None:
        """Make one.

        Args:
            engine: Of the lake.
            scope: Whose memory.
            embedder: The engine's, where it ends with this knowledge base.
        """
        self.engine = engine
        self.scope = scope
        self._embedder = embedder

    @classmethod
    async def open(
        cls,
        uri: str,
        scope: Scope,
        *,
        embedder: str,
        cache: Path,
        config: RAGConfig | None = None,
        reranker: Reranker | None = None,
    ) -> "KnowledgeBase":
        """Open a lake to answer from it in this process; ``close`` it at the end.

        Args:
            uri: Folder or object store of the lake.
            scope: Whose memory.
            embedder: The model that the lake was made with, by name or path.
            cache: Folder of exported models.
            config: Budgets and features.
            reranker: Reads the best results again; it stays the caller's to close.

        Raises:
            Misconfigured: There is no lake, or it was made with another model.
            Unavailable: Lake or model cannot be opened now.
        """
        lake = await Lake.open(uri)
        model = await load_embedder(embedder, cache, threads=1, cache_size=EMBEDDED)
        try:
            require_shape(lake.shape, LakeShape(lake.shape.partitions, model.id, model.dimension))
        except Misconfigured:
            await model.close()
            raise
        engine = Retrieval(lake, model, lambda: datetime.now(UTC), config=config, reranker=reranker)
        return cls(engine, scope, embedder=model)

    async def close(self) -> None:
        """Free the model that was opened for it; what is asked after that finds by words at most."""
        if self._embedder is not None:
            await self._embedder.close()

    async def find(self, request: SearchRequest, left_s: float | None = None) -> Retrieved:
        """What answers a question to this scope.

        Raises:
            Unavailable: Nothing could be searched.
        """
        return await self.engine.search(request.model_copy(update={"scope": self.scope}), left_s=left_s)


class RAGService:
    """Advanced search over a knowledge base."""

    def __init__(self, knowledge_base: KnowledgeBase) -> None:
        self.knowledge_base = knowledge_base
        self.initialized = False

    async def initialize(self) -> bool:
        """Look whether the knowledge base can be read; a service is usable before, and the first question is slower.

        Raises:
            Unavailable: It cannot be read now.
        """
        await self.knowledge_base.engine.warm(self.knowledge_base.scope)
        self.initialized = True
        return True

    async def advanced_search(
        self, query: str, max_results: int = RESULTS, enable_reranking: bool = True, **options: Any
    ) -> tuple[list[Hit], RAGMetrics]:
        """Search, and rerank where a reranker is configured.

        Args:
            query: The question; a blank one finds nothing.
            max_results: 1 … 50.
            enable_reranking: Whether a configured reranker reads the best again.
            **options: Further fields of ``SearchRequest``, such as ``similarity_threshold`` (0 here) or ``history``.

        Returns:
            Results, best first, and what it took.

        Raises:
            Unavailable: Nothing could be searched in time.
            ValidationError: An argument is out of its range.
        """
        request = SearchRequest(
            scope=self.knowledge_base.scope,
            query=query,
            top_k=max_results,
            rerank=None if enable_reranking else False,
            **{"similarity_threshold": 0.0, **options},
        )
        found = await self.within(request)
        return list(found.hits), metrics_of(found)

    async def within(self, request: SearchRequest, left_s: float | None = None) -> Retrieved:
        """What answers a request, within its time.

        Raises:
            Unavailable: Nothing could be searched in time.
        """
        limit = self.knowledge_base.engine.config.timeout_s
        limit = limit if left_s is None else min(limit, left_s)
        try:
            async with asyncio.timeout(limit):
                return await self.knowledge_base.find(request, limit)
        except TimeoutError as error:
            raise Unavailable(f"no answer within {limit:.1f} s") from error

    def get_stats(self) -> dict[str, Any]:
        """How the cache does."""
        cache = self.knowledge_base.engine.cache
        return {
            "cache_entries": len(cache),
            "cache_hits": cache.counts.hits,
            "cache_misses": cache.counts.misses,
            "initialized": self.initialized,
        }


def metrics_of(found: Retrieved) -> RAGMetrics:
    """What a search took, in seconds."""
    retrieval = (found.times.embedding_ms + found.times.search_ms) / 1000
    reranking = found.times.rerank_ms / 1000
    return RAGMetrics(
        retrieval_time=retrieval,
        reranking_time=reranking,
        total_time=retrieval + reranking,
        documents_considered=len(found.hits) + len(found.rejected),
        degraded=found.degraded,
        rejected=found.rejected,
    )
