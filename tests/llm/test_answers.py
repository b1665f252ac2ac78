"""What is sent, and what is taken for an answer."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from streams.llm.failures import ContextExceeded
from tests.llm import fault_server as faults
from tests.llm.calling import GOOD, OK, POLICY, QUESTION, Endpoint
from tests.llm.fault_server import PLAIN, FaultServer, message, says, status

TAKEN: list[tuple[str, Any]] = [
    ("plain", json.dumps(GOOD)),
    ("in a fence", f"```json\n{json.dumps(GOOD)}\n```"),
    ("in prose with braces", f"Sure {{as you like}}: {json.dumps(GOOD)} That is {{it}}."),
    ("after a thought", f'<think>{{"event": "ADD"}} or so</think>{json.dumps(GOOD)}'),
    ("behind a BOM", f"\ufeff{json.dumps(GOOD)}"),
    ("twice the same", json.dumps(GOOD) * 2),
    ("with braces in a string", json.dumps(GOOD | {"reasoning": 'a } " { b'})),
    ("with a line break in a string", json.dumps(GOOD).replace("pier is", "pier\nis")),
    ("with more keys", json.dumps(GOOD | {"operation": "x", "nested": {"event": "ADD"}})),
    ("in lower case", json.dumps(GOOD | {"event": "update"})),
    ("capitalised", json.dumps(GOOD | {"event": "Update "})),
    ("confidence in words", json.dumps(GOOD | {"confidence": "high"})),
    ("confidence in percent", json.dumps(GOOD | {"confidence": 95})),
    ("confidence below zero", json.dumps(GOOD | {"confidence": -1})),
    ("confidence null", json.dumps(GOOD | {"confidence": None})),
    ("without reasoning", json.dumps({name: GOOD[name] for name in ("event", "targetId")})),
]


@pytest.mark.parametrize("content", [row[1] for row in TAKEN], ids=[row[0] for row in TAKEN])
async def test_an_answer_that_is_unambiguous_is_taken_at_once(
    server: FaultServer, endpoint: Endpoint, content: str
) -> None:
    server.script("decision", says(content))

    answer = await endpoint.ask()

    assert (answer.value.event, answer.value.target, len(server.received)) == ("UPDATE", 0, 1)
    assert answer.value.confidence in {0.9, None}


async def test_a_content_in_parts_is_one_text(server: FaultServer, endpoint: Endpoint) -> None:
    half, rest = json.dumps(GOOD)[:20], json.dumps(GOOD)[20:]
    server.script("decision", status(200, message([{"type": "text", "text": half}, {"type": "text", "text": rest}])))

    assert (await endpoint.ask()).value.event == "UPDATE"


async def test_a_compressed_answer_is_read(server: FaultServer, endpoint: Endpoint) -> None:
    server.script("decision", faults.GOOD_GZIP, OK)

    assert (await endpoint.ask()).value.event == "UPDATE"
    assert len(server.received) == 2  # the first was understood, and held nothing


async def test_a_request_carries_its_schema_and_nothing_that_varies(server: FaultServer, endpoint: Endpoint) -> None:
    server.script("decision", OK)

    await endpoint.ask()

    (request,) = server.received
    form = request.payload["response_format"]
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {POLICY.api_key}"
    assert (form["type"], form["json_schema"]["name"], form["json_schema"]["strict"]) == (
        "json_schema",
        "decision",
        True,
    )
    assert form["json_schema"]["schema"] == QUESTION.schema
    assert (request.payload["temperature"], request.payload["stream"], request.payload["max_tokens"]) == (0, False, 256)
    assert [told["role"] for told in request.payload["messages"]] == ["system", "user"]


async def test_a_corrected_question_names_the_fault_and_shows_the_answer(
    server: FaultServer, endpoint: Endpoint
) -> None:
    server.script("decision", says(GOOD | {"targetId": 7}), OK)

    await endpoint.ask()

    told = server.received[1].payload["messages"]
    assert [row["role"] for row in told] == ["system", "user", "assistant", "user"]
    assert told[:2] == server.received[0].payload["messages"]
    assert '"targetId" must be null or one of 0 … 0' in told[3]["content"]


async def test_an_answer_that_was_cut_off_gets_more_room(server: FaultServer, endpoint: Endpoint) -> None:
    server.script("decision", says('{"reasoning": "', finish="length"), OK)

    await endpoint.ask()

    assert [request.payload["max_tokens"] for request in server.received] == [256, 512]
    assert len(server.received[1].payload["messages"]) == 2


LESSER: list[tuple[str, dict[str, str], Callable[[dict[str, Any]], bool]]] = [
    (
        "schema",
        {"message": "Invalid parameter: 'response_format' of type 'json_schema' is not supported"},
        lambda told: told["response_format"] == {"type": "json_object"},
    ),
    ("temperature", {"message": "Unsupported value", "param": "temperature"}, lambda told: "temperature" not in told),
    (
        "max_tokens",
        {"message": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."},
        lambda told: "max_tokens" not in told and told["max_completion_tokens"] == 256,
    ),
]


@pytest.mark.parametrize("code", [400, 422, 500])
@pytest.mark.parametrize(("refused", "adapted"), [row[1:] for row in LESSER], ids=[row[0] for row in LESSER])
async def test_what_an_endpoint_does_not_take_is_left_out_once_and_for_all(
    server: FaultServer,
    endpoint: Endpoint,
    code: int,
    refused: dict[str, str],
    adapted: Callable[[dict[str, Any]], bool],
) -> None:
    server.script("decision", status(code, {"error": refused}), OK)
    server.script(PLAIN, OK)

    await endpoint.ask()
    await endpoint.ask()

    assert [adapted(request.payload) for request in server.received] == [False, True, True]
    assert endpoint.pauses == []


async def test_without_a_schema_the_prompt_holds_it(server: FaultServer, endpoint: Endpoint) -> None:
    server.script("decision", status(400, {"error": {"message": "unknown field response_format.json_schema"}}))
    server.script(PLAIN, OK)

    await endpoint.ask()

    assert json.dumps(QUESTION.schema) in server.received[1].payload["messages"][0]["content"]


async def test_an_endpoint_that_refuses_every_form_is_given_up(server: FaultServer, endpoint: Endpoint) -> None:
    server.script("any", status(400, {"error": {"message": "temperature, max_tokens, response_format"}}))

    assert (await endpoint.fails()).reason == "request refused"
    assert len(server.received) == 4


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (400, {"error": {"code": "context_length_exceeded", "message": "m"}}),
        (400, {"error": {"type": "exceed_context_size_error", "message": "m", "n_ctx": 4096}}),
        (400, {"error": {"message": "This model's maximum context length is 4096 tokens."}}),
        (413, {"message": "prompt is too long"}),
        (422, "too many tokens"),
    ],
)
async def test_a_text_that_is_too_long_is_not_sent_again_as_it_is(
    server: FaultServer, endpoint: Endpoint, code: int, told: Any
) -> None:
    server.script("decision", status(code, json.dumps(told)))

    assert isinstance(await endpoint.fails(), ContextExceeded)
    assert len(server.received) == 1


async def test_the_tokens_of_all_requests_are_told(server: FaultServer, endpoint: Endpoint) -> None:
    server.script("decision", says("nonsense", tokens=(10, 1)), says(GOOD, tokens=(20, 2)))

    answer = await endpoint.ask()

    assert (answer.tokens_in, answer.tokens_out) == (30, 3)
    assert [(call.requests, call.tokens_in, call.tokens_out) for call in endpoint.calls] == [(2, 30, 3)]


@pytest.mark.parametrize("usage", [None, [], {"prompt_tokens": "many", "completion_tokens": True}])
async def test_tokens_that_are_not_told_are_none(server: FaultServer, endpoint: Endpoint, usage: Any) -> None:
    server.script("decision", status(200, message(json.dumps(GOOD)) | {"usage": usage}))

    answer = await endpoint.ask()

    assert (answer.tokens_in, answer.tokens_out) == (0, 0)
