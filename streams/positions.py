"""What the broker knows of our progress: where topics end, what the group has committed, and where nothing is left.

Rule of this file: it only looks, by clients of its own that no rebalance and no stuck fetch can hold up, and each look
has an end.
"""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import Self

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError

from schemas.errors import Unavailable
from schemas.topics import RECORD_BYTES
from streams.committing import Offsets, Place
from streams.settings import Settings
from streams.wire import connection

TIMEOUT_S = 5.0
LOOK_MS = 1000


class Positions:
    """Looks at topics and at the group of one deployment; only ``stored`` may be awaited by several tasks at once."""

    def __init__(self, settings: Settings, bootstrap: str) -> None:
        """Prepare; nothing is connected yet."""
        self._group = settings.name
        options = connection(settings, bootstrap) | {"client_id": f"{settings.name}-positions"}
        self._admin = AIOKafkaAdminClient(**options)
        self._consumer = AIOKafkaConsumer(
            **options,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            isolation_level="read_committed",
            max_partition_fetch_bytes=RECORD_BYTES,
        )

    async def start(self) -> Self:
        """Connect.

        Raises:
            Unavailable: The broker does not answer in time.
        """
        try:
            async with _bounded():
                await self._admin.start()
                await self._consumer.start()
        except Unavailable:
            await self.stop()
            raise
        return self

    async def stop(self) -> None:
        """Disconnect, within a second or two even when the broker is away."""
        try:
            async with asyncio.timeout(2):
                await self._consumer.stop()
                await self._admin.close()
        except (KafkaError, TimeoutError):
            return  # nothing of ours waits in them

    async def ends(self, places: Collection[Place]) -> Offsets:
        """The next offset to be written, or behind the last finished transaction, of each place."""
        async with _bounded():
            found = await self._consumer.end_offsets([TopicPartition(*place) for place in places])
        return {(tp.topic, tp.partition): offset for tp, offset in found.items()}

    async def beginnings(self, places: Collection[Place]) -> Offsets:
        """The first offset that is still there, of each place."""
        async with _bounded():
            found = await self._consumer.beginning_offsets([TopicPartition(*place) for place in places])
        return {(tp.topic, tp.partition): offset for tp, offset in found.items()}

    async def stored(self, places: Collection[Place]) -> Offsets:
        """The group's committed offsets; a place that has none is left out."""
        if not places:
            return {}
        partitions = [TopicPartition(*place) for place in sorted(places)]
        async with _bounded():
            found = await self._admin.list_consumer_group_offsets(self._group, partitions=partitions)
        if len(found) < len(partitions):  # the client overlooks a refusal of the whole request
            raise Unavailable("the group's coordinator does not tell its offsets just now")
        return {(tp.topic, tp.partition): told.offset for tp, told in found.items() if told.offset >= 0}

    async def behind_gap(self, place: Place, start: int) -> int | None:
        """The offset behind a stretch that holds nothing: marks of transactions, what was aborted, what was compacted.

        Args:
            place: Where.
            start: The first offset of the stretch.

        Returns:
            None where a record stands there, or where it is not known in time.
        """
        tp = TopicPartition(*place)
        async with _bounded():
            self._consumer.assign([tp])
            self._consumer.seek(tp, start)
            if await self._consumer.getmany(tp, timeout_ms=LOOK_MS, max_records=1):
                return None
            position: int = await self._consumer.position(tp)
        return position if position > start else None


@asynccontextmanager
async def _bounded() -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(TIMEOUT_S):
            yield
    except (KafkaError, TimeoutError, OSError) as error:
        raise Unavailable(f"the broker does not answer: {error or type(error).__name__}") from error
