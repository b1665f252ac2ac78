"""Answering: one question in, exactly one reply out, within its deadline.

Rule of this file: a handler. What could not be had is said in ``degraded``; empty and failed are different answers. A
question for a prompt's context never fails: its context is then empty, and ``degraded`` says why.
"""

import asyncio
import time
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lakehouse.context import citations_of, context_of
from lakehouse.ranking import Hit
from lakehouse.search import Sides, search
from schemas.conversation import is_blank
from schemas.errors import InvalidMessage, MemlakeError, Unavailable
from schemas.retrieval import ErrorReply, Reply, SearchMetadata, SearchRequest, SearchResult
from streams.incoming import FORWARDED, Incoming, ReplyAddress, passed_on, reply_address
from streams.letters import letters
from streams.logs import logger, trace_of
from streams.ports import Ports
from streams.wire import Outgoing, require_size

log = logger("answer")


@dataclass
class Times:
    """Milliseconds that the steps of one answer took."""

    embedding_ms: float = 0.0
    search_ms: float = 0.0


class Answer:
    """Handles batches of ``queries``, one partition at a time."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._free = asyncio.Semaphore(ports.settings.query_concurrency)
        self._done: set[tuple[int, int]] = set()
        """Partition and offset of what was answered in a batch that is not finished."""

    def forget(self) -> None:
        """Partitions have moved: what stands at a place now may be another question."""
        self._done.clear()

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
        request, _ = await asyncio.to_thread(masker.message, request)
        reply = await self._reply(request, address)
        told = outbox.reply(reply, incoming, address, now=now, key=request.scope.key)
        try:
            require_size(told)
        except InvalidMessage as error:
            told = outbox.reply(
                self._failed(request, error, "internal"), incoming, address, now=now, key=request.scope.key
            )
        return [told]

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
            return ErrorReply(code="deadline_exceeded", message="the question came after its deadline")
        try:
            async with asyncio.timeout(left), self._free:
                return await self._found(request)
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
        return _reply_of(request, [], Times(), (f"retrieval failed: {reason}",), self._ports.clock())

    async def _found(self, request: SearchRequest) -> Reply:
        times, degraded = Times(), list(_not_had(request))
        if is_blank(request.query):
            return _reply_of(request, [], times, ("the question is blank: nothing was searched",), self._ports.clock())
        if "knowledge" not in request.kinds:
            return _reply_of(request, [], times, tuple(degraded), self._ports.clock())
        vector = None
        if request.mode != "keyword" or request.similarity_threshold > 0:
            vector = await self._embedded(request, times, degraded)
        shard = await self._ports.lake.shard_of(request.scope)
        started = time.perf_counter()
        sides: Sides = await search(shard, request, vector)
        times.search_ms = (time.perf_counter() - started) * 1000
        for reason in (*degraded, *sides.failed):
            self._ports.metrics.degraded.labels(reason).inc()
        return _reply_of(request, sides.hits, times, (*degraded, *sides.failed), self._ports.clock())

    async def _embedded(self, request: SearchRequest, times: Times, degraded: list[str]) -> Any | None:
        started = time.perf_counter()
        try:
            return (await self._ports.embedder.embed([request.query]))[0]
        except MemlakeError:
            if request.mode == "semantic":
                raise
            degraded.append("embedding failed: only words were searched")
            return None
        finally:
            times.embedding_ms = (time.perf_counter() - started) * 1000


def _place(incoming: Incoming) -> tuple[int, int]:
    return incoming.partition, incoming.offset


def _not_had(request: SearchRequest) -> list[str]:
    """What was asked for and is not to be had here."""
    missing = [f"{kind} results are not to be had" for kind in request.kinds if kind != "knowledge"]
    if request.rerank:
        missing.append("no reranker is configured")
    if request.format == "agent_context":
        missing.append("agent_context is not to be had: a plain context is given")
    if request.history:
        missing.append("recent turns are not used in the search")
    return missing


def _reply_of(request: SearchRequest, hits: list[Hit], times: Times, degraded: tuple[str, ...], now: datetime) -> Reply:
    similarities = [hit.similarity for hit in hits]
    reply = Reply(
        success=True,
        query=request.query,
        results=tuple(_result(hit, detailed=request.include_metadata) for hit in hits),
        metadata=SearchMetadata(
            total_results=len(hits),
            search_time=round(times.search_ms, 3),
            embedding_time=round(times.embedding_ms, 3),
            max_similarity=max(similarities, default=0.0),
            min_similarity=min(similarities, default=0.0),
            average_similarity=round(sum(similarities) / len(hits), 4) if hits else 0.0,
        ),
        timestamp=now,
        degraded=degraded,
    )
    if request.format == "results":
        return reply
    citations = citations_of(hits)
    return reply.model_copy(update={"context": context_of(citations), "citations": citations})


def _result(hit: Hit, *, detailed: bool) -> SearchResult:
    event = hit.row.event
    basic: dict[str, Any] = {
        "id": str(event.id),
        "text": event.text,
        "tags": event.tags,
        "timestamp": event.timestamp,
        "similarity": hit.similarity,
        "score": hit.score,
    }
    if detailed:
        basic |= {
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
    return SearchResult(**basic)
