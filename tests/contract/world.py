"""A deployment without a broker: topics are lists, everything else is what a worker has, on a real lake.

Rule of this file: the test decides what is delivered to whom, in which batches, how often, and what fails.
"""

import hashlib
import re
import shutil
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import numpy as np

from lakehouse import tables
from lakehouse.digest import Digest, digest_of
from lakehouse.embedding.embedder import Embedder, Vectors
from lakehouse.known import KnownScopes
from lakehouse.store import Lake
from lakehouse.tables import LakeShape
from lakehouse.versions import MemoryRow
from schemas.commands import Command
from schemas.conversation import Scope, Turn
from schemas.errors import Unavailable
from schemas.facts import AnyRecord, decode_record
from schemas.memory import MemoryEvent
from schemas.message import Headers, Message, header, parse_object
from schemas.retrieval import SearchRequest
from schemas.topics import Suffix, topic_name
from streams.answer import Answer
from streams.faults import Faults
from streams.incoming import Incoming
from streams.intake import Intake
from streams.judging import Judge
from streams.maintain import Maintainer
from streams.metrics import Metrics
from streams.ports import Ports
from streams.remember import Remember
from streams.settings import Settings
from streams.wire import Outbox, Outgoing, require_size
from tests.contract.perils import CURRENT, Mishap, Perilous, perilous

PARTITIONS, DIMENSION = 2, 64
NAME = "contract"
START = datetime(2025, 1, 1, tzinfo=UTC)
RULES = ThreadPoolExecutor(1)
Agent = Literal["intake", "remember", "answer"]


def scope_in(partition: int, number: int = 0) -> Scope:
    """The ``number``-th scope, from 0, of those whose memory lies in this partition."""
    found = (Scope(project_id="p", user_id=f"u{index}") for index in range(1000))
    return [scope for scope in found if scope.partition(PARTITIONS) == partition][number]


class WordEmbedder:
    """Texts that share words are near: a vector counts the words of a text by their hashes."""

    id = "words"
    dimension = DIMENSION

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """See ``Embedder``."""

        async def call() -> Vectors:
            return np.array([_counted(text) for text in texts], dtype=np.float32).reshape(len(texts), DIMENSION)

        return await perilous(call, lambda: Unavailable("the model is away"))

    async def close(self) -> None:
        """See ``Embedder``."""


def _counted(text: str) -> Vectors:
    vector = np.zeros(DIMENSION, dtype=np.float32)
    for word in re.findall(r"\w+", text.lower()) or [text]:
        vector[hashlib.blake2b(word.encode(), digest_size=1).digest()[0] % DIMENSION] += 1
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


class Topics:
    """What a broker would hold."""

    def __init__(self) -> None:
        self.logs: dict[tuple[str, int], list[Incoming]] = {}
        self.inboxes: dict[int, list[Incoming]] = {partition: [] for partition in range(PARTITIONS)}
        """Turns and commands of each partition as they arrived."""

    def log(self, suffix: Suffix, partition: int = 0) -> list[Incoming]:
        """The records of one partition of a topic."""
        return self.logs.setdefault((topic_name(NAME, suffix), partition), [])

    def everywhere(self, suffix: Suffix) -> list[Incoming]:
        """The records of all partitions of a topic."""
        return [record for partition in range(PARTITIONS) for record in self.log(suffix, partition)]

    def append(self, suffix: Suffix, partition: int, key: str, value: bytes | None, headers: Headers) -> Incoming:
        """Add a record; one of the inboxes is stamped by the order of arrival."""
        log = self.log(suffix, partition)
        moment = START + timedelta(days=30, seconds=sum(map(len, self.inboxes.values())))
        record = Incoming(topic_name(NAME, suffix), partition, len(log), key.encode(), value, headers, moment)
        log.append(record)
        if suffix in {"turns", "commands"}:
            self.inboxes[partition].append(record)
        return record


class ListOutbox(Outbox):
    """The outbox of a worker whose broker is a list."""

    def __init__(self, settings: Settings, topics: Topics) -> None:
        self.settings = settings
        self.source = f"/{settings.name}/worker"
        self.topics_here = topics

    async def send(self, messages: Iterable[Outgoing]) -> None:
        """See ``Outbox.send``."""
        outgoing = list(messages)
        for message in outgoing:
            require_size(message)

        async def call() -> None:
            self._append(outgoing)

        async def half() -> None:
            self._append(outgoing[: len(outgoing) // 2])

        await perilous(call, lambda: Unavailable("the broker is away"), half)

    def _append(self, outgoing: Iterable[Outgoing]) -> None:
        for message in outgoing:
            self.topics_here.append(message.suffix, message.partition or 0, message.key, message.value, message.headers)


@dataclass
class Worker:
    """The handlers of one process, with their caches; ``lake`` is its own view of the tables."""

    lake: Lake
    ports: Ports
    intake: Intake
    remember: Remember
    answer: Answer
    maintainer: Maintainer

    async def handle(
        self, agent: Agent, partition: int, batch: Sequence[Incoming], mishap: Mishap | None = None
    ) -> None:
        """Give a batch to an agent; the mishap strikes at one of its calls."""
        token = CURRENT.set(mishap)
        try:
            handler: Intake | Remember | Answer = getattr(self, agent)
            await handler.handle(partition, list(batch))
        finally:
            CURRENT.reset(token)

    def forget(self) -> None:
        """Partitions have moved."""
        for handler in (self.intake, self.remember, self.answer):
            handler.forget()


@dataclass
class World:
    """One deployment: its topics and its lake."""

    uri: str
    topics: Topics = field(default_factory=Topics)
    settings: Settings = field(default_factory=lambda: Settings(name=NAME, partitions=PARTITIONS))
    now: datetime = START + timedelta(days=60)
    embedder: Embedder = field(default_factory=WordEmbedder)

    @classmethod
    async def make(cls, folder: Path, embedder: Embedder | None = None) -> "World":
        """An empty one."""
        made = cls(str(folder)) if embedder is None else cls(str(folder), embedder=embedder)
        await Lake.make(made.uri, made.shape)
        return made

    @property
    def shape(self) -> LakeShape:
        """Of its lake."""
        return LakeShape(PARTITIONS, self.embedder.id, self.embedder.dimension)

    def copied(self, folder: Path) -> "World":
        """Another one whose lake begins as this one is, with nothing on its topics."""
        shutil.copytree(self.uri, folder)
        return World(str(folder), settings=self.settings)

    def lose_lake(self) -> None:
        """The lake's folder goes away."""
        Path(self.uri).rename(f"{self.uri}-away")

    def find_lake(self) -> None:
        """It comes back as it was."""
        Path(f"{self.uri}-away").rename(self.uri)

    def tick(self) -> datetime:
        """The time, which is another each time it is asked."""
        self.now += timedelta(milliseconds=1)
        return self.now

    async def worker(self, clock: Callable[[], datetime] | None = None) -> Worker:
        """A process that has just started."""
        connection = Perilous(await tables.connect(self.uri))
        lake = Lake(self.uri, connection, self.shape)
        masker, metrics = self.settings.masker(), Metrics()
        ports = Ports(
            settings=self.settings,
            lake=lake,
            embedder=self.embedder,
            outbox=ListOutbox(self.settings, self.topics),
            masker=masker,
            judge=Judge(self.settings, metrics, masker.text, RULES),
            known=KnownScopes(self.embedder.dimension, self.settings.scope_cache_rows),
            metrics=metrics,
            rules=RULES,
            clock=clock or self.tick,
            faults=Faults(),
        )
        maintainer = Maintainer(ports)
        return Worker(lake, ports, Intake(ports), Remember(ports, maintainer), Answer(ports), maintainer)

    def say(
        self, scope: Scope, content: str, *, partition: int | None = None, ask: str = "", **fields: Any
    ) -> Incoming:
        """Put a turn into the inbox; one with ``ask`` waits for an answer under that id."""
        turn = Turn(**{"scope": scope, "role": "user", "timestamp": START, "session_id": "s"} | fields, content=content)
        return self._put("turns", turn, scope.partition(PARTITIONS) if partition is None else partition, ask)

    def command(self, partition: int, *, ask: str = "", **fields: Any) -> Incoming:
        """Put a command into the inbox."""
        return self._put("commands", Command(**fields), partition, ask)

    def ask(
        self, request: SearchRequest, ask: str, *headers: tuple[str, bytes], partition: int | None = None
    ) -> Incoming:
        """Put a question into its topic."""
        home = request.scope.partition(PARTITIONS) if partition is None else partition
        return self._put("queries", request, home, ask, *headers)

    def _put(self, suffix: Suffix, message: Message, partition: int, ask: str, *headers: tuple[str, bytes]) -> Incoming:
        return self.topics.append(suffix, partition, "", message.encode(), [*way_back(ask), *headers])

    async def settle(self, worker: Worker, size: int = 1) -> None:
        """Let a worker handle all there is from the beginning, in batches of ``size``."""
        for agent in ("intake", "remember"):
            for partition in range(PARTITIONS):
                records = self.delivered(agent, partition)
                for start in range(0, len(records), size):
                    await worker.handle(agent, partition, records[start : start + size])

    def delivered(self, agent: Agent, partition: int) -> list[Incoming]:
        """What an agent reads."""
        if agent == "intake":
            return self.topics.inboxes[partition]
        return self.topics.log("facts" if agent == "remember" else "queries", partition)

    def facts(self) -> list[AnyRecord]:
        """What was put onto ``facts``, partition by partition."""
        return [decode_record(record.value, record.headers) for record in self.topics.everywhere("facts")]

    def changes(self) -> list[MemoryEvent]:
        """The audit log: the first copy of each event."""
        return [MemoryEvent.decode(record.value) for record in firsts(self.topics.everywhere("changes"))]

    def answers(self, ask: str) -> list[tuple[str, dict[str, Any]]]:
        """The kinds and values of all replies to one request."""
        return [
            ((header(reply.headers, "ce_type") or "").split(".")[1], _payload(reply))
            for reply in self.topics.log("replies")
            if header(reply.headers, "correlation_id") == ask
        ]

    async def rows(self) -> list[MemoryRow]:
        """All rows of the lake, as another process reads them."""
        lake = await Lake.open(self.uri)
        return [row async for row in lake.all_rows()]

    async def records(self) -> list[tuple[str, str]]:
        """Ids and contents of all stored inputs."""
        lake = await Lake.open(self.uri)
        found = []
        for partition in range(PARTITIONS):
            shard = await lake.shard(partition)
            found += await shard.turns.query().select(["record_id", "record"]).to_list()
        return sorted((row["record_id"], row["record"]) for row in found)

    async def inputs(self) -> list[tuple[str, str, int, Any]]:
        """All stored inputs with their status and the event that changed it last."""
        lake = await Lake.open(self.uri)
        found = []
        for partition in range(PARTITIONS):
            shard = await lake.shard(partition)
            found += await shard.turns.query().select(["record_id", "status", "touched", "record"]).to_list()
        rows = [(row["record_id"], row["status"], row["touched"], without_birth(row["record"])) for row in found]
        return sorted(rows, key=lambda row: row[0])

    async def outcome(self) -> "Outcome":
        """All that must not depend on batches, deliveries and crashes."""
        rows = await self.rows()
        return Outcome(
            rows=sorted((replace(row, facts_offset=0) for row in rows), key=lambda row: row.event.event_id),
            digest=digest_of(rows),
            inputs=await self.inputs(),
            facts=[_told(record) for record in firsts(self.topics.everywhere("facts"), by=lambda one: str(_told(one)))],
            changes=[(record.key, record.value) for record in firsts(self.topics.everywhere("changes"))],
            replies=sorted((record.key or b"", record.value or b"") for record in firsts(self.topics.log("replies"))),
        )


@dataclass(frozen=True)
class Outcome:
    """What came of a history."""

    rows: list[MemoryRow]
    digest: Digest
    inputs: list[tuple[str, str, int, Any]]
    facts: list[Any]
    changes: list[tuple[bytes | None, bytes | None]]
    replies: list[tuple[bytes, bytes]]


def firsts(records: Iterable[Incoming], by: Callable[[Incoming], Any] = lambda record: record.key) -> list[Incoming]:
    """The first record of each key."""
    found: dict[Any, Incoming] = {}
    for record in records:
        found.setdefault(by(record), record)
    return list(found.values())


def way_back(ask: str) -> Headers:
    """Headers of a request that waits for an answer; none for an empty id."""
    if not ask:
        return []
    return [("reply_to", f"{NAME}.replies".encode()), ("correlation_id", ask.encode())]


def without_birth(record: bytes | str | None) -> Any:
    """What a record says, but for what the lake happened to know already when it came in."""
    return {name: value for name, value in parse_object(record).items() if name not in {"birth", "births"}}


def _told(record: Incoming) -> tuple[str | None, Any]:
    return header(record.headers, "ce_type"), without_birth(record.value)


def _payload(record: Incoming) -> dict[str, Any]:
    return parse_object(record.value)
