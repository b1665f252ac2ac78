"""Documentation, put together from the settings: sites, who reads them, who asks hosts, and the tables.

Rule of this file: composition. It is made by the worker, and by commands that read.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from lakehouse.embedding import Embedder
from lakehouse.external.fetch import Fetcher, agent_of
from lakehouse.external.hosts import Limits
from lakehouse.external.kept import KeptKnowledge
from lakehouse.external.library import Library
from lakehouse.external.maintenance import daily_maintenance
from lakehouse.external.report import weekly_analysis
from lakehouse.external.sites import origin_of, sites_of
from lakehouse.external.source import Site, Source
from lakehouse.external.sources import SOURCES, sources
from lakehouse.external.store import DocumentStore
from schemas.errors import InvalidMessage
from schemas.knowledge import DocumentEvent, KnowledgeMaintenance, RefreshRequest, UsageReport
from streams.know import Know, Log
from streams.logs import logger
from streams.outside import Outside
from streams.ports import Ports
from streams.readers import read
from streams.settings import Settings

LOOPBACK = ("127.0.0.1", "::1", "localhost")
SERIAL = frozenset({"github", "pypi"})
"""Sources whose hosts ask programs to come one request after another."""
log = logger("documentation")


@dataclass(frozen=True)
class Documentation:
    """Everything of it that a worker has.

    Attributes:
        sites: That may be asked.
        readers: The sources, by id.
        fetcher: Asks hosts.
        store: The tables.
        kept: The tables as a question asks for them.
    """

    sites: Sequence[Site]
    readers: Mapping[str, Source]
    fetcher: Fetcher
    store: DocumentStore
    kept: KeptKnowledge
    clock: Callable[[], datetime]

    @classmethod
    async def open(
        cls, settings: Settings, embedder: Embedder, clock: Callable[[], datetime]
    ) -> "Documentation | None":
        """Open it; None where the settings name no site.

        Raises:
            Misconfigured: A site is written wrong, or the lake is not there.
            Unavailable: The lake cannot be reached.
        """
        sites = sites_of(settings.docs, SOURCES)
        if not sites:
            return None
        loopback = LOOPBACK if settings.docs_loopback else ()
        serial = frozenset(origin_of(site).host for site in sites if site.source in SERIAL)
        fetcher = Fetcher(
            {origin_of(site) for site in sites},
            agent=agent_of(settings.docs_contact),
            clock=clock,
            loopback=loopback,
            limits=Limits(serial_hosts=serial),
        )
        readers = sources(fetcher, clock)
        store = await DocumentStore.open(settings.lake_uri, embedder)
        return cls(sites, readers, fetcher, store, KeptKnowledge(store, embedder, clock), clock)

    @property
    def library(self) -> Library:
        """Looks pages up."""
        return Library(self.sites, self.readers, self.fetcher, self.store, self.clock)

    async def close(self) -> None:
        """Let go of connections."""
        await self.fetcher.close()


@dataclass(frozen=True)
class FoldedTables:
    """The tables as the fold of the log; see ``know.Tables``."""

    store: DocumentStore

    async def applied(self) -> int:
        """See ``know.Tables``."""
        return await self.store.applied()

    async def apply(self, events: Sequence[DocumentEvent], applied: int) -> None:
        """See ``know.Tables``."""
        await self.store.apply(events)
        await self.store.note_applied(applied)

    async def due(self, now: datetime) -> tuple[list[RefreshRequest], list[DocumentEvent], KnowledgeMaintenance]:
        """See ``know.Tables``."""
        told = await daily_maintenance(self.store, now=now)
        return list(told.requests), list(told.events), told.report

    async def usage(self, since: datetime, until: datetime) -> UsageReport:
        """See ``know.Tables``."""
        return await weekly_analysis(self.store, until=until, days=(until - since) // timedelta(days=1))


def log_reader(settings: Settings, bootstrap: str) -> Log:
    """Reads the log of documentation from an offset to its end."""

    async def events(start: int) -> AsyncIterator[tuple[int, DocumentEvent]]:
        async for record in read(settings, bootstrap, "knowledge.changes", start={0: start}):
            try:
                yield record.offset, DocumentEvent.decode(record.value)
            except InvalidMessage as error:  # whoever wrote it was not one of ours: it changes nothing
                log.warning("an event of documentation cannot be read", offset=record.offset, reason=str(error))

    return events


def know_of(ports: Ports, documentation: Documentation | None, bootstrap: str) -> Know:
    """The handler of requests to refresh documentation."""
    read_log = log_reader(ports.settings, bootstrap)
    if documentation is None:
        return Know(ports, None, None, read_log)
    return Know(ports, documentation.library, FoldedTables(documentation.store), read_log)


def outside_of(ports: Ports, documentation: Documentation | None) -> Outside:
    """The way from a question to documentation."""
    if documentation is None:
        return Outside(ports, None)
    return Outside(ports, documentation.kept, frozenset(site.project for site in documentation.sites))
