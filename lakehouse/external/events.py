"""What happened to external knowledge, folded into what is kept of it.

Rule of this file: pure. Rows are a function of the events: the same events in any batches, any of them told again at
any later time, give the same rows. So each fact of a row carries the stamp of the event that told it, and what is told
again, or late, changes nothing. The events of one source come in the order in which they were written.
What else changes with it: the columns in ``tables``.

A page is replaced as a unit: a section that a newer telling of its page does not hold is gone. What is gone or was let
go leaves its row without its text, or a late word of it would bring it back.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, Literal, NamedTuple, TypeAlias

from lakehouse.external.policy import stale_since
from schemas.knowledge import (
    Category,
    Deprecation,
    Document,
    DocumentAction,
    DocumentEvent,
    Lookup,
    PageState,
    document_id,
    moment_of,
)

RowStatus = Literal["live", "gone", "evicted"]
HELD: Final[frozenset[DocumentAction]] = frozenset({"FETCHED", "UPDATED", "NOT_MODIFIED", "MIGRATED"})
"""After these a host has said that its page holds."""
TOLD: Final[frozenset[DocumentAction]] = frozenset({"FETCHED", "UPDATED", "MIGRATED"})
"""These bring documents."""
_VALIDATORS: Final = ("etag", "last_modified", "content_hash")


class Stamp(NamedTuple):
    """When something was told, and by which event; the greater counts."""

    at: datetime
    by: str


@dataclass(frozen=True)
class DocumentRow:
    """A document with what became of it.

    Attributes:
        document: As it was told last; without text and summary unless it is live.
        told: Of the event that told it.
        fetched_at: When its page's body came.
        updated_at: When its own text was last another one than before.
        checked_at: When its source last said that it holds.
        status: Whether it may be found.
        evicted_at: When it was last let go.
        access_count: How often it was given, as last counted.
        last_accessed: When last, as last counted.
        relevance_score: Without a question, 0 … 0.8; None until it was first weighed.
        scored: Of the event that last counted and weighed it.
    """

    document: Document
    told: Stamp
    fetched_at: datetime
    updated_at: datetime
    checked_at: datetime
    status: RowStatus = "live"
    evicted_at: datetime | None = None
    access_count: int = 0
    last_accessed: datetime | None = None
    relevance_score: float | None = None
    scored: Stamp | None = None

    @property
    def category(self) -> Category:
        """Tells how long it holds."""
        return self.document.category

    @property
    def version(self) -> str | None:
        """Of what it documents."""
        return self.document.version

    @property
    def trust(self) -> float:
        """How far its source is trusted, 0 … 1."""
        return self.document.trust

    @property
    def credibility(self) -> float:
        """The same; 0 where its text looks like orders to a reader."""
        return 0.0 if self.document.flags else self.document.trust

    @property
    def last_updated(self) -> datetime:
        """When its source last said that it holds: the seed's name for ``checked_at``."""
        return self.checked_at

    @property
    def stale_since(self) -> datetime:
        """After which moment it is stale."""
        return stale_since(self.category, self.checked_at)


@dataclass(frozen=True)
class PageRow:
    """What is known of a page.

    Attributes:
        state: For the next request to it.
        told: Of the event that told it.
        held_at: When its host last said that it holds.
        replaced: Of the event that last told it as a whole, or that it is gone.
    """

    state: PageState
    told: Stamp
    held_at: datetime | None = None
    replaced: Stamp | None = None


@dataclass(frozen=True)
class FindingRow:
    """What one source says of whether a symbol is to be used."""

    source: str
    finding: Deprecation
    told: Stamp

    @property
    def id(self) -> str:
        """See ``finding_id``."""
        return finding_id(self.source, self.finding)


@dataclass(frozen=True)
class Happening:
    """An event without its documents: what reports count."""

    id: str
    at: datetime
    action: DocumentAction
    source: str
    url: str | None
    documents: int
    asked: bool
    """Whether a host was asked."""
    bytes: int | None
    milliseconds: float | None
    reason: str | None


Row: TypeAlias = DocumentRow | PageRow | FindingRow


def finding_id(source: str, finding: Deprecation) -> str:
    """One finding a source, symbol and version, as 64 hex digits."""
    return document_id(source, finding.project, finding.version, "deprecation", finding.symbol)


def lookups_of(event: DocumentEvent) -> dict[str, Lookup]:
    """The look-ups that an event tells, by an id that is the same however often it is told."""
    return {f"{event.event_id}#{number}": lookup for number, lookup in enumerate(event.lookups)}


def happening_of(event: DocumentEvent) -> Happening:
    """The event as reports count it; of several that tell one page in parts, one counts as asking."""
    page = event.page
    asked = page is not None and "://" in page.url and (event.replaces_page or event.action not in TOLD)
    return Happening(
        id=event.event_id,
        at=event.at,
        action=event.action,
        source=event.source,
        url=None if page is None else page.url,
        documents=len(event.documents),
        asked=asked and event.action not in {"EVICTED", "BLOCKED"},
        bytes=event.bytes if asked else None,
        milliseconds=event.milliseconds if asked else None,
        reason=event.reason,
    )


@dataclass(frozen=True)
class Touched:
    """Which rows some events may change: they must be at hand before the events are folded."""

    document_ids: frozenset[str]
    page_urls: frozenset[str]
    """Of pages, with all documents on them."""
    finding_ids: frozenset[str]


def touched_by(events: Iterable[DocumentEvent]) -> Touched:
    """Which rows some events may change."""
    ids, urls, findings = set[str](), set[str](), set[str]()
    for event in events:
        ids |= {*event.scores, *event.uses, *(document.id for document in event.documents)}
        ids |= {*event.document_ids} if event.action == "EVICTED" else set()
        urls |= {document.page_url for document in event.documents}
        urls |= {event.page.url} if event.page else set()
        findings |= {finding_id(event.source, event.deprecation)} if event.deprecation else set()
    return Touched(frozenset(ids), frozenset(urls), frozenset(findings))


@dataclass
class Fold:
    """Rows, as far as they are at hand, and what events make of them.

    Attributes:
        documents: By id.
        pages: By address.
        findings: By ``finding_id``.
    """

    documents: dict[str, DocumentRow] = field(default_factory=dict)
    pages: dict[str, PageRow] = field(default_factory=dict)
    findings: dict[str, FindingRow] = field(default_factory=dict)

    def apply(self, event: DocumentEvent) -> None:
        """Take up one event."""
        stamp = Stamp(event.at, event.event_id)
        if event.page is not None:
            self._page(event, event.page, stamp)
        if event.action in TOLD:
            for document in event.documents:
                self._document(event, document, stamp)
        if event.action == "EVICTED":
            self._evict(event)
        for touched in {*event.scores, *event.uses}:
            self._score(event, touched, stamp)
        if event.deprecation is not None:
            self._finding(event, event.deprecation, stamp)
        for url in touched_by([event]).page_urls:
            self._settle(url)

    def _page(self, event: DocumentEvent, told: PageState, stamp: Stamp) -> None:
        row = self.pages.get(told.url)
        held = (moment_of(told) or event.at) if event.action in HELD else None
        replaced = stamp if event.replaces_page or event.action == "GONE" else None
        if row is None:
            self.pages[told.url] = PageRow(_state(told, None, event.action), stamp, held, replaced)
            return
        if row.told < stamp:
            row = replace(row, state=_state(told, row.state, event.action), told=stamp)
        self.pages[told.url] = replace(
            row, held_at=_latest(row.held_at, held), replaced=max(filter(None, (row.replaced, replaced)), default=None)
        )

    def _document(self, event: DocumentEvent, document: Document, stamp: Stamp) -> None:
        row = self.documents.get(document.id)
        if row is not None and row.told >= stamp:
            return
        fetched = event.page.fetched_at if event.page and event.page.fetched_at else event.at
        checked = (moment_of(event.page) if event.page else None) or event.at
        if row is None:
            self.documents[document.id] = DocumentRow(document, stamp, fetched, event.at, checked)
            return
        is_new_text = row.document.content_hash != document.content_hash
        self.documents[document.id] = replace(
            row,
            document=document,
            told=stamp,
            fetched_at=fetched,
            updated_at=event.at if is_new_text else row.updated_at,
            checked_at=checked,
            status="live",
        )

    def _evict(self, event: DocumentEvent) -> None:
        for touched in event.document_ids:
            row = self.documents.get(touched)
            if row is not None and row.told.at <= event.at:
                evicted = replace(row, evicted_at=_latest(row.evicted_at, event.at))
                self.documents[touched] = _settled(evicted, self.pages.get(row.document.page_url))

    def _score(self, event: DocumentEvent, touched: str, stamp: Stamp) -> None:
        row = self.documents.get(touched)
        if row is None or stamp.at < row.told.at or (row.scored is not None and row.scored >= stamp):
            return  # what was told of it before it was fetched is not about this text
        uses = event.uses.get(touched)
        self.documents[touched] = replace(
            row,
            relevance_score=event.scores.get(touched, row.relevance_score),
            access_count=row.access_count if uses is None else uses.count,
            last_accessed=row.last_accessed if uses is None else uses.last,
            scored=stamp,
        )

    def _finding(self, event: DocumentEvent, told: Deprecation, stamp: Stamp) -> None:
        finding = told.model_copy(update={"status": "undeprecated"}) if event.action == "UNDEPRECATED" else told
        row = FindingRow(event.source, finding, stamp)
        kept = self.findings.get(row.id)
        if kept is None or kept.told < stamp:
            self.findings[row.id] = row

    def _settle(self, url: str) -> None:
        page = self.pages.get(url)
        for key, row in self.documents.items():
            if row.document.page_url == url:
                self.documents[key] = _settled(row, page)


def folded(events: Iterable[DocumentEvent]) -> Fold:
    """All that some events make of nothing."""
    fold = Fold()
    for event in events:
        fold.apply(event)
    return fold


def changed(before: Mapping[str, Row], after: Mapping[str, Row]) -> list[str]:
    """Keys of the rows that are other ones now."""
    return [key for key, row in after.items() if before.get(key) != row]


def _settled(row: DocumentRow, page: PageRow | None) -> DocumentRow:
    """The row with what its page, where it is at hand, says of it."""
    status: RowStatus = "live" if page is not None or row.status == "evicted" else row.status
    if page is not None and page.replaced is not None and row.told.at < page.replaced.at:
        status = "gone"
    if row.evicted_at is not None and row.evicted_at >= row.told.at:
        status = "evicted"
    if status != "live":
        bare = row.document.model_copy(update={"text": "", "summary": ""})
        return replace(row, document=bare, status=status)
    held = page.held_at if page is not None else None
    return replace(row, status=status, checked_at=_latest(row.checked_at, held) or row.checked_at)


def _state(told: PageState, before: PageState | None, action: DocumentAction) -> PageState:
    """A page's state as it is kept: what a host that says "not modified", or nothing, leaves out still holds.

    Of a page whose documents are gone nothing is left to compare with: when it is there again it is read again.
    """
    if action in {"GONE", "EVICTED"}:
        return told.model_copy(update=dict.fromkeys(_VALIDATORS))
    if before is None or action in TOLD:
        return told
    names = (*_VALIDATORS, "fetched_at") if action == "NOT_MODIFIED" else (*_VALIDATORS, "fetched_at", "checked_at")
    missing = {name: getattr(before, name) for name in names if getattr(told, name) is None}
    return told.model_copy(update=missing) if missing else told


def _latest(*moments: datetime | None) -> datetime | None:
    return max((moment for moment in moments if moment is not None), default=None)
