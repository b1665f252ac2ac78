"""Taking in: turns and commands become masked records with their facts, in the one order that counts.

Rule of this file: a handler. It gathers what the rules need, asks them, stores the records, then sends them to
``facts``. What was stored once for an input is sent again word for word when the input comes again.
"""

import asyncio
import uuid
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from lakehouse.store import Shard
from lakehouse.turn_table import InputRow
from schemas.commands import Command
from schemas.conversation import Scope, Turn
from schemas.errors import InvalidMessage
from schemas.facts import (
    AnyRecord,
    Birth,
    CommandRecord,
    Extraction,
    Repeat,
    Source,
    TurnRecord,
    command_record_id,
    turn_record_id,
)
from schemas.identity import derived_id
from schemas.message import Headers, cloud_event
from streams.extract import extract, extract_interaction
from streams.incoming import FORWARDED, RECORDED_AT, Incoming, passed_on, reply_address
from streams.letters import letters
from streams.ports import Ports
from streams.wire import Outgoing, require_size

SESSIONS = 2000
"""Sessions whose last turns are kept in memory."""
EMBEDDED_ROLES = ("user", "assistant")
NO_RULES = "none"
SessionKey = tuple[str, str]


@dataclass(frozen=True)
class Taken:
    """An input that was understood as a message, before any rule has read it."""

    incoming: Incoming
    message: Turn | Command
    record_id: str

    @property
    def scope(self) -> Scope | None:
        """Whose it is; None for maintenance."""
        return self.message.scope

    @property
    def source(self) -> Source:
        """Where it stood."""
        return Source(topic=self.incoming.topic, partition=self.incoming.partition, offset=self.incoming.offset)


class Sessions:
    """The last turns of the sessions that spoke last, by scope and session; a cache of the turns table."""

    def __init__(self, turns: int) -> None:
        self.turns = turns
        self.generation = 0
        self._sessions: OrderedDict[SessionKey, tuple[Turn, ...]] = OrderedDict()

    async def before(self, shard: Shard, turn: Turn, offset: int) -> tuple[Turn, ...]:
        """The session's stored turns before this one, oldest first."""
        known = self._sessions.get((turn.scope.key, turn.session_id or ""))
        if known is None:
            stored = await shard.session(turn.scope, turn.session_id or "", offset, self.turns)
            known = tuple(record.turn for record in stored)
        return known

    def keep(self, sessions: Mapping[SessionKey, tuple[Turn, ...]], generation: int) -> None:
        """Take note of what a batch has read, now that it is stored; nothing where partitions moved meanwhile."""
        if generation != self.generation:
            return
        for key, turns in sessions.items():
            self._sessions[key] = turns
            self._sessions.move_to_end(key)
        while len(self._sessions) > SESSIONS:
            self._sessions.popitem(last=False)

    def drop(self, turns: Iterable[Turn]) -> None:
        """Read the sessions of these again: they were stored by somebody whom this cache did not follow."""
        for turn in turns:
            self._sessions.pop((turn.scope.key, turn.session_id or ""), None)

    def clear(self) -> None:
        """Read them again: another worker may have read turns meanwhile."""
        self.generation += 1
        self._sessions.clear()


@dataclass
class Reading:
    """One batch being read: its own view of the sessions, which nothing that happens elsewhere can change."""

    shard: Shard
    generation: int
    sessions: dict[SessionKey, tuple[Turn, ...]] = field(default_factory=dict)
    contexts: dict[str, tuple[Turn, ...]] = field(default_factory=dict)
    """The turns before each turn that was read, by record."""
    births: dict[str, dict[int, Birth]] = field(default_factory=dict)
    """Of the memories that commands name, by record and id."""


class Intake:
    """Handles batches of the inboxes, one partition at a time."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._sessions = Sessions(ports.settings.session_turns)

    def forget(self) -> None:
        """Partitions have moved: what is kept in memory may be old."""
        self._sessions.clear()

    async def handle(self, partition: int, batch: list[Incoming]) -> None:
        """Take in a batch, durably.

        Args:
            partition: Where it stood.
            batch: In offset order.

        Raises:
            Unavailable: Lake, embedder or broker are away; nothing is lost by handling the batch again.
        """
        loop = asyncio.get_running_loop()
        taken, outgoing = await loop.run_in_executor(self._ports.rules, self._sort, partition, batch)
        if taken:
            reading = Reading(await self._ports.lake.shard(partition), self._sessions.generation)
            records, fresh = await self._records(reading, taken)
            outgoing.extend(self._outgoing(one, record) for one, record in zip(taken, records, strict=True))
            for message in outgoing:
                require_size(message)
            await self._store(reading, fresh)
            for record in fresh:
                self._count(record.extraction)
        self._ports.faults.reached("intake.after-commit")
        await self._ports.outbox.send(outgoing)
        self._ports.faults.reached("intake.after-publish")

    def _sort(self, partition: int, batch: list[Incoming]) -> tuple[list[Taken], list[Outgoing]]:
        """What is to be taken in here, and what goes elsewhere: dead letters, and strays to their own partition.

        In a thread, since large messages take their time to read and to mask.
        """
        taken: list[Taken] = []
        elsewhere: list[Outgoing] = []
        for incoming in batch:
            try:
                one = self._understand(incoming)
                home = one.scope.partition(self._ports.settings.partitions) if one.scope else partition
                if home == partition:
                    taken.append(one)
                else:
                    elsewhere.append(self._forwarded(incoming, home))
            except InvalidMessage as error:
                now = self._ports.clock()
                elsewhere.extend(letters(incoming, error, self._ports.outbox, self._ports.masker, attempt=1, now=now))
                self._ports.metrics.dead.labels(incoming.topic, type(error).__name__).inc()
        return taken, elsewhere

    def _understand(self, incoming: Incoming) -> Taken:
        reply_address(incoming, f"{self._ports.settings.name}.replies")  # an answer that cannot be sent is told at once
        if incoming.topic.endswith(".commands"):
            command = Command.decode(incoming.value).identified(incoming.recorded_at)
            return Taken(
                incoming, command, command_record_id(command.scope, command.command_id or "", incoming.partition)
            )
        turn = Turn.decode(incoming.value).identified()
        return Taken(incoming, turn, turn_record_id(turn.scope, turn.turn_id or ""))

    def _forwarded(self, incoming: Incoming, home: int) -> Outgoing:
        if incoming.header(FORWARDED):
            raise InvalidMessage(
                f"the scope belongs to partition {home}: this message was forwarded and still stands elsewhere"
            )
        self._ports.metrics.forwarded.labels(incoming.topic).inc()
        extra: Headers = [(FORWARDED, b"1"), (RECORDED_AT, incoming.recorded_at.isoformat().encode())]
        return Outgoing(
            "commands" if incoming.topic.endswith(".commands") else "turns",
            (incoming.key or b"").decode(errors="replace"),
            incoming.value or b"",
            [*incoming.headers, *extra],
            partition=home,
        )

    async def _records(
        self, reading: Reading, taken: list[Taken]
    ) -> tuple[list[AnyRecord], list[TurnRecord | CommandRecord]]:
        """One record for each input, in order, and those among them that are new."""
        stored = await reading.shard.records({one.scope for one in taken}, {one.record_id for one in taken})
        self._sessions.drop(record.turn for record in stored.values() if isinstance(record, TurnRecord))
        new: dict[str, Taken] = {}
        for one in taken:
            if one.record_id not in stored and one.record_id not in new:  # said twice, it is read where it came first
                new[one.record_id] = one
                await self._recall(reading, one)
        loop = asyncio.get_running_loop()
        by_rules = await loop.run_in_executor(self._ports.rules, self._read_all, reading, list(new.values()))
        fresh = await self._ports.judge.extracted(by_rules, reading.contexts)
        records: list[AnyRecord] = []
        for one in taken:
            known = stored.get(one.record_id) or fresh[one.record_id]
            records.append(known if known.source == one.source else self._repeat(one))
        return records, list(fresh.values())

    async def _recall(self, reading: Reading, one: Taken) -> None:
        """Bring what an input is read with into the batch's view: a turn's session, or the memory a command names."""
        turn = one.message
        if isinstance(turn, Command):
            await self._recall_births(reading, turn, one.record_id)
            return
        if turn.session_id is None or not self._sessions.turns:
            return
        key = (turn.scope.key, turn.session_id)
        if key not in reading.sessions:
            reading.sessions[key] = await self._sessions.before(reading.shard, turn, one.incoming.offset)

    async def _recall_births(self, reading: Reading, command: Command, record_id: str) -> None:
        ids = command.judgements if command.id is None else (command.id,)
        if command.scope is None or not ids:
            return
        events = await reading.shard.first_events(command.scope, ids)
        reading.births[record_id] = {
            memory_id: Birth(fact_id=event.fact_id, text=event.text) for memory_id, event in events.items()
        }

    def _read_all(self, reading: Reading, new: list[Taken]) -> dict[str, TurnRecord | CommandRecord]:
        """Mask, then let the rules read, one after the other; in a thread, since long texts take their time."""
        return {one.record_id: self._read(reading, one) for one in new}

    def _read(self, reading: Reading, one: Taken) -> TurnRecord | CommandRecord:
        recorded_at = one.incoming.recorded_at
        if isinstance(one.message, Turn):
            turn, masked = self._ports.masker.message(one.message)
            key = (turn.scope.key, turn.session_id or "")
            context = reading.contexts[one.record_id] = reading.sessions.get(key, ())
            found = extract(turn, context, record_id=one.record_id, profile=self._ports.settings.profile)
            if key in reading.sessions:
                reading.sessions[key] = (*context, turn)[-self._sessions.turns :]
            return TurnRecord(
                record_id=one.record_id,
                recorded_at=recorded_at,
                source=one.source,
                turn=turn,
                extraction=found.model_copy(update={"masked": masked}),
            )
        command, masked = self._ports.masker.message(one.message)
        found = Extraction(extractor=NO_RULES)
        if command.op == "extract_and_operate":
            found = extract_interaction(
                command, record_id=one.record_id, recorded_at=recorded_at, profile=self._ports.settings.profile
            )
        births = reading.births.get(one.record_id, {})
        return CommandRecord(
            record_id=one.record_id,
            recorded_at=recorded_at,
            source=one.source,
            command=command,
            extraction=found.model_copy(update={"masked": masked}),
            birth=births.get(command.id or 0),
            births=births if births and command.id is None else None,
        )

    def _count(self, found: Extraction) -> None:
        self._ports.metrics.skipped.inc(len(found.skipped))
        for masked in found.masked:
            self._ports.metrics.masked.labels(masked.secret).inc(masked.count)

    def _repeat(self, one: Taken) -> Repeat:
        self._ports.metrics.repeats.labels("intake").inc()
        return Repeat(record_id=one.record_id, recorded_at=one.incoming.recorded_at, source=one.source, scope=one.scope)

    async def _store(self, reading: Reading, fresh: list[TurnRecord | CommandRecord]) -> None:
        spoken = [record for record in fresh if isinstance(record, TurnRecord) and record.turn.role in EMBEDDED_ROLES]
        vectors = await self._ports.embedder.embed([record.turn.content for record in spoken])
        by_id = {record.record_id: vector for record, vector in zip(spoken, vectors, strict=True)}
        await reading.shard.commit_inputs(InputRow(record, by_id.get(record.record_id)) for record in fresh)
        self._sessions.keep(reading.sessions, reading.generation)

    def _outgoing(self, one: Taken, record: AnyRecord) -> Outgoing:
        """The record on its way to ``facts``; the nonce differs for each delivery, and is the same for none."""
        nonce = uuid.uuid4().hex[:12]
        again = isinstance(record, Repeat)
        headers = cloud_event(
            record,
            event_id=derived_id("repeat", record.record_id, one.source.to_wire()) if again else record.record_id,
            source=self._ports.outbox.source,
            time=self._ports.clock(),
            key=one.scope.key if one.scope else "",
        )
        return Outgoing(
            "facts", record.key(nonce), record.encode(), [*headers, *passed_on(one.incoming)], one.incoming.partition
        )
