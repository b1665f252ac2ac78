"""Commands that name memories: one outcome for each memory that is named, whatever is delivered again or fails."""

import contextlib
import itertools
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import Unavailable
from schemas.facts import CommandRecord
from schemas.retrieval import SearchRequest
from tests.contract.perils import Mishap
from tests.contract.world import START, World, scope_in

HERE, BESIDE = scope_in(0), scope_in(0, 1)
TEXT = "I live in Lyon."
LATER: dict[str, Any] = {"timestamp": START.replace(year=2026)}


@pytest.fixture
async def world(tmp_path: Path) -> World:
    return await World.make(tmp_path / "lake")


def change(world: World, op: str, ask: str = "", **fields: Any) -> None:
    told: dict[str, Any] = {"scope": HERE, "command_id": f"{op}-{ask}"} | LATER | fields
    world.command(0, op=op, ask=ask, **told)


async def told(world: World, worker: Any = None) -> list[tuple[str, int, str]]:
    """Let a worker handle all that came; the audit log then."""
    await world.settle(worker or await world.worker())
    return [(event.event, event.id, event.text) for event in world.changes() if event.scope == HERE]


async def current(world: World) -> list[str]:
    rows = [row for row in await world.rows() if row.event.scope == HERE and row.status == "current"]
    return sorted(row.event.text for row in rows)


async def test_a_memory_is_forgotten_and_restored_and_each_is_an_event_with_its_report(world: World) -> None:
    world.say(HERE, TEXT)
    change(world, "forget", "f", id=1)
    change(world, "restore", "r", id=1)

    assert await told(world) == [("ADD", 1, TEXT), ("DELETE", 1, TEXT), ("UPDATE", 1, TEXT)]

    assert [event.sequence for event in world.changes()] == [1, 2, 3]
    assert [event.command_id for event in world.changes()] == [None, "forget-f", "restore-r"]
    assert await current(world) == [TEXT]
    for ask, event, command_id in (("f", "DELETE", "forget-f"), ("r", "UPDATE", "restore-r")):
        ((kind, report),) = world.answers(ask)
        assert (kind, report["success"], report["commandId"]) == ("turn-report", True, command_id)
        assert [outcome["event"] for outcome in report["memory"]] == [event]


@pytest.mark.parametrize(
    ("op", "fields", "named"),
    [
        ("forget", {"id": 987}, "987"),
        ("restore", {"id": 987}, "987"),
        ("restore", {"id": 1, "revision": 5}, "revision 5"),
    ],
)
async def test_what_is_not_there_is_an_error_that_names_it_and_no_event(
    world: World, op: str, fields: dict[str, Any], named: str
) -> None:
    world.say(HERE, TEXT)
    change(world, op, "x", **fields)

    assert await told(world) == [("ADD", 1, TEXT)]

    ((kind, error),) = world.answers("x")
    assert (kind, error["code"], error["field"]) == ("error", "not_found", "id")
    assert named in error["message"]


async def test_all_is_all_and_only_of_its_scope(world: World) -> None:
    for number in range(137):
        world.say(HERE, f"Locker {number} belongs to tenant {number}.", turn_id=f"t{number}")
    world.say(BESIDE, "My locker is made of oak.")
    worker = await world.worker()
    for agent in ("intake", "remember"):
        await worker.handle(agent, 0, world.delivered(agent, 0))
    beside = [row for row in await world.rows() if row.event.scope == BESIDE]
    change(world, "forget", "all", everything=True)
    change(world, "forget", "again", everything=True)

    for agent, start in (("intake", 138), ("remember", 138)):
        await worker.handle(agent, 0, world.delivered(agent, 0)[start:])  # type: ignore[arg-type]

    events = [event.event for event in world.changes()]
    assert (events.count("ADD"), events.count("DELETE"), len(events)) == (138, 137, 275)
    assert await current(world) == []
    assert [row for row in await world.rows() if row.event.scope == BESIDE] == beside
    ((_, report),) = world.answers("all")
    assert [outcome["id"] for outcome in report["memory"]] == list(range(1, 138))
    ((_, nothing),) = world.answers("again")
    assert (nothing["success"], nothing["memory"]) == (True, [])


STORIES: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "forget": [("forget", {"id": 1})],
    "forget all": [("forget", {"everything": True})],
    "restore": [("forget", {"id": 1}), ("restore", {"id": 1})],
    "a revision": [("restore", {"id": 1, "revision": 1}), ("restore", {"id": 1, "revision": 2})],
    "nothing there": [("forget", {"id": 3}), ("restore", {"id": 4})],
    "feedback": [("feedback", {"helpful": (1, 9), "used": (2,), "query": "Where?"}), ("feedback", {"withdrawn": (1,)})],
    "feedback on nothing": [("feedback", {"helpful": (8, 9)})],
    "nothing to do": [("restore", {"id": 1}), ("forget", {"id": 1}), ("forget", {"id": 1})],
}


def tell(world: World, story: list[tuple[str, dict[str, Any]]]) -> None:
    """Two memories, what the story does, and a third and fourth memory."""
    world.say(HERE, TEXT, turn_id="a")
    world.say(HERE, "I moved to Porto.", turn_id="b")
    world.say(HERE, "I like chess.", turn_id="c")
    for number, (op, fields) in enumerate(story):
        change(world, op, f"q{number}", **fields)
    world.say(HERE, "My dog is called Bruno.", turn_id="d", **LATER)
    world.say(HERE, "My sister is a diver.", turn_id="e", **LATER)


@pytest.mark.parametrize("when", ["midst", "after"])
@pytest.mark.parametrize("name", STORIES)
async def test_a_worker_that_fails_at_any_call_and_starts_again_changes_nothing(
    tmp_path: Path, name: str, when: Any
) -> None:
    straight = await World.make(tmp_path / "straight")
    tell(straight, STORIES[name])
    await straight.settle(await straight.worker())
    expected = await straight.outcome()
    empty = await World.make(tmp_path / "empty")
    for call in itertools.count(1):
        world = empty.copied(tmp_path / f"at-{call}")
        tell(world, STORIES[name])
        for partition in range(2):
            await (await world.worker()).handle("intake", partition, world.delivered("intake", partition))
        mishap = Mishap(call, when)
        with contextlib.suppress(Unavailable):
            await (await world.worker()).handle("remember", 0, world.delivered("remember", 0), mishap)
        if not mishap.reached.is_set():  # there are no more calls to fail
            assert call > 5
            break
        await (await world.worker()).handle("remember", 0, world.delivered("remember", 0))

        assert await world.outcome() == expected, call


@pytest.mark.parametrize("name", STORIES)
async def test_inputs_that_are_taken_in_twice_are_carried_out_once(tmp_path: Path, name: str) -> None:
    """The copies stand on ``facts`` behind all that came after what they are copies of."""
    straight, twice = await World.make(tmp_path / "straight"), await World.make(tmp_path / "twice")
    for world in (straight, twice):
        tell(world, STORIES[name])
        await world.settle(await world.worker())
    expected = await straight.outcome()

    await twice.settle(await twice.worker())
    await twice.settle(await twice.worker(), size=4)

    assert await twice.outcome() == expected


async def test_a_command_that_came_at_another_offset_gets_the_originals_answer(world: World) -> None:
    world.say(HERE, TEXT)
    for fields in ({"id": 1}, {"id": 7}, {"everything": True}):
        for ask in ("one", "two"):
            change(world, "forget", f"{ask}-{fields}", **fields, command_id=str(fields))

    assert await told(world) == [("ADD", 1, TEXT), ("DELETE", 1, TEXT)]

    for fields in ({"id": 1}, {"id": 7}, {"everything": True}):
        assert world.answers(f"one-{fields}") == world.answers(f"two-{fields}") != []


async def test_the_memory_that_a_command_names_is_recorded_with_how_it_began(world: World) -> None:
    world.say(HERE, TEXT)
    world.say(HERE, "I moved to Porto.")
    worker = await world.worker()
    await told(world, worker)
    change(world, "forget", "f", id=1)
    change(world, "forget", "x", id=7)

    await worker.handle("intake", 0, world.topics.inboxes[0][2:])

    *_, known, unknown = (record for record in world.facts() if isinstance(record, CommandRecord))
    assert known.birth is not None
    assert (known.birth.text, known.birth.fact_id) == (TEXT, world.changes()[0].fact_id)
    assert unknown.birth is None


async def test_a_replay_in_which_ids_are_others_finds_the_memory_that_was_meant(world: World, tmp_path: Path) -> None:
    world.say(HERE, "I like chess.")
    world.say(HERE, TEXT)
    worker = await world.worker()
    await told(world, worker)
    change(world, "forget", "f", id=2)
    await worker.handle("intake", 0, world.topics.inboxes[0][2:])
    replay = await World.make(tmp_path / "replay")
    records = world.topics.log("facts")[1:]

    for record in records:
        replay.topics.append("facts", 0, "", record.value, record.headers)
    await (await replay.worker()).handle("remember", 0, replay.topics.log("facts"))

    assert [(event.event, event.id, event.text) for event in replay.changes()] == [
        ("ADD", 1, TEXT),
        ("DELETE", 1, TEXT),
    ]


@pytest.mark.parametrize("mode", ["semantic", "keyword", "hybrid"])
async def test_what_is_forgotten_is_found_by_no_search_and_what_is_restored_by_each(world: World, mode: Any) -> None:
    worker = await world.worker()
    for number, text in enumerate(("The gate's word is quillfish.", "The gate opens at six.", "The gate is blue.")):
        world.say(HERE, text, turn_id=f"t{number}")
    await told(world, worker)

    async def found(ask: str) -> list[str]:
        request = SearchRequest(scope=HERE, query="gate word quillfish", mode=mode, top_k=2, similarity_threshold=0)
        await worker.handle("answer", 0, [world.ask(request, ask)])
        return [result["text"] for result in world.answers(ask)[0][1]["results"]]

    assert "The gate's word is quillfish." in await found("before")
    change(world, "forget", "f", id=1)
    await told(world, worker)
    gone = await found("gone")
    change(world, "restore", "r", id=1)
    await told(world, worker)

    assert len(gone) == 2
    assert "quillfish" not in str(gone)
    assert "The gate's word is quillfish." in await found("back")


async def test_a_conversation_forgets_with_its_episodes_and_a_command_brings_both_back(world: World) -> None:
    worker = await world.worker()
    world.say(HERE, "My phone number is 555 0142.", turn_id="told")
    world.say(HERE, "Please forget my phone number.", turn_id="asked")

    assert [event for event, *_ in await told(world, worker)] == ["ADD", "DELETE"]
    assert await statuses(world) == {"told": "forgotten", "asked": "forgotten"}

    change(world, "restore", "r", id=1)
    assert [event for event, *_ in await told(world, worker)] == ["ADD", "DELETE", "UPDATE"]
    assert await statuses(world) == {"told": "episode", "asked": "episode"}


async def test_a_late_turn_that_says_what_is_forgotten_is_out_of_search_too(world: World) -> None:
    worker = await world.worker()
    world.say(HERE, "My phone number is 555 0142.", turn_id="told")
    world.say(HERE, "Please forget my phone number.", turn_id="asked", **LATER)
    world.say(HERE, "My phone number is 555 0142.", turn_id="late")

    assert await told(world, worker) == [
        ("ADD", 1, "My phone number is 555 0142."),
        ("DELETE", 1, "My phone number is 555 0142."),
        ("NONE", 1, "My phone number is 555 0142."),
    ]
    assert set((await statuses(world)).values()) == {"forgotten"}


@pytest.mark.parametrize("forgotten_first", [False, True])
async def test_how_far_the_writer_has_come_does_not_change_what_a_turn_is_read_as(
    world: World, forgotten_first: bool
) -> None:
    world.say(HERE, "The ledger service stores its data in MySQL.", turn_id="told")
    change(world, "forget", "f", id=1)
    world.say(HERE, "Sorry, it is MariaDB.", turn_id="after")
    worker = await world.worker()

    await worker.handle("intake", 0, world.topics.inboxes[0][:2])
    if forgotten_first:
        await worker.handle("remember", 0, world.delivered("remember", 0))
        assert await statuses(world) == {"told": "forgotten"}
    await (await world.worker()).handle("intake", 0, world.topics.inboxes[0][2:])

    assert [fact.subject for fact in world.facts()[-1].extraction.facts] == ["ledger service"]  # type: ignore[union-attr]


async def statuses(world: World) -> dict[str, str]:
    return {record["turn"]["turnId"]: status for _, status, _, record in await world.inputs() if "turn" in record}


async def test_changes_of_many_scopes_at_once_keep_apart(world: World) -> None:
    for scope in (HERE, BESIDE):
        world.say(scope, TEXT, turn_id="t")
    world.command(0, op="forget", scope=BESIDE, everything=True, **LATER)
    worker = await world.worker()

    await worker.handle("intake", 0, world.delivered("intake", 0))
    await worker.handle("remember", 0, world.delivered("remember", 0))

    assert [(event.event, event.scope) for event in world.changes()] == [
        ("ADD", HERE),
        ("ADD", BESIDE),
        ("DELETE", BESIDE),
    ]
    assert [status for _, status, *_ in await world.inputs() if status != "command"].count("forgotten") == 1
