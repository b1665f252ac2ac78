"""Remembering: each fact's effect on what is known is decided, written, told to the audit log, and answered.

Rule of this file: a handler. It gathers candidates, asks ``decide``, folds by ``versions``, writes one commit, then
sends. An event that is there already is sent again as it is: nothing is decided twice.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from lakehouse.known import KnownScope
from lakehouse.store import Shard
from lakehouse.versions import MemoryRow
from schemas.conversation import Scope
from schemas.errors import InvalidMessage
from schemas.facts import AnyRecord, CommandRecord, Repeat, TurnRecord, decode_record
from schemas.identity import derived_id
from schemas.memory import MemoryEvent, event_id
from schemas.message import cloud_event
from streams.decide import decide
from streams.decide.types import DecisionOptions, Neighbour
from streams.events import Cause, change_of, neighbour_of, report_of
from streams.incoming import Incoming, reply_address
from streams.letters import letters
from streams.maintain import Maintainer
from streams.ports import Ports
from streams.wire import Outgoing, require_size

NEAREST = 20
"""Current memories that a decision is shown at most, beside those about the same subject and attribute."""


@dataclass
class Work:
    """One batch in the making."""

    shard: Shard
    known: dict[str, KnownScope] = field(default_factory=dict)
    rows: list[MemoryRow] = field(default_factory=list)
    events: dict[str, list[MemoryEvent]] = field(default_factory=dict)
    """New events by record."""
    again: set[str] = field(default_factory=set)
    """Records whose events are in the table already."""
    vectors: dict[str, Any] = field(default_factory=dict)


class Remember:
    """Handles batches of ``facts``, one partition at a time."""

    def __init__(self, ports: Ports, maintainer: Maintainer) -> None:
        self._ports = ports
        self._maintainer = maintainer

    def forget(self) -> None:
        """Partitions have moved: what is kept in memory may be old."""
        self._ports.known.clear()

    async def handle(self, partition: int, batch: list[Incoming]) -> None:
        """Remember a batch, durably.

        Args:
            partition: The shard.
            batch: Records of ``facts`` in offset order.

        Raises:
            Unavailable: Lake, embedder or broker are away; nothing is lost by handling the batch again.
        """
        records, outgoing = self._decode(batch)
        work = Work(await self._ports.lake.shard(partition))
        try:
            await self._decide(work, records)
            await work.shard.commit_memories(work.rows)
        except BaseException:
            self._ports.known.drop(_scopes(record for _, record in records))
            raise
        self._ports.faults.reached("remember.after-commit")
        outgoing.extend(await self._told(work, records))
        await self._ports.outbox.send(outgoing)
        self._ports.faults.reached("remember.after-publish")
        self._ports.known.shrink()

    def _decode(self, batch: list[Incoming]) -> tuple[list[tuple[Incoming, AnyRecord]], list[Outgoing]]:
        records: list[tuple[Incoming, AnyRecord]] = []
        dead: list[Outgoing] = []
        for incoming in batch:
            if incoming.value is None:
                continue  # an erased record: its tombstone
            try:
                records.append((incoming, decode_record(incoming.value, incoming.headers)))
            except InvalidMessage as error:
                dead.extend(letters(incoming, error, self._ports.outbox, attempt=1, now=self._ports.clock()))
                self._ports.metrics.dead.labels(incoming.topic, type(error).__name__).inc()
        return records, dead

    async def _decide(self, work: Work, records: Sequence[tuple[Incoming, AnyRecord]]) -> None:
        causes: list[tuple[Cause, KnownScope]] = []
        for incoming, record in records:
            if isinstance(record, Repeat) or record.scope is None or not record.extraction.facts:
                continue
            known = await self._known(work, record.scope)
            first = event_id(record.extraction.facts[0].fact_id)
            if known.memory.holds(first):
                work.again.add(record.record_id)
            elif record.record_id not in work.events:
                work.events[record.record_id] = []
                causes.extend((Cause(record, fact, incoming.offset), known) for fact in record.extraction.facts)
        await self._embed(work, [text for cause, _ in causes for text in cause.texts])
        for cause, known in causes:
            await self._settle(work, cause, known)

    async def _known(self, work: Work, scope: Scope) -> KnownScope:
        if scope.key not in work.known:
            work.known[scope.key] = await self._ports.known.get(work.shard, scope)
        return work.known[scope.key]

    async def _embed(self, work: Work, texts: list[str]) -> None:
        missing = [text for text in dict.fromkeys(texts) if text not in work.vectors]
        if missing:
            work.vectors.update(zip(missing, await self._ports.embedder.embed(missing), strict=True))

    async def _settle(self, work: Work, cause: Cause, known: KnownScope) -> None:
        """Decide on one fact, with all that the batch has decided before it."""
        options = self._options(cause)
        neighbours = self._neighbours(work, cause, known)
        decision = decide(cause.fact, neighbours, options)
        await self._embed(work, [decision.text])
        change = change_of(
            cause,
            decision,
            known.memory,
            threshold=options.similarity_threshold,
            embedder=self._ports.embedder.id,
            vector=work.vectors[decision.text],
        )
        work.rows.extend(known.apply(change))
        work.events[cause.record.record_id].append(change.event)
        self._ports.metrics.events.labels(change.event.event).inc()

    def _options(self, cause: Cause) -> DecisionOptions:
        settings = self._ports.settings
        if isinstance(cause.record, CommandRecord):
            told = cause.record.command.options
            return DecisionOptions(told.similarity_threshold, told.max_similar_results, told.enable_delete_operations)
        return DecisionOptions(settings.similarity_threshold, settings.max_similar_results, settings.turn_deletes)

    def _neighbours(self, work: Work, cause: Cause, known: KnownScope) -> list[Neighbour]:
        """The nearest memories, those of the same claim, and what the caller told of; best first."""
        vector = work.vectors[cause.fact.text]
        found = dict(known.shelf.nearest(vector, NEAREST))
        for memory_id in known.same_claim(cause.fact.subject, cause.fact.attribute):
            found.setdefault(memory_id, known.shelf.similarity(memory_id, vector))
        neighbours = [
            neighbour_of(row, similarity)
            for memory_id, similarity in found.items()
            if (row := known.memory.current_of(memory_id)) is not None
        ]
        neighbours.extend(cause.told_neighbours(vector, work.vectors))
        return sorted(neighbours, key=lambda neighbour: (-neighbour.similarity, neighbour.id))

    async def _told(self, work: Work, records: Sequence[tuple[Incoming, AnyRecord]]) -> list[Outgoing]:
        """Events for the audit log and answers for whoever waits, in the order of the records."""
        repeats = {record.record_id for _, record in records if isinstance(record, Repeat)}
        stored = await work.shard.events_of_records(work.again | repeats)
        originals = await work.shard.records(repeats)
        outgoing: list[Outgoing] = []
        sent: set[str] = set()
        for incoming, record in records:
            events = work.events.get(record.record_id)
            again = stored.get(record.record_id, ()) if events is None else ()
            if events is None:
                events = [row.event for row in again]
            # A record that stands here a second time has been told where it first stood. Told again now it would be
            # the newest record of its key, and compaction would move it behind what came after it.
            told = any(row.facts_offset != incoming.offset for row in again)
            if not isinstance(record, Repeat) and not told and record.record_id not in sent:
                sent.add(record.record_id)
                outgoing.extend(self._event(event, incoming.partition) for event in events)
            original = originals.get(record.record_id) if isinstance(record, Repeat) else record
            outgoing.extend(await self._answer(incoming, original, events))
        for message in outgoing:
            require_size(message)
        return outgoing

    def _event(self, event: MemoryEvent, partition: int) -> Outgoing:
        headers = cloud_event(
            event,
            event_id=event.event_id,
            source=self._ports.outbox.source,
            time=event.recorded_at,
            key=event.scope.key,
        )
        return Outgoing("changes", event.key(), event.encode(), headers, partition)

    async def _answer(
        self, incoming: Incoming, record: TurnRecord | CommandRecord | None, events: Sequence[MemoryEvent]
    ) -> list[Outgoing]:
        outbox, now = self._ports.outbox, self._ports.clock()
        maintained: list[Outgoing] = []
        if isinstance(record, CommandRecord) and record.command.op == "maintain":
            maintained = await self._maintainer.by_command(incoming.partition)
        address = reply_address(incoming, f"{self._ports.settings.name}.replies")
        if address is None or record is None:
            return maintained
        report = report_of(record, events)
        key = record.scope.key if record.scope else ""
        answer = outbox.reply(report, address, event_id=derived_id("reply", address.correlation_id), now=now, key=key)
        return [*maintained, answer]


def _scopes(records: Any) -> list[Scope]:
    return [record.scope for record in records if record.scope is not None]
