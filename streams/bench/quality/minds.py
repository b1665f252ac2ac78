"""Who reads and who decides: the two questions that rules or a model answer.

Rule of this file: the seam only. Whatever answers gets what the product gives it and nothing of the gold.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from schemas.conversation import Turn
from schemas.facts import Extraction, Fact, Source, TurnRecord
from streams.decide import Decision, DecisionOptions, Neighbour, decide
from streams.extract import extract
from streams.judging import Judge


class Extractor(Protocol):
    """Takes the facts of a turn."""

    async def __call__(self, turn: Turn, context: Sequence[Turn], record_id: str) -> Extraction:
        """The facts of a masked turn in the light of those before it; see ``streams.extract.extract``."""


class Decider(Protocol):
    """Decides what a fact does to what is known."""

    async def __call__(self, fact: Fact, neighbours: Sequence[Neighbour], options: DecisionOptions) -> Decision:
        """See ``streams.decide.decide``."""


@dataclass(frozen=True)
class Mind:
    """Both together."""

    extract: Extractor
    decide: Decider


async def _extract(turn: Turn, context: Sequence[Turn], record_id: str) -> Extraction:
    return extract(turn, context, record_id=record_id)


async def _decide(fact: Fact, neighbours: Sequence[Neighbour], options: DecisionOptions) -> Decision:
    return decide(fact, neighbours, options)


RULES = Mind(_extract, _decide)


class ModelMind:
    """A language model as the worker asks it: rules first, and where it fails.

    Attributes:
        answered: For each question, whether the model answered it and not the rules.
    """

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self.answered: list[bool] = []
        self.mind = Mind(self._extract, self._decide)

    async def _extract(self, turn: Turn, context: Sequence[Turn], record_id: str) -> Extraction:
        record = TurnRecord(
            record_id=record_id,
            recorded_at=turn.timestamp,
            source=Source(topic="quality", partition=0, offset=0),
            turn=turn,
            extraction=await _extract(turn, context, record_id),
        )
        read = (await self._judge.extracted({record_id: record}, {record_id: context}))[record_id].extraction
        if read.model is not None:
            self.answered.append(read.model.degraded is None)
        return read

    async def _decide(self, fact: Fact, neighbours: Sequence[Neighbour], options: DecisionOptions) -> Decision:
        decision = await self._judge.decide(fact, neighbours, options, self._judge.budget())
        if decision.model is not None:
            self.answered.append(decision.model.degraded is None)
        return decision
