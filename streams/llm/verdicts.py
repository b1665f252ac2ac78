"""What to do about a reply's status: the retry table.

Rule of this file: pure and tabular. It says what should be done and how long to wait; whether there is time and whether
it was tried before is for whoever waits. The words by which endpoints name their errors are data (``errors.yaml``).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from lakehouse.retry_after import number_told, seconds_told
from streams.llm.failures import Reason
from streams.ruledata import load

Action = Literal["done", "again", "adapt", "split", "stop"]
"""Take the reply, send it again, send it in another dialect, send less, or give up."""
_WORDS: dict[str, list[str]] = {name: words for name, words in load("llm", "errors").items() if name != "version"}
_ADAPTABLE = frozenset({400, 422, 500, 501})
"""Statuses with which endpoints refuse a field; some answer a schema with 500."""
_TOO_LONG = frozenset({400, 413, 422})
_STOPPED: Mapping[int, Reason] = {401: "not authorised", 403: "not authorised", 404: "not found", 402: "quota"}


@dataclass(frozen=True)
class Dialect:
    """What of the protocol an endpoint takes; each can only be lost, so that adapting ends.

    Attributes:
        schema: ``response_format`` with a schema; without it the schema stands in the prompt.
        temperature: ``temperature``.
        max_tokens: ``max_tokens``; without it ``max_completion_tokens``.
    """

    schema: bool = True
    temperature: bool = True
    max_tokens: bool = True


@dataclass(frozen=True)
class Verdict:
    """What to do about a reply.

    Attributes:
        reason: Why it is not done.
        wait_s: Seconds that the endpoint asks to wait; None where it tells none.
        opens: Whether the endpoint is to be left alone at once.
        dialect: With "adapt", how to ask from now on.
    """

    action: Action
    reason: Reason = "request refused"
    wait_s: float | None = None
    opens: bool = False
    dialect: Dialect = Dialect()


def verdict_on(status: int, headers: Mapping[str, str], body: bytes, dialect: Dialect, now: datetime) -> Verdict:
    """Judge a reply.

    Args:
        status: HTTP status.
        headers: By lower-case name.
        body: As far as it was read.
        dialect: How it was asked.
        now: For dates in ``Retry-After``, timezone-aware.
    """
    if 200 <= status < 300:  # noqa: PLR2004 - HTTP
        return Verdict("done")
    told = _error_of(body)
    if status in _TOO_LONG and _says(told, "context"):
        return Verdict("split", "context exceeded")
    if status in _ADAPTABLE:
        lesser = _lesser(dialect, told)
        if lesser is not None:
            return Verdict("adapt", dialect=lesser)
    if {told["code"], told["type"]} & set(_WORDS["quota_codes"]):
        return Verdict("stop", "quota", opens=True)
    found = _by_status(status, headers, now)
    if found.action == "again" and headers.get("x-should-retry", "").casefold() == "false":
        return replace(found, action="stop")
    return found


def _by_status(status: int, headers: Mapping[str, str], now: datetime) -> Verdict:
    if 300 <= status < 400:  # noqa: PLR2004 - HTTP
        return Verdict("stop", "redirected")
    if status in _STOPPED:
        return Verdict("stop", _STOPPED[status], opens=_STOPPED[status] == "quota")
    if status in {408, 409, 429}:
        return Verdict("again", "busy", wait_s=retry_after(headers, now))
    if status >= 500:  # noqa: PLR2004 - HTTP
        return Verdict("again", "server error", wait_s=retry_after(headers, now))
    return Verdict("stop", "request refused")


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds that a reply asks to wait: ``retry-after-ms``, or ``Retry-After`` in seconds or as a date.

    Args:
        headers: By lower-case name.
        now: Timezone-aware.

    Returns:
        0 or more; None where nothing, or nothing that makes sense, is told.
    """
    milliseconds = number_told(headers.get("retry-after-ms"))
    return milliseconds / 1000 if milliseconds is not None else seconds_told(headers.get("retry-after"), now)


def _error_of(body: bytes) -> dict[str, str]:
    """The error's code, type, parameter and message, in lower case; what is missing is empty."""
    try:
        payload: Any = json.loads(body.decode("utf-8-sig", errors="replace"))
    except (ValueError, RecursionError):
        payload = None
    inner = payload.get("error", payload) if isinstance(payload, dict) else payload
    fields = inner if isinstance(inner, dict) else {"message": inner}
    message = fields.get("message") or fields.get("detail") or ""
    told = {name: fields.get(name) or "" for name in ("code", "type", "param")} | {"message": message}
    return {name: str(value).casefold() for name, value in told.items()}


def _says(told: Mapping[str, str], what: str) -> bool:
    if {told["code"], told["type"]} & set(_WORDS.get(f"{what}_codes", ())):
        return True
    return any(word in f"{told['param']} {told['message']}" for word in _WORDS[f"{what}_words"])


def _lesser(dialect: Dialect, told: Mapping[str, str]) -> Dialect | None:
    """The dialect without what the error names; None where it names nothing that could be left out."""
    if dialect.temperature and _says(told, "temperature"):
        return replace(dialect, temperature=False)
    if dialect.max_tokens and _says(told, "tokens"):
        return replace(dialect, max_tokens=False)
    if dialect.schema and _says(told, "schema"):
        return replace(dialect, schema=False)
    return None
