"""What cannot be sent is refused before anything is written; what was erased is stepped over."""

from pathlib import Path

import pytest

from schemas.errors import InvalidMessage
from schemas.facts import TurnRecord
from schemas.message import cloud_event
from schemas.topics import RECORD_BYTES
from streams.incoming import Incoming
from tests.contract.world import START, World, scope_in

HERE, BESIDE = scope_in(0), scope_in(0, 1)


@pytest.fixture
async def world(tmp_path: Path) -> World:
    return await World.make(tmp_path / "lake")


async def test_an_erased_record_is_stepped_over(world: World) -> None:
    for text in ("I live in Lyon.", "I have a dog.", "I am allergic to peanuts."):
        world.say(HERE, text, ask=text)
    worker = await world.worker()
    await worker.handle("intake", 0, world.topics.inboxes[0])
    facts = world.topics.log("facts")
    erased = Incoming(facts[1].topic, 0, facts[1].offset, facts[1].key, None, facts[1].headers, START)

    await worker.handle("remember", 0, [facts[0], erased, facts[2]])

    assert [event.text for event in world.changes()] == ["I live in Lyon.", "I am allergic to peanuts."]
    assert world.answers("I have a dog.") == []
    assert world.topics.log("deadletters") == []


async def test_a_record_too_large_for_facts_is_refused_before_it_is_stored(world: World) -> None:
    turn = world.say(HERE, "I live in Lyon.")
    turn.headers.append(("traceparent", b"0" * RECORD_BYTES))

    with pytest.raises(InvalidMessage):
        await (await world.worker()).handle("intake", 0, [turn])

    assert await world.records() == []
    assert world.facts() == []


async def test_an_event_too_large_for_changes_is_refused_before_anything_is_written(world: World) -> None:
    world.say(HERE, "I live in Lyon.")
    world.say(BESIDE, "I have a dog.")
    worker = await world.worker()
    await worker.handle("intake", 0, world.topics.inboxes[0])
    facts = world.topics.log("facts")
    large = grown(world, world.facts()[0])

    with pytest.raises(InvalidMessage):
        await worker.handle("remember", 0, [large, facts[1]])

    assert await world.rows() == []
    assert world.topics.log("changes") == []
    await worker.handle("remember", 0, facts[:2])
    assert [(event.scope, event.sequence, event.event) for event in world.changes()] == [
        (HERE, 1, "ADD"),
        (BESIDE, 1, "ADD"),
    ]


def grown(world: World, record: object) -> Incoming:
    """The record with a fact that no event can hold."""
    assert isinstance(record, TurnRecord)
    fact = record.extraction.facts[0].model_copy(update={"text": "x" * RECORD_BYTES})
    large = record.model_copy(update={"extraction": record.extraction.model_copy(update={"facts": (fact,)})})
    headers = cloud_event(large, event_id="large", source="/test", time=START, key=HERE.key)
    return Incoming(world.topics.log("facts")[0].topic, 0, 9, b"large#1", large.encode(), headers, START)
