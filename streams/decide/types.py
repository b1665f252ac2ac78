"""What a decision is made of, and what it is: plain values, no rules."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from schemas.answers import ModelAnswer
from schemas.conversation import Role
from schemas.facts import Mood, Polarity
from schemas.memory import Event, QualitySource

Verdict = Literal["agrees", "refines", "contradicts"]


@dataclass(frozen=True)
class Neighbour:
    """A known memory that a new fact is held against.

    Attributes:
        id: The memory; negative for one that the caller told of (``existingMemories``), which cannot be changed.
        text: Its current text.
        similarity: Cosine to the fact, 0 … 1, rounded to 4 digits; 1 for equal texts.
        event_time: When its current text was said; an older fact only joins its history.
    """

    id: int
    text: str
    similarity: float
    event_time: datetime
    revision: int = 1
    role: Role = "user"
    subject: str | None = None
    attribute: str | None = None
    value: str | None = None
    polarity: Polarity = "affirmative"
    mood: Mood = "assertion"
    language: str = "und"
    tags: tuple[str, ...] = ()
    code_pattern: str | None = None


@dataclass(frozen=True)
class Finding:
    """What a memory says about a fact.

    Attributes:
        strength: 0 … 1: how much speaks for the verdict.
        reason: A clause for a person.
        source: Whether rules or likeness decided.
        text: What the memory says from now on, where that is more than the fact says.
    """

    neighbour: Neighbour
    verdict: Verdict
    strength: float
    reason: str
    source: QualitySource = "heuristic"
    text: str | None = None


@dataclass(frozen=True)
class DecisionOptions:
    """How to decide: the options of extract-and-operate."""

    similarity_threshold: float = 0.8
    max_similar_results: int = 5
    enable_delete_operations: bool = False


@dataclass(frozen=True)
class Decision:
    """What one fact does to what is known.

    Attributes:
        event: The operation.
        target: The memory it changes or agrees with; None for ADD, and for a NONE without one.
        text: The memory's text from now on; with DELETE and NONE the text it has.
        confidence: 0 … 1, computed.
        reasoning: One sentence for a person: why this and not another.
        quality_source: What decided.
        candidates: (id, similarity) of the memories that were considered, best first.
        model: What a language model said, where one was asked.
    """

    event: Event
    target: int | None
    text: str
    confidence: float
    reasoning: str
    quality_source: QualitySource
    candidates: tuple[tuple[int, float], ...] = ()
    model: ModelAnswer | None = None
