"""The retry table, row by row; how each looks over a socket is in ``tests/llm``."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from streams.llm.verdicts import Dialect, Verdict, retry_after, verdict_on

NOW = datetime(2026, 3, 14, 12, tzinfo=UTC)
FULL, BARE = Dialect(), Dialect(schema=False, temperature=False, max_tokens=False)


def verdict(status: int, body: Any = b"", dialect: Dialect = FULL, **headers: str) -> Verdict:
    told = body if isinstance(body, bytes) else json.dumps(body).encode()
    return verdict_on(status, {name.replace("_", "-"): value for name, value in headers.items()}, told, dialect, NOW)


@pytest.mark.parametrize("status", [200, 201, 299])
def test_a_success_is_done(status: int) -> None:
    assert verdict(status, {"error": "x"}).action == "done"


ROWS = [
    (301, "stop", "redirected"),
    (307, "stop", "redirected"),
    (400, "stop", "request refused"),
    (401, "stop", "not authorised"),
    (402, "stop", "quota"),
    (403, "stop", "not authorised"),
    (404, "stop", "not found"),
    (408, "again", "busy"),
    (409, "again", "busy"),
    (413, "stop", "request refused"),
    (422, "stop", "request refused"),
    (429, "again", "busy"),
    (500, "again", "server error"),
    (501, "again", "server error"),
    (503, "again", "server error"),
    (529, "again", "server error"),
]


@pytest.mark.parametrize(("status", "action", "reason"), ROWS)
def test_a_status_alone_says_what_to_do(status: int, action: str, reason: str) -> None:
    found = verdict(status)

    assert (found.action, found.reason, found.opens) == (action, reason, reason == "quota")


def test_an_endpoint_may_forbid_another_try() -> None:
    assert verdict(500, x_should_retry="False").action == "stop"
    assert verdict(500, x_should_retry="true").action == "again"


@pytest.mark.parametrize("told", ["insufficient_quota", "credit_balance_exhausted", "BILLING_HARD_LIMIT_REACHED"])
@pytest.mark.parametrize("field", ["code", "type"])
def test_an_account_that_is_used_up_stops_all(told: str, field: str) -> None:
    found = verdict(429, {"error": {field: told}})

    assert (found.action, found.reason, found.opens) == ("stop", "quota", True)


@pytest.mark.parametrize(
    "body",
    [
        {"error": "context length exceeded"},
        {"error": {"code": "context_length_exceeded"}},
        {"detail": "the prompt is too long"},
        {"object": "error", "message": "Please reduce the length of the messages"},
        "too many tokens",
    ],
)
def test_a_text_that_is_too_long_is_split_however_it_is_told(body: Any) -> None:
    assert verdict(400, body).action == "split"
    assert verdict(500, body).action == "again"


def test_a_limit_that_names_max_tokens_is_about_the_context_and_no_dialect() -> None:
    told = {"error": {"message": "maximum context length is 10; you asked for 5 (max_tokens) + 9"}}

    assert verdict(400, told).action == "split"


@pytest.mark.parametrize(
    ("told", "lesser"),
    [
        ({"message": "json_schema is not supported"}, Dialect(schema=False)),
        ({"param": "response_format"}, Dialect(schema=False)),
        ({"message": "failed to parse grammar"}, Dialect(schema=False)),
        ({"param": "temperature", "message": "json_schema"}, Dialect(temperature=False)),
        ({"message": "use max_completion_tokens"}, Dialect(max_tokens=False)),
    ],
)
def test_what_is_not_taken_is_left_out_once(told: dict[str, str], lesser: Dialect) -> None:
    found = verdict(400, {"error": told})

    assert (found.action, found.dialect) == ("adapt", lesser)
    assert verdict(400, {"error": told}, BARE).action == "stop"


@pytest.mark.parametrize("body", [b"", b"<html>", b"\xff\xfe", b"[1]", b"null", b"[" * 100_000, b'{"error": [1]}'])
def test_a_body_that_tells_nothing_does_no_harm(body: bytes) -> None:
    assert verdict(400, body).action == "stop"


HEADERS: list[tuple[dict[str, str], float | None]] = [
    ({}, None),
    ({"retry-after": "2"}, 2.0),
    ({"retry-after": "1e400"}, None),
    ({"retry-after": "nan"}, None),
    ({"retry-after": "-1"}, None),
    ({"retry-after": "soon"}, None),
    ({"retry-after": "Sat, 14 Mar 2026 12:00:30 GMT"}, 30.0),
    ({"retry-after": "Sat, 14 Mar 2026 12:00:30 -0000"}, 30.0),
    ({"retry-after": "Sat, 14 Mar 2026 11:00:00 GMT"}, 0.0),
    ({"retry-after": "Sat, 99 Mar 2026 11:00:00 GMT"}, None),
    ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
    ({"retry-after-ms": "x", "retry-after": "9"}, 9.0),
]


@pytest.mark.parametrize(("headers", "seconds"), HEADERS)
def test_the_time_that_is_asked_for(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == seconds
