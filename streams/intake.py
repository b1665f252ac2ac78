"""Taking in: turns and commands become masked records with their facts, in the one order that counts.

Rule of this file: a handler. It gathers what the rules need, asks them, stores the records, then sends them to
``facts``. What was stored once for an input is sent again word for word when the input comes again.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Mapping
from dataclasses import dataclass

from lakehouse.store import Shard
from lakehouse.turn_table import InputRow
from schemas.commands import Command
from schemas.conversation import Scope, Turn
from schemas.errors import InvalidMessage
from schemas.facts import (
    AnyRecord,
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
from streams.extract.masking import mask_command, mask_turn
from streams.incoming import FORWARDED, RECORDED_AT, Incoming, passed_on, reply_address
from streams.letters import letters
from streams.ports import Ports
from streams.wire import Outgoing, require_size

SESSIONS = 2000
"""Sessions whose last turns are kept in memory."""
EMBEDDED_ROLES = ("user", "assistant")
NO_RULES = "none"


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
        self._turns = turns
        self._sessions: OrderedDict[tuple[str, str], deque[Turn]] = OrderedDict()

    async def before(self, shard: Shard, turn: Turn, offset: int) -> tuple[Turn, ...]:
        """The session's turns before this one, oldest first."""
        if turn.session_id is None or self._turns == 0:
            return ()
        key = (turn.scope.key, turn.session_id)
        known = self._sessions.get(key)
        if known is None:
            stored = await shard.session(turn.scope, turn.session_id, offset, self._turns)
            known = self._sessions[key] = deque((record.turn for record in stored), maxlen=self._turns)
        self._sessions.move_to_end(key)
        return tuple(known)

    def add(self, turn: Turn) -> None:
        """Take note of a turn that has been read."""
        if turn.session_id is not None and (known := self._sessions.get((turn.scope.key, turn.session_id))) is not None:
            known.append(turn)
        while len(self._sessions) > SESSIONS:
            self._sessions.popitem(last=False)

    def clear(self) -> None:
        """Read them again: another worker may have read turns meanwhile, or a batch of ours failed half way."""
        self._sessions.clear()


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
        taken, outgoing = self._sort(partition, batch)
        try:
            records = await self._records(partition, taken)
        except BaseException:
            self._sessions.clear()
            raise
        outgoing.extend(self._outgoing(one, record) for one, record in zip(taken, records, strict=True))
        for message in outgoing:
            require_size(message)
        self._ports.faults.reached("intake.after-commit")
        await self._ports.outbox.send(outgoing)
        self._ports.faults.reached("intake.after-publish")

    def _sort(self, partition: int, batch: list[Incoming]) -> tuple[list[Taken], list[Outgoing]]:
        """What is to be taken in here, and what goes elsewhere: dead letters, and strays to their own partition."""
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
                elsewhere.extend(letters(incoming, error, self._ports.outbox, attempt=1, now=now))
                self._ports.metrics.dead.labels(incoming.topic, type(error).__name__).inc()
        return taken, elsewhere

    def _understand(self, incoming: Incoming) -> Taken:
        reply_address(incoming, f"{self._ports.settings.name}.replies")  # an answer that cannot be sent is told at once
        if incoming.topic.endswith(".commands"):
            command = Command.decode(incoming.value).identified()
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

    async def _records(self, partition: int, taken: list[Taken]) -> list[AnyRecord]:
        """One record for each input, in order; new ones are stored in one commit."""
        if not taken:
            return []
        shard = await self._ports.lake.shard(partition)
        stored: dict[str, TurnRecord | CommandRecord] = await shard.records({one.record_id for one in taken})
        fresh: dict[str, TurnRecord | CommandRecord] = {}
        records: list[AnyRecord] = []
        for one in taken:
            known = stored.get(one.record_id) or fresh.get(one.record_id)
            if known is None:
                known = fresh[one.record_id] = await self._read(shard, one)
                records.append(known)
            elif known.source == one.source:
                records.append(known)
            else:
                records.append(self._repeat(one))
        await self._store(shard, fresh)
        return records

    async def _read(self, shard: Shard, one: Taken) -> TurnRecord | CommandRecord:
        """Mask, then let the rules read; long texts must not hold up the event loop."""
        loop, message = asyncio.get_running_loop(), one.message
        if isinstance(message, Turn):
            turn, masked = await loop.run_in_executor(self._ports.rules, mask_turn, message)
            context = await self._sessions.before(shard, turn, one.incoming.offset)
            read = await loop.run_in_executor(
                self._ports.rules, lambda: extract(turn, context, record_id=one.record_id)
            )
            self._sessions.add(turn)
            self._count(found := read.model_copy(update={"masked": masked}))
            return TurnRecord(
                record_id=one.record_id,
                recorded_at=one.incoming.recorded_at,
                source=one.source,
                turn=turn,
                extraction=found,
            )
        command, masked = await loop.run_in_executor(self._ports.rules, mask_command, message)
        found = Extraction(extractor=NO_RULES)
        if command.op == "extract_and_operate":
            found = await loop.run_in_executor(
                self._ports.rules,
                lambda: extract_interaction(command, record_id=one.record_id, recorded_at=one.incoming.recorded_at),
            )
        self._count(found := found.model_copy(update={"masked": masked}))
        return CommandRecord(
            record_id=one.record_id,
            recorded_at=one.incoming.recorded_at,
            source=one.source,
            command=command,
            extraction=found,
        )

    def _count(self, found: Extraction) -> None:
        self._ports.metrics.skipped.inc(len(found.skipped))
        for masked in found.masked:
            self._ports.metrics.masked.labels(masked.secret).inc(masked.count)

    def _repeat(self, one: Taken) -> Repeat:
        self._ports.metrics.repeats.labels("intake").inc()
        return Repeat(record_id=one.record_id, recorded_at=one.incoming.recorded_at, source=one.source, scope=one.scope)

    async def _store(self, shard: Shard, fresh: Mapping[str, TurnRecord | CommandRecord]) -> None:
        spoken = [
            record for record in fresh.values() if isinstance(record, TurnRecord) and record.turn.role in EMBEDDED_ROLES
        ]
        vectors = await self._ports.embedder.embed([record.turn.content for record in spoken])
        by_id = {record.record_id: vector for record, vector in zip(spoken, vectors, strict=True)}
        await shard.commit_inputs(InputRow(record, by_id.get(record.record_id)) for record in fresh.values())

    def _outgoing(self, one: Taken, record: AnyRecord) -> Outgoing:
        """The record on its way to ``facts``; the nonce differs for each delivery, and is the same for none."""
        nonce = derived_id("delivery", one.incoming.topic, one.incoming.offset, self._ports.clock().isoformat())[:8]
        headers = cloud_event(
            record,
            event_id=record.record_id,
            source=self._ports.outbox.source,
            time=self._ports.clock(),
            key=one.scope.key if one.scope else "",
        )
        return Outgoing(
            "facts", record.key(nonce), record.encode(), [*headers, *passed_on(one.incoming)], one.incoming.partition
        )
