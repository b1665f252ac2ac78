"""What becomes of an answer when a part of retrieval fails, hangs or comes late, and which answers are kept."""

import asyncio
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lakehouse.maintenance import compact
from lakehouse.retrieval.config import RAGConfig, searched_with
from lakehouse.retrieval.engine import ONLY_WORDS, RERANK_SKIPPED, Retrieval, Retrieved, Times
from lakehouse.store import Lake
from schemas.conversation import Scope
from schemas.errors import Misconfigured, Unavailable
from schemas.retrieval import SearchRequest
from tests.unit.lakehouse.asking import NOW, ToldEmbedder
from tests.unit.lakehouse.conftest import Story

Stories = Callable[[str], Story]
AXES = np.eye(8, dtype=np.float32)


class Embedder(ToldEmbedder):
    """Waits before it answers; ``calls`` counts."""

    def __init__(self, vector: Any | None = AXES[0], wait_s: float = 0.0) -> None:
        super().__init__(vector)
        self.wait_s, self.calls = wait_s, 0

    async def embed(self, texts: Sequence[str]) -> Any:
        self.calls += 1
        await asyncio.sleep(self.wait_s)
        return await super().embed(texts)


class LongestFirst:
    """Reranks by the length of a text, unless it waits too long or fails."""

    id = "longest"

    def __init__(self, wait_s: float = 0.0, error: Exception | None = None) -> None:
        self.wait_s, self.error = wait_s, error
        self.read: list[str] = []

    async def rerank(self, query: str, texts: Sequence[str], *, deadline: float) -> list[float]:
        self.read = list(texts)
        await asyncio.sleep(self.wait_s)
        if self.error is not None:
            raise self.error
        return [min(1.0, len(text) / 100) for text in texts]

    async def close(self) -> None:
        """Nothing is open."""


def engine_of(lake: Lake, embedder: Any = None, reranker: Any = None, **config: Any) -> Retrieval:
    return Retrieval(lake, embedder or Embedder(), lambda: NOW, config=RAGConfig(**config), reranker=reranker)


def asked(scope: Scope, query: str = "walks", **fields: Any) -> SearchRequest:
    return SearchRequest(scope=scope, query=query, **{"similarity_threshold": 0.0, "top_k": 50} | fields)


def texts(found: Retrieved) -> list[str]:
    return [hit.item.text for hit in found.hits]


@pytest.fixture
async def told(lake: Lake, story: Stories) -> Story:
    told = story("ann")
    rows = [*told.add("walks in Rome", vector=AXES[0]), *told.add("no word of it at all", vector=AXES[0])]
    await (await lake.shard(0)).commit_memories([*rows, *told.add("walks", vector=AXES[1])])
    return told


@pytest.mark.parametrize("embedder", [Embedder(wait_s=3600), Embedder(None)], ids=["hangs", "fails"])
async def test_without_an_embedder_words_are_searched_inside_the_time_and_it_is_said(
    lake: Lake, told: Story, embedder: Embedder
) -> None:
    reader = engine_of(lake, embedder)
    started = time.monotonic()

    found = await reader.search(asked(told.scope), left_s=0.4)

    assert time.monotonic() - started < 30
    assert sorted(texts(found)) == ["walks", "walks in Rome"]
    assert found.degraded == (ONLY_WORDS,)
    assert {hit.semantic for hit in found.hits} == {None}
    assert len(reader.cache) == 0
    with pytest.raises(Unavailable, match="cannot be embedded"):
        await reader.search(asked(told.scope, mode="semantic"), left_s=0.1)
    assert (await reader.search(asked(told.scope), left_s=0)).degraded == (ONLY_WORDS,)


async def test_an_answer_that_lacks_something_is_worked_out_again(lake: Lake, told: Story) -> None:
    embedder = Embedder(None)
    reader = engine_of(lake, embedder)
    await reader.search(asked(told.scope))

    embedder.vector = AXES[0]
    found = await reader.search(asked(told.scope))
    again = await reader.search(asked(told.scope))

    assert (len(found.hits), found.degraded, embedder.calls) == (3, (), 2)
    assert again.hits is found.hits
    assert (found.times.embedding_ms > 0, again.times) == (True, Times())
    assert (await reader.search(asked(told.scope, explain=True, used=("1",)))).hits is found.hits


async def test_by_words_alone_a_threshold_is_the_share_of_words_that_are_held(lake: Lake, told: Story) -> None:
    reader = engine_of(lake, Embedder(None))

    for threshold, expected in ((0.5, ["walks", "walks in Rome"]), (0.6, [])):
        found = await reader.search(asked(told.scope, "walks Lima", similarity_threshold=threshold))
        assert sorted(texts(found)) == expected
        assert [hit.score for hit in found.hits] == [0.5] * len(expected)


async def test_a_lake_that_has_gone_is_a_failure_and_not_an_empty_answer(lake: Lake, told: Story, uri: str) -> None:
    reader = engine_of(lake)
    await reader.warm(told.scope)
    assert len((await reader.search(asked(told.scope))).hits) == 3

    await asyncio.to_thread(shutil.move, uri, uri + "-away")
    for kept in (True, False):
        for extra in ({}, {"known_at": NOW}, {"kinds": ("episode",)}):
            with pytest.raises(Unavailable, match="not where it was"):
                await reader.search(asked(told.scope, **extra))
        if kept:
            reader.clear()
    await asyncio.to_thread(shutil.move, uri + "-away", uri)
    assert len((await reader.search(asked(told.scope))).hits) == 3


async def test_a_large_scope_without_its_keyword_index_is_searched_all_the_same(lake: Lake, told: Story) -> None:
    shard, reader = await lake.shard(0), engine_of(lake, most_rows=1)
    before = texts(await reader.search(asked(told.scope)))
    for index in await shard.memories.list_indices():
        if index.columns == ["keywords"]:
            await shard.memories.drop_index(index.name)

    assert texts(await reader.search(asked(told.scope))) == before
    found = await engine_of(lake, Embedder(None), most_rows=1).search(asked(told.scope))
    assert sorted(texts(found)) == ["walks", "walks in Rome"]


async def test_a_large_scope_with_a_broken_keyword_index_is_searched_by_vectors_and_it_is_said(
    lake: Lake, told: Story, uri: str
) -> None:
    shard = await lake.shard(0)
    await compact(shard, "memories", timedelta(milliseconds=1))
    for index in await shard.memories.list_indices():
        if index.columns == ["keywords"]:
            shutil.rmtree(Path(uri, "memories_0000.lance", "_indices", index.index_uuid))
    again = await Lake.open(uri)

    found = await engine_of(again, most_rows=1).search(asked(told.scope))

    assert (len(found.hits), found.degraded) == (3, ("keyword search failed",))
    with pytest.raises(Unavailable):
        await engine_of(again, Embedder(None), most_rows=1).search(asked(told.scope))
    assert (await engine_of(again).search(asked(told.scope))).degraded == ()


async def test_a_reranker_orders_and_its_score_is_what_thresholds_compare_with(lake: Lake, told: Story) -> None:
    reader = engine_of(lake, reranker=LongestFirst())

    assert texts(await reader.search(asked(told.scope))) == ["no word of it at all", "walks in Rome", "walks"]
    found = await reader.search(asked(told.scope, mode="semantic", similarity_threshold=0.13))
    assert [(hit.item.text, hit.score) for hit in found.hits] == [
        ("no word of it at all", 0.2),
        ("walks in Rome", 0.13),
    ]
    assert [hit.item.text for hit in found.rejected] == ["walks"]
    assert texts(await reader.search(asked(told.scope, rerank=False)))[0] == "walks in Rome"


async def test_a_reranker_reads_its_pool_or_what_may_be_shown_and_nothing_else_answers(lake: Lake, told: Story) -> None:
    for top_k, pool, read in ((1, 2, 2), (2, 1, 2), (50, 1, 3)):
        reranker = LongestFirst()
        found = await engine_of(lake, reranker=reranker, rerank_pool=pool).search(asked(told.scope, top_k=top_k))
        assert len(reranker.read) == read
        assert len([*found.hits, *found.rejected]) == min(top_k, read)
        assert all(hit.rerank is not None for hit in found.hits)


@pytest.mark.parametrize(
    "reranker", [LongestFirst(3600), LongestFirst(error=Unavailable("late")), LongestFirst(error=TimeoutError())]
)
async def test_a_reranker_that_hangs_or_fails_leaves_the_order_as_it_was_and_it_is_said(
    lake: Lake, told: Story, reranker: LongestFirst
) -> None:
    reader, plain = engine_of(lake, reranker=reranker), await engine_of(lake).search(asked(told.scope))

    found = await reader.search(asked(told.scope), left_s=0.4)

    assert (texts(found), found.degraded) == (texts(plain), (RERANK_SKIPPED,))
    assert len(reader.cache) == 0


async def test_a_reranker_is_not_asked_about_nothing(lake: Lake, story: Stories) -> None:
    reranker = LongestFirst(error=Unavailable("never"))

    assert (await engine_of(lake, reranker=reranker).search(asked(story("bo").scope))).degraded == ()


async def test_questions_that_differ_in_anything_are_answered_each_by_itself(lake: Lake, story: Stories) -> None:
    shard, ann, bo = await lake.shard(0), story("ann"), story("bo")
    rows = [*ann.add("walks in Rome", vector=AXES[0], tags=("a",)), *ann.add("walks", vector=AXES[1])]
    await shard.commit_memories([*rows, *bo.add("walks in Oslo", vector=AXES[0])])
    reader = engine_of(lake)

    for _ in range(2):
        assert len(texts(await reader.search(asked(ann.scope)))) == 2
        assert texts(await reader.search(asked(bo.scope))) == ["walks in Oslo"]
        assert texts(await reader.search(asked(ann.scope, top_k=1))) == ["walks"]
        assert texts(await reader.search(asked(ann.scope, "x", similarity_threshold=0.5))) == ["walks in Rome"]
        assert texts(await reader.search(asked(ann.scope, filters={"tags": ["a"]}))) == ["walks in Rome"]
        assert texts(await reader.search(asked(ann.scope, kinds=("episode",)))) == []
        assert texts(await reader.search(asked(ann.scope, kinds=("external",)))) == []
    assert (reader.cache.counts.hits, reader.cache.counts.misses) == (7, 7)


async def test_those_who_ask_the_same_at_once_cost_one_embedding(lake: Lake, told: Story) -> None:
    embedder = Embedder(wait_s=0.02)
    reader = engine_of(lake, embedder)

    answers = await asyncio.gather(*(reader.search(asked(told.scope)) for _ in range(20)))

    assert embedder.calls == 1
    assert {id(answer.hits) for answer in answers} == {id(answers[0].hits)}


@pytest.mark.parametrize("fault", [{"timeout_s": 0}, {"embedding_share": -1}, {"rerank_pool": 51}, {"most_rows": 0}])
def test_a_budget_of_nothing_is_refused(fault: dict[str, Any]) -> None:
    with pytest.raises(Misconfigured, match=next(iter(fault))):
        RAGConfig(**fault)


def test_features_are_switched_on_by_their_names() -> None:
    switches, recency, feedback = searched_with(" history, recency ,,synonyms")
    on = {name for name, is_on in asdict(switches).items() if is_on}
    assert (on, recency, feedback) == ({"history", "synonyms"}, True, False)
    assert searched_with("history, time, nameless, recency, feedback") == (RAGConfig().switches, True, True)
    with pytest.raises(Misconfigured, match="SEARCH_WITH: colour, sound is none of"):
        searched_with("sound,history,colour")
