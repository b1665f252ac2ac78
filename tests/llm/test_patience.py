"""How long is waited for an endpoint, how often, how many at once, and when no more."""

import asyncio
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import partial

import pytest

from streams.llm.asking import ask
from streams.llm.failures import ModelFailed
from streams.llm.shapes import decision_in
from tests.llm import fault_server as faults
from tests.llm.calling import MARGIN_S, OK, POLICY, QUESTION, Endpoint, settled
from tests.llm.fault_server import Behaviour, FaultServer, error, says

PAUSES: list[tuple[str, dict[str, str], float]] = [
    ("in seconds", {"retry_after": "1"}, 1.0),
    ("in a fraction", {"retry_after": "0.25"}, 0.25),
    ("in milliseconds", {"retry_after_ms": "750", "retry_after": "9"}, 0.75),
    ("at once", {"retry_after": "0"}, 0.0),
    ("as a date that has passed", {"retry_after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
    ("not at all", {}, 0.5),
    ("as garbage", {"retry_after": "soon"}, 0.5),
    ("as less than nothing", {"retry_after": "-5"}, 0.5),
    ("as infinity", {"retry_after": "inf"}, 0.5),
]


@pytest.mark.parametrize("code", [429, 503])
@pytest.mark.parametrize(("headers", "pause_s"), [row[1:] for row in PAUSES], ids=[row[0] for row in PAUSES])
async def test_an_endpoint_is_given_the_time_it_asks_for(
    server: FaultServer, endpoint: Endpoint, code: int, headers: dict[str, str], pause_s: float
) -> None:
    server.script("decision", error(code, **headers), OK)

    await endpoint.ask()

    assert endpoint.pauses == [pause_s]


async def test_a_date_in_the_future_is_waited_for(server: FaultServer, endpoint: Endpoint) -> None:
    soon = datetime.now(UTC) + timedelta(seconds=2)
    server.script("decision", error(429, retry_after=format_datetime(soon, usegmt=True)), OK)

    await endpoint.ask()

    assert 0 <= endpoint.pauses[0] <= 2


async def test_pauses_grow_and_are_bounded(server: FaultServer) -> None:
    endpoint = Endpoint(server.url, retries=6, deadline_s=20)
    server.script("decision", error(500))

    await endpoint.fails()
    await endpoint.client.close()

    assert endpoint.pauses == [0.5, 1.0, 2.0, 4.0, 5.0, 5.0]


async def test_a_pause_beyond_the_deadline_is_not_begun(server: FaultServer, endpoint: Endpoint) -> None:
    server.script("decision", error(429, retry_after="2.4"), error(429, retry_after="2.4"), OK)

    endpoint.skipped_s = 0.0
    with pytest.raises(ModelFailed) as failed:
        await ask(
            endpoint.client,
            QUESTION,
            partial(decision_in, candidates=1, mask=str),
            seconds=1.0,
            observe=endpoint.calls.append,
        )

    assert (failed.value.reason, endpoint.pauses, len(server.received)) == ("busy", [], 1)


async def test_a_closed_port_is_unreachable() -> None:
    async with FaultServer() as gone:
        url = gone.url
    endpoint = Endpoint(url)

    failed = await endpoint.fails()
    await endpoint.client.close()

    assert failed.reason == "unreachable"
    assert len(endpoint.pauses) == 2


async def test_the_deadline_holds_for_a_drip_that_no_read_timeout_sees(server: FaultServer) -> None:
    endpoint = Endpoint(server.url, attempt_s=30, deadline_s=0.5)
    server.script("decision", faults.DRIPS)
    began = time.monotonic()

    failed = await endpoint.fails()
    await endpoint.client.close()

    assert failed.reason == "timeout"
    assert time.monotonic() - began < 0.5 + MARGIN_S


async def test_a_budget_that_is_spent_is_no_fault_of_the_endpoint(server: FaultServer, endpoint: Endpoint) -> None:
    server.script("decision", faults.hangs)

    for _ in range(5):
        with pytest.raises(ModelFailed) as failed:
            await endpoint.ask(seconds=0.05)
        assert failed.value.reason == "budget spent"

    assert endpoint.client.breaker.state(endpoint.client.clock()) == "closed"


async def test_no_more_calls_are_under_way_than_allowed_and_waiting_is_told(
    server: FaultServer, endpoint: Endpoint
) -> None:
    release = asyncio.Event()
    server.script("decision", faults.held(release, OK))
    calls = [asyncio.create_task(endpoint.ask()) for _ in range(6)]
    await settled(lambda: len(server.received) == 2)

    assert server.under_way == 2
    release.set()
    await asyncio.gather(*calls)

    assert (server.most, len(server.received), len(endpoint.calls)) == (2, 6, 6)


async def test_without_a_free_slot_the_budget_ends_the_wait(server: FaultServer, endpoint: Endpoint) -> None:
    release = asyncio.Event()
    server.script("decision", faults.held(release, OK))
    calls = [asyncio.create_task(endpoint.ask()) for _ in range(2)]
    await settled(lambda: len(server.received) == 2)

    with pytest.raises(ModelFailed, match="no free slot"):
        await endpoint.ask(seconds=0.05)

    release.set()
    await asyncio.gather(*calls)
    assert len(server.received) == 2


async def test_a_circuit_that_is_open_asks_nothing_until_it_has_cooled_off(
    server: FaultServer, endpoint: Endpoint
) -> None:
    server.script("decision", *[error(500)] * 12, OK)

    reasons = [(await endpoint.fails()).reason for _ in range(5)]
    assert (reasons, len(server.received)) == (["server error"] * 3 + ["circuit open"] * 2, 9)

    endpoint.skipped_s = POLICY.breaker.cooloff_s
    assert (await endpoint.fails()).reason == "server error"  # the one that looks
    assert (await endpoint.fails()).reason == "circuit open"

    endpoint.skipped_s *= 2
    assert (await endpoint.ask()).value.event == "UPDATE"
    assert endpoint.client.breaker.state(endpoint.client.clock()) == "closed"


@pytest.mark.parametrize("told", [error(429, "insufficient_quota"), error(402), error(429, retry_after="3600")])
async def test_an_endpoint_that_says_it_will_go_on_failing_is_left_alone_at_once(
    server: FaultServer, endpoint: Endpoint, told: Behaviour
) -> None:
    server.script("decision", told, OK)

    await endpoint.fails()

    assert (await endpoint.fails()).reason == "circuit open"
    assert len(server.received) == 1


async def test_answers_that_do_not_fit_do_not_open_the_circuit(server: FaultServer, endpoint: Endpoint) -> None:
    server.script("decision", says("nonsense"))

    for _ in range(5):
        await endpoint.fails()

    assert endpoint.client.breaker.state(endpoint.client.clock()) == "closed"


async def test_a_call_that_is_given_up_leaves_nothing_behind(server: FaultServer, endpoint: Endpoint) -> None:
    server.script("decision", faults.hangs)
    call = asyncio.create_task(endpoint.ask())
    await settled(lambda: len(server.received) == 1)

    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await settled(lambda: server.under_way == 0)

    assert [told.outcome for told in endpoint.calls] == ["given up"]
    server.script("decision", OK)
    assert (await endpoint.ask()).value.event == "UPDATE"
