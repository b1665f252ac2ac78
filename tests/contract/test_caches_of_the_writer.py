"""What a writer keeps in memory of its scopes is never older than what it decides on."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import Unavailable
from tests.contract.perils import Mishap, stalled
from tests.contract.world import Outcome, World, scope_in

HERE, THERE = scope_in(0), scope_in(1)
PLACES = ["I live in Lyon.", "I live in Porto.", "I live in Rome.", "I live in Bern."]
CALLS = range(1, 8)


@pytest.fixture
async def world(tmp_path: Path) -> World:
    """Four statements on ``facts``, each of which replaces the one before."""
    made = await World.make(tmp_path / "lake")
    worker = await made.worker()
    for text in PLACES:
        made.say(HERE, text, ask=text)
    await worker.handle("intake", 0, made.topics.inboxes[0])
    return made


async def straight(world: World, tmp_path: Path) -> Outcome:
    """What the same facts come to, one by one, in a lake of their own."""
    other = world.copied(tmp_path / "straight")
    other.topics.logs[f"{world.settings.name}.facts", 0] = world.topics.log("facts")
    worker = await other.worker()
    for record in world.topics.log("facts"):
        await worker.handle("remember", 0, [record])
    return await other.outcome()


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_read_that_was_under_way_when_partitions_moved_puts_nothing_old_back(
    world: World, tmp_path: Path, call: int, when: Any
) -> None:
    facts = world.topics.log("facts")
    one, other = await world.worker(), await world.worker()
    mishap = Mishap(call, when, holds=True)
    batch = await stalled(one.handle("remember", 0, facts[:1], mishap), mishap)

    one.forget()
    await other.handle("remember", 0, facts[:2])
    mishap.released.set()
    await batch
    one.forget()  # they came back
    await one.handle("remember", 0, facts[2:])

    assert (await world.outcome()).rows == (await straight(world, tmp_path)).rows


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_read_that_outlives_its_partitions_coming_back_puts_nothing_old_back(
    world: World, tmp_path: Path, call: int, when: Any
) -> None:
    facts = world.topics.log("facts")
    one, other = await world.worker(), await world.worker()
    mishap = Mishap(call, when, holds=True)
    batch = await stalled(one.handle("remember", 0, facts[:1], mishap), mishap)

    one.forget()
    await other.handle("remember", 0, facts[:3])
    mishap.released.set()
    await batch
    await one.handle("remember", 0, facts[3:])

    found = await world.outcome()
    assert found == await straight(world, tmp_path)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("when", ["before", "midst", "after"])
async def test_a_batch_that_failed_at_any_call_is_decided_as_if_it_had_not(
    world: World, tmp_path: Path, call: int, when: Any
) -> None:
    facts = world.topics.log("facts")
    worker = await world.worker()
    await worker.handle("remember", 0, facts[:1])

    try:
        await worker.handle("remember", 0, facts[1:3], Mishap(call, when))
    except Unavailable:
        await worker.handle("remember", 0, facts[1:3])
    await worker.handle("remember", 0, facts[3:])

    assert await world.outcome() == await straight(world, tmp_path)


@pytest.mark.parametrize("call", CALLS)
async def test_a_batch_that_was_cancelled_at_any_call_is_decided_as_if_it_had_not(
    world: World, tmp_path: Path, call: int
) -> None:
    facts = world.topics.log("facts")
    worker = await world.worker()
    await worker.handle("remember", 0, facts[:1])
    mishap = Mishap(call, "after", holds=True)
    batch = await stalled(worker.handle("remember", 0, facts[1:3], mishap), mishap)
    batch.cancel()
    await asyncio.wait({batch})

    await worker.handle("remember", 0, facts[1:3])
    await worker.handle("remember", 0, facts[3:])

    assert await world.outcome() == await straight(world, tmp_path)


@pytest.mark.parametrize("call", CALLS)
async def test_another_partitions_failure_within_a_batch_changes_no_decision(
    world: World, tmp_path: Path, call: int
) -> None:
    world.say(THERE, "I like chess.")
    worker = await world.worker()
    await worker.handle("intake", 1, world.topics.inboxes[1])
    facts = world.topics.log("facts")
    await worker.handle("remember", 0, facts[:1])
    mishap = Mishap(call, "before", holds=True)

    batch = await stalled(worker.handle("remember", 0, facts[1:], mishap), mishap)
    with pytest.raises(Unavailable):
        await worker.handle("remember", 1, world.topics.log("facts", 1), Mishap(1))
    mishap.released.set()
    await batch

    assert (await world.outcome()).rows == (await straight(world, tmp_path)).rows
