"""One question to a model, to the end: an answer that was understood, or the reason why there is none.

Rule of this file: all of a call stands under one deadline. An answer that does not fit is asked for once more, with
what is wrong with it; one that was cut off once more, with more room. Nothing is repaired.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from streams.llm.client import ModelClient
from streams.llm.envelope import Unusable
from streams.llm.failures import ModelFailed, Reason
from streams.llm.parsing import values_in
from streams.llm.prompts import Kind, Question
from streams.llm.shapes import AnswerInvalid

Understood = TypeVar("Understood")
CORRECTED_CHARACTERS: Final = 4_000
"""Of an answer that does not fit that are shown to the model again."""


@dataclass(frozen=True)
class CallDetails:
    """What an observer is told about a call that has ended.

    Attributes:
        outcome: "answered", or why not.
        seconds: From the question to the end.
        waited_s: Seconds of them that it waited for a free slot.
        requests: How often the model was asked: 1, or 2 with a correction.
        tokens_in: Tokens of all requests, as told.
        tokens_out: Tokens of all answers, as told.
    """

    kind: Kind
    outcome: Reason | str
    seconds: float
    waited_s: float
    requests: int
    tokens_in: int
    tokens_out: int


@dataclass(frozen=True)
class Answer(Generic[Understood]):
    """An answer that was understood, and what it cost."""

    value: Understood
    tokens_in: int
    tokens_out: int


@dataclass
class _Call:
    """One call under way."""

    began: float
    waited_s: float = 0.0
    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0


async def ask(
    client: ModelClient,
    question: Question,
    read: Callable[[Any], Understood],
    *,
    seconds: float,
    observe: Callable[[CallDetails], None],
) -> Answer[Understood]:
    """Ask a model.

    Args:
        client: The endpoint.
        question: What is asked.
        read: Makes sense of a JSON value, or raises ``AnswerInvalid``.
        seconds: Until there must be an answer, waiting for a free slot included; the policy's deadline at most.
        observe: Told once how it ended.

    Raises:
        ModelFailed: There is no answer.
        ContextExceeded: The text is too long for the model.
    """
    call = _Call(client.clock())
    limit = min(seconds, client.policy.deadline_s)
    outcome: Reason | str = "answered"
    try:
        value = await _in_time(client, question, read, call, limit)
    except ModelFailed as error:
        outcome = error.reason
        raise
    except asyncio.CancelledError:
        outcome = "given up"
        raise
    finally:
        took = client.clock() - call.began
        observe(
            CallDetails(question.kind, outcome, took, call.waited_s, call.requests, call.tokens_in, call.tokens_out)
        )
    return Answer(value, call.tokens_in, call.tokens_out)


async def _in_time(
    client: ModelClient, question: Question, read: Callable[[Any], Understood], call: _Call, limit: float
) -> Understood:
    has_slot = False
    try:
        async with asyncio.timeout(limit), client.slot():
            has_slot = True
            call.waited_s = client.clock() - call.began
            return await _asked(client, question, read, call, call.began + limit)
    except TimeoutError as error:
        if not has_slot:
            call.waited_s = client.clock() - call.began
            raise ModelFailed("budget spent", "no free slot") from error
        if limit < client.policy.deadline_s:
            raise ModelFailed("budget spent") from error
        client.breaker.failed(client.clock())
        raise ModelFailed("timeout", f"after {limit:g} s") from error


async def _asked(
    client: ModelClient, question: Question, read: Callable[[Any], Understood], call: _Call, until: float
) -> Understood:
    history: list[Mapping[str, str]] = []
    longer = False
    while True:
        found = await client.complete(question, history, until=until, longer=longer)
        call.requests += 1
        call.tokens_in += found.tokens_in
        call.tokens_out += found.tokens_out
        is_last = call.requests > 1
        longer = found.is_cut
        if isinstance(found, Unusable):
            if is_last or not found.again:
                raise ModelFailed(found.reason, found.detail)
            continue
        try:
            return _read(found.content, read)
        except AnswerInvalid as error:
            if is_last:
                raise ModelFailed("cut off" if found.is_cut else "invalid answer", str(error)) from error
            history = [] if longer else _corrected(question, found.content, str(error))


def _corrected(question: Question, content: str, fault: str) -> list[Mapping[str, str]]:
    """What is said after an answer that does not fit."""
    return [
        {"role": "assistant", "content": content[:CORRECTED_CHARACTERS]},
        {"role": "user", "content": question.corrective(fault)},
    ]


def _read(content: str, read: Callable[[Any], Understood]) -> Understood:
    """What an answer means.

    Raises:
        AnswerInvalid: It holds nothing that fits, or two things that do and differ.
    """
    found = values_in(content)
    understood: list[Understood] = []
    fault = found.fault
    for value in found.values:
        try:
            told = read(value)
        except AnswerInvalid as error:
            fault = fault or str(error)
        else:
            understood += [] if told in understood else [told]
    if len(understood) == 1:
        return understood[0]
    raise AnswerInvalid("it holds several answers" if understood else fault or "it holds no JSON object")
