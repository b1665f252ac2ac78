"""What the tests with a real broker act on: a deployment of its own, seen from outside as its users see it."""

import asyncio
import json
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient

from schemas.conversation import Scope
from schemas.memory import MemoryEvent
from schemas.topics import BY_SUFFIX, RECORD_BYTES
from streams.admin import partitions_of
from streams.client import MemoryClient
from streams.deployment import WorkerProcess, environment
from streams.settings import Settings

Found = TypeVar("Found")
POLL_S = 0.05
INPUTS = ("turns", "commands", "facts", "queries")
SHORT = {
    "session_timeout_s": 6,
    "send_timeout_s": 5,
    "retry_max_s": 1,
    "unhealthy_after_s": 3,
    "partitions": 2,
    "broker_memory_mib": 256,
}


async def until(look: Callable[[], Awaitable[Found]], timeout_s: float = 30.0) -> Found:
    """Look until something is found; fails with what was seen last."""
    end = time.monotonic() + timeout_s
    while not (found := await look()):
        assert time.monotonic() < end, f"not within {timeout_s:g} s: {found!r}"
        await asyncio.sleep(POLL_S)
    return found


def eventually(look: Callable[[], Found], timeout_s: float = 30.0) -> Found:
    """Look until something is found."""
    end = time.monotonic() + timeout_s
    while not (found := look()):
        assert time.monotonic() < end, f"not within {timeout_s:g} s: {found!r}"
        time.sleep(POLL_S)
    return found


@asynccontextmanager
async def plain_producer(bootstrap: str, **options: Any) -> AsyncIterator[AIOKafkaProducer]:
    """A producer as anybody has one, who knows nothing of memlake."""
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap, max_request_size=RECORD_BYTES, **options)
    await producer.start()
    try:
        yield producer
    finally:
        await producer.stop()


@asynccontextmanager
async def admin_client(bootstrap: str) -> AsyncIterator[AIOKafkaAdminClient]:
    """An admin client."""
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await admin.start()
    try:
        yield admin
    finally:
        await admin.close()


@asynccontextmanager
async def reader(bootstrap: str) -> AsyncIterator[AIOKafkaConsumer]:
    """A consumer of no group."""
    consumer = AIOKafkaConsumer(
        bootstrap_servers=bootstrap,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        max_partition_fetch_bytes=RECORD_BYTES,
    )
    await consumer.start()
    try:
        yield consumer
    finally:
        await consumer.stop()


async def read_all(bootstrap: str, places: Sequence[TopicPartition]) -> list[Any]:
    """Every record that is there now."""
    async with reader(bootstrap) as consumer:
        consumer.assign(places)
        ends = await consumer.end_offsets(places)
        await consumer.seek_to_beginning(*places)
        records: list[Any] = []
        while any([await consumer.position(place) < ends[place] for place in places]):
            for batch in (await consumer.getmany(timeout_ms=200)).values():
                records.extend(batch)
    return records


async def committed_of(bootstrap: str, group: str) -> dict[tuple[str, int], int]:
    """What a group has committed."""
    async with admin_client(bootstrap) as admin:
        found = await admin.list_consumer_group_offsets(group)
    return {(tp.topic, tp.partition): told.offset for tp, told in found.items()}


def scopes(partitions: int, names: str = "user") -> list[Scope]:
    """One scope for each partition, in order."""
    found: dict[int, Scope] = {}
    number = 0
    while len(found) < partitions:
        scope = Scope(project_id="tests", user_id=f"{names}-{number}")
        found.setdefault(scope.partition(partitions), scope)
        number += 1
    return [found[partition] for partition in range(partitions)]


class Deployment:
    """One name on a broker, its lake, and its worker processes."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self.settings = settings
        self.folder = folder
        self.workers: list[WorkerProcess] = []

    @property
    def name(self) -> str:
        return self.settings.name

    @property
    def bootstrap(self) -> str:
        return self.settings.broker

    def topic(self, suffix: str) -> str:
        return f"{self.name}.{suffix}"

    def start(self, *, wait: bool = True, **extra: Any) -> WorkerProcess:
        """Start a worker; ``extra`` are further settings."""
        settings = self.settings.model_copy(update={})
        told = {f"MEMLAKE_{name.upper()}": str(value) for name, value in extra.items()}
        worker = WorkerProcess(settings, self.folder / f"worker-{len(self.workers)}.log", told)
        self.workers.append(worker)
        return worker.start(wait=wait)

    def end(self) -> None:
        """End every worker."""
        for worker in self.workers:
            worker.end()

    def client(self, scope: Scope | None = None, **options: Any) -> MemoryClient:
        asked = scope or scopes(self.settings.partitions)[0]
        return MemoryClient(asked.project_id, asked.user_id, settings=self.settings, **options)

    def cli(self, *arguments: str, said: str | None = None, scope: Scope | None = None) -> Any:
        """Run a command as a user does, and wait for it."""
        env = environment(self.settings)
        if scope is not None:
            env |= {"MEMLAKE_PROJECT": scope.project_id, "MEMLAKE_USER": scope.user_id}
        return subprocess.run(
            [sys.executable, "-m", "streams", *arguments],
            env=env,
            input=said,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def get(self, path: str, worker: int = -1) -> tuple[int, str]:
        """Ask a worker's endpoint: status and text."""
        told = eventually(lambda: re.findall(r'"metrics": "(http://[^"]+)/metrics"', self.workers[worker].told()))
        url = told[-1]
        try:
            with urllib.request.urlopen(url + path, timeout=5) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code, refused.read().decode()

    def health(self, worker: int = -1) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(self.get("/health", worker)[1])
        return told

    def metric(self, name: str, worker: int = -1) -> float:
        """The sum of a metric over its labels."""
        lines = [line for line in self.get("/metrics", worker)[1].splitlines() if re.match(rf"{name}[{{ ]", line)]
        return sum(float(line.rpartition(" ")[2]) for line in lines)

    def places(self, suffixes: Iterable[str]) -> list[TopicPartition]:
        return [
            TopicPartition(self.topic(suffix), partition)
            for suffix in suffixes
            for partition in range(partitions_of(BY_SUFFIX[suffix], self.settings))
        ]

    async def records(self, suffix: str) -> list[Any]:
        return await read_all(self.bootstrap, self.places([suffix]))

    async def events(self) -> list[MemoryEvent]:
        """The audit log as it stands, doubles and all."""
        return [MemoryEvent.decode(record.value) for record in await self.records("changes")]

    async def lag(self) -> dict[tuple[str, int], tuple[int, int]]:
        """Places whose committed offset is not their end, with both."""
        places = self.places(INPUTS)
        async with reader(self.bootstrap) as consumer:
            ends = await consumer.end_offsets(places)
        committed = await committed_of(self.bootstrap, self.name)
        told = {(tp.topic, tp.partition): (committed.get((tp.topic, tp.partition), 0), end) for tp, end in ends.items()}
        return {place: (done, end) for place, (done, end) in told.items() if done != end}

    async def settled(self, timeout_s: float = 30.0) -> None:
        """Wait until everything is handled and committed."""

        async def look() -> bool:
            return not await self.lag()

        try:
            await until(look, timeout_s)
        except AssertionError:
            raise AssertionError(f"{await self.lag()}\n{self.workers[-1].told()[-3000:]}") from None


def turn(scope: Scope, content: str, **fields: Any) -> bytes:
    """A turn as a client of any language writes it."""
    return json.dumps(
        {
            "scope": scope.to_wire(),
            "role": "user",
            "timestamp": "2026-03-02T10:00:00+01:00",
            "content": content,
            **fields,
        }
    ).encode()


def gapless(events: Iterable[MemoryEvent]) -> None:
    """Each scope's events count from 1, each once, in order."""
    seen: dict[str, list[int]] = {}
    for event in events:
        seen.setdefault(event.scope.key, []).append(event.sequence)
    for scope, sequences in seen.items():
        first = list(dict.fromkeys(sequences))
        assert first == list(range(1, len(first) + 1)), (scope, sequences)
