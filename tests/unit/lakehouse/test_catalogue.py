"""Indexes that follow the tables: what is read, what is kept, what is let go, and what askers see meanwhile."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from lakehouse.retrieval.catalogue import Catalogue
from lakehouse.retrieval.engine import Retrieved
from lakehouse.store import Lake
from schemas.conversation import Scope
from schemas.errors import Unavailable
from tests.unit.lakehouse.asking import asked, engine_of, say
from tests.unit.lakehouse.conftest import SHAPE, Story

Stories = Callable[[str], Story]
BOTH = ("knowledge", "episode")


def texts(found: Retrieved) -> list[str]:
    return [hit.item.text for hit in found.hits]


async def test_an_index_becomes_large_when_the_scope_outgrows_it(lake: Lake, story: Stories) -> None:
    shard, told = await lake.shard(0), story("ann")
    catalogue = Catalogue(SHAPE.dimension, 1000, most_rows=5)
    for number in range(8):
        await shard.commit_memories(told.add(f"fact {number}"))
        kept = await catalogue.kept(shard, told.scope, "knowledge")
        assert (kept.large, len(kept.index)) == ((False, number + 1) if number < 5 else (True, 0))


async def test_many_changes_at_once_do_not_make_an_index_large(lake: Lake, story: Stories) -> None:
    shard, told = await lake.shard(0), story("ann")
    catalogue = Catalogue(SHAPE.dimension, 1000, most_rows=300)
    await shard.commit_memories(told.add("fact"))
    await catalogue.kept(shard, told.scope, "knowledge")
    await shard.commit_memories(
        [row for n in range(200) for row in (*told.add(f"fact {n}"), *told.nothing(f"fact {n}"))]
    )

    kept = await catalogue.kept(shard, told.scope, "knowledge")

    assert (kept.large, len(kept.index)) == (False, 201)


async def test_what_an_impatient_asker_began_to_read_is_read_to_the_end(
    lake: Lake, story: Stories, monkeypatch: pytest.MonkeyPatch
) -> None:
    shard, told, catalogue = await lake.shard(0), story("ann"), Catalogue(SHAPE.dimension, 1000)
    await shard.commit_memories(told.add("fact"))
    rows_of, reads, go_on = shard.rows_of, [0], asyncio.Event()

    async def slow(*read: Any) -> Any:
        reads[0] += 1
        await go_on.wait()
        return await rows_of(*read)

    monkeypatch.setattr(shard, "rows_of", slow)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await catalogue.kept(shard, told.scope, "knowledge")
    go_on.set()

    assert len((await catalogue.kept(shard, told.scope, "knowledge")).index) == 1
    assert reads == [1]


async def test_a_read_that_fails_when_nobody_waits_is_made_again(
    lake: Lake, story: Stories, monkeypatch: pytest.MonkeyPatch
) -> None:
    shard, told, catalogue = await lake.shard(0), story("ann"), Catalogue(SHAPE.dimension, 1000)
    await shard.commit_memories(told.add("fact"))

    async def failing(*_: Any) -> Any:
        await asyncio.sleep(0.02)
        raise Unavailable("the store is away")

    with monkeypatch.context() as away:
        away.setattr(shard, "rows_of", failing)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await catalogue.kept(shard, told.scope, "knowledge")
        with pytest.raises(Unavailable):
            await catalogue.kept(shard, told.scope, "knowledge")
        await asyncio.gather(*catalogue._reading, return_exceptions=True)

    assert len((await catalogue.kept(shard, told.scope, "knowledge")).index) == 1


async def test_a_position_is_never_given_twice(lake: Lake, story: Stories) -> None:
    shard, told, catalogue = await lake.shard(0), story("ann"), Catalogue(SHAPE.dimension, 1000)
    positions = []
    for rows in (told.add("a"), told.add("b"), told.delete(2), told.nothing("a")):
        await shard.commit_memories(rows)
        positions.append((await catalogue.kept(shard, told.scope, "knowledge")).position)
        assert (await catalogue.kept(shard, told.scope, "knowledge")).position == positions[-1]
    catalogue.clear()
    positions.append((await catalogue.kept(shard, told.scope, "knowledge")).position)

    assert len(set(positions)) == 5


async def test_what_was_deleted_while_its_index_was_let_go_is_not_answered_from_what_is_kept(
    lake: Lake, story: Stories
) -> None:
    shard, ann, bo = await lake.shard(0), story("ann"), story("bo")
    await shard.commit_memories([*ann.add("walks in Rome"), *ann.add("walks in Oslo"), *bo.add("walks")])
    reader = engine_of(lake, cache_rows=1)
    assert len(texts(await reader.search(asked(ann.scope)))) == 2

    await shard.commit_memories(ann.delete(1))
    await reader.search(asked(bo.scope))

    assert texts(await reader.search(asked(ann.scope))) == ["walks in Oslo"]


async def test_an_index_let_go_in_the_middle_of_a_question_is_not_kept_as_what_came_after_it(
    lake: Lake, story: Stories, monkeypatch: pytest.MonkeyPatch
) -> None:
    shard, told = await lake.shard(0), story("ann")
    await shard.commit_memories(told.add("walks in Rome"))
    reader, version = engine_of(lake), shard.version
    stop, at_it = asyncio.Event(), asyncio.Event()

    async def slow(kind: Any) -> int:
        if kind == "episode" and not at_it.is_set():
            at_it.set()
            await stop.wait()
        return await version(kind)

    monkeypatch.setattr(shard, "version", slow)
    first = asyncio.create_task(reader.search(asked(told.scope, kinds=BOTH)))
    await at_it.wait()
    reader._catalogue.clear()
    await shard.commit_memories(told.update(1, "walks in Oslo"))
    await reader.search(asked(told.scope, "else", kinds=BOTH))
    stop.set()
    await first

    assert texts(await reader.search(asked(told.scope, kinds=BOTH))) == ["walks in Oslo"]


async def test_rows_are_kept_within_their_bound_and_what_was_asked_last_stays(lake: Lake, story: Stories) -> None:
    shard, stories = await lake.shard(0), [story(f"user {number}") for number in range(30)]
    await shard.commit_memories([row for told in stories for n in range(20) for row in told.add(f"fact {n}")])
    catalogue = Catalogue(SHAPE.dimension, 100)

    for told in stories:
        assert len((await catalogue.kept(shard, told.scope, "knowledge")).index) == 20
        assert sum(len(kept.index) for kept in catalogue._kept.values()) <= 100
    assert [key for key, _ in catalogue._kept] == [told.scope.key for told in stories[-5:]]


async def test_scopes_that_know_nothing_are_bounded_too(lake: Lake, story: Stories) -> None:
    shard, catalogue = await lake.shard(0), Catalogue(SHAPE.dimension, 100)

    for number in range(20):
        await catalogue.kept(shard, story(f"user {number}").scope, "knowledge")

    assert len(catalogue._kept) == 6


async def test_one_larger_than_the_bound_is_kept_alone(lake: Lake, story: Stories) -> None:
    shard, told = await lake.shard(0), story("ann")
    await shard.commit_memories([row for n in range(40) for row in told.add(f"fact {n}")])
    catalogue = Catalogue(SHAPE.dimension, 10)

    assert len((await catalogue.kept(shard, told.scope, "knowledge")).index) == 40
    assert len(catalogue._kept) == 1


async def test_what_a_tool_said_is_no_answer_and_harms_none(lake: Lake, story: Stories) -> None:
    shard, told = await lake.shard(0), story("ann")
    await say(shard, told, 1, "walks in Rome")
    await say(shard, told, 2, "walks in Oslo", role="tool")
    reader = engine_of(lake)

    assert texts(await reader.search(asked(told.scope, kinds=("episode",)))) == ["walks in Rome"]
    await say(shard, told, 3, "You walk.", role="system")
    await say(shard, told, 4, "walks in Lima")
    for filters in ({}, {"sessionId": "s"}):
        found = await reader.search(asked(told.scope, kinds=("episode",), filters=filters))
        assert sorted(texts(found)) == ["walks in Lima", "walks in Rome"]


async def test_two_questions_during_a_commit_read_it_once_and_both_whole(lake: Lake, story: Stories) -> None:
    shard, told = await lake.shard(0), story("ann")
    reader = engine_of(lake)
    for number in range(15):
        rows = [*told.add(f"walks {number}"), *told.add(f"city {number}")]
        commit = asyncio.create_task(shard.commit_memories(rows))
        answers = await asyncio.gather(*(reader.search(asked(told.scope, query)) for query in ("walks", "city")))
        assert all(len(found.hits) in {2 * number, 2 * number + 2} for found in answers)
        await commit
        assert len((await reader.search(asked(told.scope))).hits) == 2 * number + 2


async def test_what_is_said_of_results_while_it_is_read_is_not_missed(
    lake: Lake, story: Stories, monkeypatch: pytest.MonkeyPatch
) -> None:
    shard, told, catalogue = await lake.shard(0), story("ann"), Catalogue(SHAPE.dimension, 100)
    await shard.commit_memories(told.add("a"))
    await catalogue.kept(shard, told.scope, "knowledge")
    read, stop, at_it = shard.feedback, asyncio.Event(), asyncio.Event()

    async def slow(scope: Scope) -> Any:
        found = await read(scope)
        at_it.set()
        await stop.wait()
        return found

    monkeypatch.setattr(shard, "feedback", slow)
    first = asyncio.create_task(catalogue.feedback(shard, told.scope))
    await at_it.wait()
    value = {"feedback": {"value": "helpful"}}
    await shard.commit_memories(told.nothing("a", fact_id=None, command_id="c", memory_id=1, metadata=value))
    await catalogue.kept(shard, told.scope, "knowledge")
    stop.set()

    assert await first == ()
    assert [one.value for one in await catalogue.feedback(shard, told.scope)] == ["helpful"]
    assert await catalogue.feedback(shard, told.scope) is await catalogue.feedback(shard, told.scope)
