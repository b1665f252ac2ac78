"""External documents: what was fetched, what it says of a symbol, who asked for it, and what became of it.

Rule of this file: what is told here is advice and never becomes a memory. ``DocumentEvent`` holds all that the tables
of external knowledge hold: they are rebuilt from these events without a network.
"""

import json
from datetime import datetime
from hashlib import sha256
from typing import Annotated, ClassVar, Literal

from pydantic import Field, JsonValue

from schemas.facts import Share
from schemas.message import Instant, Message, Part

Category = Literal["official_docs", "tutorials", "community", "library_specific"]
"""How long a document holds and how far it is trusted; see ``lakehouse.external.policy``."""
Status = Literal["deprecated", "soft_deprecated", "removed", "undeprecated", "possible"]
Extent = Literal["symbol", "parameter", "module", "class"]
"""What a notice is about: the symbol itself, a parameter or way of using it, or that in which it is."""
EvidenceKind = Literal["notice", "module_list", "inherited", "prose", "changelog", "issue", "data"]
DocumentAction = Literal[
    "FETCHED",
    "UPDATED",
    "NOT_MODIFIED",
    "GONE",
    "DEPRECATED",
    "UNDEPRECATED",
    "STALE_SERVED",
    "ACCESSED",
    "EVICTED",
    "RESCORED",
    "FETCH_FAILED",
    "BLOCKED",
    "MIGRATED",
]
Stage = Literal["project", "cache", "external"]
LookupOutcome = Literal["hit", "fresh", "stale", "negative", "miss", "budget", "unresolved", "blocked", "failed"]
RefreshReason = Literal["miss", "stale", "scheduled", "asked", "retry"]
SUMMARY_CHARACTERS = 500
TEXT_BYTES = 16 * 1024
QUOTE_CHARACTERS = 300
MAX_URL = 2_000
MAX_PROJECT = 200
MAX_SYMBOL = 1_000
"""Characters of what can be asked for: a symbol that nobody knows is remembered as pages are by their address."""
MAX_LOOKUPS = 200
"""Of one event."""
Url = Annotated[str, Field(min_length=1, max_length=MAX_URL)]
Hash = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


def document_id(source: str, project: str, version: str | None, role: str, name: str) -> str:
    """The id of a document: SHA-256 over the canonical JSON of all that tells it from others, as 64 hex digits."""
    parts = json.dumps([source, project, version, role, name], ensure_ascii=False, separators=(",", ":"))
    return sha256(parts.encode()).hexdigest()


def hash_of(text: str) -> str:
    """SHA-256 of a text, as 64 hex digits."""
    return sha256(text.encode()).hexdigest()


class Document(Part):
    """What one page says of one symbol: a section, as plain text.

    ``source``, ``project``, ``version``, ``role`` and ``name`` are its identity; see ``document_id``.
    """

    id: Hash
    source: str
    """Who publishes it, such as "python_docs"."""
    project: str
    """What it is about, such as "python"."""
    version: str | None = None
    """Of the project, as its documentation names it; None where it names none."""
    role: str
    """Kind of symbol, such as "py:function"."""
    name: str
    """The symbol, such as "asyncio.run"."""
    title: str
    summary: Annotated[str, Field(max_length=SUMMARY_CHARACTERS)]
    text: str
    """At most ``TEXT_BYTES`` as UTF-8."""
    content_hash: Hash
    """Of the text."""
    page_url: Url
    anchor: str = ""
    category: Category
    trust: Share
    language: str | None = None
    """Programming language, such as "python"."""
    licence: str = ""
    """Whom to name when it is shown."""
    flags: tuple[str, ...] = ()
    """What in it looks like an order to a reader; such a document is shown without its text."""


class PageState(Part):
    """What is known of one page of a host, for the next request to it."""

    url: Url
    source: str
    project: str
    version: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    content_hash: Hash | None = None
    fetched_at: Instant | None = None
    """When its body came."""
    checked_at: Instant | None = None
    """When its host last said that it holds."""
    status: int | None = None
    negative_until: Instant | None = None
    """Until when it is not asked for again."""
    reason: str | None = None


class Evidence(Part):
    """Where a finding comes from, in the source's own words."""

    kind: EvidenceKind
    url: str = ""
    quote: Annotated[str, Field(max_length=QUOTE_CHARACTERS)] = ""


class Deprecation(Part):
    """What is known of one symbol at one version of its project.

    ``confidence`` is 1 for a notice on the symbol itself, and less for what is read out of prose or talk.
    """

    project: str
    symbol: str
    version: str | None = None
    """Of the documentation that says so."""
    status: Status
    since: str | None = None
    removed_in: str | None = None
    replacements: tuple[str, ...] = ()
    scope: Extent = "symbol"
    evidence: tuple[Evidence, ...] = ()
    confidence: Share
    parts: tuple[str, ...] = ()
    """Of the scope "parameter": the names of those that are told."""


class Lookup(Part):
    """One question to external knowledge and how far it came."""

    at: Instant
    stage: Stage
    outcome: LookupOutcome
    query: Annotated[str, Field(max_length=300)]
    """The symbol, or the first words of the task."""
    project: str | None = None
    document_id: Hash | None = None
    source: str | None = None
    agent: str | None = None
    milliseconds: Annotated[float, Field(ge=0)]


class RefreshRequest(Message):
    """Please look whether a page has changed."""

    kind: ClassVar[str] = "refresh-request"

    url: Url
    source: str
    project: Annotated[str, Field(max_length=MAX_PROJECT)]
    version: str | None = None
    symbol: Annotated[str | None, Field(min_length=1, max_length=MAX_SYMBOL)] = None
    """For whose sake."""
    reason: RefreshReason
    requested_at: Instant
    not_before: Instant | None = None
    attempt: Annotated[int, Field(ge=1, le=20)] = 1


class Accesses(Message):
    """Questions to external knowledge that were asked of one worker, on their way to whoever keeps the tables."""

    kind: ClassVar[str] = "accesses"

    id: str
    """The same for the same questions, however often it is sent."""
    lookups: Annotated[tuple[Lookup, ...], Field(min_length=1, max_length=MAX_LOOKUPS)]


class Upkeep(Message):
    """Please do what is due every day: refresh what is used, let go of what is not, weigh anew."""

    kind: ClassVar[str] = "upkeep"

    requested_at: Instant
    reason: Literal["scheduled", "asked"]
    report: bool = False
    """Whether the usage of the last seven days is reported as well."""


class Uses(Part):
    """How often a document was given, all in all, and when last."""

    count: Annotated[int, Field(ge=0)]
    last: Instant | None = None


class DocumentEvent(Message):
    """One thing that happened to external knowledge. Which fields it has depends on ``action``."""

    kind: ClassVar[str] = "document-event"

    event_id: str
    """The same for the same happening, however often it is written."""
    action: DocumentAction
    at: Instant
    source: str
    document_ids: tuple[Hash, ...] = ()
    """Whom it is about."""
    documents: tuple[Document, ...] = ()
    """FETCHED, UPDATED: all sections of a page, or a part of them; ``page`` tells of which."""
    replaces_page: bool = False
    """Whether sections of the page that are not among ``documents`` are gone."""
    page: PageState | None = None
    """As it is known then: of every action that asked a host."""
    deprecation: Deprecation | None = None
    lookups: Annotated[tuple[Lookup, ...], Field(max_length=MAX_LOOKUPS)] = ()
    scores: dict[Hash, Share] = Field(default_factory=dict)
    """RESCORED: relevance by document."""
    reason: str | None = None
    bytes: int | None = None
    milliseconds: float | None = None
    uses: dict[Hash, Uses] = Field(default_factory=dict)
    """RESCORED: what was counted from the look-ups, by document."""


class KnowledgeMaintenance(Message):
    """What one run of the daily maintenance did."""

    kind: ClassVar[str] = "knowledge-maintenance"

    at: Instant
    refreshed: int
    """Refreshes asked for."""
    evicted: int
    rescored: int
    rolled_up: int
    """Look-ups counted."""
    tables: dict[str, JsonValue] = Field(default_factory=dict)


class UsageReport(Message):
    """How external knowledge was used between two moments; the first five figures have the seed's names."""

    kind: ClassVar[str] = "usage-report"

    since: Instant
    until: Instant
    cache_hit_rate: Annotated[float | None, Field(alias="cache_hit_rate")] = None
    """Look-ups answered by what was kept, fresh or stale, of those that came so far; None where none did."""
    most_used_docs: Annotated[tuple[dict[str, JsonValue], ...], Field(alias="most_used_docs")] = ()
    sources_by_usage: Annotated[tuple[dict[str, JsonValue], ...], Field(alias="sources_by_usage")] = ()
    knowledge_gaps: Annotated[tuple[dict[str, JsonValue], ...], Field(alias="knowledge_gaps")] = ()
    avg_query_time_ms: Annotated[float | None, Field(alias="avg_query_time_ms")] = None
    further: dict[str, JsonValue] = Field(default_factory=dict)
    """Shares, percentiles by stage, refreshes, new deprecations, failures."""


def moment_of(page: PageState) -> datetime | None:
    """When a page was last known to hold."""
    return page.checked_at or page.fetched_at
