"""What a turn is read as depends on the turns that were stored before it, whatever the caches went through."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import Unavailable
from schemas.facts import TurnRecord
from tests.contract.perils import Mishap, stalled
from tests.contract.world import Worker, World, scope_in

HERE, THERE = scope_in(0), scope_in(1)
QUESTION: dict[str, Any] = {"role": "assistant", "turn_id": "question"}
ANSWER = "My home is in Berlin."


@pytest.fixture
async def world(tmp_path: Path) -> World:
    return await World.make(tmp_path)


def talk(world: World) -> None:
    """A question as the second turn of a session, its short answer as the third."""
    world.say(HERE, "Hello, I am Anna.", turn_id="hello")
    world.say(HERE, "Where do you live?", **QUESTION)
    world.say(HERE, "In Berlin.", turn_id="answer")


async def take(world: World, worker: Worker, start: int, end: int, mishap: Mishap | None = None) -> None:
    await worker.handle("intake", 0, world.topics.inboxes[0][start:end], mishap)


def answer_of(world: World) -> TurnRecord:
    found = [record for record in world.facts() if isinstance(record, TurnRecord) and record.turn.turn_id == "answer"]
    assert len({record.encode() for record in found}) == 1
    return found[0]


def require_read_as_an_answer(world: World) -> None:
    fact = answer_of(world).extraction.facts[0]
    assert fact.text != "In Berlin."
    assert "Berlin" in fact.text
    assert "question" in fact.source_turn_ids


async def test_a_short_answer_is_read_with_its_question_in_one_batch(world: World) -> None:
    talk(world)

    await take(world, await world.worker(), 0, 3)

    require_read_as_an_answer(world)


@pytest.mark.parametrize("call", range(1, 8))
@pytest.mark.parametrize("when", ["before", "midst", "after"])
async def test_a_batch_that_failed_at_any_call_leaves_no_old_context_behind(world: World, call: int, when: Any) -> None:
    talk(world)
    worker = await world.worker()
    await take(world, worker, 0, 1)
    mishap = Mishap(call, when)

    try:
        await take(world, worker, 1, 2, mishap)
    except Unavailable:
        await take(world, worker, 1, 2)
    await take(world, worker, 2, 3)

    require_read_as_an_answer(world)


@pytest.mark.parametrize("call", range(1, 8))
async def test_partitions_that_move_within_a_batch_leave_its_own_turns_in_sight(world: World, call: int) -> None:
    talk(world)
    worker = await world.worker()
    await take(world, worker, 0, 1)
    mishap = Mishap(call, "before", holds=True)

    batch = await stalled(take(world, worker, 1, 3, mishap), mishap)
    worker.forget()
    mishap.released.set()
    await batch

    require_read_as_an_answer(world)


@pytest.mark.parametrize("call", range(1, 8))
async def test_another_partitions_failure_within_a_batch_changes_nothing(world: World, call: int) -> None:
    talk(world)
    world.say(THERE, "I like chess.")
    worker = await world.worker()
    await take(world, worker, 0, 1)
    mishap = Mishap(call, "before", holds=True)

    batch = await stalled(take(world, worker, 1, 3, mishap), mishap)
    with pytest.raises(Unavailable):
        await worker.handle("intake", 1, world.topics.inboxes[1], Mishap(2))
    mishap.released.set()
    await batch

    require_read_as_an_answer(world)


async def test_a_worker_that_was_replaced_reads_what_its_successor_took_in_meanwhile(world: World) -> None:
    talk(world)
    old, new = await world.worker(), await world.worker()
    await take(world, old, 0, 1)
    await take(world, new, 1, 2)

    await take(world, old, 1, 2)
    await take(world, old, 2, 3)

    require_read_as_an_answer(world)


@pytest.mark.parametrize("call", range(1, 5))
async def test_a_batch_cancelled_at_any_call_leaves_no_old_context_behind(world: World, call: int) -> None:
    talk(world)
    worker = await world.worker()
    await take(world, worker, 0, 1)
    mishap = Mishap(call, "after", holds=True)
    batch = await stalled(take(world, worker, 1, 2, mishap), mishap)
    batch.cancel()
    with pytest.raises(asyncio.CancelledError):
        await batch

    await take(world, worker, 1, 2)
    await take(world, worker, 2, 3)

    require_read_as_an_answer(world)


async def test_a_turn_that_came_again_is_no_second_turn_of_its_session(world: World) -> None:
    talk(world)
    world.say(HERE, "Where do you live?", **QUESTION)
    world.say(HERE, "What is your favourite colour?", role="assistant", turn_id="colour")
    world.say(HERE, "Where do you live?", **QUESTION)
    world.say(HERE, "Green.", turn_id="green")

    await take(world, await world.worker(), 0, 7)

    found = [record for record in world.facts() if isinstance(record, TurnRecord) and record.turn.turn_id == "green"]
    assert "colour" in found[0].extraction.facts[0].source_turn_ids
