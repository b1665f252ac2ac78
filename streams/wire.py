"""The way to and from the broker: connection settings, and one outbox that every message of ours leaves by.

Rule of this file: sends are bounded in time. The Kafka client waits for a broker that is away far beyond its own
time-outs; ours is around it, and what was not confirmed counts as not sent (ids make a second copy harmless).
"""

import asyncio
import ssl
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError, MessageSizeTooLargeError, RecordTooLargeError

from schemas.errors import InvalidMessage, Unavailable
from schemas.identity import derived_id
from schemas.message import Headers, Message, cloud_event
from schemas.topics import BY_SUFFIX, RECORD_BYTES, Suffix, topic_name
from streams import lenient
from streams.incoming import CORRELATION_ID, Incoming, ReplyAddress, trace
from streams.logs import logger
from streams.settings import Settings

THEIRS_S = 2.0
"""Seconds for an answer to a topic of the asker's own."""
log = logger("wire")
lenient.install()


def connection(settings: Settings, bootstrap: str) -> dict[str, Any]:
    """Keyword arguments of any aiokafka client."""
    options: dict[str, Any] = {"bootstrap_servers": bootstrap, "security_protocol": settings.security_protocol}
    if settings.security_protocol.endswith("SSL"):
        cafile = str(settings.ssl_ca_file) if settings.ssl_ca_file else None
        options["ssl_context"] = ssl.create_default_context(cafile=cafile)
    if settings.security_protocol.startswith("SASL"):
        options |= {
            "sasl_mechanism": settings.sasl_mechanism,
            "sasl_plain_username": settings.sasl_username,
            "sasl_plain_password": settings.sasl_password.get_secret_value(),
        }
    return options


@dataclass(frozen=True)
class Outgoing:
    """A message on its way.

    Attributes:
        suffix: Which of our topics.
        key: The record's key.
        value: The record's value.
        partition: Where exactly; None lets the key decide.
        headers: All headers.
        topic: Full name where it isn't one of the table's (a reply topic of the asker's own).
    """

    suffix: Suffix
    key: str
    value: bytes
    headers: Headers
    partition: int | None = None
    topic: str | None = None


class Outbox:
    """Sends messages of one deployment, each within a deadline."""

    def __init__(self, settings: Settings, bootstrap: str, who: str) -> None:
        """Prepare a producer.

        Args:
            settings: Of the deployment.
            bootstrap: The broker.
            who: Part of the client id and of ``ce_source``, e.g. "extract".
        """
        self.settings = settings
        self.source = f"/{settings.name}/{who}"
        self._producer = AIOKafkaProducer(
            **connection(settings, bootstrap),
            client_id=f"{settings.name}-{who}",
            acks="all",
            max_request_size=RECORD_BYTES,
            linger_ms=0,
            metadata_max_age_ms=30_000,
        )

    async def start(self) -> Self:
        """Connect.

        Raises:
            Unavailable: The broker does not answer in time.
        """
        try:
            await asyncio.wait_for(self._producer.start(), self.settings.send_timeout_s)
        except (KafkaError, TimeoutError) as error:
            await self.stop()
            raise Unavailable(f"the broker does not answer: {_reason(error)}") from error
        return self

    async def stop(self) -> None:
        """Disconnect, within a second or two even when the broker is away."""
        try:
            await asyncio.wait_for(self._producer.stop(), 2)
        except (KafkaError, TimeoutError):
            return  # nothing of ours waits in it: each send was confirmed or counted as not sent

    async def send(self, messages: Iterable[Outgoing]) -> None:
        """Send messages in order and wait until the broker has them all.

        Raises:
            Unavailable: Not all were confirmed within the deadline.
            InvalidMessage: One is larger than its topic takes.
        """
        outgoing = list(messages)
        for message in outgoing:
            require_size(message)
        theirs = [message for message in outgoing if self._is_theirs(message)]
        try:
            async with asyncio.timeout(self.settings.send_timeout_s):
                sent = [await self._enqueue(message) for message in outgoing if not self._is_theirs(message)]
                await asyncio.gather(*sent)
        except (MessageSizeTooLargeError, RecordTooLargeError) as error:
            raise InvalidMessage(f"the message is larger than its topic takes: {_reason(error)}") from error
        except (KafkaError, TimeoutError) as error:
            raise Unavailable(f"the broker does not take messages: {_reason(error)}") from error
        if theirs:
            await asyncio.gather(*(self._try(message) for message in theirs))

    def _is_theirs(self, message: Outgoing) -> bool:
        """Whether it goes to a topic that an asker named."""
        return message.topic is not None and message.topic != topic_name(self.settings.name, message.suffix)

    async def _try(self, message: Outgoing) -> None:
        """Send to an asker's own topic; that it can't be had is the asker's loss, and nobody else waits for it."""
        try:
            async with asyncio.timeout(THEIRS_S):
                if await self._is_heard(message):
                    await (await self._enqueue(message))
        except (KafkaError, TimeoutError) as error:
            log.warning("an answer was not taken", topic=message.topic, reason=_reason(error))

    async def _is_heard(self, message: Outgoing) -> bool:
        """Whether the asker's topic exists; sending to one that doesn't would wait."""
        cluster = self._producer.client.cluster
        if message.topic not in cluster.topics():
            cluster = await self._producer.client.fetch_all_metadata()
        if message.topic in cluster.topics():
            return True
        log.warning("an answer has nowhere to go", topic=message.topic)
        return False

    async def _enqueue(self, message: Outgoing) -> asyncio.Future[Any]:
        topic = message.topic or topic_name(self.settings.name, message.suffix)
        future: asyncio.Future[Any] = await self._producer.send(
            topic, message.value, message.key.encode(), partition=message.partition, headers=message.headers
        )
        return future

    async def topics(self) -> set[str] | None:
        """The broker's topics as it tells them now; None where it doesn't answer."""
        try:
            async with asyncio.timeout(5):
                cluster = await self._producer.client.fetch_all_metadata()
        except (KafkaError, TimeoutError, OSError):
            return None
        found: set[str] = cluster.topics()
        return found

    def reply(self, message: Message, asked: Incoming, address: ReplyAddress, *, now: datetime, key: str) -> Outgoing:
        """An answer on its way back.

        Args:
            message: The answer.
            asked: The request.
            address: From the request's headers.
            now: ``ce_time``.
            key: The scope's key, where there is one.
        """
        event_id = derived_id("reply", address.correlation_id)
        headers = cloud_event(message, event_id=event_id, source=self.source, time=now, key=key)
        headers += [(CORRELATION_ID, address.correlation_id.encode()), *trace(asked)]
        return Outgoing("replies", address.correlation_id, message.encode(), headers, topic=address.topic)


def require_size(message: Outgoing, *, spare: int = 0) -> None:
    """Refuse a message that its topic would refuse.

    Args:
        message: The message.
        spare: Bytes that will be added to it.

    Raises:
        InvalidMessage: With both sizes.
    """
    limit = BY_SUFFIX[message.suffix].max_message_bytes
    size = (
        len(message.value)
        + len(message.key.encode())
        + sum(len(n.encode()) + len(v or b"") + 10 for n, v in message.headers)
        + 100
        + spare
    )
    if size > limit:
        raise InvalidMessage(f"the message has {size} bytes, {message.suffix} takes {limit}: send less at once")


def _reason(error: BaseException) -> str:
    return str(error).partition("\n")[0][:300] or type(error).__name__
