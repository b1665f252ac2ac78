"""Retrieval follows the tables: whoever writes, whatever is let go, an answer is the one that is right just then."""

import asyncio
import random
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from lakehouse import episodes, keywords
from lakehouse.maintenance import compact
from lakehouse.retrieval.config import RAGConfig
from lakehouse.retrieval.engine import BLANK, Retrieval, Retrieved
from lakehouse.store import Lake, Shard
from schemas.conversation import Scope
from tests.unit.lakehouse.asking import AXES, NOW, ToldEmbedder, asked, engine_of, say
from tests.unit.lakehouse.conftest import SHAPE, START, Story, unit_vector

WORDS = ["tea", "city", "Rome", "Oslo", "walks", "Ann"]
MODES = ("semantic", "keyword", "hybrid")
COLOURS = ["red", "green", "blue", "sea", "sky"]
BOTH = ("knowledge", "episode")
SHORT = timedelta(milliseconds=1)
CASES: list[dict[str, Any]] = [
    {"kinds": BOTH},
    {"kinds": ("knowledge",)},
    {"kinds": ("episode",), "mode": "keyword"},
    {"asOf": START + timedelta(minutes=5)},
    {"knownAt": START + timedelta(hours=4)},
    {"kinds": BOTH, "filters": {"sessionId": "s"}},
    {"mode": "semantic"},
]


@pytest.fixture
def uri(tmp_path: Path) -> str:
    return str(tmp_path / "lake")


@pytest.fixture
async def lake(uri: str) -> Lake:
    return await Lake.make(uri, SHAPE)


def story(user: str) -> Story:
    return Story(Scope(project_id="shop", user_id=user))


def seen(found: Retrieved) -> list[tuple[Any, ...]]:
    return [(hit.item.kind, hit.item.key, hit.similarity, hit.coverage, hit.hybrid) for hit in found.hits]


def texts(found: Retrieved) -> list[str]:
    return [hit.item.text for hit in found.hits]


class Writer:
    """Does to one scope whatever a worker may do, by dice, through one of two handles of the lake."""

    def __init__(self, told: Story, shards: list[Shard], dice: random.Random) -> None:
        self.told, self.shards, self.dice, self.turns = told, shards, dice, 0

    async def step(self) -> None:
        told, dice, shard = self.told, self.dice, self.dice.choice(self.shards)
        text = " ".join(dice.sample(WORDS, 3))
        kind = dice.choice(["add", "add", "say", "say", "update", "delete", "restore", "none", "judge", "compact"])
        current = [row.event.id for row in told.memory.current]
        turn = (f"t{dice.randint(1, self.turns)}",) if self.turns else ()
        match kind:
            case "say":
                self.turns += 1
                await say(shard, told, self.turns, text)
                return
            case "compact":
                await compact(shard, dice.choice(["memories", "turns"]), SHORT)
                return
            case "add":
                rows = told.add(text, source_turn_ids=turn)
            case "update" if current:
                rows = told.update(dice.choice(current), text, source_turn_ids=turn)
            case "delete" if current:
                rows = told.delete(dice.choice(current), source_turn_ids=turn)
            case "restore" if told.memory.retired:
                rows = told.restore(dice.choice(sorted(told.memory.retired)))
            case "judge" if current:
                value = {"feedback": {"value": dice.choice(["helpful", "unhelpful", "withdrawn"])}}
                rows = told.nothing(
                    text,
                    fact_id=None,
                    command_id="c",
                    memory_id=dice.choice(current),
                    source_turn_ids=(),
                    metadata=value,
                )
            case _:
                rows = told.nothing(text, source_turn_ids=turn)
        await shard.commit_memories(rows)
        await episodes.settle(shard, told.scope, told.memory, [rows[0].event])


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("at_once", [200, 0], ids=["in place", "anew"])
@pytest.mark.parametrize("sizes", [{}, {"cache_rows": 20}, {"most_rows": 4}], ids=["kept", "evicted", "large"])
async def test_any_course_of_writes_and_questions_is_answered_as_by_one_made_anew(  # noqa: PLR0917 - parameters
    lake: Lake, uri: str, monkeypatch: pytest.MonkeyPatch, seed: int, sizes: dict[str, int], at_once: int
) -> None:
    monkeypatch.setattr("lakehouse.retrieval.catalogue.AT_ONCE", at_once)
    other = await Lake.open(uri)
    dice = random.Random(seed)
    shards = [await lake.shard(0), await other.shard(0)]
    writers = [Writer(story(name), shards, dice) for name in ("ann", "bo", "cy")]
    reader = engine_of(await Lake.open(uri), **sizes)

    for _ in range(30):
        writer = dice.choice(writers)
        await writer.step()
        for _ in range(dice.randint(0, 2)):
            request = asked(dice.choice(writers).told.scope, **dice.choice(CASES))
            anew = engine_of(lake, **sizes | {"cache_rows": 10_000})
            found, expected = await reader.search(request), await anew.search(request)
            assert seen(found) == seen(expected), request
            assert found.degraded == expected.degraded == ()


async def test_a_large_scope_and_a_kept_one_find_the_same(lake: Lake) -> None:
    shard, dice = await lake.shard(0), random.Random(9)
    writer = Writer(story("ann"), [shard], dice)
    for _ in range(40):
        await writer.step()

    for case in CASES:
        kept, large = [
            await engine_of(lake, most_rows=most).search(asked(writer.told.scope, **case)) for most in (99, 1)
        ]
        assert kept.hits
        assert {one[:3] for one in seen(kept)} == {one[:3] for one in seen(large)}, case


@pytest.mark.parametrize("most_rows", [20_000, 1], ids=["kept", "in its table"])
async def test_words_follow_fifty_rounds_of_adding_changing_deleting_and_compacting(lake: Lake, most_rows: int) -> None:
    shard, told = await lake.shard(0), story("ann")
    for number in range(50):
        text = f"{COLOURS[number % 5]} {COLOURS[number * 7 % 3]} thing{number}"
        rows = [*told.add(text)]
        if number > 2:
            rows += told.update(number, f"{COLOURS[number * 3 % 5]} changed{number}")
        if number % 4 == 3:
            rows += told.delete(number - 1)
        await shard.commit_memories(rows)
        await compact(shard, "memories", SHORT)
        query = f"{COLOURS[number % 5]} thing{number}"
        terms = keywords.query_terms(query)
        expected = {
            row.event.event_id
            for row in told.memory.current
            if keywords.coverage(terms, frozenset(keywords.index_terms(row.event.text)))
        }
        found = await engine_of(lake, most_rows=most_rows).search(asked(told.scope, query, mode="keyword"))
        assert {hit.item.row.event.event_id for hit in found.hits} == expected
        assert set(found.degraded) <= {BLANK}
    indexes = {tuple(index.columns): index.num_unindexed_rows for index in await shard.memories.list_indices()}
    assert indexes[("keywords",)] == 0


class Slow(ToldEmbedder):
    """Waits before it answers."""

    wait_s = 0.0

    async def embed(self, texts: Sequence[str]) -> Any:
        await asyncio.sleep(self.wait_s)
        return await super().embed(texts)


async def test_an_answer_is_never_older_than_the_last_change(lake: Lake) -> None:
    shard, told, dice = await lake.shard(0), story("ann"), random.Random(3)
    await shard.commit_memories(told.add("city 0"))
    embedder = Slow(AXES[0])
    reader = Retrieval(lake, embedder, lambda: NOW, config=RAGConfig())

    for number in range(1, 101):
        embedder.wait_s = dice.uniform(0, 0.006)
        slow = asyncio.create_task(reader.search(asked(told.scope, "city")))
        await asyncio.sleep(dice.uniform(0, 0.004))
        await shard.commit_memories(told.update(1, f"city {number}"))
        embedder.wait_s = 0
        after = await reader.search(asked(told.scope, "city"))
        assert texts(after) == [f"city {number}"]
        assert texts(await slow)[0] in {f"city {number - 1}", f"city {number}"}
        assert texts(await reader.search(asked(told.scope, "city"))) == [f"city {number}"]
        if number % 20 == 0:
            await compact(shard, "memories", SHORT)


@pytest.mark.parametrize("most_rows", [20_000, 1], ids=["kept", "in its table"])
async def test_a_hundred_questions_and_writes_at_once_all_end(lake: Lake, most_rows: int) -> None:
    shard, told, vector = await lake.shard(0), story("ann"), unit_vector("x")
    rows = [told.add(f"fact {number}") for number in range(40)]
    requests = [asked(told.scope, "fact", mode=MODES[number % 3]) for number in range(40)]

    async with asyncio.timeout(20):
        await asyncio.gather(
            *(shard.commit_memories(some) for some in rows),
            *(engine_of(lake, vector, most_rows=most_rows).search(request) for request in requests),
        )

    assert len(texts(await engine_of(lake, AXES[0], most_rows=most_rows).search(asked(told.scope, "fact")))) == 40
