"""Reading a topic from outside a group: consumers that are positioned for certain before anything else happens.

Rule of this file: it hands out raw records and knows no message.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError

from schemas.errors import Unavailable
from schemas.topics import BY_SUFFIX, RECORD_BYTES, Suffix, topic_name
from streams.admin import partitions_of
from streams.settings import Settings
from streams.wire import connection


async def read(
    settings: Settings,
    bootstrap: str,
    suffix: Suffix,
    partitions: Sequence[int] | None = None,
    *,
    start: Mapping[int, int] | None = None,
    follow: bool = False,
    from_end: bool = False,
    timeout_s: float = 30.0,
) -> AsyncGenerator[Any, None]:
    """The records of one of the deployment's topics, in order within each partition.

    Args:
        settings: Of the deployment.
        bootstrap: The broker.
        suffix: Which topic.
        partitions: Which partitions; all where not given.
        start: Offset by partition to begin at; the beginning where not given.
        follow: Wait for more, instead of ending at what is there now.
        from_end: Begin at the end instead.
        timeout_s: Seconds to connect.

    Raises:
        Unavailable: The broker does not answer in time.
    """
    consumer = plain_consumer(settings, bootstrap, f"{suffix}-reader")
    await started(consumer, timeout_s)
    try:
        places = places_of(settings, suffix, partitions)
        consumer.assign(places)
        await position(consumer, places, start or {}, from_end=from_end)
        ends = await consumer.end_offsets(places)
        left = {place for place in places if follow or await consumer.position(place) < ends[place]}
        while left:
            got = await consumer.getmany(timeout_ms=500, max_records=500)
            for batch in got.values():
                for record in batch:
                    yield record
            if not follow:
                left = {place for place in left if await consumer.position(place) < ends[place]}
    finally:
        await consumer.stop()


def plain_consumer(settings: Settings, bootstrap: str, who: str) -> AIOKafkaConsumer:
    """A consumer without a group, not connected yet."""
    return AIOKafkaConsumer(
        **connection(settings, bootstrap),
        client_id=f"{settings.name}-{who}",
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        max_partition_fetch_bytes=RECORD_BYTES,
    )


def places_of(settings: Settings, suffix: Suffix, partitions: Sequence[int] | None = None) -> list[TopicPartition]:
    """Partitions of a topic; all where none are named."""
    topic = topic_name(settings.name, suffix)
    every = range(partitions_of(BY_SUFFIX[suffix], settings))
    return [TopicPartition(topic, number) for number in (every if partitions is None else partitions)]


async def started(consumer: AIOKafkaConsumer, timeout_s: float) -> None:
    """Connect a consumer.

    Raises:
        Unavailable: The broker does not answer in time.
    """
    try:
        async with asyncio.timeout(timeout_s):
            await consumer.start()
    except (KafkaError, TimeoutError) as error:
        await consumer.stop()
        raise Unavailable(f"the broker does not answer: {error or type(error).__name__}") from error


async def position(
    consumer: AIOKafkaConsumer, places: list[TopicPartition], start: Mapping[int, int], *, from_end: bool
) -> None:
    """Set every position for certain, before anything else happens."""
    default = await (consumer.end_offsets(places) if from_end else consumer.beginning_offsets(places))
    for place in places:
        consumer.seek(place, start.get(place.partition, default[place]))
