"""The plain systems find what is asked for; the product's lake is filled, and its results become turns."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lakehouse.embedding import Embedder
from lakehouse.embedding.embedder import Vectors as Array
from lakehouse.store import Lake
from schemas.conversation import Turn
from schemas.retrieval import SearchRequest
from streams.bench.quality.memory import scope_of
from streams.bench.retrieval.lance import LanceHybrid
from streams.bench.retrieval.lexical import K1, B, Bm25
from streams.bench.retrieval.memlake import Answer, Kinds, Memlake
from streams.bench.retrieval.systems import Plain, System, fused, turns_by_sources
from streams.bench.vectors import Shared, Vectors
from tests.contract.world import WordEmbedder

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SAID = ("I live in Ulm.", "The heron nests by the old mill.", "My sister paints ships.", "I live in Bonn now.")


def turns(*said: str, name: str | None = None) -> list[Turn]:
    return [
        Turn(
            scope=scope_of("somebody"),
            turn_id=f"turn {number}",
            session_id="one",
            role="user",
            name=name,
            content=text,
            timestamp=NOW + timedelta(minutes=number),
        )
        for number, text in enumerate(said)
    ]


class TestWords:
    def test_the_score_is_that_of_the_formula(self) -> None:
        index = Bm25(["ships sail", "a ship and a ship", "nothing here at all"])

        scores = index.scores("ships")

        mean = (2 + 5 + 4) / 3
        weight = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
        expected = [
            weight * count * (K1 + 1) / (count + K1 * (1 - B + B * length / mean)) for count, length in ((1, 2), (2, 5))
        ]
        assert list(scores) == pytest.approx([*expected, 0.0])

    def test_a_text_without_a_word_of_the_question_is_not_found(self) -> None:
        assert Bm25(["ships sail", "a heron"]).rank("herons in flight") == [1]

    def test_there_may_be_no_text_and_no_known_word(self) -> None:
        assert Bm25([]).rank("anything") == Bm25(["a heron"]).rank("ships") == []


def test_fusion_adds_up_what_each_ranking_gives() -> None:
    assert fused([[0, 1, 2], [2, 1]]) == [2, 1, 0]
    assert fused([[0], [1]]) == [0, 1]


def test_results_become_turns_each_where_it_is_first_named() -> None:
    assert turns_by_sources([("b",), ("a", "b"), (), ("c", "a")]) == ["b", "a", "c"]


@pytest.mark.parametrize("name", ["bm25", "dense", "rrf", "lancedb_hybrid"])
async def test_a_plain_system_finds_the_turn_that_holds_the_words(tmp_path: Path, name: str) -> None:
    vectors = Vectors(WordEmbedder())
    systems: list[System] = [
        Plain("bm25", vectors, "bm25"),
        Plain("dense", vectors, "dense"),
        Plain("rrf", vectors, "bm25", "dense"),
        LanceHybrid(vectors, tmp_path),
    ]
    system = next(system for system in systems if system.name == name)

    await system.prepare(turns(*SAID))
    found = await system.rank("Where does the heron nest?", NOW)

    assert found.turns[0] == "turn 1"
    assert len(set(found.turns)) == len(found.turns)
    assert found.times_ms["search_ms"] > 0


async def test_a_plain_system_sees_who_spoke() -> None:
    told = turns("It rains.") + [
        turn.model_copy(update={"turn_id": "named"}) for turn in turns("It rains.", name="Ottoline")
    ]
    system = Plain("bm25", Vectors(WordEmbedder()), "bm25")

    await system.prepare(told)

    assert (await system.rank("What did Ottoline say?", NOW)).turns == ["named"]


class Everything:
    """A search that answers with all that a lake can be asked for: current memories, then episodes."""

    def __init__(self, lake: Lake, embedder: Embedder) -> None:
        self.lake = lake
        self.embedder = embedder
        self.asked: list[tuple[SearchRequest, datetime]] = []

    async def search(self, request: SearchRequest, asked_at: datetime) -> Answer:
        self.asked.append((request, asked_at))
        shard = await self.lake.shard_of(request.scope)
        sources: list[Sequence[str]] = []
        if "knowledge" in request.kinds:
            rows = await shard.scope_rows(request.scope)
            sources += [row.event.source_turn_ids for row in rows if row.status == "current"]
        if "episode" in request.kinds:
            found = await shard.episodes(request.scope, (f"turn {number}" for number in range(len(SAID))))
            sources += sorted((row["turn_id"],) for row in found if row["status"] == "episode")
        return Answer(sources, {"embed_ms": 1.5}, ("slow",))


@pytest.mark.parametrize(
    ("kinds", "found"),
    [
        ("turns", ["turn 0", "turn 1", "turn 2", "turn 3"]),
        ("facts", ["turn 1", "turn 2", "turn 3"]),
        ("both", ["turn 1", "turn 2", "turn 3", "turn 0"]),
    ],
)
async def test_the_product_is_asked_over_a_lake_that_holds_what_was_said(
    tmp_path: Path, kinds: Kinds, found: list[str]
) -> None:
    opened: list[Everything] = []

    def keep(lake: Lake, embedder: Embedder) -> Everything:
        opened.append(Everything(lake, embedder))
        return opened[-1]

    system = Memlake(Vectors(WordEmbedder()), tmp_path, kinds, keep)
    await system.prepare(turns(*SAID))

    ranked = await system.rank("Where do I live?", NOW)

    assert ranked.turns == found  # of where somebody lives, only what holds now is a current memory
    assert (ranked.times_ms["embed_ms"], ranked.degraded) == (1.5, ("slow",))
    assert ranked.times_ms["total_ms"] > 0
    ((request, asked_at),) = opened[0].asked
    assert asked_at == NOW
    assert (request.top_k, request.similarity_threshold, request.query) == (50, 0.0, "Where do I live?")


async def test_texts_are_embedded_once_for_all() -> None:
    class Counting(WordEmbedder):
        texts = 0

        async def embed(self, texts: Sequence[str]) -> Array:
            self.texts += len(texts)
            return await super().embed(texts)

    model = Counting()
    vectors = Vectors(model)
    shared = Shared(vectors)
    await vectors.prepare(["a heron", "a mill"])

    found = await shared.embed(["a mill", "a ship", "a mill"])

    assert model.texts == 3
    assert found.shape == (3, model.dimension)
    assert (found[0] == vectors.by_text["a mill"]).all()
    assert (await shared.embed([])).shape == (0, model.dimension)
