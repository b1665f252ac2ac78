"""Every fault of an endpoint, over real sockets: what becomes of the call, after how many requests, within its time."""

import json
import time

import pytest

from tests.llm import fault_server as faults
from tests.llm.calling import GOOD, MARGIN_S, OK, POLICY, QUESTION, Endpoint
from tests.llm.fault_server import Behaviour, FaultServer, error, message, says, status


def _long(text: str) -> str:
    return "x" * 2000 + text


GIVEN_UP: list[tuple[str, Behaviour, str, int]] = [
    # on the wire
    ("no reply", faults.hangs, "timeout", 3),
    ("stalled body", faults.STALLS, "timeout", 3),
    ("drip", faults.DRIPS, "timeout", 3),
    ("close", faults.closes, "broken reply", 3),
    ("cut body", faults.CUT_BODY, "broken reply", 3),
    ("garbage status line", faults.NO_STATUS, "broken reply", 3),
    ("bad chunk", faults.BAD_CHUNK, "broken reply", 3),
    ("reset", faults.resets, "broken reply", 3),
    ("bad gzip", faults.BAD_GZIP, "broken reply", 2),
    ("large body", faults.LARGE, "too large", 1),
    ("endless body", faults.ENDLESS, "too large", 1),
    # statuses
    ("307", status(307, location="http://127.0.0.1:1/"), "redirected", 1),
    ("308", status(308, location="http://127.0.0.1:1/"), "redirected", 1),
    ("400", error(400), "request refused", 1),
    ("401", error(401, "authentication_error"), "not authorised", 1),
    ("402", error(402), "quota", 1),
    ("403", error(403), "not authorised", 1),
    ("404", error(404), "not found", 1),
    ("405", error(405), "request refused", 1),
    ("422", status(422, {"detail": [{"loc": ["body", "n"], "msg": "too many"}]}), "request refused", 1),
    ("408", error(408), "busy", 3),
    ("409", error(409), "busy", 3),
    ("429", error(429, "rate_limit_exceeded"), "busy", 3),
    ("429 for an hour", error(429, retry_after="3600"), "busy", 1),
    ("429 quota", error(429, "insufficient_quota"), "quota", 1),
    ("429 credit", error(429, "credit_balance_exhausted"), "quota", 1),
    ("429 not to be retried", error(429, x_should_retry="false"), "busy", 1),
    ("500", error(500), "server error", 3),
    ("502 HTML", faults.HTML_502, "server error", 3),
    ("503 loading", error(503, "unavailable_error"), "server error", 3),
    ("529", error(529, "overloaded_error"), "server error", 3),
    # a 200 that is no answer
    ("HTML with 200", faults.HTML, "broken reply", 2),
    ("not UTF-8", faults.NOT_UTF8, "broken reply", 2),
    ("empty body", status(200), "broken reply", 2),
    ("an array", status(200, "[]"), "broken reply", 2),
    ("error with 200", status(200, {"error": {"message": "no"}}), "no answer", 2),
    ("choices: []", status(200, {"choices": []}), "no answer", 2),
    ("choices: null", status(200, {"choices": None}), "no answer", 2),
    ("choices: [null]", status(200, {"choices": [None]}), "no answer", 2),
    ("no message", status(200, {"choices": [{"finish_reason": "stop"}]}), "no answer", 2),
    ("content: null", says(None), "no answer", 2),
    ("content: empty", says(""), "no answer", 2),
    ("content: a list of images", says([{"type": "image_url"}]), "invalid answer", 2),
    ("refusal", status(200, message(None, refusal="I will not.")), "refused", 1),
    ("content filter", says("{", finish="content_filter"), "refused", 1),
    ("cut JSON", says('{"reasoning": "It i', finish="length"), "cut off", 2),
    ("blanks to the limit", says(" " * 900, finish="length"), "cut off", 2),
    # an answer that does not fit
    ("no JSON", says("It is an UPDATE."), "invalid answer", 2),
    ("null", says("null"), "invalid answer", 2),
    ("NaN", says(json.dumps(GOOD).replace("0.9", "NaN")), "invalid answer", 2),
    ("1e999", says(json.dumps(GOOD).replace("0.9", "1e999")), "invalid answer", 2),
    ("a key twice", says('{"event": "ADD", ' + json.dumps(GOOD)[1:]), "invalid answer", 2),
    ("half a surrogate pair", says('{"event": "ADD", "targetId": null, "reasoning": "\\ud800"}'), "invalid answer", 2),
    ("two answers", says(json.dumps(GOOD) + json.dumps(GOOD | {"event": "NONE"})), "invalid answer", 2),
    ("array", says([GOOD]), "invalid answer", 2),
    ("the schema itself", says(dict(QUESTION.schema)), "invalid answer", 2),
    ("missing event", says({"reasoning": "r", "targetId": 0}), "invalid answer", 2),
    ("MODIFY", says(GOOD | {"event": "MODIFY"}), "invalid answer", 2),
    ("NOOP", says(GOOD | {"event": "NOOP"}), "invalid answer", 2),
    ("event: null", says(GOOD | {"event": None}), "invalid answer", 2),
    ("target unknown", says(GOOD | {"targetId": 1}), "invalid answer", 2),
    ("target negative", says(GOOD | {"targetId": -1}), "invalid answer", 2),
    ("target a string", says(GOOD | {"targetId": "0"}), "invalid answer", 2),
    ("target a UUID", says(GOOD | {"targetId": "8a1fb0f4-3a0d-5ab4-9f1e-2b1f3f3f0001"}), "invalid answer", 2),
    ("target huge", says(GOOD | {"targetId": 1630456000000000}), "invalid answer", 2),
    ("target true", says(GOOD | {"targetId": True}), "invalid answer", 2),
    ("UPDATE of nothing", says(GOOD | {"targetId": None}), "invalid answer", 2),
    ("DELETE of nothing", says(GOOD | {"event": "DELETE", "targetId": None}), "invalid answer", 2),
    ("NONE of nothing", says(GOOD | {"event": "NONE", "targetId": None}), "invalid answer", 2),
    ("ADD with a target", says(GOOD | {"event": "ADD"}), "invalid answer", 2),
    ("far too long", says(_long("") * 40), "invalid answer", 2),
]


@pytest.mark.parametrize(
    ("behaviour", "reason", "requests"), [row[1:] for row in GIVEN_UP], ids=[row[0] for row in GIVEN_UP]
)
async def test_a_fault_that_stays_is_given_up_with_its_reason_after_so_many_requests(
    server: FaultServer, endpoint: Endpoint, behaviour: Behaviour, reason: str, requests: int
) -> None:
    server.script("decision", behaviour)
    began = time.monotonic()

    failed = await endpoint.fails()

    assert (failed.reason, len(server.received)) == (reason, requests)
    assert [call.outcome for call in endpoint.calls] == [reason]
    assert time.monotonic() - began < POLICY.deadline_s + MARGIN_S
    assert server.under_way <= 1


@pytest.mark.parametrize(
    "behaviour",
    [row[1] for row in GIVEN_UP if row[3] > 1],
    ids=[row[0] for row in GIVEN_UP if row[3] > 1],
)
async def test_a_fault_that_is_tried_again_and_gone_does_no_harm(
    server: FaultServer, endpoint: Endpoint, behaviour: Behaviour
) -> None:
    server.script("decision", behaviour, OK)

    answer = await endpoint.ask()

    assert (answer.value.event, answer.value.target) == ("UPDATE", 0)
    assert len(server.received) == 2
    assert endpoint.client.breaker.state(endpoint.client.clock()) == "closed"


async def test_no_failure_holds_what_was_said(server: FaultServer, endpoint: Endpoint) -> None:
    for told in (says("Tavira is lovely"), status(400, {"error": {"message": "Tavira"}}), status(200, "Tavira")):
        server.script("decision", told)

        assert "Tavira" not in str(await endpoint.fails())
