"""What results were worth, from the command to the factors of a scope: one event each, told once, changing nothing."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from lakehouse.retrieval.feedback import factors, judged_by
from lakehouse.store import Lake
from schemas.conversation import Scope
from schemas.facts import CommandRecord
from schemas.message import parse_object
from schemas.retrieval import SearchRequest
from streams.feedback import command_of
from tests.contract.world import START, World, scope_in
from tests.planted import planted

HERE, BESIDE = scope_in(0), scope_in(0, 1)
TEXTS = ("I live in Lyon.", "I like chess.", "My dog is called Bruno.")
NOW = START + timedelta(days=40)


@pytest.fixture
async def world(tmp_path: Path) -> World:
    return await World.make(tmp_path / "lake")


def say_all(world: World, scope: Scope = HERE) -> None:
    for number, text in enumerate(TEXTS):
        world.say(scope, text, turn_id=f"t{number}")


def judge(world: World, ask: str, scope: Scope = HERE, **fields: Any) -> None:
    world.command(0, op="feedback", ask=ask, **{"scope": scope, "command_id": ask} | fields)


async def factors_of(world: World, scope: Scope = HERE) -> dict[int, float]:
    lake = await Lake.open(world.uri)
    return factors(judged_by(await (await lake.shard_of(scope)).feedback(scope)), NOW)


async def test_what_is_judged_is_told_as_nothing_changed_and_moves_its_memory(world: World) -> None:
    say_all(world)
    judge(world, "f", helpful=("1",), unhelpful=(3,), query="Where do I live?")

    await world.settle(await world.worker())

    told = world.changes()[3:]
    assert [(event.event, event.id, event.revision, event.command_id) for event in told] == [
        ("NONE", 1, None, "f"),
        ("NONE", 3, None, "f"),
    ]
    assert told[0].metadata == {"feedback": {"value": "helpful", "query": "Where do I live?"}}
    ((kind, report),) = world.answers("f")
    assert (kind, report["success"], report["degraded"]) == ("turn-report", True, [])
    assert [outcome["text"] for outcome in report["memory"]] == ["I live in Lyon.", "My dog is called Bruno."]
    moved = await factors_of(world)
    assert moved.keys() == {1, 3}
    assert 0.9 < moved[3] < 1 < moved[1] < 1.1


async def test_judging_changes_no_row_but_its_own(tmp_path: Path) -> None:
    plain, judged = await World.make(tmp_path / "plain"), await World.make(tmp_path / "judged")
    for world in (plain, judged):
        say_all(world)
    judge(judged, "f", helpful=(1, 2, 3))
    for world in (plain, judged):
        await world.settle(await world.worker())

    rows = [row for row in await judged.rows() if row.event.feedback is None]

    assert rows == await plain.rows()
    assert (await judged.outcome()).digest == (await plain.outcome()).digest
    assert {status for _, status, _, told in await judged.inputs() if "turn" in told} == {"episode"}


async def test_what_is_not_there_is_named_and_the_rest_is_judged(world: World) -> None:
    say_all(world)
    judge(world, "some", helpful=(1, 987))
    judge(world, "none", unhelpful=(987, 988))

    await world.settle(await world.worker())

    assert [event.id for event in world.changes() if event.feedback] == [1]
    ((kind, report),) = world.answers("some")
    assert (kind, report["success"]) == ("turn-report", True)
    assert report["degraded"] == [f"there is no memory 987 of {HERE.key}"]
    ((kind, error),) = world.answers("none")
    assert (kind, error["code"], error["field"]) == ("error", "not_found", "unhelpful")
    assert "987, 988" in error["message"]


async def test_what_is_taken_back_moves_nothing_any_more_and_stays_on_the_log(world: World) -> None:
    say_all(world)
    judge(world, "1", helpful=(1,), used=(2,))
    judge(world, "2", withdrawn=(1, 2))

    await world.settle(await world.worker())

    assert await factors_of(world) == {}
    assert [event.feedback.value for event in world.changes() if event.feedback] == [
        "used",
        "helpful",
        "withdrawn",
        "withdrawn",
    ]


async def test_one_scopes_judgements_move_nothing_of_another(world: World) -> None:
    for scope in (HERE, BESIDE):
        say_all(world, scope)
    judge(world, "f", helpful=(1,))
    judge(world, "g", scope=BESIDE, unhelpful=(1,))

    await world.settle(await world.worker())

    assert (await factors_of(world))[1] > 1 > (await factors_of(world, BESIDE))[1]


async def test_a_question_that_is_judged_is_masked(world: World) -> None:
    secret = next(one for one in planted(7) if one.secret == "password")
    say_all(world)
    judge(world, "f", helpful=(1,), query=secret.text)

    await world.settle(await world.worker())

    (event,) = [event for event in world.changes() if event.feedback]
    assert event.feedback is not None
    assert "[masked:password]" in (event.feedback.query or "")
    kept = [record.value or b"" for record in (*world.topics.everywhere("facts"), *world.topics.everywhere("changes"))]
    assert [value for value in kept if secret.value.encode() in value] == []


async def test_the_memories_that_are_judged_are_recorded_with_how_they_began(world: World, tmp_path: Path) -> None:
    say_all(world)
    worker = await world.worker()
    await world.settle(worker)
    judge(world, "f", helpful=(3, 987))
    await worker.handle("intake", 0, world.topics.inboxes[0][3:])
    record = world.facts()[-1]
    assert isinstance(record, CommandRecord)
    assert record.birth is None
    assert {memory_id: birth.text for memory_id, birth in (record.births or {}).items()} == {3: TEXTS[2]}

    replay = await World.make(tmp_path / "replay")
    for told in world.topics.log("facts")[1:]:  # the first turn is left out: ids are others
        replay.topics.append("facts", 0, "", told.value, told.headers)
    await (await replay.worker()).handle("remember", 0, replay.topics.log("facts"))

    assert [(event.id, event.text) for event in replay.changes() if event.feedback] == [(2, TEXTS[2])]


async def test_what_a_question_tells_to_have_been_used_counts_once_however_often_it_is_delivered(world: World) -> None:
    say_all(world)
    worker = await world.worker()
    asked = world.ask(SearchRequest(scope=HERE, query="x", used=("1", "turn-7", "987")), "q")
    for _ in range(2):
        made = command_of(SearchRequest.from_wire(parse_object(asked.value)), asked, worker.ports.outbox)
        assert made is not None
        world.topics.append(made.suffix, made.partition or 0, made.key, made.value, made.headers)

    await world.settle(worker)

    assert [(event.id, event.feedback and event.feedback.value) for event in world.changes()[3:]] == [(1, "used")]
    assert world.answers("q") == []
