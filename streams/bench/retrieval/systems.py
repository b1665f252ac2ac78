"""Who answers: the shape of a system, and the plain ones that need no table.

Rule of this file: nothing of the product ranks here. Plain systems see a turn as one text, the speaker's name before
it where there is one, as a first attempt would.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Protocol

import numpy as np

from schemas.conversation import Turn
from streams.bench.retrieval.lexical import Bm25
from streams.bench.vectors import Vectors

FUSED: Final = 100
"""Ranks of each side that reciprocal rank fusion sees, and turns that are told at most."""
RRF_K: Final = 60


@dataclass(frozen=True)
class Ranked:
    """One answer.

    Attributes:
        turns: Ids of the turns found, best first, each once.
        times_ms: What each stage took, in milliseconds; embedding the question is none of a plain system's stages.
        degraded: What could not be had.
    """

    turns: list[str]
    times_ms: dict[str, float] = field(default_factory=dict)
    degraded: tuple[str, ...] = ()


class System(Protocol):
    """Something that finds turns."""

    name: str

    async def prepare(self, turns: Sequence[Turn]) -> None:
        """Take in all turns of a unit, in the order in which they were said; called once, before any question."""

    async def rank(self, question: str, asked_at: datetime) -> Ranked:
        """The turns that answer.

        Args:
            question: As it is asked.
            asked_at: When, with its zone.
        """


def plain_text(turn: Turn) -> str:
    """A turn as one text."""
    return f"{turn.name}: {turn.content}" if turn.name else turn.content


def id_of(turn: Turn) -> str:
    """The id of a turn; every turn of a set has one."""
    if turn.turn_id is None:
        raise ValueError("a turn without an id")
    return turn.turn_id


def turns_by_sources(sources: Iterable[Sequence[str]]) -> list[str]:
    """Turns in the order of the results that name them, best first, each once.

    Of a result the newest of its sources is first: it is the one that told what the result says.
    """
    return list(dict.fromkeys(turn for told in sources for turn in reversed(told)))


def fused(rankings: Sequence[Sequence[int]]) -> list[int]:
    """Reciprocal rank fusion: the sum of 1 / (60 + rank) over rankings, ranks from 1."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, place in enumerate(ranking[:FUSED], 1):
            scores[place] = scores.get(place, 0.0) + 1 / (RRF_K + rank)
    return sorted(scores, key=lambda place: (-scores[place], place))


class Plain:
    """A system that ranks places of a list of texts."""

    def __init__(self, name: str, vectors: Vectors, *sides: str) -> None:
        """Make it of one side, or of several that are fused.

        Args:
            name: In the metrics.
            vectors: Of the run.
            sides: Of "bm25" and "dense".
        """
        self.name = name
        self._vectors = vectors
        known = {"bm25": self._bm25, "dense": self._dense}
        self._sides: tuple[Callable[[str], list[int]], ...] = tuple(known[side] for side in sides)
        self._ids: list[str] = []
        self._words = Bm25(())
        self._matrix: Any = None

    async def prepare(self, turns: Sequence[Turn]) -> None:
        """See ``System``."""
        texts = [plain_text(turn) for turn in turns]
        self._ids = [id_of(turn) for turn in turns]
        await self._vectors.prepare(texts)
        self._words = Bm25(texts)
        self._matrix = np.array([self._vectors.by_text[text] for text in texts], dtype=np.float32)

    async def rank(self, question: str, asked_at: datetime) -> Ranked:  # noqa: ARG002 - knows no time
        """See ``System``."""
        await self._vectors.prepare([question])
        started = time.perf_counter()
        rankings = [side(question) for side in self._sides]
        places = rankings[0] if len(rankings) == 1 else fused(rankings)
        spent = (time.perf_counter() - started) * 1000
        return Ranked([self._ids[place] for place in places[:FUSED]], {"search_ms": spent})

    def _bm25(self, question: str) -> list[int]:
        return self._words.rank(question)

    def _dense(self, question: str) -> list[int]:
        scores = self._matrix @ np.asarray(self._vectors.by_text[question], dtype=np.float32)
        return [int(place) for place in np.argsort(-scores, kind="stable")]
