"""What ``memlake doctor`` says of the endpoint, and what a worker counts of it."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from prometheus_client import generate_latest
from structlog.testing import capture_logs

from schemas.errors import MemlakeError
from streams import doctor
from streams.judging import Judge
from streams.metrics import Metrics
from streams.settings import Settings
from tests.llm.fault_server import PLAIN, Behaviour, FaultServer, error, says, status
from tests.unit.llm.test_decision_by_model import OPTIONS, fact, known

YES = says({"reasoning": "It is the same.", "event": "NONE", "targetId": 0, "confidence": 1})


@pytest.fixture
async def server() -> AsyncIterator[FaultServer]:
    async with FaultServer() as found:
        yield found


def settings(server: FaultServer, **changed: Any) -> Settings:
    return Settings.model_validate({"llm_url": server.url, "llm_model": "m", "llm_retries": 0, **changed})


async def test_an_endpoint_that_answers_is_told_with_its_model(server: FaultServer) -> None:
    server.script("decision", YES)

    found = await doctor.LOOKS["language model"](settings(server))

    assert found.startswith(f"m at {server.url} answers with a schema, in ")


async def test_an_endpoint_that_takes_no_schema_is_told_so(server: FaultServer) -> None:
    server.script("decision", status(400, {"error": {"param": "response_format"}}))
    server.script(PLAIN, YES)

    assert "without a schema" in await doctor.LOOKS["language model"](settings(server))


@pytest.mark.parametrize(
    ("behaviour", "told"),
    [(error(401), "MEMLAKE_LLM_API_KEY"), (error(404), "MEMLAKE_LLM_MODEL"), (says("no"), "invalid answer")],
)
async def test_an_endpoint_that_does_not_is_told_with_what_may_help(
    server: FaultServer, behaviour: Behaviour, told: str
) -> None:
    server.script("decision", behaviour)

    with pytest.raises(MemlakeError, match=told):
        await doctor.LOOKS["language model"](settings(server))


async def test_without_an_endpoint_there_is_nothing_to_look_at() -> None:
    assert "rules" in await doctor.LOOKS["language model"](Settings())


async def test_calls_tokens_cost_and_the_circuit_are_counted(server: FaultServer) -> None:
    metrics = Metrics()
    told = settings(server, llm_price_in=3, llm_price_out=15, llm_breaker_failures=1)
    judge = Judge(told, metrics, str)
    server.script("decision", YES, error(500))

    for _ in range(3):
        await judge.decide(fact("I live in Lyon."), [known("I live in Porto.")], OPTIONS, judge.budget())
    await judge.close()

    counted = generate_latest(metrics.registry).decode()
    for line in (
        'memlake_llm_calls_total{kind="decision",outcome="answered"} 1.0',
        'memlake_llm_calls_total{kind="decision",outcome="server error"} 1.0',
        'memlake_llm_calls_total{kind="decision",outcome="circuit open"} 1.0',
        'memlake_llm_requests_total{kind="decision"} 1.0',
        'memlake_llm_tokens_total{direction="in"} 100.0',
        'memlake_llm_tokens_total{direction="out"} 20.0',
        "memlake_llm_cost_total 0.0006",
        "memlake_llm_breaker 2.0",
        'memlake_degraded_total{reason="llm: server error"} 1.0',
        'memlake_degraded_total{reason="llm: circuit open"} 1.0',
        'memlake_llm_seconds_count{kind="decision"} 3.0',
    ):
        assert line in counted


async def test_a_call_is_logged_without_anything_that_was_said(server: FaultServer) -> None:
    judge = Judge(settings(server), Metrics(), str)
    server.script("decision", says("Lyon, you say?"))

    with capture_logs() as lines:
        await judge.decide(fact("I live in Lyon."), [known("I live in Porto.")], OPTIONS, judge.budget())
    await judge.close()

    assert [(line["kind"], line["outcome"]) for line in lines] == [("decision", "invalid answer")]
    assert "Lyon" not in str(lines)
