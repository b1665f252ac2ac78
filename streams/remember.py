"""Remembering: each fact's effect on what is known is decided, written, told to the audit log, and answered.

Rule of this file: a handler. It gathers candidates, asks ``decide``, folds by ``versions``, writes one commit, then
sends. An event that is there already is sent again as it is: nothing is decided twice.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lakehouse import episodes
from lakehouse.known import KnownScope
from lakehouse.store import Shard
from lakehouse.turn_table import InputRow
from lakehouse.versions import Change, MemoryRow, ScopeMemory
from schemas.conversation import Scope
from schemas.errors import InvalidMessage
from schemas.facts import AnyRecord, CommandRecord, Repeat, TurnRecord, decode_record
from schemas.memory import MemoryEvent, TurnReport, event_id
from schemas.message import Headers, cloud_event
from schemas.retrieval import ErrorReply
from streams.changing import absence, change_by, named, names_memories
from streams.decide.types import DecisionOptions, Neighbour
from streams.events import Cause, causes_of, change_of, neighbour_of, report_of
from streams.incoming import TRACE_BYTES, Incoming, reply_address, trace
from streams.judging import Budget, side_by_side
from streams.letters import letters
from streams.maintain import Maintainer
from streams.ports import Ports
from streams.wire import Outgoing, require_size

SAME_CLAIM = 50
"""Of those about the same subject and attribute, it is shown so many at most."""
NEAREST = 20
"""Current memories that a decision is shown at most, beside those about the same subject and attribute."""


Records = Sequence[tuple[Incoming, AnyRecord]]
Todo = tuple[TurnRecord | CommandRecord, int, KnownScope]
"""A record to decide on, its offset, and what its scope knows."""
Stored = Mapping[str, Sequence[MemoryRow]]
"""Rows by the record that caused them."""


@dataclass
class Work:
    """One batch in the making."""

    shard: Shard
    budget: Budget
    """The time that a language model has for all of it."""
    known: dict[str, KnownScope] = field(default_factory=dict)
    """Scopes of the batch, with all that it has decided so far."""
    rows: list[MemoryRow] = field(default_factory=list)
    """Rows to write, new and closed."""
    events: dict[str, list[MemoryEvent]] = field(default_factory=dict)
    """New events by record."""
    again: set[str] = field(default_factory=set)
    """Records whose events are in the table already."""
    vectors: dict[str, Any] = field(default_factory=dict)
    """Unit vectors by text."""
    idle: list[CommandRecord] = field(default_factory=list)
    """Commands that found nothing to change."""
    maintained: dict[str, bool] = field(default_factory=dict)
    """Whether the maintenance that a command asked for was done, by record."""


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
            InvalidMessage: An event is too large for the log; nothing was written.
        """
        records, outgoing = await asyncio.to_thread(self._decode, batch)  # large ones take their time
        work = Work(await self._ports.lake.shard(partition), self._ports.judge.budget())
        try:
            await self._decide(work, records)
            await work.shard.commit_inputs(InputRow(record, idle=True) for record in work.idle)
            await work.shard.commit_memories(work.rows)
        except BaseException:
            self._ports.known.drop(record.scope for _, record in records if record.scope is not None)
            raise
        for events in work.events.values():
            for event in events:
                self._ports.metrics.events.labels(event.event).inc()
        self._ports.faults.reached("remember.after-commit")
        stored = await self._stored(work, records)
        await self._settle_episodes(work, stored)
        outgoing.extend(await self._maintain(work, records, partition))
        outgoing.extend(await self._told(work, records, stored))
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
                ports = self._ports
                dead.extend(letters(incoming, error, ports.outbox, ports.masker, attempt=1, now=ports.clock()))
                self._ports.metrics.dead.labels(incoming.topic, type(error).__name__).inc()
        return records, dead

    async def _decide(self, work: Work, records: Records) -> None:
        todo: list[Todo] = []
        for incoming, record in records:
            if isinstance(record, Repeat) or record.scope is None:
                continue
            if not record.extraction.facts and not names_memories(record):
                continue
            known = await self._known(work, record.scope)
            if _is_done(record, known.memory):
                work.again.add(record.record_id)
            elif record.record_id not in work.events:
                work.events[record.record_id] = []
                todo.append((record, incoming.offset, known))
        await self._leave_out_idle(work, [record for record, _, _ in todo if names_memories(record)])
        causes = {record.record_id: causes_of(record, offset) for record, offset, _ in todo}
        await self._embed(work, [text for found in causes.values() for cause in found for text in cause.texts])
        by_scope: dict[int, list[Todo]] = {}
        for one in todo:
            if one[0].record_id not in work.again:
                by_scope.setdefault(id(one[2]), []).append(one)
        await side_by_side(self._in_order(work, scope, causes) for scope in by_scope.values())

    async def _in_order(self, work: Work, todo: Sequence[Todo], causes: Mapping[str, Sequence[Cause]]) -> None:
        """Decide on the records of one scope, one after the other, while others wait for a model."""
        for record, offset, known in todo:
            if names_memories(record):
                self._obey(work, record, offset, known)
            for cause in causes[record.record_id]:
                await self._settle(work, cause, known)

    async def _leave_out_idle(self, work: Work, commands: Sequence[CommandRecord]) -> None:
        """Commands that found nothing to change have no event to tell that they were carried out before.

        Asked after the scopes were read: what came later, and might be found now, was written after their mark.
        """
        done = await work.shard.idle({one.scope for one in commands}, {one.record_id for one in commands})
        for record_id in done:
            work.again.add(record_id)
            del work.events[record_id]

    def _obey(self, work: Work, record: CommandRecord, offset: int, known: KnownScope) -> None:
        """Change the memories that a command names, with all that the batch has decided before it."""
        for memory_id in named(record, known.memory):
            self._take(work, change_by(record, memory_id, known.memory, offset), known)
        if not work.events[record.record_id]:
            work.idle.append(record)

    def _take(self, work: Work, change: Change, known: KnownScope) -> None:
        require_size(self._event(change.event, 0, []), spare=2 * TRACE_BYTES)
        work.rows.extend(known.apply(change))
        work.events[change.record_id].append(change.event)

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
        neighbours = neighbours_of(cause, known, work.vectors)
        judge = self._ports.judge
        budget = work.budget if judge.decides(cause.record) else None
        decision = await judge.decide(cause.fact, neighbours, options, budget)
        await self._embed(work, [decision.text])
        change = change_of(
            cause,
            decision,
            known.memory,
            threshold=options.similarity_threshold,
            embedder=self._ports.embedder.id,
            vector=work.vectors[decision.text],
        )
        self._take(work, change, known)

    def _options(self, cause: Cause) -> DecisionOptions:
        settings = self._ports.settings
        if isinstance(cause.record, CommandRecord):
            told = cause.record.command.options
            return DecisionOptions(told.similarity_threshold, told.max_similar_results, told.enable_delete_operations)
        return DecisionOptions(settings.similarity_threshold, settings.max_similar_results, settings.turn_deletes)

    async def _maintain(self, work: Work, records: Records, partition: int) -> list[Outgoing]:
        """Carry out the maintenance that was asked for; its reports are for ``memlake.reports``."""
        reports: list[Outgoing] = []
        for _, record in records:
            if isinstance(record, CommandRecord) and record.command.op == "maintain":
                done = await self._maintainer.by_command(partition)
                work.maintained[record.record_id] = None not in done
                reports.extend(report for report in done if report is not None)
        return reports

    async def _stored(self, work: Work, records: Records) -> Stored:
        """The rows of those records of the batch that were decided before it."""
        repeats = {record.record_id for _, record in records if isinstance(record, Repeat)}
        return await work.shard.events_of_records({record.scope for _, record in records}, work.again | repeats)

    async def _settle_episodes(self, work: Work, stored: Stored) -> None:
        """Take out of search what said what is forgotten; again for what was decided before, in case it ended there."""
        by_scope: dict[str, list[MemoryEvent]] = {}
        told = [row.event for record_id in work.again for row in stored.get(record_id, ())]
        for event in (*told, *(event for events in work.events.values() for event in events)):
            by_scope.setdefault(event.scope.key, []).append(event)
        for key, events in by_scope.items():
            await episodes.settle(work.shard, events[0].scope, work.known[key].memory, events)

    async def _told(self, work: Work, records: Records, stored: Stored) -> list[Outgoing]:
        """Events for the audit log and answers for whoever waits, in the order of the records."""
        scopes = {record.scope for _, record in records}
        repeats = {record.record_id for _, record in records if isinstance(record, Repeat)}
        originals = await work.shard.records(scopes, repeats)
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
                outgoing.extend(self._event(event, incoming.partition, trace(incoming)) for event in events)
            original = originals.get(record.record_id) if isinstance(record, Repeat) else record
            outgoing.extend(self._answer(work, incoming, original, events))
        return outgoing

    def _event(self, event: MemoryEvent, partition: int, traced: Headers) -> Outgoing:
        headers = cloud_event(
            event,
            event_id=event.event_id,
            source=self._ports.outbox.source,
            time=event.recorded_at,
            key=event.scope.key,
        )
        return Outgoing("changes", event.key(), event.encode(), [*headers, *traced], partition)

    def _answer(
        self,
        work: Work,
        incoming: Incoming,
        record: TurnRecord | CommandRecord | None,
        events: Sequence[MemoryEvent],
    ) -> list[Outgoing]:
        """The report to whoever waits for one: exactly one reply to each request."""
        address = reply_address(incoming, f"{self._ports.settings.name}.replies")
        if address is None:
            return []
        reply: TurnReport | ErrorReply
        if record is None:
            reply = ErrorReply(code="not_found", message="it was taken in before, and what became of it is gone")
        elif (
            isinstance(record, CommandRecord)
            and record.command.op == "maintain"
            and record.record_id not in work.maintained
        ):
            reply = ErrorReply(
                code="not_found", message="maintenance is not repeated: ask for it with another commandId"
            )
        elif not work.maintained.get(record.record_id, True):
            reply = ErrorReply(
                code="unavailable", message="a table could not be compacted just now: see the worker's log"
            )
        elif not events and (missing := absence(record)) is not None:
            reply = missing
        else:
            reply = report_of(record, events)
        key = record.scope.key if record is not None and record.scope else ""
        answer = self._ports.outbox.reply(reply, incoming, address, now=self._ports.clock(), key=key)
        try:
            require_size(answer)
        except InvalidMessage as error:  # what was asked for is done; only its report is too long
            reply = ErrorReply(code="internal", message=f"it is done, but the report cannot be told: {error}")
            answer = self._ports.outbox.reply(reply, incoming, address, now=self._ports.clock(), key=key)
        return [answer]


def _is_done(record: TurnRecord | CommandRecord, memory: ScopeMemory) -> bool:
    """Whether a record has caused its events already."""
    if names_memories(record):
        return memory.obeyed(record.command.command_id or "")
    return memory.holds(event_id(record.extraction.facts[0].fact_id))


def neighbours_of(cause: Cause, known: KnownScope, vectors: Mapping[str, Any]) -> list[Neighbour]:
    """What a decision is shown: the nearest memories, those of the same claim, and what the caller told of; best first.

    Args:
        cause: What is decided on.
        known: The scope before it.
        vectors: Unit vectors by text, of all ``cause.texts``.
    """
    vector = vectors[cause.fact.text]
    found = dict(known.shelf.nearest(vector, NEAREST))
    found.update(_of_same_claim(cause, known, vector))
    neighbours = [
        neighbour_of(row, similarity)
        for memory_id, similarity in found.items()
        if (row := known.memory.current_of(memory_id)) is not None
    ]
    neighbours.extend(cause.told_neighbours(vector, vectors))
    return sorted(neighbours, key=lambda neighbour: (-neighbour.similarity, neighbour.id))


def _of_same_claim(cause: Cause, known: KnownScope, vector: Any) -> dict[int, float]:
    """Memories about the same subject and attribute, however far; the nearest where there are many."""
    ids = known.same_claim(cause.fact.subject, cause.fact.attribute)
    near = sorted(((known.shelf.similarity(one, vector), one) for one in ids), key=lambda pair: (-pair[0], pair[1]))
    return {memory_id: similarity for similarity, memory_id in near[:SAME_CLAIM]}
