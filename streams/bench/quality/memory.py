"""One scope in this process: the product's own steps from a turn to its versions, without Kafka and tables.

Rule of this file: it calls what the agents call (mask, extract, gather candidates, decide, fold) in their order and
adds no rule of its own. Only ``keep`` and ``retire`` go around the decision, for a store that gold says.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from lakehouse.known import KnownScope
from lakehouse.versions import MemoryRow, ScopeMemory
from schemas.conversation import Role, Scope, Turn
from schemas.facts import Extraction, Fact, FactMetadata, Source, TurnRecord, fact_id, turn_record_id
from schemas.memory import MemoryEvent
from streams.bench.quality.minds import Mind
from streams.bench.vectors import Vectors
from streams.decide import Decision, DecisionOptions, Neighbour
from streams.events import Cause, causes_of, change_of, neighbour_of
from streams.extract import read_claim
from streams.masking import Masker
from streams.remember import neighbours_of
from streams.settings import Settings

SESSION_TURNS: Final[int] = Settings.model_fields["session_turns"].default
"""Earlier turns of a session that the extractor sees."""
MASKER: Final = Masker.made()
"""As masked by default."""
GIVEN: Final = "given"
"""Reasoning of what was not decided."""


def scope_of(user: str) -> Scope:
    """The scope of one person, chat or dialogue."""
    return Scope(project_id="quality", user_id=user)


@dataclass(frozen=True)
class Weighed:
    """A fact with what was shown and what was decided.

    Attributes:
        target: The memory that is changed or agreed with, as it was then; None without one.
    """

    cause: Cause
    neighbours: tuple[Neighbour, ...]
    decision: Decision
    target: Neighbour | None

    @property
    def fact(self) -> Fact:
        """What was decided on."""
        return self.cause.fact

    @property
    def nearest(self) -> Neighbour | None:
        """The memory that is most alike; None where nothing is known."""
        return self.neighbours[0] if self.neighbours else None


class Memory:
    """What is known in one scope."""

    def __init__(self, vectors: Vectors, mind: Mind, options: DecisionOptions, user: str = "somebody") -> None:
        self.scope = scope_of(user)
        self.known = KnownScope.of(ScopeMemory(), vectors.dimension)
        self.rows: dict[str, MemoryRow] = {}
        """All that a table would hold of it, by event."""
        self._vectors = vectors
        self._mind = mind
        self._options = options
        self._told = 0
        self._session: list[Turn] = []

    async def hear(self, content: str, at: datetime, *, role: Role = "user", name: str | None = None) -> TurnRecord:
        """Read a turn in the light of those heard before it in the session; see ``read``."""
        record = await self.read(content, at, role=role, name=name, context=self._session[-SESSION_TURNS:])
        self._session.append(record.turn)
        return record

    def begin_session(self) -> None:
        """What is heard from now on has nothing before it."""
        self._session.clear()

    async def read(
        self, content: str, at: datetime, *, role: Role = "user", name: str | None = None, context: Sequence[Turn] = ()
    ) -> TurnRecord:
        """Mask a turn and take its facts, as intake does.

        Args:
            content: What was said.
            at: When, with its zone.
            role: Whose words they are.
            name: The speaker, where there are several.
            context: Turns before it, oldest first, as ``read`` returned them.
        """
        number = self._told + 1
        turn = Turn(scope=self.scope, role=role, name=name, content=content, timestamp=at, turn_id=f"t{number}")
        return await self._read(turn, context)

    async def take(self, turn: Turn) -> TurnRecord:
        """Read a turn of this scope, with its own id, in the light of those taken before it in its session.

        Args:
            turn: One of a session comes right after those before it; without a session it stands alone.
        """
        if turn.session_id is None or (self._session and self._session[-1].session_id != turn.session_id):
            self.begin_session()
        record = await self._read(turn, self._session[-SESSION_TURNS:])
        self._session.append(record.turn)
        return record

    async def _read(self, turn: Turn, context: Sequence[Turn]) -> TurnRecord:
        self._told += 1
        turn, masked = MASKER.message(turn)
        record_id = turn_record_id(self.scope, turn.turn_id or "")
        found = await self._mind.extract(turn, context, record_id)
        return self._record(turn, record_id, found.model_copy(update={"masked": masked}))

    async def weigh(self, cause: Cause) -> Weighed:
        """Decide on one fact, and change nothing."""
        await self._vectors.prepare(cause.texts)
        neighbours = tuple(neighbours_of(cause, self.known, self._vectors.by_text))
        decision = await self._mind.decide(cause.fact, neighbours, self._options)
        target = next((one for one in neighbours if one.id == decision.target), None)
        return Weighed(cause, neighbours, decision, target)

    async def weigh_all(self, record: TurnRecord) -> list[Weighed]:
        """Decide on each fact of a turn, and change nothing."""
        return [await self.weigh(cause) for cause in causes_of(record, self._told)]

    async def tell(self, record: TurnRecord) -> list[tuple[Weighed, MemoryEvent]]:
        """Decide on each fact of a turn and remember it, as the remember agent does."""
        told = []
        for cause in causes_of(record, record.source.offset):
            weighed = await self.weigh(cause)
            told.append((weighed, await self._apply(cause, weighed.decision)))
        return told

    async def keep(self, record: TurnRecord) -> list[int]:
        """Put a turn's facts into the store as memories of their own, whatever a decision would say.

        A turn without a fact is kept as one fact of its whole text.

        Returns:
            The new memories' ids.
        """
        if not record.extraction.facts:
            record = self._whole(record)
        kept = []
        for cause in causes_of(record, self._told):
            await self._vectors.prepare(cause.texts)
            given = Decision("ADD", None, cause.fact.text, 1.0, GIVEN, "heuristic")
            kept.append((await self._apply(cause, given)).id)
        return kept

    async def retire(self, memory_id: int, at: datetime) -> None:
        """Take a memory out of the store; one that is not there stays so."""
        row = self.known.memory.current_of(memory_id)
        if row is None:
            return
        said = await self.read(row.event.text, max(at, row.valid_from))
        cause = causes_of(self._whole(said), self._told)[0]
        given = Decision("DELETE", memory_id, row.event.text, 1.0, GIVEN, "heuristic")
        await self._apply(cause, given)

    @property
    def current(self) -> list[Neighbour]:
        """All that is known now, by id; ``similarity`` says nothing."""
        return [neighbour_of(row, 0.0) for row in self.known.memory.current]

    async def _apply(self, cause: Cause, decision: Decision) -> MemoryEvent:
        await self._vectors.prepare([decision.text])
        change = change_of(
            cause,
            decision,
            self.known.memory,
            threshold=self._options.similarity_threshold,
            embedder=self._vectors.embedder,
            vector=self._vectors.by_text[decision.text],
        )
        self.rows.update((row.event.event_id, row) for row in self.known.apply(change))
        return change.event

    def _record(self, turn: Turn, record_id: str, extraction: Extraction) -> TurnRecord:
        source = Source(topic="quality", partition=0, offset=self._told)
        return TurnRecord(
            record_id=record_id, recorded_at=turn.timestamp, source=source, turn=turn, extraction=extraction
        )

    def _whole(self, record: TurnRecord) -> TurnRecord:
        """The same turn with its whole text as its only fact."""
        turn = record.turn
        claim = read_claim(turn.content)
        fact = Fact(
            fact_id=fact_id(record.record_id, 0),
            text=turn.content,
            confidence=1.0,
            importance=5,
            role=turn.role,
            subject=claim.subject,
            attribute=claim.attribute,
            value=claim.value,
            polarity=claim.polarity,
            source_turn_ids=(turn.turn_id or "",),
            event_time=turn.timestamp,
            metadata=FactMetadata(has_code_block=False, has_command=False, length=len(turn.content)),
        )
        return self._record(turn, record.record_id, Extraction(facts=(fact,), extractor=record.extraction.extractor))
