"""Every request gets exactly one reply, on whichever path it goes."""

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from lakehouse.embedding.embedder import Vectors
from schemas.errors import Unavailable
from schemas.facts import Repeat, Source
from schemas.message import cloud_event
from schemas.retrieval import SearchRequest
from tests.contract.perils import Mishap
from tests.contract.world import START, WordEmbedder, Worker, World, scope_in, way_back

HERE, THERE = scope_in(0), scope_in(1)
PAST, FUTURE = START, datetime(2900, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Asked:
    """A question, and the one reply to it.

    Attributes:
        fields: Of the request.
        away: What cannot be had.
        deadline: Of the asker.
        kind: Of the reply.
        code: Of an error.
    """

    fields: dict[str, Any]
    kind: str
    code: str | None = None
    away: str = ""
    deadline: datetime | None = None


QUESTIONS = {
    "results": Asked({}, "reply"),
    "context": Asked({"format": "context"}, "reply"),
    "a blank question": Asked({"query": " "}, "reply"),
    "what cannot be had": Asked({"kinds": ["external"], "rerank": True}, "reply"),
    "a deadline ahead": Asked({}, "reply", deadline=FUTURE),
    "a deadline that has passed": Asked({}, "error", "deadline_exceeded", deadline=PAST),
    "no lake, for results": Asked({}, "error", "unavailable", "lake"),
    "no lake, for a context": Asked({"format": "context"}, "reply", away="lake"),
    "no model, for any mode": Asked({}, "reply", away="model"),
    "no model, for meaning": Asked({"mode": "semantic"}, "error", "unavailable", "model"),
    "no model, for a context by meaning": Asked({"mode": "semantic", "format": "context"}, "reply", away="model"),
    "no model, for words": Asked({"mode": "keyword"}, "reply", away="model"),
}
BAD_VALUES = [b"", b"no json", b"[]", b"{}", b'{"scope": {"projectId": "*", "userId": "u"}}', b"\xff"]


class AwayEmbedder(WordEmbedder):
    """The model of the lake, which cannot be had."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Fails."""
        raise Unavailable("the model is away")


@pytest.fixture
async def world(tmp_path: Path) -> World:
    """One that knows two things."""
    made = await World.make(tmp_path / "lake")
    for text in ("I live in Lyon.", "I am allergic to peanuts."):
        made.say(HERE, text)
    await made.settle(await made.worker())
    return made


def deadline_of(moment: datetime | None) -> list[tuple[str, bytes]]:
    return [] if moment is None else [("deadline", str(round(moment.timestamp() * 1000)).encode())]


def request(**fields: Any) -> SearchRequest:
    return SearchRequest(**{"scope": HERE, "query": "Where do I live?", "similarity_threshold": 0.1} | fields)


async def handle_new(world: World, worker: Worker) -> None:
    """Handle what came after the two things that are known."""
    await worker.handle("intake", 0, world.topics.inboxes[0][2:])
    await worker.handle("remember", 0, world.topics.log("facts")[2:])


@pytest.mark.parametrize("asked", QUESTIONS.values(), ids=QUESTIONS)
async def test_a_question_gets_one_reply(world: World, asked: Asked) -> None:
    if asked.away == "model":
        world.embedder = AwayEmbedder()
    worker = await world.worker()
    question = world.ask(request(**asked.fields), "q", *deadline_of(asked.deadline))
    if asked.away == "lake":
        world.lose_lake()

    await worker.handle("answer", 0, [question])

    assert [(kind, told.get("code")) for kind, told in world.answers("q")] == [(asked.kind, asked.code)]
    if asked.away and asked.kind == "reply":
        assert world.answers("q")[0][1]["degraded"]


@pytest.mark.parametrize("call", range(1, 9))
@pytest.mark.parametrize("form", ["results", "context"])
@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword"])
async def test_a_question_gets_one_reply_whichever_call_fails(world: World, call: int, form: str, mode: str) -> None:
    worker = await world.worker()
    question = world.ask(request(format=form, mode=mode), "q")

    try:
        await worker.handle("answer", 0, [question], Mishap(call))
    except Unavailable:  # the reply itself was not taken
        assert world.answers("q") == []
        await worker.handle("answer", 0, [question])

    ((kind, told),) = world.answers("q")
    assert kind == "reply" or told["code"] == "unavailable"
    assert kind == "reply" or form == "results"


async def test_each_question_of_a_batch_gets_its_own_reply_whatever_the_others_are(world: World) -> None:
    worker = await world.worker()
    for number, value in enumerate([*BAD_VALUES, request().encode(), request(query="peanuts").encode()]):
        world.topics.append("queries", 0, "", value, way_back(f"q{number}"))

    await worker.handle("answer", 0, world.topics.log("queries"))

    told = [world.answers(f"q{number}") for number in range(len(BAD_VALUES) + 2)]
    assert [len(replies) for replies in told] == [1] * len(told)
    assert [replies[0][0] for replies in told] == ["error"] * len(BAD_VALUES) + ["reply"] * 2
    assert {replies[0][1].get("code") for replies in told} == {"invalid_request", None}
    assert len(world.topics.log("deadletters")) == len(BAD_VALUES)


async def test_a_question_without_a_way_back_is_a_dead_letter(world: World) -> None:
    await (await world.worker()).handle("answer", 0, [world.ask(request(), "")])

    assert len(world.topics.log("deadletters")) == 1
    assert world.topics.log("replies") == []


async def test_a_question_on_another_partition_is_answered_once_where_it_belongs(world: World) -> None:
    worker = await world.worker()
    await worker.handle("answer", 1, [world.ask(request(), "q", partition=1)])
    assert world.answers("q") == []

    await worker.handle("answer", 0, world.topics.log("queries"))

    assert [kind for kind, _ in world.answers("q")] == ["reply"]


async def test_a_question_that_was_forwarded_is_answered_wherever_it_stands(world: World) -> None:
    question = world.ask(request(), "q", ("memlake_forwarded", b"1"), partition=1)

    await (await world.worker()).handle("answer", 1, [question])

    ((kind, told),) = world.answers("q")
    assert kind == "reply"
    assert told["results"]


@pytest.mark.parametrize("suffix", ["turns", "commands"])
@pytest.mark.parametrize("value", BAD_VALUES)
async def test_an_input_that_cannot_be_understood_gets_one_error(world: World, suffix: Any, value: bytes) -> None:
    bad = world.topics.append(suffix, 0, "", value, way_back("t"))

    await (await world.worker()).handle("intake", 0, [bad])

    assert [(kind, told["code"]) for kind, told in world.answers("t")] == [("error", "invalid_request")]
    assert len(world.topics.log("deadletters")) == 1


@pytest.mark.parametrize("deadline", [PAST, FUTURE])
async def test_a_turn_is_remembered_and_answered_whatever_its_deadline(world: World, deadline: datetime) -> None:
    turn = world.say(HERE, "I have a dog.", ask="t")
    turn.headers.extend(deadline_of(deadline))
    worker = await world.worker()

    await handle_new(world, worker)

    assert [(kind, told["success"]) for kind, told in world.answers("t")] == [("turn-report", True)]


@pytest.mark.parametrize("text", ["Thanks!", "I have a dog."])
async def test_a_turn_gets_one_report_after_the_lake_was_away(world: World, text: str) -> None:
    world.say(HERE, text, ask="t")
    worker = await world.worker()
    world.lose_lake()
    with pytest.raises(Unavailable):
        await worker.handle("intake", 0, world.topics.inboxes[0][2:])
    world.find_lake()

    await handle_new(world, worker)

    assert [kind for kind, _ in world.answers("t")] == ["turn-report"]


@pytest.mark.parametrize("scope", [HERE, None])
async def test_a_repeat_whose_original_is_not_there_gets_one_error(world: World, scope: Any) -> None:
    source = Source(topic="contract.turns", partition=0, offset=99)
    repeat = Repeat(record_id="unknown", recorded_at=START, source=source, scope=scope)
    headers = cloud_event(repeat, event_id="r", source="/test", time=START, key="")
    record = world.topics.append("facts", 0, "unknown#1", repeat.encode(), [*headers, *way_back("t")])

    await (await world.worker()).handle("remember", 0, [record])

    assert [kind for kind, _ in world.answers("t")] == ["error"]


async def test_a_record_that_cannot_be_understood_gets_one_error(world: World) -> None:
    record = world.topics.append("facts", 0, "strange", b"{}", way_back("t"))

    await (await world.worker()).handle("remember", 0, [record])

    assert [(kind, told["code"]) for kind, told in world.answers("t")] == [("error", "invalid_request")]


async def test_maintenance_by_command_gets_one_report_and_says_what_it_did(world: World) -> None:
    world.command(0, op="maintain", command_id="m", ask="m")

    await handle_new(world, await world.worker())

    assert [(kind, told["success"]) for kind, told in world.answers("m")] == [("turn-report", True)]
    assert len(world.topics.log("reports")) == 2


@pytest.mark.parametrize("call", range(1, 16))
@pytest.mark.parametrize("when", ["before", "after"])
async def test_maintenance_that_fails_is_never_told_as_a_success(world: World, call: int, when: Any) -> None:
    world.command(0, op="maintain", command_id="m", ask="m")
    worker = await world.worker()
    await worker.handle("intake", 0, world.topics.inboxes[0][2:])
    record = world.topics.log("facts")[2:]
    mishap = Mishap(call, when)

    try:
        await worker.handle("remember", 0, record, mishap)
    except Unavailable:
        sent = len(world.answers("m"))
        assert sent == (1 if when == "after" and world.topics.log("reports") else 0)
        return

    ((kind, told),) = world.answers("m")
    if mishap.calls >= call:
        assert (kind, told.get("code")) == ("error", "unavailable")
    else:
        assert (kind, told["success"]) == ("turn-report", True)
        assert len(world.topics.log("reports")) == 2


async def test_an_answer_in_time_is_given_within_its_deadline(world: World) -> None:
    now = START + timedelta(days=60)
    worker = await world.worker(clock=lambda: now)

    await worker.handle("answer", 0, [world.ask(request(), "q", *deadline_of(now + timedelta(milliseconds=1)))])

    assert [kind for kind, _ in world.answers("q")] in (["reply"], ["error"])


async def test_a_question_is_answered_once_though_its_neighbours_reply_was_not_taken(world: World) -> None:
    late = world.ask(request(), "late", *deadline_of(PAST))
    slow = world.ask(request(), "slow")
    worker = await world.worker()

    with pytest.raises(Unavailable):
        await worker.handle("answer", 0, [late, slow], Mishap(1))
    await worker.handle("answer", 0, [late, slow])
    await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}), return_exceptions=True)

    assert [len(world.answers(ask)) for ask in ("late", "slow")] == [1, 1]


@pytest.mark.parametrize("call", range(1, 10))
async def test_a_new_question_at_the_place_of_an_old_one_is_answered_once_partitions_moved(
    world: World, call: int
) -> None:
    worker = await world.worker()
    late, slow = world.ask(request(), "late", *deadline_of(PAST)), world.ask(request(), "slow")
    with contextlib.suppress(Unavailable):
        await worker.handle("answer", 0, [late, slow], Mishap(call))
    await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}), return_exceptions=True)
    worker.forget()
    world.topics.logs.clear()  # somebody deleted the topic, and offsets begin anew

    await worker.handle("answer", 0, [world.ask(request(), "new"), world.ask(request(), "next")])

    assert [len(world.answers(ask)) for ask in ("new", "next")] == [1, 1]
