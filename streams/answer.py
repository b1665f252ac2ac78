"""Answering: one question in, exactly one reply out, within its deadline.

Rule of this file: a handler. What could not be had is said in ``degraded``; empty and failed are different answers. A
question for a prompt's context never fails: its context is then empty, and ``degraded`` says why.
"""

import asyncio
from datetime import datetime
from typing import Any

from lakehouse.retrieval.chat_knowledge_service import ChatKnowledgeService
from lakehouse.retrieval.context import context_of
from lakehouse.retrieval.engine import Retrieval, Retrieved
from lakehouse.retrieval.rag_service import KnowledgeBase, RAGService
from lakehouse.retrieval.ranking import Hit
from lakehouse.retrieval.reranking import Reranker
from schemas.errors import InvalidMessage, MemlakeError, Unavailable
from schemas.facts import TurnRecord
from schemas.memory import MemoryEvent
from schemas.retrieval import Citation, ErrorReply, Explanation, Reply, SearchMetadata, SearchRequest, SearchResult
from streams.feedback import command_of, not_judged
from streams.incoming import FORWARDED, Incoming, ReplyAddress, passed_on, reply_address
from streams.letters import letters
from streams.logs import logger, trace_of
from streams.outside import Outside
from streams.ports import Ports
from streams.telling import Told, told_outside, with_outside
from streams.wire import Outgoing, require_size

AT_ONCE_BYTES = 4096
"""A larger question is masked in a thread, so that it holds up nobody."""
log = logger("answer")


class Answer:
    """Handles batches of ``queries``, one partition at a time."""

    def __init__(self, ports: Ports, reranker: Reranker | None = None, outside: Outside | None = None) -> None:
        self._ports = ports
        self._outside = outside or Outside(ports, None)
        self._engine = Retrieval(
            ports.lake, ports.embedder, ports.clock, config=ports.settings.rag_config, reranker=reranker
        )
        self._reranks = reranker is not None
        self._free = asyncio.Semaphore(ports.settings.query_concurrency)
        self._done: set[tuple[int, int]] = set()
        """Partition and offset of what was answered in a batch that is not finished."""

    def forget(self) -> None:
        """Partitions have moved: what stands at a place now may be another question."""
        self._done.clear()
        self._engine.clear()

    async def handle(self, partition: int, batch: list[Incoming]) -> None:
        """Answer a batch of questions.

        Args:
            partition: Where they stood.
            batch: In offset order.

        Raises:
            Unavailable: The broker does not take the replies.
        """
        answers = [asyncio.create_task(self._answered(partition, incoming)) for incoming in batch]
        try:
            await asyncio.wait(answers)
        finally:
            for answer in answers:
                answer.cancel()
        for answer in answers:
            answer.result()  # the first failure, when every other question has had its answer
        self._done.difference_update(map(_place, batch))

    async def _answered(self, partition: int, incoming: Incoming) -> None:
        """Answer one question by itself; when the batch is handled again, it is not answered again."""
        if _place(incoming) not in self._done:
            await self._ports.outbox.send(await self._one(partition, incoming))
            self._done.add(_place(incoming))

    async def _one(self, partition: int, incoming: Incoming) -> list[Outgoing]:
        outbox, masker, now = self._ports.outbox, self._ports.masker, self._ports.clock()
        try:
            address = self._way_back(incoming)
            request = SearchRequest.decode(incoming.value)
            home = request.scope.partition(self._ports.settings.partitions)
            if home != partition and not incoming.header(FORWARDED):
                return [self._forwarded(incoming, home)]
        except InvalidMessage as error:
            self._ports.metrics.dead.labels(incoming.topic, type(error).__name__).inc()
            return await asyncio.to_thread(letters, incoming, error, outbox, masker, attempt=1, now=now)
        if incoming.size <= AT_ONCE_BYTES:
            request, _ = masker.message(request)
        else:
            request, _ = await asyncio.to_thread(masker.message, request)
        reply = await self._reply(request, address)
        told = outbox.reply(reply, incoming, address, now=now, key=request.scope.key)
        try:
            require_size(told)
        except InvalidMessage as error:
            told = outbox.reply(
                self._failed(request, error, "internal"), incoming, address, now=now, key=request.scope.key
            )
        used = command_of(request, incoming, outbox)
        return [told] if used is None else [told, used]

    def _way_back(self, incoming: Incoming) -> ReplyAddress:
        address = reply_address(incoming, f"{self._ports.settings.name}.replies")
        if address is None:
            raise InvalidMessage("reply_to: a question without a way back cannot be answered", field="reply_to")
        return address

    def _forwarded(self, incoming: Incoming, home: int) -> Outgoing:
        self._ports.metrics.forwarded.labels(incoming.topic).inc()
        headers = [*passed_on(incoming), (FORWARDED, b"1")]
        key = (incoming.key or b"").decode(errors="replace")
        return Outgoing("queries", key, incoming.value or b"", headers, partition=home)

    async def _reply(self, request: SearchRequest, address: ReplyAddress) -> Reply | ErrorReply:
        left = self._ports.settings.retrieval_timeout_s
        if address.deadline is not None:
            left = min(left, (address.deadline - self._ports.clock()).total_seconds())
        if left <= 0:
            self._ports.metrics.late_queries.inc()
            return self._failed(request, Unavailable("the question came after its deadline"), "deadline_exceeded")
        try:
            async with asyncio.timeout(left) as limit, self._free:
                # what is spent waiting for its turn is gone
                ends = limit.when() or 0.0
                return await self._found(request, ends - asyncio.get_running_loop().time())
        except TimeoutError:
            return self._failed(request, Unavailable(f"no answer within {left:.1f} s"), "deadline_exceeded")
        except MemlakeError as error:
            return self._failed(request, error, "unavailable")
        except Exception as error:  # noqa: BLE001 - retrieval never breaks a chat, whatever fails in it
            log.error("answering failed", error=type(error).__name__, trace=trace_of(error))  # noqa: TRY400 - no text
            return self._failed(request, error, "internal")

    def _failed(self, request: SearchRequest, error: Exception, code: Any) -> Reply | ErrorReply:
        """An empty context for a prompt, an error for a program."""
        reason = self._ports.masker.text(str(error)) if isinstance(error, MemlakeError) else type(error).__name__
        self._ports.metrics.degraded.labels(code).inc()
        if request.format == "results":
            return ErrorReply(code=code, message=reason)
        return _reply_of(request, Retrieved(), (), (f"retrieval failed: {reason}",), self._ports.clock())

    async def _found(self, request: SearchRequest, left_s: float) -> Reply:
        ends = asyncio.get_running_loop().time() + left_s
        knowledge = KnowledgeBase(self._engine, request.scope)
        service = ChatKnowledgeService(RAGService(knowledge), masked=self._ports.masker.text)
        found = await service.found_for(request, left_s)
        told = Told()
        if "external" in request.kinds or request.format == "agent_context":
            left = ends - asyncio.get_running_loop().time()
            told = await told_outside(self._outside, knowledge, request, found, left)
        degraded = (*self._not_had(request), *found.degraded, *told.degraded)
        for reason in degraded:
            self._ports.metrics.degraded.labels(reason).inc()
        reply = _reply_of(request, found, service.citations(found), degraded, self._ports.clock())
        return with_outside(reply, told, request)

    def _not_had(self, request: SearchRequest) -> list[str]:
        """What was asked for and is not to be had here."""
        missing = []
        if "external" in request.kinds and not self._outside.is_configured:
            missing.append("external: no documentation is configured (MEMLAKE_DOCS)")
        if request.rerank and not self._reranks:
            missing.append("rerank: no reranker is configured")
        return [*missing, *not_judged(request)]


def _place(incoming: Incoming) -> tuple[int, int]:
    return incoming.partition, incoming.offset


def _reply_of(
    request: SearchRequest,
    found: Retrieved,
    citations: tuple[Citation, ...],
    degraded: tuple[str, ...],
    now: datetime,
) -> Reply:
    hits = found.hits
    similarities = [hit.similarity for hit in hits]
    reply = Reply(
        success=True,
        query=request.query,
        results=tuple(_result(hit, request) for hit in hits),
        metadata=SearchMetadata(
            total_results=len(hits),
            search_time=round(found.times.search_ms + found.times.rerank_ms, 3),
            embedding_time=round(found.times.embedding_ms, 3),
            max_similarity=max(similarities, default=0.0),
            min_similarity=min(similarities, default=0.0),
            average_similarity=round(sum(similarities) / len(hits), 4) if hits else 0.0,
        ),
        timestamp=now,
        degraded=degraded,
    )
    if request.format == "results":
        return reply
    return reply.model_copy(update={"context": context_of(citations), "citations": citations})


def _result(hit: Hit, request: SearchRequest) -> SearchResult:
    item = hit.item
    told: dict[str, Any] = {
        "id": item.cited,
        "text": item.text,
        "tags": item.row.event.tags if item.kind == "knowledge" else (),
        "timestamp": item.row.event.timestamp if item.kind == "knowledge" else item.at,
        "similarity": hit.similarity,
        "score": hit.score,
        "source": item.kind,
        "memory_type": item.kind,
    }
    if request.include_metadata:
        told |= _of_memory(item.row.event) if item.kind == "knowledge" else _of_turn(item.record)
    if request.explain:
        told["explanation"] = _explained(hit, request)
    return SearchResult(**told)


def _of_memory(event: MemoryEvent) -> dict[str, Any]:
    return {
        "confidence": event.confidence,
        "reasoning": event.reasoning,
        "event": event.event,
        "domain": event.domain,
        "quality_source": event.quality_source,
        "code_pattern": event.code_pattern,
        "source_session_id": event.source_session_id,
        "role": event.role,
        "revision": event.revision,
    }


def _of_turn(record: TurnRecord) -> dict[str, Any]:
    return {"source_session_id": record.turn.session_id, "role": record.turn.role, "name": record.turn.name}


def _explained(hit: Hit, request: SearchRequest) -> Explanation:
    event = hit.item.row.event if hit.item.kind == "knowledge" else None
    threshold = request.similarity_threshold
    return Explanation(
        semantic_score=hit.semantic,
        keyword_score=round(hit.coverage, 4),
        hybrid_score=hit.hybrid,
        rerank_score=hit.rerank,
        passed=(
            f"its score {hit.score:.2f} reaches the threshold {threshold:g}"
            if hit.score >= threshold
            else "it holds all words of the question"
        ),
        source_turn_ids=hit.item.sources,
        revision=event.revision if event else None,
        old_memory=event.old_memory if event else None,
    )
