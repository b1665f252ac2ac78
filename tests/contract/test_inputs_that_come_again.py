"""Turns and commands that come again, stray, or stand beside each other in one batch."""

from pathlib import Path

import pytest

from schemas.facts import CommandRecord, Repeat, TurnRecord, decode_record
from schemas.message import header
from schemas.reports import DeadLetter
from streams.incoming import FORWARDED
from tests.contract.world import START, World, scope_in

HERE, BESIDE, THERE = scope_in(0), scope_in(0, 1), scope_in(1)
TEXT = "I live in Lyon."
SIZES = [(1, 1), (1, 5), (5, 1), (5, 5)]
"""Batch sizes of both agents."""


@pytest.fixture
async def world(tmp_path: Path) -> World:
    return await World.make(tmp_path)


async def handle_all(world: World, taking: int, remembering: int) -> None:
    worker = await world.worker()
    for agent, size in (("intake", taking), ("remember", remembering)):
        records = world.delivered(agent, 0)  # type: ignore[arg-type]
        for start in range(0, len(records), size):
            await worker.handle(agent, 0, records[start : start + size])  # type: ignore[arg-type]


@pytest.mark.parametrize(("taking", "remembering"), SIZES)
async def test_a_turn_that_came_at_another_offset_gets_the_originals_report_and_no_event(
    world: World, taking: int, remembering: int
) -> None:
    world.say(HERE, TEXT, turn_id="t", ask="first")
    world.say(HERE, "I moved to Porto.", turn_id="u")
    world.say(HERE, TEXT, turn_id="t", ask="second")

    await handle_all(world, taking, remembering)

    assert [type(record) for record in world.facts()] == [TurnRecord, TurnRecord, Repeat]
    assert len(await world.records()) == 2
    assert [event.sequence for event in world.changes()] == [1, 2]
    assert len(world.topics.everywhere("changes")) == 2
    assert len(world.answers("first")) == 1
    assert world.answers("second") == world.answers("first")
    assert world.answers("first")[0][0] == "turn-report"


@pytest.mark.parametrize(("taking", "remembering"), SIZES)
async def test_a_command_that_came_at_another_offset_gets_the_originals_report_and_no_event(
    world: World, taking: int, remembering: int
) -> None:
    for ask in ("first", "second"):
        world.command(0, scope=HERE, op="extract_and_operate", interaction=TEXT, command_id="c", ask=ask)

    await handle_all(world, taking, remembering)

    assert [type(record) for record in world.facts()] == [CommandRecord, Repeat]
    assert len(world.topics.everywhere("changes")) == 1
    assert world.answers("second") == world.answers("first")
    assert world.answers("first")[0][1]["commandId"] == "c"


@pytest.mark.parametrize(("taking", "remembering"), SIZES)
async def test_a_turn_that_is_delivered_again_is_sent_word_for_word_and_decided_once(
    world: World, taking: int, remembering: int
) -> None:
    world.say(HERE, TEXT, ask="first")
    await handle_all(world, taking, remembering)
    told = world.topics.log("changes")[:]

    await handle_all(world, taking, remembering)

    facts = world.topics.log("facts")
    assert facts[0].value == facts[1].value
    assert facts[0].key != facts[1].key
    assert {(record.key, record.value) for record in world.topics.log("changes")} == {
        (record.key, record.value) for record in told
    }
    assert len(await world.rows()) == 1
    assert {str(answer) for answer in world.answers("first")} == {str(world.answers("first")[0])}


async def test_a_copy_of_a_record_is_not_told_behind_what_came_after_it(world: World) -> None:
    world.say(HERE, TEXT)
    world.say(HERE, "I moved to Porto.")
    worker = await world.worker()
    await world.settle(worker)
    told = len(world.topics.log("changes"))

    await worker.handle("intake", 0, world.topics.inboxes[0][:1])
    await worker.handle("remember", 0, world.topics.log("facts")[2:])

    assert len(world.topics.log("changes")) == told


@pytest.mark.parametrize(("taking", "remembering"), SIZES)
async def test_equal_turn_ids_in_two_scopes_are_two_turns(world: World, taking: int, remembering: int) -> None:
    for scope in (HERE, BESIDE):
        world.say(scope, TEXT, turn_id="t", ask=scope.user_id)

    await handle_all(world, taking, remembering)

    assert [type(record) for record in world.facts()] == [TurnRecord, TurnRecord]
    assert [(event.scope, event.event, event.sequence) for event in world.changes()] == [
        (HERE, "ADD", 1),
        (BESIDE, "ADD", 1),
    ]
    assert [len(world.answers(scope.user_id)) for scope in (HERE, BESIDE)] == [1, 1]


@pytest.mark.parametrize("command_first", [True, False])
@pytest.mark.parametrize(("taking", "remembering"), SIZES)
async def test_a_command_and_a_turn_keep_their_order(
    world: World, taking: int, remembering: int, command_first: bool
) -> None:
    for told_by_command, text in ((command_first, "I live in Lyon."), (not command_first, "I live in Porto.")):
        if told_by_command:
            world.command(0, scope=HERE, op="extract_and_operate", interaction=text, timestamp=START)
        else:
            world.say(HERE, text)

    await handle_all(world, taking, remembering)

    assert [isinstance(record, CommandRecord) for record in world.facts()] == [command_first, not command_first]
    assert [(event.event, event.text, event.old_memory) for event in world.changes()] == [
        ("ADD", "I live in Lyon.", None),
        ("UPDATE", "I live in Porto.", "I live in Lyon."),
    ]


async def test_a_stray_is_forwarded_once_and_handled_where_it_belongs(world: World) -> None:
    stray = world.say(THERE, TEXT, partition=0, ask="stray")
    worker = await world.worker()

    await worker.handle("intake", 0, world.topics.inboxes[0])
    assert world.facts() == []
    await worker.handle("intake", 1, world.topics.inboxes[1])
    await worker.handle("remember", 1, world.topics.log("facts", 1))

    (record,) = world.facts()
    assert record.recorded_at == stray.timestamp < world.topics.inboxes[1][0].timestamp
    assert [event.scope for event in world.changes()] == [THERE]
    assert [kind for kind, _ in world.answers("stray")] == ["turn-report"]


async def test_a_stray_that_was_forwarded_and_stands_elsewhere_still_is_a_dead_letter(world: World) -> None:
    stray = world.say(THERE, TEXT, partition=0, ask="stray")
    stray.headers.append((FORWARDED, b"1"))
    world.say(HERE, TEXT)

    await (await world.worker()).handle("intake", 0, world.topics.inboxes[0])

    assert world.topics.inboxes[1] == []
    assert [type(record) for record in world.facts()] == [TurnRecord]
    assert [DeadLetter.decode(letter.value).offset for letter in world.topics.log("deadletters")] == [stray.offset]
    assert [(kind, told["code"]) for kind, told in world.answers("stray")] == [("error", "invalid_request")]


async def test_the_records_of_one_batch_stand_on_facts_in_the_order_of_the_batch(world: World) -> None:
    for number in range(5):
        world.say(HERE if number % 2 else BESIDE, f"I have {number} cats.", turn_id=f"t{number}")

    await (await world.worker()).handle("intake", 0, world.topics.inboxes[0])

    found = [decode_record(record.value, record.headers) for record in world.topics.log("facts")]
    assert [record.source.offset for record in found] == [0, 1, 2, 3, 4]
    assert {header(record.headers, "ce_partitionkey") for record in world.topics.log("facts")} == {HERE.key, BESIDE.key}
