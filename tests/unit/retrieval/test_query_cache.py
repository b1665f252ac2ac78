"""The query cache: age, generations, what is kept, one work for all who ask, and who may leave it."""

import asyncio
import gc
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from lakehouse.retrieval.cache import TTL_S, CacheCounts, QueryCache
from schemas.errors import Unavailable


@dataclass(frozen=True)
class Question:
    project: str = "shop"
    user: str = "ann"
    query: str = "where do I live"
    top_k: int = 5
    threshold: float = 0.3
    tags: tuple[str, ...] = ()
    models: str = "minilm"


@dataclass
class World:
    """What answers are read from, and the time; a change moves the generation."""

    now: float = 0.0
    generation: int = 0
    fact: str = "Braga"
    works: int = 0
    gate: asyncio.Event = field(default_factory=asyncio.Event)

    def change(self, fact: str) -> None:
        self.fact, self.generation = fact, self.generation + 1

    async def read(self) -> str:
        self.works += 1
        return self.fact

    async def read_slowly(self) -> str:
        found = await self.read()
        await self.gate.wait()
        return found

    async def fail_slowly(self) -> str:
        await self.read_slowly()
        raise Unavailable("the lake is away")


@pytest.fixture
def world() -> World:
    return World()


def _cache(
    world: World, *, max_entries: int = 100, keep: Callable[[str], bool] = lambda _: True
) -> QueryCache[Question, str]:
    return QueryCache(max_entries=max_entries, clock=lambda: world.now, keep=keep)


async def _ask(cache: QueryCache[Question, str], world: World, question: Question | None = None) -> str:
    return await cache.get_or_compute(question or Question(), lambda: world.generation, world.read)


async def _settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_what_was_worked_out_is_given_again(world: World) -> None:
    cache = _cache(world)

    assert [await _ask(cache, world) for _ in range(3)] == ["Braga"] * 3
    assert (world.works, len(cache)) == (1, 1)
    assert cache.counts == CacheCounts(hits=2, misses=1)


@pytest.mark.parametrize(("age", "works"), [(0.0, 1), (TTL_S - 1, 1), (TTL_S, 2), (TTL_S + 1, 2)])
async def test_an_answer_is_given_again_until_it_is_as_old_as_its_time_to_live(
    age: float, works: int, world: World
) -> None:
    cache = _cache(world)
    await _ask(cache, world)
    world.now += age

    await _ask(cache, world)

    assert world.works == works
    assert cache.counts.stale == works - 1


async def test_an_answer_ages_from_when_its_work_began(world: World) -> None:
    cache = _cache(world)
    slow = asyncio.create_task(cache.get_or_compute(Question(), lambda: world.generation, world.read_slowly))
    await _settle()
    world.now += TTL_S
    world.gate.set()
    await slow

    await _ask(cache, world)

    assert world.works == 2


async def test_an_answer_is_not_given_again_after_a_change(world: World) -> None:
    cache = _cache(world)
    await _ask(cache, world)
    world.change("Porto")

    assert await _ask(cache, world) == "Porto"
    assert await _ask(cache, world) == "Porto"
    assert cache.counts == CacheCounts(hits=1, misses=2, stale=1)


async def test_a_slow_question_does_not_keep_what_a_change_has_overtaken(world: World) -> None:
    cache = _cache(world)
    slow = asyncio.create_task(cache.get_or_compute(Question(), lambda: world.generation, world.read_slowly))
    await _settle()
    world.change("Porto")
    world.gate.set()

    assert await slow == "Braga"
    assert len(cache) == 0
    assert await _ask(cache, world) == "Porto"


async def test_one_who_asks_after_a_change_does_not_wait_for_who_asked_before(world: World) -> None:
    cache = _cache(world)
    slow = asyncio.create_task(cache.get_or_compute(Question(), lambda: world.generation, world.read_slowly))
    await _settle()
    world.change("Porto")

    assert await _ask(cache, world) == "Porto"
    world.gate.set()
    assert await slow == "Braga"
    assert await _ask(cache, world) == "Porto"
    assert cache.counts == CacheCounts(hits=1, misses=2)


@pytest.mark.parametrize("seed", range(100))
async def test_wherever_a_change_falls_whoever_asks_after_it_is_told_the_new_fact(seed: int, world: World) -> None:
    chance, cache = random.Random(seed), _cache(world)

    async def read_some_time() -> str:
        for _ in range(chance.randrange(6)):
            await asyncio.sleep(0)
        found = await world.read()
        for _ in range(chance.randrange(6)):
            await asyncio.sleep(0)
        return found

    async def ask() -> str:
        return await cache.get_or_compute(Question(), lambda: world.generation, read_some_time)

    early = [asyncio.create_task(ask()) for _ in range(3)]
    for _ in range(chance.randrange(12)):
        await asyncio.sleep(0)
    world.change("Porto")
    late = [asyncio.create_task(ask()) for _ in range(3)]

    assert set(await asyncio.gather(*early)) <= {"Braga", "Porto"}
    assert set(await asyncio.gather(*late)) == {"Porto"}
    assert await ask() == "Porto"


@pytest.mark.parametrize(
    "other",
    [
        Question(user="bob"),
        Question(project="shopann", user=""),
        Question(query="Where do I live"),
        Question(top_k=6),
        Question(threshold=0.9),
        Question(tags=("home",)),
        Question(models="minilm+reranker"),
    ],
    ids=str,
)
async def test_who_asks_in_any_other_way_is_answered_apart(other: Question, world: World) -> None:
    cache = _cache(world)
    await _ask(cache, world)
    world.fact = "of the other"

    assert await _ask(cache, world, other) == "of the other"
    assert await _ask(cache, world) == "Braga"


async def test_the_longest_unused_answer_goes_first(world: World) -> None:
    cache = _cache(world, max_entries=2)
    first, second, third = (Question(top_k=k) for k in (1, 2, 3))
    for question in (first, second, first, third):  # third pushes second out, as first was used after it
        await _ask(cache, world, question)
    world.works = 0

    await _ask(cache, world, first)
    assert (len(cache), world.works) == (2, 0)
    await _ask(cache, world, second)
    assert (len(cache), world.works) == (2, 1)


async def test_an_answer_that_is_worked_out_anew_counts_as_just_used(world: World) -> None:
    cache = _cache(world, max_entries=2)
    first, second, third = (Question(top_k=k) for k in (1, 2, 3))
    await _ask(cache, world, first)
    await _ask(cache, world, second)
    world.now += TTL_S
    for question in (first, third):
        await _ask(cache, world, question)
    world.works = 0

    await _ask(cache, world, first)

    assert world.works == 0


async def test_a_cache_of_no_entries_keeps_none(world: World) -> None:
    cache = _cache(world, max_entries=0)
    for _ in range(2):
        await _ask(cache, world)

    assert (world.works, len(cache)) == (2, 0)


async def test_a_degraded_answer_is_given_and_not_kept(world: World) -> None:
    cache = _cache(world, keep=lambda answer: answer != "degraded")
    world.fact = "degraded"
    assert await _ask(cache, world) == "degraded"
    world.fact = "Braga"

    assert await _ask(cache, world) == "Braga"
    assert len(cache) == 1


async def test_fifty_who_ask_together_are_answered_by_one_work(world: World) -> None:
    cache = _cache(world)
    asked = [
        asyncio.create_task(cache.get_or_compute(Question(), lambda: world.generation, world.read_slowly))
        for _ in range(50)
    ]
    await _settle()
    world.gate.set()

    assert await asyncio.gather(*asked) == ["Braga"] * 50
    assert world.works == 1
    assert cache.counts == CacheCounts(misses=1, coalesced=49)


async def test_a_failure_is_told_to_all_who_wait_and_the_next_one_tries_again(world: World) -> None:
    cache = _cache(world)
    asked = [
        asyncio.create_task(cache.get_or_compute(Question(), lambda: world.generation, world.fail_slowly))
        for _ in range(50)
    ]
    await _settle()
    world.gate.set()

    failures = await asyncio.gather(*asked, return_exceptions=True)

    assert {type(failure) for failure in failures} == {Unavailable}
    assert (world.works, len(cache)) == (1, 0)
    assert await _ask(cache, world) == "Braga"


async def test_a_failure_that_nobody_else_waits_for_is_told_once(world: World) -> None:
    complaints: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    world.gate.set()

    with pytest.raises(Unavailable):
        await _cache(world).get_or_compute(Question(), lambda: world.generation, world.fail_slowly)
    gc.collect()

    assert complaints == []


async def test_when_the_one_who_works_is_cancelled_the_others_are_answered_by_one_of_them(world: World) -> None:
    cache = _cache(world)
    asked = [
        asyncio.create_task(cache.get_or_compute(Question(), lambda: world.generation, world.read_slowly))
        for _ in range(50)
    ]
    await _settle()
    asked[0].cancel()
    await _settle()
    world.gate.set()

    answers = await asyncio.gather(*asked, return_exceptions=True)

    assert isinstance(answers[0], asyncio.CancelledError)
    assert answers[1:] == ["Braga"] * 49
    assert world.works == 2
    assert cache.counts == CacheCounts(misses=2, coalesced=48)


async def test_one_who_waits_can_go_and_the_work_goes_on(world: World) -> None:
    cache = _cache(world)
    asked = [
        asyncio.create_task(cache.get_or_compute(Question(), lambda: world.generation, world.read_slowly))
        for _ in range(3)
    ]
    await _settle()
    asked[1].cancel()
    await _settle()
    world.gate.set()

    answers = await asyncio.gather(*asked, return_exceptions=True)

    assert isinstance(answers[1], asyncio.CancelledError)
    assert (answers[0], answers[2], world.works, len(cache)) == ("Braga", "Braga", 1, 1)


async def test_work_that_was_cancelled_leaves_nothing_behind(world: World) -> None:
    cache = _cache(world)
    asked = asyncio.create_task(cache.get_or_compute(Question(), lambda: world.generation, world.read_slowly))
    await _settle()
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked

    assert len(cache) == 0
    assert await _ask(cache, world) == "Braga"


async def test_what_is_forgotten_is_worked_out_anew_and_the_rest_is_not(world: World) -> None:
    cache = _cache(world)
    of_ann, of_bob = Question(), Question(user="bob")
    for question in (of_ann, of_bob):
        await _ask(cache, world, question)

    cache.forget(lambda question: question.user == "ann")

    assert len(cache) == 1
    for question in (of_ann, of_bob):
        await _ask(cache, world, question)
    assert world.works == 3


async def test_work_under_way_when_its_key_is_forgotten_is_neither_kept_nor_joined(world: World) -> None:
    cache = _cache(world)
    slow = asyncio.create_task(cache.get_or_compute(Question(), lambda: world.generation, world.read_slowly))
    other = replace(Question(), user="bob")
    kept = asyncio.create_task(cache.get_or_compute(other, lambda: world.generation, world.read_slowly))
    await _settle()
    cache.forget(lambda question: question.user == "ann")
    world.fact = "Porto"

    assert await _ask(cache, world) == "Porto"
    world.gate.set()
    assert (await slow, await kept) == ("Braga", "Braga")
    assert await _ask(cache, world) == "Porto"
    assert await _ask(cache, world, other) == "Braga"


async def test_forgotten_work_that_ends_leaves_the_work_that_followed_it_to_be_joined(world: World) -> None:
    cache, following = _cache(world), World()
    first = asyncio.create_task(cache.get_or_compute(Question(), lambda: 0, world.read_slowly))
    await _settle()
    cache.clear()
    second = asyncio.create_task(cache.get_or_compute(Question(), lambda: 0, following.read_slowly))
    await _settle()
    world.gate.set()
    await first

    third = asyncio.create_task(cache.get_or_compute(Question(), lambda: 0, following.read_slowly))
    await _settle()
    following.gate.set()

    assert (await second, await third) == ("Braga", "Braga")
    assert following.works == 1


async def test_clear_forgets_everything(world: World) -> None:
    cache = _cache(world)
    for question in (Question(), Question(user="bob")):
        await _ask(cache, world, question)

    cache.clear()

    assert len(cache) == 0
