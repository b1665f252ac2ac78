"""The client: publish turns, ask, and follow the audit log, from any Python program.

    async with MemoryClient() as memory:
        await memory.publish("I moved to Porto.")
        reply = await memory.ask("Where do I live?", format="context")

Rule of this file: it speaks to the broker only, and imports neither a model nor the lake. The way back is open before
anything is asked; every wait has an end.
"""

import asyncio
import os
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from typing import Any, Self, TypeVar

from aiokafka import AIOKafkaConsumer
from aiokafka.errors import KafkaError

from schemas.commands import Command
from schemas.conversation import Role, Scope, Turn
from schemas.errors import InvalidMessage, MemlakeError, Unavailable
from schemas.memory import Event, MemoryEvent, TurnReport
from schemas.message import Headers, Message, cloud_event, header
from schemas.retrieval import ErrorReply, Format, Mode, Reply, SearchRequest
from schemas.topics import Suffix, topic_name
from streams import readers
from streams.admin import wait_for_topics
from streams.incoming import CORRELATION_ID, DEADLINE, EPOCH, REPLY_TO
from streams.logs import logger
from streams.settings import Settings
from streams.wire import Outbox, Outgoing, require_size

REQUEST_HEADERS = 300
"""Bytes that the way back adds to a message."""
log = logger("client")
PENDING = 10_000
"""Requests that may wait for an answer at once; more wait to be sent."""
REPLIES: dict[str, type[Reply | TurnReport | ErrorReply]] = {
    kind.kind: kind for kind in (Reply, TurnReport, ErrorReply)
}


Answer = TypeVar("Answer", bound=Message)


class RequestFailed(Exception):  # noqa: N818 - what the worker answered, not what went wrong here
    """The worker answered that it could not do what was asked."""

    def __init__(self, reply: ErrorReply) -> None:
        super().__init__(reply.message)
        self.reply = reply


class MemoryClient:
    """One scope's memory, from outside. Use it as an async context manager; its methods may be awaited concurrently."""

    def __init__(
        self,
        project: str | None = None,
        user: str | None = None,
        *,
        settings: Settings | None = None,
        bootstrap: str | None = None,
        timeout_s: float = 30.0,
    ) -> None:
        """Prepare a client; it connects when it is entered.

        Args:
            project: Project of the scope; from the settings where not given.
            user: User of the scope; from the settings where not given.
            settings: Of the deployment; from the environment where not given.
            bootstrap: The broker; from the settings, or the one memlake runs itself.
            timeout_s: Seconds that one request may take, unless the call says otherwise.
        """
        self.settings = settings or Settings.from_env(os.environ)
        self.scope = Scope(project_id=project or self.settings.project, user_id=user or self.settings.user)
        self.timeout_s = timeout_s
        self._given_bootstrap = bootstrap
        self._outbox: Outbox | None = None
        self._consumer: AIOKafkaConsumer | None = None
        self._reader: asyncio.Task[None] | None = None
        self._waiting: dict[str, asyncio.Future[Message]] = {}
        self._room = asyncio.Semaphore(PENDING)
        self._way_back = asyncio.Lock()

    @property
    def bootstrap(self) -> str:
        """The broker's address."""
        if self._given_bootstrap:
            return self._given_bootstrap
        from streams.broker import bootstrap_of  # noqa: PLC0415 - only where the broker is memlake's own

        return bootstrap_of(self.settings)

    async def __aenter__(self) -> Self:
        """Connect, waiting for the deployment's topics within the time-out."""
        await wait_for_topics(self.settings, self.bootstrap, self.timeout_s)
        self._outbox = await Outbox(self.settings, self.bootstrap, "client").start()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Disconnect; whoever still waits is told."""
        if self._reader is not None:
            self._reader.cancel()
        for future in self._waiting.values():
            future.cancel()
        if self._consumer is not None:
            await self._consumer.stop()
        if self._outbox is not None:
            await self._outbox.stop()

    def turn(self, content: str, *, role: Role = "user", **fields: Any) -> Turn:
        """A turn of this scope, said now unless ``timestamp`` says otherwise; ``fields`` are the other fields of Turn.

        Raises:
            InvalidMessage: A field is wrong (named).
        """
        told = {"scope": self.scope, "timestamp": datetime.now(UTC), **fields, "role": role, "content": content}
        return Turn.from_wire(told).identified()

    async def publish(self, *turns: Turn | str) -> list[str]:
        """Say turns and go on; a plain text is the user's.

        Returns:
            The turns' ids, once the broker has them all.

        Raises:
            InvalidMessage: A turn is wrong or too large.
            Unavailable: The broker does not take them.
        """
        said = [self.turn(turn) if isinstance(turn, str) else turn.identified() for turn in turns]
        await self._sender.send(self._turn_out(turn) for turn in said)
        return [turn.turn_id or "" for turn in said]

    async def publish_and_wait(self, turn: Turn | str, *, timeout_s: float | None = None) -> TurnReport:
        """Say a turn and wait until it is remembered.

        Returns:
            What became of it: every fact with its one outcome.

        Raises:
            RequestFailed: The worker refused it.
            Unavailable: No answer in time; the turn is on its topic all the same.
        """
        said = self.turn(turn) if isinstance(turn, str) else turn.identified()
        reply = await self._request("turns", said, said.turn_id or "", timeout_s)
        return _expected(reply, TurnReport)

    async def publish_all_and_wait(
        self, turns: Sequence[Turn], *, timeout_s: float | None = None
    ) -> list[TurnReport | RequestFailed | MemlakeError]:
        """Say turns in this order and wait until all are remembered.

        Returns:
            For each turn its report, or why there is none.
        """
        refused = {place: error for place, turn in enumerate(turns) if (error := self.refusal(turn)) is not None}
        sent = [self._turn_out(turn) for place, turn in enumerate(turns) if place not in refused]
        answers = iter(await self._requests(sent, timeout_s) if sent else [])
        return [refused.get(place) or _result(next(answers)) for place in range(len(turns))]

    def refusal(self, turn: Turn) -> InvalidMessage | None:
        """Why a turn cannot be sent: it is too large, and its content is what makes it so; None where it can."""
        try:
            require_size(self._turn_out(turn), spare=REQUEST_HEADERS)
        except InvalidMessage as error:
            return InvalidMessage(f"content: {error}", field="content")
        return None

    def _turn_out(self, turn: Turn) -> Outgoing:
        said = turn.identified()
        return self._input("turns", said, said.turn_id or "")

    async def command(
        self, command: Command, *, partition: int | None = None, timeout_s: float | None = None
    ) -> TurnReport:
        """Send a command and wait until it is done; see ``publish_and_wait``."""
        given = command if command.command_id else command.model_copy(update={"command_id": str(uuid.uuid4())})
        reply = await self._request("commands", given, given.command_id or "", timeout_s, partition)
        return _expected(reply, TurnReport)

    async def ask(
        self,
        query: str,
        *,
        top_k: int = 5,
        threshold: float = 0.3,
        mode: Mode = "hybrid",
        format: Format = "results",  # noqa: A002 - the field's name on the wire
        timeout_s: float | None = None,
        **fields: Any,
    ) -> Reply:
        """Ask this scope's memory.

        Args:
            query: The question.
            top_k: Results at most, 1 … 50.
            threshold: Least similarity, 0 … 1.
            mode: Which sides are searched.
            format: "context" adds the context string and its citations.
            timeout_s: Seconds to wait.
            fields: Other fields of ``SearchRequest``, by their Python names.

        Raises:
            InvalidMessage: A field is wrong (named).
            RequestFailed: The worker answered with an error.
            Unavailable: No answer in time.
        """
        request = SearchRequest.from_wire(
            {
                **fields,
                "scope": self.scope,
                "query": query,
                "top_k": top_k,
                "similarity_threshold": threshold,
                "mode": mode,
                "format": format,
            }
        )
        return _expected(await self._request("queries", request, str(uuid.uuid4()), timeout_s), Reply)

    async def changes(
        self,
        *,
        start: Mapping[int, int] | None = None,
        follow: bool = False,
        everyone: bool = False,
        events: Sequence[Event] = (),
        from_end: bool = False,
    ) -> AsyncIterator[MemoryEvent]:
        """The audit log, in order within each scope, each event once.

        Args:
            start: Offset by partition to begin at; the beginning where not given.
            follow: Wait for more, instead of ending at what is there now.
            everyone: All scopes, instead of this one's.
            events: Only these; all where empty.
            from_end: Begin at the end instead.
        """
        wanted = None if everyone else self.scope.key
        seen: dict[str, int] = {}
        partitions = [self.scope.partition(self.settings.partitions)] if not everyone else None
        async for record in self.records("changes", partitions, start=start, follow=follow, from_end=from_end):
            if record.value is None or (wanted and header(record.headers, "ce_partitionkey") != wanted):
                continue
            try:
                event = MemoryEvent.decode(record.value)
            except InvalidMessage as error:  # not ours; what follows it is
                log.warning("not an event", partition=record.partition, offset=record.offset, reason=str(error))
                continue
            if event.sequence <= seen.get(event.scope.key, 0):
                continue  # told again after a crash
            seen[event.scope.key] = event.sequence
            if not events or event.event in events:
                yield event

    async def records(
        self,
        suffix: Suffix,
        partitions: Sequence[int] | None = None,
        *,
        start: Mapping[int, int] | None = None,
        follow: bool = False,
        from_end: bool = False,
    ) -> AsyncIterator[Any]:
        """The raw records of one of the deployment's topics; see ``changes``."""
        found = readers.read(
            self.settings,
            self.bootstrap,
            suffix,
            partitions,
            start=start,
            follow=follow,
            from_end=from_end,
            timeout_s=self.timeout_s,
        )
        async with aclosing(found):
            async for record in found:
                yield record

    @property
    def _sender(self) -> Outbox:
        if self._outbox is None:
            raise RuntimeError("use the client as a context manager: async with MemoryClient() as memory: …")
        return self._outbox

    def _input(
        self, suffix: Suffix, message: Turn | Command | SearchRequest, event_id: str, partition: int | None = None
    ) -> Outgoing:
        scope = message.scope
        key = scope.key if scope else ""
        if scope is not None:
            partition = scope.partition(self.settings.partitions)
        headers = cloud_event(message, event_id=event_id, source=self._sender.source, time=datetime.now(UTC), key=key)
        return Outgoing(suffix, key, message.encode(), headers, partition)

    async def _request(
        self,
        suffix: Suffix,
        message: Turn | Command | SearchRequest,
        event_id: str,
        timeout_s: float | None,
        partition: int | None = None,
    ) -> Message:
        """Send with a way back, and wait for the one answer."""
        (answer,) = await self._requests([self._input(suffix, message, event_id, partition)], timeout_s)
        if isinstance(answer, Unavailable):
            raise answer
        return answer

    async def _requests(self, messages: Sequence[Outgoing], timeout_s: float | None) -> list[Message | Unavailable]:
        """Send messages in order, each with a way back, and wait for all answers within one time-out."""
        patience = self.timeout_s if timeout_s is None else timeout_s
        deadline = datetime.now(UTC) + timedelta(seconds=patience)
        ids = [str(uuid.uuid4()) for _ in messages]
        for correlation_id, outgoing in zip(ids, messages, strict=True):
            outgoing.headers.extend(self._return_headers(correlation_id, deadline))
        late = Unavailable(f"no answer within {patience:g} s: is a worker running?")
        try:
            async with asyncio.timeout(patience), self._room:
                await self._open_way_back()
                loop = asyncio.get_running_loop()
                answers = [self._waiting.setdefault(one, loop.create_future()) for one in ids]
                await self._sender.send(messages)
                await asyncio.wait(answers)
        except TimeoutError:
            answers = [self._waiting.get(one) or asyncio.Future() for one in ids]
        finally:
            for one in ids:
                self._waiting.pop(one, None)
        return [_outcome(answer, late) for answer in answers]

    def _return_headers(self, correlation_id: str, deadline: datetime) -> Headers:
        epoch_ms = round((deadline - EPOCH).total_seconds() * 1000)
        return [
            (CORRELATION_ID, correlation_id.encode()),
            (REPLY_TO, topic_name(self.settings.name, "replies").encode()),
            (DEADLINE, str(epoch_ms).encode()),
        ]

    async def _open_way_back(self) -> None:
        """Read replies from where they end now; done before the first request is sent."""
        async with self._way_back:
            if self._reader is not None and not self._reader.done():
                return
            if self._consumer is not None:  # its reader has ended: begin anew
                await self._consumer.stop()
            consumer = self._consumer = readers.plain_consumer(self.settings, self.bootstrap, "replies")
            await readers.started(consumer, self.timeout_s)
            places = readers.places_of(self.settings, "replies")
            consumer.assign(places)
            await readers.position(consumer, places, {}, from_end=True)
            self._reader = asyncio.create_task(self._read_replies(consumer))

    async def _read_replies(self, consumer: AIOKafkaConsumer) -> None:
        try:
            await self._deliver(consumer)
        except KafkaError as error:
            for answer in self._waiting.values():
                if not answer.done():
                    answer.set_exception(Unavailable(f"answers cannot be read: {error}"))

    async def _deliver(self, consumer: AIOKafkaConsumer) -> None:
        async for record in consumer:
            answer = self._waiting.get(header(record.headers, CORRELATION_ID) or "")
            if answer is None or answer.done():
                continue  # somebody else's, or one that came twice
            told = (header(record.headers, "ce_type") or "").removeprefix("memlake.").rpartition(".v")[0]
            try:
                answer.set_result(REPLIES[told].decode(record.value))
            except (KeyError, InvalidMessage) as error:
                answer.set_exception(Unavailable(f"an answer of type {told!r} cannot be read: {error}"))


def _result(answer: Message | Unavailable) -> TurnReport | RequestFailed | MemlakeError:
    try:
        return answer if isinstance(answer, Unavailable) else _expected(answer, TurnReport)
    except (RequestFailed, Unavailable) as error:
        return error


def _outcome(answer: "asyncio.Future[Message]", late: Unavailable) -> Message | Unavailable:
    if not answer.done():
        return late
    error = answer.exception()
    return error if isinstance(error, Unavailable) else answer.result()


def _expected(reply: Message, kind: type[Answer]) -> Answer:
    if isinstance(reply, ErrorReply):
        raise RequestFailed(reply)
    if not isinstance(reply, kind):
        raise Unavailable(f"expected {kind.kind}, got {reply.kind}")
    return reply
