"""Requests and their answers, from outside: the way back is open before anything is asked, and every wait has an end.

Rule of this file: it matches answers to what waits for them by correlation id, and knows of no request in particular.
"""

import asyncio
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from aiokafka import AIOKafkaConsumer
from aiokafka.errors import KafkaError

from schemas.errors import InvalidMessage, Unavailable
from schemas.memory import TurnReport
from schemas.message import Headers, Message, header
from schemas.retrieval import ErrorReply, Reply
from schemas.topics import topic_name
from streams import readers
from streams.incoming import CORRELATION_ID, DEADLINE, EPOCH, REPLY_TO
from streams.settings import Settings
from streams.wire import Outbox, Outgoing

REQUEST_HEADERS = 300
"""Bytes that the way back adds to a message."""
PENDING = 10_000
"""Requests that may wait for an answer at once; more wait to be sent."""
REPLIES: dict[str, type[Reply | TurnReport | ErrorReply]] = {
    kind.kind: kind for kind in (Reply, TurnReport, ErrorReply)
}


class Requests:
    """All requests of one client that wait for an answer."""

    def __init__(self, settings: Settings, bootstrap: str, outbox: Outbox, timeout_s: float) -> None:
        """Prepare; nothing is connected before the first request.

        Args:
            settings: Of the deployment.
            bootstrap: The broker.
            outbox: What requests leave by.
            timeout_s: Seconds to open the way back.
        """
        self._settings = settings
        self._bootstrap = bootstrap
        self._outbox = outbox
        self._timeout_s = timeout_s
        self._consumer: AIOKafkaConsumer | None = None
        self._reader: asyncio.Task[None] | None = None
        self._waiting: dict[str, asyncio.Future[Message]] = {}
        self._room = asyncio.Semaphore(PENDING)
        self._way_back = asyncio.Lock()

    async def close(self) -> None:
        """Disconnect; whoever still waits is told."""
        if self._reader is not None:
            self._reader.cancel()
        for future in self._waiting.values():
            future.cancel()
        if self._consumer is not None:
            await self._consumer.stop()

    async def ask(self, messages: Sequence[Outgoing], patience_s: float) -> list[Message | Unavailable]:
        """Send messages in order, each with a way back, and wait for all answers within one time-out.

        Args:
            messages: The requests.
            patience_s: Seconds to wait.

        Returns:
            For each its answer, or why there is none.
        """
        deadline = datetime.now(UTC) + timedelta(seconds=patience_s)
        ids = [str(uuid.uuid4()) for _ in messages]
        for correlation_id, outgoing in zip(ids, messages, strict=True):
            outgoing.headers.extend(self._return_headers(correlation_id, deadline))
        late = Unavailable(f"no answer within {patience_s:g} s: is a worker running?")
        try:
            async with asyncio.timeout(patience_s), self._room:
                await self._open_way_back()
                loop = asyncio.get_running_loop()
                answers = [self._waiting.setdefault(one, loop.create_future()) for one in ids]
                await self._outbox.send(messages)
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
            (REPLY_TO, topic_name(self._settings.name, "replies").encode()),
            (DEADLINE, str(epoch_ms).encode()),
        ]

    async def _open_way_back(self) -> None:
        """Read replies from where they end now; done before the first request is sent."""
        async with self._way_back:
            if self._reader is not None and not self._reader.done():
                return
            if self._consumer is not None:  # its reader has ended: begin anew
                await self._consumer.stop()
            consumer = self._consumer = readers.plain_consumer(self._settings, self._bootstrap, "replies")
            await readers.started(consumer, self._timeout_s)
            places = readers.places_of(self._settings, "replies")
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


def _outcome(answer: "asyncio.Future[Message]", late: Unavailable) -> Message | Unavailable:
    if not answer.done():
        return late
    error = answer.exception()
    return error if isinstance(error, Unavailable) else answer.result()
