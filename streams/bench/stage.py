"""What every benchmark stands on: a deployment of its own, texts that nobody has said before, and its parts alone."""

import itertools
import os
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from aiokafka import AIOKafkaConsumer, TopicPartition

from lakehouse.embedding import Embedder, load_embedder
from schemas.topics import Suffix, topic_name
from streams.admin import apply_topics
from streams.client import MemoryClient
from streams.deployment import WorkerProcess, running_broker
from streams.settings import Settings
from streams.wire import Outbox, Outgoing, connection

THINGS = ("kiln", "press", "pump", "boiler", "lathe", "furnace", "mill", "crane", "dryer", "mixer", "oven", "loom")
PLACES = ("harbour", "north hall", "old tannery", "glass house", "upper deck", "river yard", "south wing", "cellar")
DOES = ("runs at {n} degrees", "is serviced every {n} days", "holds {n} litres", "was installed {n} weeks ago")
CHUNK = 500
COLOURS = ("red", "blue", "green", "grey", "amber", "white", "black", "copper")


@contextmanager
def deployment(settings: Settings, **changed: object) -> Iterator[tuple[Settings, WorkerProcess]]:
    """A deployment of its own on the broker of the settings, with one worker that is ready; gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="memlake-bench-") as folder, running_broker(settings) as bootstrap:
        told = {name: getattr(settings, name) for name in settings.model_fields_set}
        own = Settings.model_validate(
            told
            | {"name": f"bench-{os.urandom(4).hex()}", "home": folder, "lake": f"{folder}/lake", "broker": bootstrap}
            | changed
        )
        worker = WorkerProcess(own, Path(folder) / "worker.log")
        try:
            worker.start()
            yield own, worker
        finally:
            worker.end()


def sentences(count: int, start: int = 0) -> list[str]:
    """Statements that differ in what they are about; deterministic."""
    kinds = list(itertools.product(COLOURS, THINGS, PLACES, DOES))
    found = []
    for number in range(start, start + count):
        colour, thing, place, does = kinds[number * 7919 % len(kinds)]
        found.append(f"The {colour} {thing} number {number} in the {place} {does.format(n=100 + number % 900)}.")
    return found


@asynccontextmanager
async def embedder(settings: Settings) -> AsyncIterator[Embedder]:
    """The deployment's embedder in this process, without a cache: every text costs what it costs."""
    found = await load_embedder(settings.embedder, settings.cache, threads=settings.embedder_threads, cache_size=0)
    try:
        yield found
    finally:
        await found.close()


async def round_trips(settings: Settings, count: int) -> list[float]:
    """Milliseconds for a message to the broker and out to a waiting consumer, and its answer back, one after the other.

    Producer and consumer of both sides live in this process and do nothing else: it is what the broker takes alone.
    """
    return await _carried(settings, count, ("knowledge.refresh", "reports"))


async def hops(settings: Settings, count: int) -> list[float]:
    """Milliseconds for a message to the broker and out to a waiting consumer, one after the other."""
    return await _carried(settings, count, ("knowledge.refresh",))


async def _carried(settings: Settings, count: int, way: Sequence[Suffix]) -> list[float]:
    """Milliseconds for a message over these topics, one after the other."""
    await apply_topics(settings, settings.broker)
    outbox = await Outbox(settings, settings.broker, "bench").start()
    samples = []
    try:
        async with AsyncExitStack() as open_ones:
            consumers = [await open_ones.enter_async_context(_waiting(settings, suffix)) for suffix in way]
            for number in range(count + 5):
                started = time.perf_counter()
                for suffix, consumer in zip(way, consumers, strict=True):
                    await outbox.send([Outgoing(suffix, "bench", str(number).encode(), [], 0)])
                    await consumer.getone()
                samples.append((time.perf_counter() - started) * 1000)
    finally:
        await outbox.stop()
    return samples[5:]


@asynccontextmanager
async def _waiting(settings: Settings, suffix: Suffix) -> AsyncIterator[AIOKafkaConsumer]:
    """A consumer at the end of a topic's first partition."""
    consumer = AIOKafkaConsumer(**connection(settings, settings.broker), enable_auto_commit=False)
    await consumer.start()
    try:
        place = TopicPartition(topic_name(settings.name, suffix), 0)
        consumer.assign([place])
        await consumer.seek_to_end(place)
        await consumer.position(place)
        yield consumer
    finally:
        await consumer.stop()


async def filled(settings: Settings, user: str, texts: list[str]) -> None:
    """Publish texts to one scope and wait until they are remembered."""
    async with MemoryClient("bench", user, settings=settings, timeout_s=600) as memory:
        for start in range(0, len(texts), CHUNK):
            turns = [memory.turn(text, timestamp=datetime.now(UTC)) for text in texts[start : start + CHUNK]]
            for result in await memory.publish_all_and_wait(turns):
                if isinstance(result, Exception):
                    raise result


async def embed_times(model: Embedder, texts: list[str]) -> list[float]:
    """Milliseconds to embed each text alone."""
    samples = []
    for text in texts:
        started = time.perf_counter()
        await model.embed([text])
        samples.append((time.perf_counter() - started) * 1000)
    return samples
