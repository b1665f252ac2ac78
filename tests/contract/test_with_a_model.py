"""Handlers with a language model behind them: it may help or fail in any way, and nothing is lost or doubled."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from schemas.answers import ModelAnswer
from schemas.errors import Unavailable
from schemas.facts import TurnRecord
from schemas.memory import MemoryEvent, TurnReport
from streams.decide import DecisionOptions
from streams.events import neighbour_of
from streams.extract import extract
from streams.judging import extract_recorded
from streams.llm.decision import decide_recorded
from streams.settings import Settings
from tests.contract.perils import Mishap
from tests.contract.world import NAME, PARTITIONS, START, Worker, World, scope_in
from tests.llm import fault_server as faults
from tests.llm.fault_server import Behaviour, FaultServer, error, held, says

HERE, BESIDE, THERE = scope_in(0), scope_in(0, 1), scope_in(1)
LYON, PORTO = "I live in Lyon.", "I live in Porto."
ASKS = "Could you find a vet near my home in Lyon?"
NOTHING = says({"facts": []})
UPDATE = says({"reasoning": "It is another town.", "event": "UPDATE", "targetId": 0, "confidence": 0.9})
KEY = "AKIA" + "IOSFODNN7EXAMPLE"


@pytest.fixture
async def server() -> AsyncIterator[FaultServer]:
    async with FaultServer() as found:
        found.script("extraction", NOTHING)
        found.script("decision", UPDATE)
        yield found


@pytest.fixture
async def world(tmp_path: Path, server: FaultServer) -> World:
    return with_model(await World.make(tmp_path), server)


def with_model(world: World, server: FaultServer, **changed: Any) -> World:
    told = {"llm_timeout_s": 20, "llm_deadline_s": 20, "llm_budget_s": 20, "llm_retries": 0, "llm_use": "both"}
    options = {"name": NAME, "partitions": PARTITIONS, "llm_url": server.url, "llm_model": "m", **told, **changed}
    world.settings = Settings.model_validate(options)
    return world


async def settled(world: World, size: int = 1) -> Worker:
    worker = await world.worker()
    await world.settle(worker, size)
    await worker.ports.judge.close()
    return worker


def report(world: World, ask: str) -> TurnReport:
    ((kind, told),) = world.answers(ask)
    assert kind == "turn-report", told
    return TurnReport.from_wire(told)


def told(events: list[MemoryEvent]) -> list[tuple[str, str, str | None]]:
    return [(event.event, event.text, event.old_memory) for event in events]


async def test_what_the_model_finds_is_remembered_and_its_answer_kept(world: World, server: FaultServer) -> None:
    server.script("extraction", says({"facts": [{"text": "My home is in Lyon.", "tags": [], "turn": 0}]}))
    world.say(HERE, ASKS, ask="a")

    await settled(world)

    (record,) = world.facts()
    assert isinstance(record, TurnRecord)
    assert record.extraction.model is not None
    assert record.extraction.model.prompt.startswith("extraction/1#")
    assert json.loads(record.extraction.model.answer or "")["facts"][0]["text"] == "My home is in Lyon."
    assert told(world.changes()) == [("ADD", "My home is in Lyon.", None)]
    assert report(world, "a").degraded == ()


async def test_what_the_model_decides_is_told_with_question_and_answer(world: World, server: FaultServer) -> None:
    world.say(HERE, LYON)
    world.say(HERE, PORTO, ask="b")

    await settled(world)

    first, second = world.changes()
    assert told([second]) == [("UPDATE", PORTO, LYON)]
    assert (first.quality_source == "llm", second.quality_source) == (False, "llm")
    assert first.decision.model is None
    assert (second.decision.model, second.decision.degraded) == ("m", None)
    assert (second.decision.prompt or "").startswith("decision/1#")
    assert json.loads(second.decision.answer or "")["event"] == "UPDATE"
    assert "It is another town." in second.reasoning
    assert len(server.of_kind("decision")) == 1
    assert report(world, "b").memory[0].reasoning == second.reasoning


FAILING: list[tuple[str, Behaviour]] = [
    ("hangs", faults.hangs),
    ("drips", faults.DRIPS),
    ("closes", faults.closes),
    ("500", error(500)),
    ("401", error(401)),
    ("quota", error(429, "insufficient_quota")),
    ("nonsense", says("nonsense")),
    ("cut off", says('{"facts": [{"text": "I li', finish="length")),
    ("refuses", says(None, refusal="no")),
    ("too long", error(400, "context_length_exceeded")),
    ("HTML", faults.HTML),
]


@pytest.mark.parametrize("behaviour", [row[1] for row in FAILING], ids=[row[0] for row in FAILING])
async def test_a_model_that_fails_costs_nothing_but_its_help_and_that_is_told(
    world: World, server: FaultServer, tmp_path_factory: pytest.TempPathFactory, behaviour: Behaviour
) -> None:
    with_model(world, server, llm_timeout_s=0.3, llm_deadline_s=0.5, llm_budget_s=2)
    server.scripts = {"any": [behaviour]}
    plain = await World.make(tmp_path_factory.mktemp("plain"))
    for one in (world, plain):
        for ask, text in (("a", LYON), ("b", PORTO), ("c", "I have a goat and a barn."), ("d", PORTO)):
            one.say(HERE, text, ask=ask, turn_id=ask)

    await settled(world)
    await settled(plain)

    assert told(world.changes()) == told(plain.changes())
    assert [event.sequence for event in world.changes()] == [1, 2, 3, 4]
    assert "llm" not in {event.quality_source for event in world.changes()}
    assert all(reason.startswith("llm: ") for ask in "abcd" for reason in report(world, ask).degraded)
    assert all(report(world, ask).degraded for ask in "abc")
    assert report(plain, "b").degraded == ()
    assert len(world.topics.log("deadletters")) == 0


async def test_what_comes_again_is_not_asked_again_and_told_word_for_word(world: World, server: FaultServer) -> None:
    world.say(HERE, LYON)
    world.say(HERE, PORTO, ask="b")
    await settled(world)
    asked, rows, first = len(server.received), await world.rows(), world.topics.log("changes")[:]
    server.scripts = {"any": [error(500)]}

    await settled(world, size=5)  # another worker, other batches

    assert len(server.received) == asked
    assert await world.rows() == rows
    assert {(one.key, one.value) for one in world.topics.log("changes")} == {(one.key, one.value) for one in first}
    assert {str(answer) for answer in world.answers("b")} == {str(world.answers("b")[0])}


async def test_a_batch_that_fails_after_the_model_was_asked_is_decided_once_in_effect(
    world: World, server: FaultServer
) -> None:
    world.say(HERE, LYON)
    world.say(HERE, PORTO)
    worker = await world.worker()
    await worker.handle("intake", 0, world.delivered("intake", 0))
    for at in (3, 4, 5):
        with suppress(Unavailable):
            await worker.handle("remember", 0, world.delivered("remember", 0)[:2], Mishap(at))
    await settled(world)

    assert told(world.changes()) == [("ADD", LYON, None), ("UPDATE", PORTO, LYON)]
    await worker.ports.judge.close()


async def test_a_scope_that_waits_for_the_model_holds_up_no_other_partition_and_no_other_scope(
    world: World, server: FaultServer
) -> None:
    release = asyncio.Event()
    for scope in (HERE, BESIDE, THERE):
        world.say(scope, LYON)
        world.say(scope, PORTO)
    worker = await world.worker()
    for partition in range(PARTITIONS):
        await worker.handle("intake", partition, world.delivered("intake", partition))
    server.script("decision", held(release, UPDATE), UPDATE)
    stuck = asyncio.create_task(worker.handle("remember", 0, world.delivered("remember", 0)))
    await until(lambda: len(server.of_kind("decision")) == 2)  # both scopes of the batch, one of them held

    await worker.handle("remember", 1, world.delivered("remember", 1))

    assert not stuck.done()
    assert {event.scope for event in world.changes()} == {THERE}
    release.set()
    await stuck
    assert [event.event for event in world.changes() if event.scope == HERE] == ["ADD", "UPDATE"]
    assert {event.quality_source for event in world.changes() if event.event == "UPDATE"} == {"llm"}
    await worker.ports.judge.close()


async def test_the_facts_of_one_scope_are_decided_in_order(world: World, server: FaultServer) -> None:
    with_model(world, server, llm_use="decisions")
    release = asyncio.Event()
    for town in ("Lyon", "Porto", "Bergen"):
        world.say(HERE, f"I live in {town}.")
    worker = await world.worker()
    await worker.handle("intake", 0, world.delivered("intake", 0))
    server.script("decision", held(release, UPDATE), UPDATE)
    task = asyncio.create_task(worker.handle("remember", 0, world.delivered("remember", 0)))
    await until(lambda: len(server.of_kind("decision")) == 1)
    await asyncio.sleep(0.05)

    assert len(server.of_kind("decision")) == 1
    release.set()
    await task
    assert ["Lyon" in request.text for request in server.of_kind("decision")] == [True, False]
    assert told(world.changes())[-1] == ("UPDATE", "I live in Bergen.", PORTO)
    await worker.ports.judge.close()


async def test_no_more_is_asked_at_once_than_allowed_and_records_keep_their_order(
    world: World, server: FaultServer
) -> None:
    with_model(world, server, llm_concurrency=3)
    server.script("extraction", faults.after(0.02, NOTHING))
    for number in range(12):
        world.say(HERE, f"I have {number} goats.", turn_id=f"t{number}")
    worker = await world.worker()

    await worker.handle("intake", 0, world.delivered("intake", 0))

    assert (server.most, len(server.received)) == (3, 12)
    assert [record.source.offset for record in world.facts()] == list(range(12))
    await worker.ports.judge.close()


async def test_a_batch_ends_within_its_budget_and_what_was_not_asked_is_told(world: World, server: FaultServer) -> None:
    with_model(world, server, llm_timeout_s=0.5, llm_deadline_s=0.5, llm_budget_s=0.5, llm_breaker_failures=100)
    server.script("extraction", faults.hangs)
    for number in range(30):
        world.say(HERE, f"I have {number} goats.", turn_id=f"t{number}")
    worker = await world.worker()
    began = time.monotonic()

    await worker.handle("intake", 0, world.delivered("intake", 0))

    assert time.monotonic() - began < 10  # and not 30 times the deadline
    records = [record for record in world.facts() if isinstance(record, TurnRecord)]
    assert {record.extraction.degraded for record in records} <= {("llm: timeout",), ("llm: budget spent",)}
    assert [len(record.extraction.facts) for record in records] == [1] * 30
    await worker.ports.judge.close()


@pytest.mark.parametrize("use", ["off", "decisions", "extraction", "both"])
async def test_turns_are_read_with_a_model_for_what_it_is_set_to(world: World, server: FaultServer, use: str) -> None:
    with_model(world, server, llm_use=use)
    world.say(HERE, LYON)
    world.say(HERE, "Noted.", role="assistant")
    world.say(HERE, PORTO)

    await settled(world)

    assert len(server.of_kind("extraction")) == (2 if use in {"extraction", "both"} else 0)
    assert len(server.of_kind("decision")) == (1 if use in {"decisions", "both"} else 0)


@pytest.mark.parametrize("wanted", [True, False])
async def test_a_command_asks_for_decisions_itself(world: World, server: FaultServer, wanted: bool) -> None:
    with_model(world, server, llm_use="off")
    for text in (LYON, PORTO):
        options = {"useLLMDecisions": wanted}
        world.command(0, scope=HERE, op="extract_and_operate", interaction=text, options=options, timestamp=START)

    await settled(world)

    assert [event.quality_source == "llm" for event in world.changes()] == [False, wanted]
    assert len(server.received) == int(wanted)


async def test_a_command_that_asks_for_a_model_where_there_is_none_is_answered_by_rules_and_told(
    tmp_path: Path,
) -> None:
    world = await World.make(tmp_path)
    for ask, text in (("a", LYON), ("b", PORTO)):
        world.command(
            0, scope=HERE, op="extract_and_operate", interaction=text, options={"useLLMDecisions": True}, ask=ask
        )

    await settled(world)

    assert told(world.changes()) == [("ADD", LYON, None), ("UPDATE", PORTO, LYON)]
    assert [report(world, ask).degraded for ask in "ab"] == [("llm: not configured",)] * 2
    assert [event.decision.degraded for event in world.changes()] == [None, "llm: not configured"]
    assert {event.decision.model for event in world.changes()} == {None}


async def test_a_profile_leaves_out_what_the_model_finds_too(world: World, server: FaultServer) -> None:
    with_model(world, server, profile="technical")
    server.script("extraction", says({"facts": [{"text": "My home is in Lyon."}]}))
    world.say(HERE, ASKS)

    await settled(world)

    assert world.changes() == []


async def test_no_secret_of_a_models_answer_is_kept_anywhere(world: World, server: FaultServer) -> None:
    leak = {"text": f"My home in Lyon has the key {KEY}.", "tags": [KEY], "code_pattern": KEY}
    server.script("extraction", says({"facts": [leak]}))
    server.script(
        "decision", says({"reasoning": f"The key {KEY} is new.", "event": "UPDATE", "targetId": 0, "confidence": 1})
    )
    world.say(HERE, f"My home in Lyon has the key {KEY}.", ask="a")
    world.say(HERE, "My home in Porto has no key.", ask="b")

    await settled(world)

    kept = [record.value or b"" for records in world.topics.logs.values() for record in records]
    inbox = {record.value for record in world.topics.inboxes[0]}
    assert not [value for value in kept if value not in inbox and KEY.encode() in value]
    assert KEY not in str(await world.rows())
    assert KEY not in "".join(request.text for request in server.received)


async def test_a_text_too_long_for_the_model_is_asked_in_halves(world: World, server: FaultServer) -> None:
    with_model(world, server, llm_use="extraction")
    server.script("extraction", error(400, "context_length_exceeded"), NOTHING)
    world.say(HERE, " ".join(f"I keep goat number {number} in barn {number + 7}." for number in range(90)), ask="a")

    await settled(world)

    sizes = [len(request.text) for request in server.of_kind("extraction")]
    assert len(sizes) == 3
    assert max(sizes[1:]) < sizes[0]
    assert report(world, "a").degraded == ()


async def test_recorded_answers_give_the_same_facts_and_decisions_without_a_model(
    world: World, server: FaultServer
) -> None:
    server.script("extraction", says({"facts": [{"text": "My home is in Lyon."}]}), NOTHING)
    world.say(HERE, ASKS, turn_id="t1")
    world.say(HERE, PORTO, turn_id="t2")
    await settled(world)
    asked = len(server.received)

    one, other = (record for record in world.facts() if isinstance(record, TurnRecord))
    for record, context in ((one, ()), (other, (one.turn,))):
        rules = extract(record.turn, context, record_id=record.record_id)
        assert record.extraction.model is not None
        again = extract_recorded(record, context, rules, record.extraction.model)
        assert again == record.extraction

    first, second = await world.rows()
    basis = second.event.decision
    known = neighbour_of(first, basis.candidates[0].similarity)
    answer = ModelAnswer(model=basis.model or "", prompt=basis.prompt or "", answer=basis.answer)
    decision = decide_recorded(other.extraction.facts[0], [known], DecisionOptions(basis.threshold), answer)
    assert (decision.event, decision.target, decision.text, decision.confidence, decision.reasoning) == (
        second.event.event,
        second.event.id,
        second.event.text,
        second.event.confidence,
        second.event.reasoning,
    )
    assert len(server.received) == asked


async def test_with_the_same_answers_any_batches_give_the_same_memory(
    world: World, server: FaultServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = with_model(await World.make(tmp_path_factory.mktemp("other")), server)
    for each in (world, other):
        for number, text in enumerate((LYON, PORTO, ASKS, "I have a goat.", LYON, "I live in Bergen.")):
            each.say(HERE if number % 2 else BESIDE, text, turn_id=f"t{number}", ask=f"t{number}")

    await settled(world, size=1)
    await settled(other, size=6)

    assert await world.outcome() == await other.outcome()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 - the server tells no event
            await asyncio.sleep(0.01)
