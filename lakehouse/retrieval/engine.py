"""One scope's answer to one question, from what is asked to what is shown.

Rule of this file: the order of steps, and what becomes of each when it fails; every step itself is elsewhere. It reads
and never writes.
"""

import asyncio
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from typing import Any

from lakehouse import keywords
from lakehouse.embedding import Embedder
from lakehouse.memory_table import checked
from lakehouse.retrieval import candidates
from lakehouse.retrieval.cache import QueryCache
from lakehouse.retrieval.catalogue import STATUS, Catalogue
from lakehouse.retrieval.config import RAGConfig
from lakehouse.retrieval.feedback import factors
from lakehouse.retrieval.names import together
from lakehouse.retrieval.ranking import (
    BESIDE_TURNS,
    Hit,
    Question,
    collapsed,
    hits_of,
    newer_first,
    ordered,
    passes,
    score,
)
from lakehouse.retrieval.reranking import Reranker
from lakehouse.retrieval.scope_index import ScopeIndex
from lakehouse.retrieval.tokens import read
from lakehouse.retrieval.understanding import Understood, understand
from lakehouse.similarity import DIGITS
from lakehouse.store import Lake, Shard
from schemas.conversation import Scope, is_blank
from schemas.errors import MemlakeError, Unavailable
from schemas.retrieval import Kind, SearchRequest

BLANK = "the question is blank: nothing was searched"
ONLY_WORDS = "embedding failed: only words were searched"
RERANK_SKIPPED = "rerank_skipped"
SHOWN_ONLY = {"agent_id", "format", "explain", "include_metadata", "used"}
"""Fields of a request that say how an answer is told and not what it is."""
RERANK_MARGIN_S = 0.1
"""What is left of an answer's time when a reranker must have ended."""


@dataclass
class Times:
    """Milliseconds that the steps of one answer took."""

    embedding_ms: float = 0.0
    search_ms: float = 0.0
    rerank_ms: float = 0.0


@dataclass(frozen=True)
class Retrieved:
    """What one question found.

    Attributes:
        hits: Best first.
        rejected: The best of what did not reach the threshold, in order.
        degraded: What could not be had.
        times: What it took.
    """

    hits: tuple[Hit, ...] = ()
    rejected: tuple[Hit, ...] = ()
    degraded: tuple[str, ...] = ()
    times: Times = field(default_factory=Times, compare=False)


class Retrieval:
    """Answers questions from one lake. For one event loop."""

    def __init__(
        self,
        lake: Lake,
        embedder: Embedder,
        clock: Callable[[], datetime],
        *,
        config: RAGConfig | None = None,
        reranker: Reranker | None = None,
    ) -> None:
        """Make an engine; nothing is read yet.

        Args:
            lake: Where from.
            embedder: Of the lake.
            clock: Now, timezone-aware: for "last week" in a question, and how old feedback is.
            config: Budgets and features.
            reranker: Reads the best candidates again; None where none is configured.
        """
        self.config = config or RAGConfig()
        self.cache: QueryCache[Hashable, Retrieved] = QueryCache(
            max_entries=self.config.cache_entries,
            clock=time.monotonic,
            keep=lambda found: not found.degraded,
            ttl_s=self.config.cache_ttl_s,
        )
        self._lake = lake
        self._embedder = embedder
        self._clock = clock
        self._reranker = reranker
        self._catalogue = Catalogue(lake.shape.dimension, self.config.cache_rows, most_rows=self.config.most_rows)

    async def warm(self, scope: Scope) -> None:
        """Read what a scope knows, so that its first question need not.

        Raises:
            Unavailable: The lake cannot be read.
        """
        shard = await self._lake.shard_of(scope)
        for kind in STATUS:
            await self._catalogue.kept(shard, scope, kind)

    def clear(self) -> None:
        """Forget all that is kept: partitions or the lake have moved."""
        self._catalogue.clear()
        self.cache.clear()

    async def search(self, request: SearchRequest, *, left_s: float | None = None) -> Retrieved:
        """What answers a question.

        Args:
            request: The question; a blank one finds nothing.
            left_s: Time for it; what would not fit is left out. The whole of the configured time where not given.

        Raises:
            Unavailable: The lake cannot be read, or nothing could be searched.
        """
        if is_blank(request.query):
            return Retrieved(degraded=(BLANK,))
        kinds: tuple[Kind, ...] = tuple(dict.fromkeys(kind for kind in request.kinds if kind != "external"))
        ends = time.monotonic() + (self.config.timeout_s if left_s is None else left_s)
        shard = await self._lake.shard_of(request.scope)
        kept = {kind: await self._catalogue.kept(shard, request.scope, kind) for kind in kinds}
        known = {kind: None if one.large else one.index for kind, one in kept.items()}
        asked = request.model_dump_json(exclude=SHOWN_ONLY)
        attempt = _Attempt(request, ends)
        found = await self.cache.get_or_compute(
            (asked, self._embedder.id, self._reranker.id if self._reranker else None),
            lambda: tuple(one.position for one in kept.values()),
            lambda: self._answer(attempt, shard, known),
        )
        return replace(found, times=attempt.times)  # what somebody else's work took is not this answer's

    async def _answer(self, attempt: "_Attempt", shard: Shard, known: Mapping[Kind, ScopeIndex | None]) -> Retrieved:
        request = attempt.request
        understood = self._understood(request, [index for index in known.values() if index is not None])
        questions = await self._embedded(attempt, understood)
        started = time.perf_counter()
        indexes = await self._candidates(attempt, shard, known, questions[0])
        found = self._scored(request, indexes, questions, understood)
        if self.config.feedback and "knowledge" in indexes:
            found = _moved(found, await self._feedback(shard, request))
        hits = ordered(found, request.mode)
        attempt.times.search_ms = (time.perf_counter() - started) * 1000
        hits = collapsed(await self._reranked(attempt, understood.whole.text, hits))
        passing = [hit for hit in hits if passes(hit, request.mode, request.similarity_threshold)]
        failing = (hit for hit in hits if not passes(hit, request.mode, request.similarity_threshold))
        return Retrieved(
            hits=tuple(passing[: request.top_k]),
            rejected=tuple(islice(failing, request.top_k)),
            degraded=tuple(dict.fromkeys(attempt.degraded)),
        )

    def _understood(self, request: SearchRequest, indexes: Sequence[ScopeIndex]) -> Understood:
        """What the question says, in the light of what the scope knows by name."""
        return understand(
            request.query,
            now=self._clock(),
            history=request.history,
            names=together(index.names for index in indexes),
            speakers=together(index.speakers for index in indexes),
            switches=self.config.switches,
        )

    async def _embedded(self, attempt: "_Attempt", understood: Understood) -> list[Question]:
        """The question and its parts with their vectors; without them where they cannot be had in time."""
        asked_for = (understood.whole, *understood.parts)
        texts = list(dict.fromkeys(text for one in asked_for for text in (one.embedded, one.text)))
        vectors: dict[str, Any] = {}
        started = time.perf_counter()
        try:
            async with asyncio.timeout(self.config.embedding_share * max(0.0, attempt.ends - time.monotonic())):
                made = await self._embedder.embed(texts)
            vectors = {text: checked(one, self._embedder.dimension) for text, one in zip(texts, made, strict=True)}
        except (MemlakeError, TimeoutError) as error:
            if attempt.request.mode == "semantic":
                raise Unavailable(f"the question cannot be embedded: {error or 'no answer in time'}") from error
            attempt.degraded.append(ONLY_WORDS)
        finally:
            attempt.times.embedding_ms = (time.perf_counter() - started) * 1000
        further = {word: weight for term, weight in understood.terms.items() for word in keywords.query_terms(term)}
        return [
            Question(
                vectors=[vectors[text] for text in dict.fromkeys((one.embedded, one.text)) if text in vectors],
                terms=keywords.query_terms(one.text),
                words={**further, **dict.fromkeys(keywords.query_terms(one.embedded), 1.0)},
                content=keywords.query_terms(" ".join(token.text for token in read(one.embedded).content)),
                names=frozenset(understood.asked.names),
                during=understood.asked.during,
            )
            for one in asked_for
        ]

    async def _candidates(
        self, attempt: "_Attempt", shard: Shard, known: Mapping[Kind, ScopeIndex | None], question: Question
    ) -> dict[Kind, ScopeIndex]:
        """What may answer: what is kept of the scope, or what is read for this question."""
        indexes: dict[Kind, ScopeIndex] = {}
        plain = candidates.is_plain(attempt.request)
        for kind, index in known.items():
            if plain and index is not None:
                indexes[kind] = index
                continue
            got = await candidates.read(
                shard, attempt.request, kind, question, most_rows=self.config.most_rows, large=plain
            )
            attempt.degraded += got.failed
            indexes[kind] = got.index
        return indexes

    def _scored(
        self,
        request: SearchRequest,
        indexes: Mapping[Kind, ScopeIndex],
        questions: Sequence[Question],
        understood: Understood,
    ) -> list[Hit]:
        """All candidates with their scores, in no order."""
        scores = {kind: score(index, questions, kind) for kind, index in indexes.items()}
        if "knowledge" in scores and "episode" in scores:
            scores["knowledge"] = scores["knowledge"].scaled(BESIDE_TURNS)
        aspects = understood.asked.aspects
        now = "latest" in aspects or aspects.isdisjoint({"first", "past"})
        if "knowledge" in scores and self.config.recency and now and questions[0].vectors:
            told, turns = scores["knowledge"], dict[str, float]()
            if "episode" in scores:
                said = scores["episode"].hybrid
                turns = {item.id: float(said[place]) for place, item in indexes["episode"].items()}
            hybrid = newer_first(indexes["knowledge"], told.hybrid, questions[0].content, turns)
            scores["knowledge"] = replace(told, hybrid=hybrid)
        return [
            hit
            for kind, index in indexes.items()
            for hit in hits_of(
                index,
                scores[kind],
                mode=request.mode,
                embedded=bool(questions[0].vectors),
                threshold=request.similarity_threshold,
            )
        ]

    async def _feedback(self, shard: Shard, request: SearchRequest) -> Mapping[int, float]:
        """What to multiply hybrid scores by, by memory."""
        known_at = request.known_at
        said = await self._catalogue.feedback(shard, request.scope)
        return factors((one for one in said if known_at is None or one.recorded_at <= known_at), self._clock())

    async def _reranked(self, attempt: "_Attempt", text: str, hits: list[Hit]) -> list[Hit]:
        """The best candidates in the order of the reranker, as many as may be shown at least.

        What was not read again is no candidate any more: its score is of another kind.
        """
        if self._reranker is None or attempt.request.rerank is False or not hits:
            return hits
        pool = hits[: max(self.config.rerank_pool, attempt.request.top_k)]
        started, deadline = time.perf_counter(), attempt.ends - RERANK_MARGIN_S
        try:
            async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
                told = await self._reranker.rerank(text, [hit.item.text for hit in pool], deadline=deadline)
        except (MemlakeError, TimeoutError):
            attempt.degraded.append(RERANK_SKIPPED)
            return hits
        finally:
            attempt.times.rerank_ms = (time.perf_counter() - started) * 1000
        pool = [replace(hit, rerank=found) for hit, found in zip(pool, told, strict=True)]
        return ordered(pool, attempt.request.mode)


@dataclass
class _Attempt:
    """One answer in the making: what is asked, until when, and what became of it so far."""

    request: SearchRequest
    ends: float
    times: Times = field(default_factory=Times)
    degraded: list[str] = field(default_factory=list)


def _moved(hits: Sequence[Hit], by: Mapping[int, float]) -> list[Hit]:
    """The hits with what was said of memories before in their order."""
    return [
        replace(hit, hybrid=round(min(1.0, hit.hybrid * by[int(hit.item.id)]), DIGITS))
        if hit.item.kind == "knowledge" and int(hit.item.id) in by
        else hit
        for hit in hits
    ]
