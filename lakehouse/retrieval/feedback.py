"""How far what was said of results moves them: a factor for each memory, near 1.

Rule of this file: pure. A factor is a function of what one scope has said and of the time of the question; it only
orders, and no threshold compares with it. Nothing is counted up or kept: taking a judgement back leaves no trace in it.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from schemas.commands import Judgement
from schemas.memory import MemoryEvent

HALF_LIFE = timedelta(days=30)
BOUND = 0.1
"""A memory is moved by less than this share of its score, either way."""
HALFWAY = 2.0
"""So many fresh judgements of one kind move it half of that."""
SIGNS: dict[Judgement, int] = {"helpful": 1, "unhelpful": -1}


@dataclass(frozen=True)
class Judged:
    """What was said of one memory as a result.

    Attributes:
        memory_id: The memory.
        value: What was said.
        recorded_at: When the broker took it in.
        sequence: Of its event: says which of two of the same moment came later.
        query: The question that it was a result of; None where none was told.
    """

    memory_id: int
    value: Judgement
    recorded_at: datetime
    sequence: int
    query: str | None = None


@dataclass
class _Said:
    """What counts of all that was said of one memory."""

    opinions: dict[str | None, Judged] = field(default_factory=dict)
    """The last of each question."""
    uses: list[Judged] = field(default_factory=list)
    """The latest last."""

    def hear(self, one: Judged) -> None:
        if one.value == "used":
            self.uses.append(one)
        elif one.value != "withdrawn":
            self.opinions[one.query] = one
        elif one.query is None:
            self.opinions.clear()
            self.uses.clear()
        else:
            self.opinions.pop(one.query, None)
            self.uses = [use for use in self.uses if use.query != one.query]


def judged_by(events: Iterable[MemoryEvent]) -> Iterator[Judged]:
    """What these events tell of memories as results; those that tell something else are left out."""
    for event in events:
        told = event.feedback
        if told is not None:
            yield Judged(event.id, told.value, event.recorded_at, event.sequence, told.query)


def factors(
    said: Iterable[Judged], now: datetime, *, half_life: timedelta = HALF_LIFE, bound: float = BOUND
) -> dict[int, float]:
    """What to multiply the order score of each memory by.

    With d = 0.5 ** (age / half-life), the weight of something that was said::

        balance = sum of d over helpful - sum of d over unhelpful + d1 / 2 + d2 / 4 + d3 / 8 + …
        factor  = 1 + bound * balance / (2 + |balance|)

    where d1, d2, … are those of its uses, the latest first: all of them together count less than one fresh "helpful",
    or what is shown often would be used often, and so be shown more often still. Of helpful and unhelpful the last word
    for each question counts, and for no question at all likewise. "withdrawn" takes back all that was said of its
    question before, uses too; without a question, all that was said of the memory.

    Args:
        said: Of one scope, in any order.
        now: Time of the question, timezone-aware. What was said later than that counts as said now.
        half_life: After it something that was said counts half.
        bound: 0 … 1.

    Returns:
        By memory, more than 1 - ``bound`` and less than 1 + ``bound``; a memory that is not there has 1.
    """
    heard: dict[int, _Said] = {}
    for one in sorted(said, key=lambda one: (one.recorded_at, one.sequence)):
        heard.setdefault(one.memory_id, _Said()).hear(one)
    balances = {memory_id: _balance(told, now, half_life) for memory_id, told in heard.items()}
    return {memory_id: 1 + bound * _share(balance) for memory_id, balance in balances.items() if balance}


def _balance(told: _Said, now: datetime, half_life: timedelta) -> float:
    opinions = (SIGNS[one.value] * _weight(one, now, half_life) for one in told.opinions.values())
    uses = (_weight(one, now, half_life) * 0.5**place for place, one in enumerate(reversed(told.uses), 1))
    return math.fsum((*opinions, *uses))


def _weight(one: Judged, now: datetime, half_life: timedelta) -> float:
    return float(0.5 ** (max(timedelta(), now - one.recorded_at) / half_life))


def _share(balance: float) -> float:
    """-1 … 1, halfway at ``HALFWAY``; written so that rounding never turns more into less."""
    return math.copysign(1 - HALFWAY / (HALFWAY + abs(balance)), balance)
