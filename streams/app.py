"""The Faust application: its agents, wired to their handlers, without globals.

Rule of this file, with ``worker``: the only ones that import Faust. Topics carry raw bytes; decoding happens in the
handlers, where a bad message can be told from a bad day.
"""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import faust
from faust.exceptions import ConsumerNotStarted
from faust.transport.drivers.aiokafka import AIOKafkaConsumerThread, Consumer

from schemas.topics import BY_SUFFIX, Suffix, topic_name
from streams.committing import Offsets, Place
from streams.incoming import EPOCH, Incoming
from streams.logs import logger
from streams.loop import AgentLoop
from streams.settings import Settings

AGENTS: dict[str, tuple[Suffix, ...]] = {
    "intake": ("turns", "commands"),
    "remember": ("facts",),
    "answer": ("queries",),
    "know": ("knowledge.refresh",),
}
"""Each agent with its topics. Those of the first three are keyed by scope, and one worker has the same partitions."""
LATEST_S = 4_102_444_800
"""2100: whoever stamps a record later than that, or before 1970, has no clock."""
log = logger("app")


class _CommittedOnly(AIOKafkaConsumerThread):
    """Faust reads what was aborted, unless it runs in exactly-once mode; we read what was committed."""

    def _create_worker_consumer(self, transport: Any) -> Any:
        consumer = super()._create_worker_consumer(transport)
        consumer._isolation_level = "read_committed"  # noqa: SLF001 - there is no setting for it
        return consumer


class _Consumer(Consumer):
    def _new_consumer_thread(self) -> AIOKafkaConsumerThread:
        return _CommittedOnly(self, loop=self.loop, beacon=self.beacon)


def build_app(settings: Settings, bootstrap: str, datadir: str) -> faust.App:
    """A Faust application that consumes and does nothing else."""
    credentials: Any = None
    if settings.security_protocol.startswith("SASL"):
        credentials = faust.SASLCredentials(
            username=settings.sasl_username,
            password=settings.sasl_password.get_secret_value(),
            mechanism=settings.sasl_mechanism,
            ssl_context=_ssl(settings),
        )
        credentials.protocol = settings.security_protocol
    elif settings.security_protocol == "SSL":
        credentials = faust.SSLCredentials(_ssl(settings))
    app = faust.App(
        settings.name,
        broker=[f"kafka://{server.strip()}" for server in bootstrap.split(",")],
        broker_credentials=credentials,
        autodiscover=False,
        web_enabled=False,
        datadir=datadir,
        topic_allow_declare=False,
        topic_disable_leader=True,
        reply_create_topic=False,
        broker_session_timeout=settings.session_timeout_s,
        broker_heartbeat_interval=max(1.0, settings.session_timeout_s / 5),
        broker_max_poll_interval=max(settings.exit_after_s * 2, 600),
        broker_request_timeout=max(settings.session_timeout_s * 2, 30),
        consumer_auto_offset_reset="earliest",
        consumer_max_fetch_size=4 * 1024 * 1024,
        stream_buffer_maxsize=settings.buffer_size,
        stream_wait_empty=False,
        processing_guarantee="at_least_once",
    )
    app.transport.Consumer = _Consumer  # type: ignore[misc] # Faust asks the instance
    return app


def _ssl(settings: Settings) -> Any:
    import ssl  # noqa: PLC0415 - only with an SSL protocol

    return ssl.create_default_context(cafile=str(settings.ssl_ca_file) if settings.ssl_ca_file else None)


def register(app: faust.App, settings: Settings, name: str, loop: AgentLoop) -> None:
    """Give an agent its topics and its loop."""
    topic = app.topic(
        *(topic_name(settings.name, suffix) for suffix in AGENTS[name]),
        key_type=bytes,
        value_type=bytes,
        key_serializer="raw",
        value_serializer="raw",
        allow_empty=True,
        acks=False,  # offsets are committed by ``Committer``
    )

    async def agent(stream: Any) -> None:
        try:
            await loop.run(incoming_of(app, stream.noack().events()))
        except Exception as error:  # Faust would start it again behind the batch in hand, which would be lost
            log.exception("an agent ended", agent=name)
            await app.crash(error)

    app.agent(topic, name=f"{settings.name}.{name}")(agent)


async def incoming_of(app: faust.App, events: Any) -> AsyncIterator[Incoming]:
    """Faust's events as our records; what was read before partitions moved is left out, since it is read again."""
    async for event in events:
        message = event.message
        if message.generation_id != app.consumer_generation_id:
            continue
        yield Incoming(
            topic=message.topic,
            partition=message.partition,
            offset=message.offset,
            key=message.key,
            value=message.value,
            headers=list(message.headers or ()),  # event.headers would keep one of each name
            timestamp=EPOCH + timedelta(seconds=min(max(message.timestamp or 0, 0), LATEST_S)),
        )


def topics_of(settings: Settings) -> list[str]:
    """Every topic that a worker reads."""
    return [topic_name(settings.name, suffix) for suffixes in AGENTS.values() for suffix in suffixes]


def scoped_topics(settings: Settings) -> list[str]:
    """Of these, those that are keyed by scope: a worker has the same partitions of each."""
    return [
        topic_name(settings.name, suffix)
        for suffixes in AGENTS.values()
        for suffix in suffixes
        if BY_SUFFIX[suffix].scoped
    ]


async def commit(app: faust.App, offsets: Offsets) -> Offsets:
    """Commit through the application's consumer, within its group, past Faust's own accounting.

    Faust's own commit takes any failure for the end of the application; ours is simply tried again.

    Args:
        app: The application.
        offsets: Next offset by place.

    Returns:
        Those of places that are ours.
    """
    consumer: Any = app.consumer
    owned = assigned(app)
    ours = {place: offset for place, offset in offsets.items() if place in owned}
    if ours:
        thread = consumer._thread  # noqa: SLF001 - the Kafka client lives in it
        told = {consumer._new_topicpartition(*place): offset for place, offset in ours.items()}  # noqa: SLF001
        await thread.call_thread(thread._ensure_consumer().commit, told)  # noqa: SLF001
    return ours


def assigned(app: faust.App) -> set[Place]:
    """The places that are ours now."""
    try:
        return {(tp.topic, tp.partition) for tp in app.consumer.assignment()}
    except ConsumerNotStarted:
        return set()
