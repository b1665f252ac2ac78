"""From a decision to the event that tells it, and from events to the report of a turn.

Rule of this file: pure. Times are settled here: the event time says which statement is newer, so what is older than
what is known joins the history and changes nothing that is current.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from lakehouse.versions import Change, MemoryRow, ScopeMemory
from schemas.facts import CommandRecord, Fact, TurnRecord
from schemas.memory import (
    SUMMARY_CHARACTERS,
    Candidate,
    DecisionBasis,
    EventStatus,
    MemoryEvent,
    ReportedExtraction,
    ReportedFact,
    ReportedMemory,
    ReportedSummary,
    TurnReport,
    event_id,
)
from streams.changing import absence, names_memories
from streams.decide.arity import Arity, arity_of
from streams.decide.types import Decision, Neighbour
from streams.extract import read_claim
from streams.extract.claims import Claim


@dataclass(frozen=True)
class Cause:
    """A fact with the record it came in.

    Attributes:
        existing: What the caller of the record told of, as it was read once for all its facts.
    """

    record: TurnRecord | CommandRecord
    fact: Fact
    facts_offset: int
    existing: tuple[tuple[str, Claim], ...] = ()

    @property
    def texts(self) -> list[str]:
        """What must be embedded to decide on it."""
        return [self.fact.text, *(text for text, _ in self.existing)]

    def told_neighbours(self, vector: Any, vectors: Mapping[str, Any]) -> Iterator[Neighbour]:
        """Memories that the caller told of: candidates of this call only, with negative ids."""
        for index, (text, claim) in enumerate(self.existing, 1):
            similarity = float(min(1.0, max(0.0, vector @ vectors[text])))
            yield Neighbour(
                -index,
                text,
                round(similarity, 4),
                self.fact.event_time,
                subject=claim.subject,
                attribute=claim.attribute,
                value=claim.value,
                polarity=claim.polarity,
            )


def causes_of(record: TurnRecord | CommandRecord, facts_offset: int) -> list[Cause]:
    """The facts of a record, each to be decided on."""
    told = record.command.existing_memories if isinstance(record, CommandRecord) else ()
    language = record.extraction.facts[0].language if record.extraction.facts else "und"
    existing = tuple((memory.text, read_claim(memory.text, language)) for memory in told)
    return [Cause(record, fact, facts_offset, existing) for fact in record.extraction.facts]


def neighbour_of(row: MemoryRow, similarity: float) -> Neighbour:
    """A current memory as a decision sees it."""
    event = row.event
    return Neighbour(
        id=event.id,
        text=event.text,
        similarity=similarity,
        event_time=row.told_at,
        revision=event.revision or 1,
        role=event.role,
        subject=event.subject,
        attribute=event.attribute,
        value=event.value,
        polarity=event.polarity,
        mood=event.mood,
        language=event.language,
        tags=event.tags,
        code_pattern=event.code_pattern,
    )


def change_of(
    cause: Cause, decision: Decision, memory: ScopeMemory, *, threshold: float, embedder: str, vector: Any
) -> Change:
    """The scope's next event.

    Args:
        cause: What is decided on.
        decision: What was decided.
        memory: The scope before it.
        threshold: The similarity threshold that was in force.
        embedder: Id of the embedder of ``vector``.
        vector: Unit vector of the decision's text.
    """
    fact, record = cause.fact, cause.record
    target = memory.current_of(decision.target) if decision.target is not None and decision.target > 0 else None
    forgotten = _forgotten_as(fact, memory) if decision.event == "ADD" else None
    decision, status = _settle_time(decision, fact, target, forgotten)
    old = _old_text(decision, status, target, memory, fact.event_time)
    event = MemoryEvent(
        event_id=event_id(fact.fact_id),
        sequence=memory.sequence + 1,
        scope=record.scope,
        id=memory.last_id + 1 if decision.event == "ADD" else (target.event.id if target else forgotten or 0),
        revision=_revision(decision, target, memory),
        event=decision.event,
        text=decision.text,
        old_memory=old,
        tags=_tags(decision, fact, target),
        confidence=decision.confidence,
        reasoning=decision.reasoning,
        quality_source=decision.quality_source,
        recorded_at=record.recorded_at,
        status=status,
        decision=DecisionBasis(
            candidates=tuple(Candidate(id=known, similarity=near) for known, near in decision.candidates if known > 0),
            threshold=threshold,
            **_judged(decision),
        ),
        embedder=embedder,
        **_of_fact(fact, target),
        **_origin(record),
    )
    return Change(event, record.record_id, cause.facts_offset, vector)


def _judged(decision: Decision) -> dict[str, Any]:
    """What a language model had to do with it: nothing where none was asked."""
    told = decision.model
    if told is None:
        return {}
    return {"model": told.model or None, "prompt": told.prompt, "answer": told.answer, "degraded": told.degraded}


def _of_fact(fact: Fact, target: MemoryRow | None) -> dict[str, Any]:
    """What the fact says of itself; code and domain live on in a new version that has none."""
    return {
        "importance": fact.importance,
        "domain": fact.domain or (target.event.domain if target else None),
        "code_pattern": fact.code_pattern or (target.event.code_pattern if target else None),
        "timestamp": fact.event_time,
        "fact_id": fact.fact_id,
        "source_turn_ids": fact.source_turn_ids,
        "role": fact.role,
        "subject": fact.subject,
        "attribute": fact.attribute,
        "value": fact.value,
        "polarity": fact.polarity,
        "mood": fact.mood,
        "language": fact.language,
    }


def _settle_time(
    decision: Decision, fact: Fact, target: MemoryRow | None, forgotten: int | None
) -> tuple[Decision, EventStatus]:
    """What is older than what it would change joins the history (UPDATE) or changes nothing (ADD, DELETE)."""
    if forgotten is not None:
        return _nothing(decision, fact.text, "It was forgotten after this was said: it stays forgotten"), "current"
    if target is None or fact.event_time >= target.told_at or decision.event not in {"UPDATE", "DELETE"}:
        return decision, "current"
    if decision.event == "UPDATE":
        return decision, "historic"
    reason = f"Asked to forget before this was said ({target.told_at.isoformat()}): it stays"
    return _nothing(decision, target.event.text, reason), "current"


def _forgotten_as(fact: Fact, memory: ScopeMemory) -> int | None:
    """The memory that said what a fact says, and was retired later than it was said; None where there is none."""
    retired = (gone for gone in memory.retired.values() if fact.event_time < gone.at and _is_same(fact, gone.event))
    return min((gone.event.id for gone in retired), default=None)


def _is_same(fact: Fact, event: MemoryEvent) -> bool:
    """Whether both say the same: in the same words, or of the same claim, of which only one can hold at a time."""
    if event.text == fact.text:
        return True
    if fact.attribute is None or (fact.subject, fact.attribute) != (event.subject, event.attribute):
        return False
    return fact.value == event.value or arity_of(fact.attribute) is Arity.ONE


def _nothing(decision: Decision, text: str, reason: str) -> Decision:
    return replace(decision, event="NONE", text=text, reasoning=reason)


def _old_text(
    decision: Decision, status: EventStatus, target: MemoryRow | None, memory: ScopeMemory, moment: datetime
) -> str | None:
    """The text before: what is replaced or retired, or for a late statement what held just before it."""
    if target is None or decision.event not in {"UPDATE", "DELETE"}:
        return None
    if status == "current":
        return target.event.text
    return next((row.event.text for row in memory.history(target.event.id) if row.held_at(moment)), None)


def _revision(decision: Decision, target: MemoryRow | None, memory: ScopeMemory) -> int | None:
    if decision.event == "NONE":
        return None
    return 1 if target is None else len(memory.history(target.event.id)) + 1


def _tags(decision: Decision, fact: Fact, target: MemoryRow | None) -> tuple[str, ...]:
    """The fact's tags; with those of the memory where its text lives on in the new one or is named by the event."""
    if target is None or (decision.event == "UPDATE" and decision.text == fact.text):
        return fact.tags
    known = target.event.tags
    return known if decision.event in {"NONE", "DELETE"} else tuple(dict.fromkeys((*known, *fact.tags)))


def _origin(record: TurnRecord | CommandRecord) -> dict[str, Any]:
    if isinstance(record, TurnRecord):
        turn = record.turn
        return {"source_session_id": turn.session_id, "agent_id": turn.agent_id, "metadata": turn.metadata}
    command = record.command
    return {
        "source_session_id": command.context.session_id if command.context else None,
        "command_id": command.command_id,
        "metadata": command.memory_metadata.to_wire() if command.memory_metadata else None,
    }


def report_of(record: TurnRecord | CommandRecord, events: Sequence[MemoryEvent]) -> TurnReport:
    """What a turn or command came to: each fact, or each memory that it names, with its one outcome."""
    extraction = record.extraction
    told = ReportedExtraction(
        extracted=len(extraction.facts),
        skipped=len(extraction.skipped),
        facts=tuple(ReportedFact(id=f.fact_id, preview=f.preview, metadata=f.metadata) for f in extraction.facts),
        reasons=tuple(skip.reason for skip in extraction.skipped),
        masked={masked.secret: masked.count for masked in extraction.masked},
    )
    previews = {fact.fact_id: fact.text[:SUMMARY_CHARACTERS] for fact in extraction.facts}
    return TurnReport(
        success=names_memories(record) or len(events) == len(extraction.facts),
        turn_id=record.turn.turn_id if isinstance(record, TurnRecord) else None,
        command_id=record.command.command_id if isinstance(record, CommandRecord) else None,
        extraction=told,
        memory=tuple(_reported(event) for event in events),
        summary=tuple(
            ReportedSummary(
                fact_preview=previews.get(event.fact_id or "", event.text[:SUMMARY_CHARACTERS]),
                action=event.event,
                confidence=event.confidence,
                reason=event.reasoning,
                target_id=event.id,
            )
            for event in events
        ),
        degraded=tuple(dict.fromkeys((*extraction.degraded, *_degraded(events), *_missing(record, events)))),
        timestamp=record.recorded_at,
    )


def _degraded(events: Sequence[MemoryEvent]) -> Iterator[str]:
    return (event.decision.degraded for event in events if event.decision.degraded is not None)


def _missing(record: TurnRecord | CommandRecord, events: Sequence[MemoryEvent]) -> Iterator[str]:
    """Those of the memories that were named that are not there."""
    missing = absence(record, events)
    if missing is not None:
        yield missing.message


def _reported(event: MemoryEvent) -> ReportedMemory:
    return ReportedMemory(
        id=event.id,
        text=event.text,
        event=event.event,
        tags=event.tags,
        confidence=event.confidence,
        reasoning=event.reasoning,
        code_pattern=event.code_pattern,
        old_memory=event.old_memory,
    )
