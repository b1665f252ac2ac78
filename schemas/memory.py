"""What a fact did to a memory: the event on the audit log, and the report to whoever told the fact."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, JsonValue

from schemas.commands import Judgement
from schemas.conversation import Role, Scope
from schemas.facts import FactMetadata, Mood, Polarity, Share
from schemas.identity import derived_id
from schemas.message import Instant, Message, Part

Event = Literal["ADD", "UPDATE", "DELETE", "NONE"]
QualitySource = Literal["similarity", "llm", "heuristic"]
EventStatus = Literal["current", "historic"]
SUMMARY_CHARACTERS = 80


class Candidate(Part):
    """A known memory that a fact was held against."""

    id: int
    similarity: Share


class DecisionBasis(Part):
    """What a decision was made of."""

    candidates: tuple[Candidate, ...] = ()
    threshold: Share
    model: str | None = None
    """The model that was asked, where one was."""
    prompt: str | None = None
    """Name and version of the prompt, and a fingerprint of all that was asked."""
    answer: str | None = None
    """What the model said: JSON in canonical form, secrets masked."""
    degraded: str | None = None
    """Why rules decided though a model was to."""


class Feedback(Part):
    """What somebody said of a memory as a result: ``metadata.feedback`` of a NONE event."""

    value: Judgement
    query: str | None = None
    """The question that it was a result of; secrets masked."""


class MemoryEvent(Message):
    """One change of one memory, or the reason why nothing changed: ``KnowledgePayload`` version 2 in its envelope."""

    kind: ClassVar[str] = "memory-event"

    event_id: str
    sequence: Annotated[int, Field(ge=1)]
    """Counts the scope's events, without gaps."""
    scope: Scope
    id: Annotated[int, Field(ge=0)]
    """The memory, counted per scope from 1; 0 is a NONE without a target."""
    revision: Annotated[int | None, Field(ge=1)] = None
    """Counts the memory's versions; None for NONE, which makes no version."""
    version: Literal[2] = 2
    event: Event
    text: str
    old_memory: Annotated[str | None, Field(alias="old_memory")] = None
    tags: tuple[str, ...] = ()
    confidence: Share
    reasoning: str
    importance: Annotated[int, Field(ge=1, le=10)]
    domain: str | None = None
    code_pattern: Annotated[str | None, Field(alias="code_pattern")] = None
    quality_source: QualitySource
    source_session_id: str | None = None
    timestamp: Instant
    """Event time: says which statement is newer."""
    told_at: Instant | None = None
    """Only where a command named the memory, which tells nothing new: event time of the newest statement about it that
    was known. What is said later than that is newer than what the command left."""
    recorded_at: Instant
    """When the broker took the turn or command in."""
    fact_id: str | None = None
    command_id: str | None = None
    source_turn_ids: tuple[str, ...] = ()
    agent_id: str | None = None
    role: Role
    subject: str | None = None
    attribute: str | None = None
    value: str | None = None
    polarity: Polarity = "affirmative"
    mood: Mood = "assertion"
    language: str = "und"
    status: EventStatus = "current"
    """"historic": an older statement that came late; it is history from the start."""
    metadata: dict[str, JsonValue] | None = None
    decision: DecisionBasis
    embedder: str

    @property
    def by_command(self) -> bool:
        """Whether a command named the memory, instead of a fact being told."""
        return self.fact_id is None and self.command_id is not None

    @property
    def feedback(self) -> Feedback | None:
        """What it says of the memory as a result; None for any other event, whatever metadata people send."""
        told = (self.metadata or {}).get("feedback") if self.event == "NONE" and self.by_command else None
        return None if told is None else Feedback.model_validate(told)

    def key(self) -> str:
        """The record's key on ``changes``: unique, so that compaction drops nothing."""
        return f"{self.scope.key}#{self.sequence}"


def event_id(cause: str) -> str:
    """Id of the event that a fact (or a command's step) caused."""
    return derived_id("event", cause)


def step_id(record_id: str, memory_id: int) -> str:
    """What a command does to one of the memories that it names: the cause of one event."""
    return derived_id("step", record_id, memory_id)


class ReportedFact(Part):
    """A fact in a report."""

    id: str
    preview: str
    metadata: FactMetadata


class ReportedExtraction(Part):
    """What was found in the text."""

    extracted: int
    skipped: int
    facts: tuple[ReportedFact, ...] = ()
    reasons: tuple[str, ...] = ()
    """Why each skipped piece was skipped."""
    masked: dict[str, int] = Field(default_factory=dict)
    """How many secrets of which class were masked."""


class ReportedMemory(Part):
    """What one fact did."""

    id: int
    text: str
    event: Event
    tags: tuple[str, ...]
    confidence: Share
    reasoning: str
    code_pattern: Annotated[str | None, Field(alias="code_pattern")] = None
    old_memory: Annotated[str | None, Field(alias="old_memory")] = None


class ReportedSummary(Part):
    """One outcome in a line."""

    fact_preview: str
    """The first 80 characters."""
    action: Event
    confidence: Share
    reason: str
    target_id: int


class TurnReport(Message):
    """The output of extract-and-operate: the same for a turn and for a command."""

    kind: ClassVar[str] = "turn-report"

    success: bool
    turn_id: str | None = None
    command_id: str | None = None
    extraction: ReportedExtraction
    memory: tuple[ReportedMemory, ...] = ()
    summary: tuple[ReportedSummary, ...] = ()
    degraded: tuple[str, ...] = ()
    """What was asked for and could not be had: rules answered instead."""
    timestamp: Instant
