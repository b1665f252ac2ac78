"""Knowing: requests to refresh documentation in, events of what came of them out, and the tables that are their fold.

Rule of this file: a handler. The topic has one partition, so whoever owns it is the only one who asks hosts and the
only writer of the tables. The log comes first here: what a host said cannot be asked for again, while the tables can
be made again from the log. So events are sent, and the tables follow the log from where they stood, whatever ended in
between.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from lakehouse.external.library import Library
from schemas.errors import InvalidMessage
from schemas.identity import derived_id
from schemas.knowledge import (
    Accesses,
    DocumentEvent,
    KnowledgeMaintenance,
    RefreshRequest,
    Upkeep,
    UsageReport,
)
from schemas.message import Message, cloud_event
from streams.incoming import Incoming
from streams.letters import letters
from streams.logs import logger
from streams.ports import Ports
from streams.refreshing import refresh_of
from streams.wire import Outgoing

WEEK = timedelta(days=7)
EVENTS_A_FOLD = 200
MESSAGES: dict[str, type[Message]] = {message.kind: message for message in (RefreshRequest, Accesses, Upkeep)}
log = logger("know")
Log = Callable[[int], AsyncIterator[tuple[int, DocumentEvent]]]
"""The events of the log from an offset on, each with its own offset."""


class Tables(Protocol):
    """What the events are folded into, and what is due in it."""

    async def applied(self) -> int:
        """Offset of the first event that is not in the tables."""

    async def apply(self, events: Sequence[DocumentEvent], applied: int) -> None:
        """Fold events, and note how far the log was followed; the same events again change nothing."""

    async def due(self, now: datetime) -> tuple[list[RefreshRequest], list[DocumentEvent], KnowledgeMaintenance]:
        """What the daily upkeep asks for: pages to look at again, what is let go and weighed anew, and a report."""

    async def usage(self, since: datetime, until: datetime) -> UsageReport:
        """How the outside was used in a stretch of time."""


class Know:
    """Handles batches of ``knowledge.refresh``."""

    def __init__(self, ports: Ports, library: Library | None, tables: Tables | None, read_log: Log) -> None:
        """Make the handler.

        Args:
            ports: The world.
            library: Looks pages up; None where no documentation is configured: requests then lapse.
            tables: What events are folded into; None as well then.
            read_log: Reads the log.
        """
        self._ports = ports
        self._library = library
        self._tables = tables
        self._read = read_log
        self._is_level = False
        """Whether the tables hold all that is in the log: while this is ours, nobody else writes either."""

    def forget(self) -> None:
        """Partitions have moved: somebody else may have written meanwhile."""
        self._is_level = False

    async def handle(self, partition: int, batch: list[Incoming]) -> None:  # noqa: ARG002 - there is one
        """Work on requests; see ``Handler``.

        Raises:
            Unavailable: Broker or lake cannot be reached.
        """
        if self._library is None or self._tables is None:
            log.info("no documentation is configured: requests lapse", messages=len(batch))
            return
        if not self._is_level:
            await self._follow(self._tables)
        refreshes: list[RefreshRequest] = []
        events: list[DocumentEvent] = []
        upkeep: list[Upkeep] = []
        for incoming in batch:
            match await self._message(incoming):
                case RefreshRequest() as request:
                    refreshes.append(request)
                case Accesses() as accesses:
                    events.append(_accessed(accesses))
                case Upkeep() as asked:
                    upkeep.append(asked)
        events += await self._library.refresh_all(refreshes)
        await self._say(events, self._tables)
        if upkeep:
            await self._keep_up(upkeep[-1], self._tables)

    async def _message(self, incoming: Incoming) -> Message | None:
        """What is asked; None where it cannot be understood, which is told."""
        try:
            return _kind_of(incoming).decode(incoming.value)
        except InvalidMessage as error:
            ports = self._ports
            ports.metrics.dead.labels(incoming.topic, type(error).__name__).inc()
            now = ports.clock()
            # masking a large one takes long: questions are answered meanwhile
            letter = await asyncio.to_thread(letters, incoming, error, ports.outbox, ports.masker, attempt=1, now=now)
            await ports.outbox.send(letter)
            return None

    async def _say(self, events: Sequence[DocumentEvent], tables: Tables) -> None:
        """Put events into the log, and the tables behind it."""
        if not events:
            return
        self._is_level = False
        await self._ports.outbox.send([self._outgoing(event) for event in events])
        for event in events:
            self._ports.metrics.documents.labels(event.action).inc()
        await self._follow(tables)

    async def _follow(self, tables: Tables) -> None:
        """Fold what the log holds beyond the tables."""
        start = await tables.applied()
        found = [told async for told in self._read(start)]
        for begin in range(0, len(found), EVENTS_A_FOLD):
            some = found[begin : begin + EVENTS_A_FOLD]
            await tables.apply([event for _, event in some], some[-1][0] + 1)
        self._is_level = True

    async def _keep_up(self, upkeep: Upkeep, tables: Tables) -> None:
        """The daily work, and the week's report where that is asked for."""
        now = self._ports.clock()
        requests, events, report = await tables.due(now)
        await self._say(events, tables)
        reports: list[Message] = [report]
        if upkeep.report:
            reports.append(await tables.usage(now - WEEK, now))
        await self._ports.outbox.send(
            [
                *(refresh_of(request, self._ports.outbox.source) for request in requests),
                *(self._report(one, now) for one in reports),
            ]
        )
        log.info("upkeep", refreshed=report.refreshed, evicted=report.evicted, rescored=report.rescored)

    def _outgoing(self, event: DocumentEvent) -> Outgoing:
        source = self._ports.outbox.source
        headers = cloud_event(event, event_id=event.event_id, source=source, time=event.at, key=event.source)
        return Outgoing("knowledge.changes", event.source, event.encode(), headers, partition=0)

    def _report(self, report: Message, now: datetime) -> Outgoing:
        event_id = derived_id(report.kind, now.isoformat())
        headers = cloud_event(report, event_id=event_id, source=self._ports.outbox.source, time=now, key=report.kind)
        return Outgoing("reports", report.kind, report.encode(), headers)


def _kind_of(incoming: Incoming) -> type[Message]:
    """Which message it says to be; a request to refresh where it says nothing."""
    told = (incoming.header("ce_type") or RefreshRequest.kind).removeprefix("memlake.").partition(".")[0]
    if told not in MESSAGES:
        raise InvalidMessage(f"ce_type: {told!r} is none of {', '.join(MESSAGES)}", field="ce_type")
    return MESSAGES[told]


def _accessed(accesses: Accesses) -> DocumentEvent:
    lookups = accesses.lookups
    return DocumentEvent(
        event_id=derived_id("accessed", accesses.id),
        action="ACCESSED",
        at=max(lookup.at for lookup in lookups),
        source=next((lookup.source for lookup in lookups if lookup.source), "memlake"),
        document_ids=tuple(dict.fromkeys(lookup.document_id for lookup in lookups if lookup.document_id)),
        lookups=lookups,
    )
