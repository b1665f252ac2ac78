"""Looking things up outside: a request to refresh becomes the events that tell what came of it.

Rule of this file: it asks hosts and writes nothing. What it tells is an event; the tables are a fold of events. The
same request a second time asks nobody: what was checked after it was made still holds.
"""

import asyncio
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Protocol

from lakehouse.external.orders import marked
from lakehouse.external.origins import Refused, canonical_url
from lakehouse.external.sites import site_of, sites_for
from lakehouse.external.source import (
    Blocked,
    Failed,
    Fetch,
    Gone,
    NotModified,
    Outcome,
    Page,
    Prepared,
    Ref,
    Site,
    Source,
)
from schemas.errors import Unavailable
from schemas.identity import derived_id
from schemas.knowledge import (
    Deprecation,
    Document,
    DocumentAction,
    DocumentEvent,
    PageState,
    RefreshRequest,
    moment_of,
)

TOO_OLD: Final = timedelta(hours=1)
"""An older request is not worked on: replaying the topic must not ask the world again."""
UNKNOWN_FOR: Final = timedelta(hours=24)
"""How long a symbol that no site knows is not looked for again."""
FAILED_FOR: Final = timedelta(seconds=60)
AT_ONCE: Final = 8
"""Pages that are asked for side by side; how many of one host, the fetcher says."""
DOCUMENTS_AN_EVENT: Final = 500
_USER: Final = re.compile("//[^/]*@")
NOT_A_SITE: Final = "no site of the settings holds this address: MEMLAKE_DOCS names the sites that may be asked"


class Shelf(Protocol):
    """What the library must know of what is kept already."""

    async def page(self, url: str) -> PageState | None:
        """What is known of a page, or of a symbol that was looked for; see ``symbol_url``."""

    async def deprecations_of(
        self, project: str, symbols: Sequence[str], *, source: str | None = None
    ) -> Sequence[Deprecation]:
        """What is known of these symbols of a project, of each the newest version first."""

    async def apply(self, events: Sequence[DocumentEvent]) -> object:
        """Take up events."""


def symbol_url(project: str | None, symbol: str) -> str:
    """Under what a symbol that nobody knows is remembered, as pages are by their address."""
    return f"symbol:{project or '*'}:{symbol}"


@dataclass(frozen=True)
class Library:
    """The sites of the settings, with those who read them.

    Attributes:
        sites: In the order in which they are asked.
        sources: By id.
        fetch: Asks hosts.
        shelf: What is kept.
        clock: Now, timezone-aware.
    """

    sites: Sequence[Site]
    sources: Mapping[str, Source]
    fetch: Fetch
    shelf: Shelf
    clock: Callable[[], datetime]

    async def refresh_all(self, requests: Sequence[RefreshRequest]) -> list[DocumentEvent]:
        """What came of some requests, in their order; of several for one page only the last is worked on."""
        wanted = {(request.url, request.symbol): request for request in requests if not self._is_too_old(request)}
        room = asyncio.Semaphore(AT_ONCE)

        async def one(request: RefreshRequest) -> list[DocumentEvent]:
            async with room:
                return await self.refresh(request)

        done = await asyncio.gather(*map(one, wanted.values()))
        return [event for events in done for event in events]

    def _is_too_old(self, request: RefreshRequest) -> bool:
        return self.clock() - request.requested_at > TOO_OLD

    async def refresh(self, request: RefreshRequest) -> list[DocumentEvent]:
        """What came of one request: none where what is kept was checked since it was made.

        Raises:
            Unavailable: What is kept cannot be read.
        """
        if request.symbol is None:
            try:
                url = canonical_url(request.url)
            except Refused as error:
                return [self._not_allowed(request, str(error))]
            site = site_of(self.sites, url)
            if site is None:
                return [self._not_allowed(request, NOT_A_SITE)]
            return await self._page(request, site, url)
        return await self._symbol(request, request.symbol)

    async def fetch_and_cache(self, source: str, identifier: str, project: str) -> list[DocumentEvent]:
        """Look a symbol up now, and keep what came of it: for a program that has the tables to itself.

        Args:
            source: Who publishes it, such as "python_docs".
            identifier: The symbol, such as "asyncio.run".
            project: Such as "python".

        Returns:
            What came of it; the documents are in the tables then.

        Raises:
            Unavailable: The tables cannot be read or written.
        """
        request = RefreshRequest(
            url=symbol_url(project, identifier),
            source=source,
            project=project,
            symbol=identifier,
            reason="asked",
            requested_at=self.clock(),
        )
        events = await self.refresh(request)
        await self.shelf.apply(events)
        return events

    async def detect_deprecation(self, project: str, symbol: str) -> Deprecation | None:
        """What the newest documentation that is kept says against using a symbol; None where nothing.

        Raises:
            Unavailable: The tables cannot be read.
        """
        found = await self.shelf.deprecations_of(project, [symbol])
        return next((one for one in found if one.status != "undeprecated"), None)

    async def _symbol(self, request: RefreshRequest, symbol: str) -> list[DocumentEvent]:
        sites = sites_for(self.sites, request.project or None)
        known = await self.shelf.page(symbol_url(request.project, symbol))
        if known is not None and _is_negative(known, self.clock()) and request.reason != "asked":
            return []
        reasons, events, is_known = [], [], False
        for site in sites:
            try:
                refs = await self.sources[site.source].resolve(symbol, site)
            except Unavailable as error:
                reasons.append(str(error))
                continue
            if refs:
                is_known = True
                events += await self._page(request, site, refs[0].url)
                if not request.project:
                    break
        if is_known:
            return events
        if not sites:
            reasons.append(f"no site of {request.project!r} is configured: MEMLAKE_DOCS names the sites")
        return [self._unknown(request, symbol, reasons)]

    async def _page(self, request: RefreshRequest, site: Site, url: str) -> list[DocumentEvent]:
        known = await self.shelf.page(url)
        checked = None if known is None else moment_of(known)
        if checked is not None and checked >= request.requested_at:
            return []
        if known is not None and _is_negative(known, self.clock()) and request.reason != "asked":
            return []
        started = time.perf_counter()
        outcome = await self.fetch.get(site, url, known, limit=self.sources[site.source].limit)
        spent = (time.perf_counter() - started) * 1000
        return await self._told(request, site, known, outcome, spent)

    async def _told(
        self, request: RefreshRequest, site: Site, known: PageState | None, outcome: Outcome, spent: float
    ) -> list[DocumentEvent]:
        match outcome:
            case Page():
                return await self._read(request, site, known, outcome, spent)
            case NotModified(state):
                return [self._event("NOT_MODIFIED", request, state, milliseconds=spent)]
            case Gone(state):
                return [self._event("GONE", request, state, reason="there is no such page", milliseconds=spent)]
            case Failed(state, reason):
                return [self._event("FETCH_FAILED", request, state, reason=reason, milliseconds=spent)]
            case Blocked(state, reason):
                return [self._event("BLOCKED", request, state, reason=reason, milliseconds=spent)]

    async def _read(
        self, request: RefreshRequest, site: Site, known: PageState | None, page: Page, spent: float
    ) -> list[DocumentEvent]:
        """All that a page tells, at once: whoever asks for another symbol of it finds it there."""
        source = self.sources[site.source]
        try:
            if isinstance(source, Prepared):
                await source.prepare(site)
        except Unavailable as error:
            return [self._event("FETCH_FAILED", request, self._later(known or _unheld(page.state)), reason=str(error))]
        if known is not None and known.content_hash == page.state.content_hash:
            return [self._event("NOT_MODIFIED", request, page.state, size=len(page.body), milliseconds=spent)]
        documents = await asyncio.to_thread(lambda: [marked(one) for one in source.documents(page, site)])
        action: DocumentAction = "FETCHED" if known is None or known.content_hash is None else "UPDATED"
        findings = await self._findings(request, site, source, page, documents)
        state = _unheld(page.state) if findings is None else page.state
        events = [
            self._event(
                action,
                request,
                state,
                documents=tuple(documents[start : start + DOCUMENTS_AN_EVENT]),
                number=start,
                size=len(page.body),
                milliseconds=spent,
            )
            for start in range(0, max(1, len(documents)), DOCUMENTS_AN_EVENT)
        ]
        return [*(findings or ()), *events]  # the page last: what tells that it was read comes after all else of it

    async def _findings(
        self, request: RefreshRequest, site: Site, source: Source, page: Page, documents: Sequence[Document]
    ) -> list[DocumentEvent] | None:
        """What the page says of symbols that are not to be used any more, as far as that is new.

        Returns:
            None where it takes more than the page, and that could not be had: the page is then read again next time.
        """
        names = [document.name for document in documents]
        told_before = await self.shelf.deprecations_of(site.project, names, source=site.source)
        before = {(one.symbol, one.version): one for one in told_before}
        events = []
        for document in documents:
            ref = Ref(site, document.role, document.name, document.page_url, document.anchor, document.version)
            try:
                found = {(one.symbol, one.version): one for one in await source.deprecations(ref, page)}
            except Unavailable:
                return None
            for key, told in found.items():
                if before.get(key) != told:
                    events.append(self._finding("DEPRECATED", request, page, document, told))
            gone = before.get((document.name, document.version))
            if gone is not None and gone.status != "undeprecated" and not found:
                told = gone.model_copy(update={"status": "undeprecated", "evidence": ()})
                events.append(self._finding("UNDEPRECATED", request, page, document, told))
        return events

    def _finding(
        self, action: DocumentAction, request: RefreshRequest, page: Page, document: Document, told: Deprecation
    ) -> DocumentEvent:
        event = self._event(action, request, page.state, number=document.name)
        return event.model_copy(update={"deprecation": told, "document_ids": (document.id,), "page": None})

    def _later(self, page: PageState) -> PageState:
        return page.model_copy(update={"negative_until": self.clock() + FAILED_FOR})

    def _not_allowed(self, request: RefreshRequest, reason: str) -> DocumentEvent:
        url = _USER.sub("//", request.url)  # what is told here is kept for good, and may hold a password
        state = PageState(url=url, source=request.source, project=request.project)
        state = state.model_copy(update={"negative_until": self.clock() + UNKNOWN_FOR, "checked_at": self.clock()})
        return self._event("BLOCKED", request, state, reason=reason)

    def _unknown(self, request: RefreshRequest, symbol: str, reasons: Sequence[str]) -> DocumentEvent:
        """Nobody knows it: for a day where all could be asked, for a minute where one could not."""
        now = self.clock()
        reason = "; ".join(dict.fromkeys(reasons)) or "no site knows this symbol"
        state = PageState(
            url=symbol_url(request.project, symbol),
            source=request.source,
            project=request.project,
            checked_at=now,
            negative_until=now + (FAILED_FOR if reasons else UNKNOWN_FOR),
            reason=reason,
        )
        return self._event("FETCH_FAILED", request, state, reason=reason)

    def _event(
        self,
        action: DocumentAction,
        request: RefreshRequest,
        state: PageState,
        *,
        documents: tuple[Document, ...] = (),
        reason: str | None = None,
        number: object = 0,
        size: int | None = None,
        milliseconds: float | None = None,
    ) -> DocumentEvent:
        now = self.clock()
        page = state if reason is None else state.model_copy(update={"reason": reason})
        return DocumentEvent(
            event_id=derived_id("document", action, state.url, request.requested_at.isoformat(), str(number)),
            action=action,
            at=now,
            source=state.source or request.source,
            document_ids=tuple(document.id for document in documents),
            documents=documents,
            replaces_page=number == 0 and action in {"FETCHED", "UPDATED"},
            page=page,
            reason=reason,
            bytes=size,
            milliseconds=None if milliseconds is None else round(milliseconds, 3),
        )


def _unheld(page: PageState) -> PageState:
    """The page as one whose host is asked for all of it again."""
    return page.model_copy(update={"etag": None, "last_modified": None, "content_hash": None})


def _is_negative(page: PageState, now: datetime) -> bool:
    return page.negative_until is not None and page.negative_until > now
