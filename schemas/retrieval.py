"""What is asked of a memory and what it answers."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import ConfigDict, Field, StringConstraints

from schemas.conversation import Name, Role, Scope
from schemas.facts import Share
from schemas.memory import Event, QualitySource
from schemas.message import Input, Instant, Message, Part

Mode = Literal["hybrid", "semantic", "keyword"]
Kind = Literal["knowledge", "episode", "external"]
Format = Literal["results", "context", "agent_context"]
ErrorCode = Literal["invalid_request", "deadline_exceeded", "unavailable", "not_found", "internal"]
MAX_RESULTS = 50
MAX_LISTED = 100
"""Tags, recent turns or used results that one question may name."""
MAX_QUERY_CHARACTERS = 10_000

ResultId = Annotated[str, StringConstraints(min_length=1, max_length=300)]
"""A memory's number, or ``turn:`` and the id of a turn, which may have 256 characters."""


@dataclass(frozen=True)
class Preset:
    """How much is asked for, for one kind of use.

    Attributes:
        top_k: Results at most.
        threshold: Least score, 0 … 1.
    """

    top_k: int
    threshold: float


PRESETS: dict[str, Preset | None] = {
    "high_precision": Preset(top_k=3, threshold=0.85),
    "balanced": Preset(top_k=5, threshold=0.3),
    "high_recall": Preset(top_k=10, threshold=0.15),
    "off": None,
}
"""By name; "off" asks for nothing."""


class Filters(Input):
    """What a result must be, beside being close. All that are given must hold."""

    tags: Annotated[tuple[str, ...], Field(max_length=MAX_LISTED)] = ()
    domain: str | None = None
    session_id: str | None = None
    since: Instant | None = None
    until: Instant | None = None


class HistoryTurn(Input):
    """A recent turn of the conversation that the question stands in."""

    role: Role
    content: str


class SearchRequest(Message):
    """A question to one scope's memory."""

    model_config = ConfigDict(extra="forbid")
    kind: ClassVar[str] = "search-request"

    scope: Scope
    query: Annotated[str, Field(max_length=MAX_QUERY_CHARACTERS)]
    top_k: Annotated[int, Field(alias="top_k", strict=True, ge=1, le=MAX_RESULTS)] = 5
    similarity_threshold: Annotated[float, Field(alias="similarity_threshold", strict=True, ge=0, le=1)] = 0.3
    include_metadata: Annotated[bool, Field(alias="include_metadata")] = True
    mode: Mode = "hybrid"
    rerank: bool | None = None
    as_of: Instant | None = None
    """Event time: what was true then, as far as we know today."""
    known_at: Instant | None = None
    """Recording time: what we believed then."""
    filters: Filters = Filters()
    kinds: Annotated[tuple[Kind, ...], Field(min_length=1)] = ("knowledge",)
    history: Annotated[tuple[HistoryTurn, ...], Field(max_length=MAX_LISTED)] = ()
    format: Format = "results"
    agent_id: Name | None = None
    """For ``agent_context``: whose memories, beside those that are everybody's."""
    explain: bool = False
    """Whether each result says why it is one."""
    used: Annotated[tuple[ResultId, ...], Field(max_length=MAX_LISTED)] = ()
    """Ids of earlier results that the answer really used."""


class Explanation(Part):
    """Why a result is one, only where that was asked for."""

    semantic_score: Annotated[float | None, Field(alias="semantic_score")] = None
    """Cosine to the question; None where the question could not be embedded."""
    keyword_score: Annotated[float, Field(alias="keyword_score")]
    """Share of the question's words that the text holds."""
    hybrid_score: Annotated[float, Field(alias="hybrid_score")]
    """What it was ordered by."""
    rerank_score: Annotated[float | None, Field(alias="rerank_score")] = None
    passed: str
    """Which rule let it through."""
    source_turn_ids: tuple[str, ...] = ()
    revision: int | None = None
    """How many versions the memory had; None for a turn."""
    old_memory: Annotated[str | None, Field(alias="old_memory")] = None
    """What it replaced."""


class SearchResult(Part):
    """What answers; the second block only with ``include_metadata``."""

    id: str
    """Of a memory its number, of a turn ``turn:`` and its id; feedback names memories by it."""
    text: str
    tags: tuple[str, ...]
    timestamp: Instant
    similarity: Share
    """Cosine, 0 … 1, in every mode."""
    score: Share
    """What thresholds compare with: the rerank score where a reranker ran, else the similarity; the share of the
    question's words that the text holds where the question could not be embedded."""
    source: Literal["knowledge", "episode", "external"] = "knowledge"
    memory_type: Literal["knowledge", "episode", "external"] = "knowledge"

    confidence: Share | None = None
    reasoning: str | None = None
    event: Event | None = None
    domain: str | None = None
    quality_source: QualitySource | None = None
    code_pattern: Annotated[str | None, Field(alias="code_pattern")] = None
    source_session_id: str | None = None
    role: Role | None = None
    revision: int | None = None
    name: str | None = None
    """Speaker of a turn."""
    explanation: Explanation | None = None


class SearchMetadata(Part):
    """Figures of one search; times in milliseconds."""

    total_results: int
    search_time: float
    embedding_time: float
    max_similarity: Share
    min_similarity: Share
    average_similarity: Share
    search_mode: Literal["knowledge"] = "knowledge"


class CitationMetadata(Part):
    """Scores behind a citation; None where that side did not find it."""

    semantic_score: Annotated[float | None, Field(alias="semantic_score")] = None
    keyword_score: Annotated[float | None, Field(alias="keyword_score")] = None
    hybrid_score: Annotated[float | None, Field(alias="hybrid_score")] = None
    rerank_score: Annotated[float | None, Field(alias="rerank_score")] = None
    chunk_index: Annotated[int, Field(alias="chunk_index")] = 0


class Citation(Part):
    """Where a line of the context comes from."""

    id: str
    content: str
    score: Share
    source: str
    rank: Annotated[int, Field(ge=1)]
    metadata: CitationMetadata


class Reply(Message):
    """The answer to a search request."""

    kind: ClassVar[str] = "reply"

    success: bool
    query: str
    results: tuple[SearchResult, ...] = ()
    metadata: SearchMetadata
    timestamp: Instant
    context: str | None = None
    citations: tuple[Citation, ...] | None = None
    degraded: tuple[str, ...] = ()
    """What was asked for or is on by default and could not be had; empty and failed are different answers."""


class ErrorReply(Message):
    """Why a request was not worked on or did not end well."""

    kind: ClassVar[str] = "error"

    success: Literal[False] = False
    """So that every answer to a request says whether it succeeded."""
    code: ErrorCode
    message: str
    field: str | None = None
