"""A real language model on a real server: it keeps the contract, whatever it says. Its answers mean little, it is tiny.

``LLM_E2E_MODEL=/path/to/model.gguf`` runs a larger one besides, and then the meaning counts.
"""

import json
import os
import random
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from schemas.conversation import Turn
from schemas.facts import TurnRecord
from schemas.memory import TurnReport
from streams.decide.words import words_of
from streams.judging import client_policy
from streams.llm.asking import CallDetails, ask
from streams.llm.client import ModelClient
from streams.llm.extraction import inquiry_of, material_of
from streams.llm.failures import ContextExceeded, ModelFailed
from streams.llm.prompts import Question, decision_question
from streams.llm.shapes import EVENTS, MAX_FACTS, MAX_TEXT, decision_in, facts_in
from streams.settings import Settings
from tests.contract.world import NAME as DEPLOYMENT
from tests.contract.world import PARTITIONS, START, World, scope_in
from tests.llm.small_model import KEY, NAME, packaged, running, unfit

pytestmark = pytest.mark.model
HERE = scope_in(0)
SAID = (
    "I live in Lyon with two goats.",
    "I live in Porto now.",
    "Meine Werkstatt in Graz hat 3 Fenster.",
    "Could you find a vet near my barn in Bergen?",
)
SECRET = "AKIA" + "IOSFODNN7EXAMPLE"


@pytest.fixture(scope="session")
def endpoint() -> Iterator[str]:
    reason = unfit()
    if reason is not None:
        pytest.skip(reason)
    with running(packaged()) as (url, _):
        yield url


def settings(url: str, **changed: Any) -> Settings:
    patient = {"llm_timeout_s": 60, "llm_deadline_s": 60, "llm_budget_s": 120, "unhealthy_after_s": 120}
    told = {"llm_url": url, "llm_model": NAME, "llm_api_key": KEY, "llm_use": "both", "llm_max_tokens": 400}
    return Settings.model_validate({"name": DEPLOYMENT, "partitions": PARTITIONS, **patient, **told, **changed})


@pytest.fixture
async def client(endpoint: str) -> AsyncIterator[ModelClient]:
    async with client_of(settings(endpoint)) as found:
        yield found


def client_of(told: Settings) -> ModelClient:
    return ModelClient(client_policy(told), clock=time.monotonic, jitter=random.random)


def extraction(content: str) -> Question:
    turn = Turn(turn_id="t", scope=HERE, role="user", content=content, timestamp=START)
    inquiry = inquiry_of(material_of(turn, (), "r"))
    return inquiry.question(inquiry.windows[0])


def unobserved(_: CallDetails) -> None:
    """Whoever observes a call need not do anything."""


async def test_an_extraction_fits_its_schema(client: ModelClient) -> None:
    calls: list[CallDetails] = []

    answer = await ask(client, extraction(SAID[0]), partial(facts_in, mask=str), seconds=60, observe=calls.append)

    assert len(answer.value) <= MAX_FACTS
    assert all(len(fact.text) <= MAX_TEXT and fact.turn == 0 and fact.source for fact in answer.value)
    assert (calls[0].outcome, calls[0].tokens_in > 100, calls[0].tokens_out > 0) == ("answered", True, True)


async def test_a_decision_names_what_was_shown_and_nothing_else(client: ModelClient) -> None:
    question = decision_question(SAID[1], [SAID[0], "I keep bees."])

    answer = await ask(client, question, partial(decision_in, candidates=2, mask=str), seconds=120, observe=unobserved)

    assert answer.value.event in EVENTS
    assert answer.value.target in {None, 0, 1}


async def test_a_wrong_key_is_told_and_tried_once(endpoint: str) -> None:
    async with client_of(settings(endpoint, llm_api_key="another")) as client:
        with pytest.raises(ModelFailed) as failed:
            await ask(client, extraction(SAID[0]), partial(facts_in, mask=str), seconds=60, observe=unobserved)

    assert failed.value.reason == "not authorised"


async def test_a_text_beyond_its_context_is_told_as_that(client: ModelClient) -> None:
    long = decision_question("goats " * 166, ["barn " * 60] * 20)

    with pytest.raises(ContextExceeded):
        await ask(client, long, partial(decision_in, candidates=20, mask=str), seconds=60, observe=unobserved)


async def test_an_answer_without_room_is_cut_off_and_never_repaired(endpoint: str) -> None:
    async with client_of(settings(endpoint, llm_max_tokens=64)) as client:
        client.policy = replace(client.policy, max_tokens=4)
        with pytest.raises(ModelFailed) as failed:
            await ask(client, extraction(SAID[0]), partial(facts_in, mask=str), seconds=60, observe=unobserved)

    assert failed.value.reason == "cut off"


async def test_a_deployment_with_the_model_remembers_only_what_was_said(endpoint: str, tmp_path: Path) -> None:
    world = await World.make(tmp_path)
    world.settings = settings(endpoint)
    for number, text in enumerate((*SAID, f"My cloud key is {SECRET}, it opens the barn.")):
        world.say(HERE, text, turn_id=f"t{number}", ask=f"t{number}")
    worker = await world.worker()

    await world.settle(worker, 5)
    await worker.ports.judge.close()

    records = [record for record in world.facts() if isinstance(record, TurnRecord)]
    assert [record.extraction.model is not None for record in records] == [True] * 5
    there = {word for text in SAID for word in words_of(text).all}
    for record in records[:4]:
        for fact in record.extraction.facts:
            assert {word for word in words_of(fact.text).all if any(sign.isdigit() for sign in word)} <= there
    asked = [event for event in world.changes() if event.decision.prompt]
    assert all(event.decision.model == NAME and (event.decision.answer or event.decision.degraded) for event in asked)
    assert any(event.decision.answer for event in asked)
    assert [event.text for event in world.changes() if event.event == "UPDATE"] == [SAID[1]]
    assert "DELETE" not in {event.event for event in world.changes()}
    kept = [
        record.value or b"" for (topic, _), log in world.topics.logs.items() for record in log if "turns" not in topic
    ]
    assert not [value for value in kept if SECRET.encode() in value]
    assert SECRET not in str(await world.rows())


async def test_when_the_server_stops_the_rules_go_on_and_say_so(tmp_path: Path) -> None:
    if (reason := unfit()) is not None:
        pytest.skip(reason)
    world = await World.make(tmp_path)
    with running(packaged()) as (url, process):
        world.settings = settings(url)
        worker = await world.worker()
        process.kill()
        process.wait()
        world.say(HERE, SAID[0], ask="a")
        world.say(HERE, SAID[1], ask="b")
        await world.settle(worker, 2)
        await worker.ports.judge.close()

    assert [event.event for event in world.changes()] == ["ADD", "UPDATE"]
    assert "llm" not in {event.quality_source for event in world.changes()}
    ((_, told),) = world.answers("b")
    assert set(TurnReport.from_wire(told).degraded) <= {"llm: unreachable", "llm: circuit open", "llm: broken reply"}
    assert told["degraded"]


@pytest.mark.skipif("LLM_E2E_MODEL" not in os.environ, reason="LLM_E2E_MODEL names no larger model")
async def test_a_larger_model_finds_and_decides_what_a_person_would() -> None:
    cases = json.loads((Path(__file__).parents[1] / "data" / "llm" / "meaning.json").read_text("utf-8"))
    found = right = 0
    with running(Path(os.environ["LLM_E2E_MODEL"])) as (url, _):
        async with client_of(settings(url)) as client:
            for case in cases["facts"]:
                question = extraction(case["said"])
                answer = await ask(client, question, partial(facts_in, mask=str), seconds=60, observe=unobserved)
                found += any(all(word in fact.text for word in case["holds"]) for fact in answer.value)
            for case in cases["decisions"]:
                read = partial(decision_in, candidates=len(case["known"]), mask=str)
                question = decision_question(case["new"], case["known"])
                told = await ask(client, question, read, seconds=60, observe=unobserved)
                right += (told.value.event, told.value.target) == (case["event"], case["target"])
    assert found >= cases["enough_facts"], f"{found} of {len(cases['facts'])} facts"
    assert right >= cases["enough_decisions"], f"{right} of {len(cases['decisions'])} decisions"
