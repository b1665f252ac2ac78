"""A language model in the seat of the rules: asked as the worker asks it, and counted when it does not answer."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest

from streams.bench.quality.memory import Memory
from streams.bench.quality.minds import ModelMind
from streams.bench.quality.run import TURNS
from streams.bench.vectors import Vectors
from streams.judging import Judge
from streams.metrics import Metrics
from streams.settings import Settings
from tests.contract.world import WordEmbedder
from tests.llm.fault_server import FaultServer, error, says

NOW = datetime(2026, 1, 1, tzinfo=UTC)
FACTS: dict[str, Any] = {"facts": []}
DECISION: dict[str, Any] = {"reasoning": "Another mooring.", "event": "ADD", "targetId": None, "confidence": 0.9}


@pytest.fixture
async def server() -> AsyncIterator[FaultServer]:
    async with FaultServer() as found:
        yield found


async def told(server: FaultServer, *texts: str) -> tuple[list[str], list[bool]]:
    """Events of some turns with the model of a server, and for each question whether it was answered."""
    judge = Judge(Settings(llm_url=server.url, llm_model="m", llm_use="both", llm_retries=0), Metrics(), str)
    asked = ModelMind(judge)
    memory = Memory(Vectors(WordEmbedder()), asked.mind, TURNS)
    try:
        outcomes = [pair for text in texts for pair in await memory.tell(await memory.hear(text, NOW))]
    finally:
        await judge.close()
    return [event.event for _, event in outcomes], asked.answered


async def test_a_model_is_asked_for_facts_and_for_decisions(server: FaultServer) -> None:
    server.script("extraction", says(FACTS))
    server.script("decision", says(DECISION))

    events, answered = await told(server, "My boat is moored in Molde.", "My boat is moored in Bergen.")

    assert len(server.of_kind("extraction")) == 2
    assert len(server.of_kind("decision")) >= 1
    assert len(events) == 2
    assert answered == [True] * (len(server.of_kind("extraction")) + len(server.of_kind("decision")))


async def test_where_the_model_fails_the_rules_answer_and_it_is_counted(server: FaultServer) -> None:
    server.script("extraction", error(500))
    server.script("decision", error(500))

    events, answered = await told(server, "My boat is called Lunde.", "My boat is called Terna now.")

    assert events == ["ADD", "UPDATE"]
    assert answered
    assert not any(answered)
