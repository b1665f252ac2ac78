"""The product: a real lake in a folder, filled by the product's own steps, asked as an agent asks it.

Rule of this file: it fills, asks, and turns what came back into turns. Facts stand for the turns that they were taken
from. What is embedded for the lake is shared with the other systems of the run.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final, Literal, Protocol

from lakehouse import episodes
from lakehouse.embedding import Embedder
from lakehouse.store import Lake
from lakehouse.tables import LakeShape
from lakehouse.turn_table import InputRow
from schemas.conversation import Turn
from schemas.retrieval import MAX_QUERY_CHARACTERS, MAX_RESULTS, Kind, SearchRequest
from streams.bench.quality.memory import Memory
from streams.bench.quality.minds import RULES
from streams.bench.quality.run import TURNS
from streams.bench.retrieval.systems import Ranked, turns_by_sources
from streams.bench.vectors import Shared, Vectors

PRODUCT: Final = "memlake"
Kinds = Literal["turns", "facts", "both"]
KINDS: Final[dict[Kinds, tuple[Kind, ...]]] = {
    "turns": ("episode",),
    "facts": ("knowledge",),
    "both": ("knowledge", "episode"),
}
"""What is searched, in the words of a request."""


@dataclass(frozen=True)
class Answer:
    """What a search gave.

    Attributes:
        sources: The ids of the turns that each result comes from, best result first.
        times_ms: What each stage took, by names that end in "_ms".
        degraded: What could not be had.
    """

    sources: Sequence[Sequence[str]]
    times_ms: Mapping[str, float] = field(default_factory=dict)
    degraded: tuple[str, ...] = ()


class Searcher(Protocol):
    """The product's search."""

    async def search(self, request: SearchRequest, asked_at: datetime) -> Answer:
        """The results of one scope for one question.

        Args:
            request: The question.
            asked_at: What the search takes for now, with its zone.
        """


Open = Callable[[Lake, Embedder], Searcher]
"""How the product's search is opened over a lake."""


class Memlake:
    """One unit in a lake of its own."""

    name = PRODUCT

    def __init__(self, vectors: Vectors, folder: Path, kinds: Kinds, opened: Open) -> None:
        self._vectors = vectors
        self._folder = folder
        self._kinds = KINDS[kinds]
        self._open = opened

    async def prepare(self, turns: Sequence[Turn]) -> None:
        """See ``System``; all turns are of one scope, those of a session in a row."""
        shape = LakeShape(1, self._vectors.embedder, self._vectors.dimension)
        lake = await Lake.make(str(self._folder), shape)
        self._scope = turns[0].scope
        await filled(lake, turns, self._vectors)
        self._searcher = self._open(lake, Shared(self._vectors))

    async def rank(self, question: str, asked_at: datetime) -> Ranked:
        """See ``System``."""
        request = SearchRequest(
            scope=self._scope,
            query=question[:MAX_QUERY_CHARACTERS],
            top_k=MAX_RESULTS,
            similarity_threshold=0.0,
            kinds=self._kinds,
        )
        started = time.perf_counter()
        answer = await self._searcher.search(request, asked_at)
        spent = (time.perf_counter() - started) * 1000
        return Ranked(turns_by_sources(answer.sources), {**answer.times_ms, "total_ms": spent}, answer.degraded)


async def filled(lake: Lake, turns: Sequence[Turn], vectors: Vectors) -> Memory:
    """Take in and remember turns of one scope as the agents do, and write what they would have written.

    Args:
        lake: Whose tables.
        turns: Of the scope of ``memory.scope_of``, those of a session in a row.
        vectors: Of the run.

    Returns:
        What is known then.
    """
    memory = Memory(vectors, RULES, TURNS, turns[0].scope.user_id)
    records = [await memory.take(turn) for turn in turns]
    told = [record.turn.content for record in records]
    await vectors.prepare([*told, *(fact.text for record in records for fact in record.extraction.facts)])
    events = [event for record in records for _, event in await memory.tell(record)]
    shard = await lake.shard_of(memory.scope)
    await shard.commit_inputs(InputRow(record, vectors.by_text[record.turn.content]) for record in records)
    await shard.commit_memories(memory.rows.values())
    await episodes.settle(shard, memory.scope, memory.known.memory, events)
    return memory
