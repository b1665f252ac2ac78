"""The shape of an answer: the schema that a request carries, and the same shape checked again when the answer is there.

Rule of this file: endpoints that accept a schema need not keep it, so nothing is believed. What is unambiguous is
normalised (one fact as a string, another spelling of a verb), the rest is refused with a reason that the model is told.
An answer that was understood has one canonical form, masked and bounded: that is what is recorded and read again.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from schemas.memory import Event

Mask = Callable[[str], str]
"""Replaces secrets in a text by the names of their classes."""
MAX_FACTS: Final = 8
"""Facts that one request asks for."""
MAX_TEXT: Final = 240
"""Characters of a fact that a request asks for."""
MAX_TAGS: Final = 6
MAX_TAG: Final = 40
MAX_REASONING: Final = 160
MAX_CODE: Final = 400
READ_FACTS: Final = 16
"""Facts of one answer that are read, where an endpoint does not keep the schema."""
MAX_REQUESTS: Final = 8
"""Requests for the facts of one record."""
RECORDED_FACTS: Final = READ_FACTS * MAX_REQUESTS
READ_TEXT: Final = 500
READ_REASONING: Final = 300
EVENTS: Final = ("ADD", "UPDATE", "NONE")
"""Verbs that are offered: a DELETE is nothing a model may ask for."""
_VERBS: Mapping[str, Event] = {"ADD": "ADD", "UPDATE": "UPDATE", "NONE": "NONE", "DELETE": "DELETE"}
"""Verbs that are understood."""
_FACT_KEYS = ("text", "fact")


class AnswerInvalid(Exception):  # noqa: N818 - the answer is, not we
    """An answer does not fit; the text says how, in words for the model."""


class ToldFact(BaseModel):
    """One fact as the model told it.

    Attributes:
        turn: Number of the turn that it names; None where it names none that makes sense.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    text: Annotated[str, Field(min_length=1)]
    tags: tuple[str, ...] = ()
    source: Literal["user", "assistant"] | None = None
    turn: int | None = None
    code_pattern: str | None = None


class ToldDecision(BaseModel):
    """A verdict as the model told it.

    Attributes:
        target: Number of the memory; None with ADD.
        confidence: What it says of itself: a hint that decides nothing.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    reasoning: str = ""
    event: Event
    target: int | None = None
    confidence: float | None = None


def extraction_schema(turns: int, codes: int) -> dict[str, Any]:
    """The schema of an extraction.

    Args:
        turns: Turns that are shown, numbered from 0.
        codes: Pieces of code that were taken out, numbered from 1.
    """
    marks: list[str | None] = [None, *(code_mark(number) for number in range(1, codes + 1))]
    fact = _object(
        {
            "text": {"type": "string", "minLength": 1, "maxLength": MAX_TEXT},
            "tags": {"type": "array", "items": {"type": "string", "maxLength": MAX_TAG}, "maxItems": MAX_TAGS},
            "source": {"type": "string", "enum": ["user", "assistant"]},
            "turn": {"type": "integer", "enum": list(range(turns))},
            "code_pattern": {"type": ["string", "null"], "enum": marks},
        }
    )
    return _object({"facts": {"type": "array", "items": fact, "maxItems": MAX_FACTS}})


def decision_schema(candidates: int) -> dict[str, Any]:
    """The schema of a decision: the reasoning stands before the verdict, and no other number than a candidate's fits.

    Args:
        candidates: Memories that are shown, numbered from 0.
    """
    return _object(
        {
            "reasoning": {"type": "string", "maxLength": MAX_REASONING},
            "event": {"type": "string", "enum": list(EVENTS)},
            "targetId": {"type": ["integer", "null"], "enum": [None, *range(candidates)]},
            "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        }
    )


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def code_mark(number: int) -> str:
    """What stands in a text for a piece of code."""
    return f"[code {number}]"


def facts_in(value: Any, mask: Mask, limit: int = READ_FACTS) -> tuple[ToldFact, ...]:
    """The facts of an answer.

    Args:
        value: JSON of the answer: an object with "facts", or their bare array.
        mask: Applied to every text.
        limit: How many are read.

    Raises:
        AnswerInvalid: It is neither, or one of the facts is none.
    """
    told = value.get("facts") if isinstance(value, dict) else value
    if not isinstance(told, list):
        raise AnswerInvalid('it must be an object with an array "facts"')
    return tuple(_fact(row, mask) for row in told[:limit])


def _fact(row: Any, mask: Mask) -> ToldFact:
    fields = {"text": row} if isinstance(row, str) else row
    if not isinstance(fields, dict):
        raise AnswerInvalid('each fact must be an object with a "text"')
    text = next((fields[key] for key in _FACT_KEYS if isinstance(fields.get(key), str)), "")
    if not text.strip():
        raise AnswerInvalid('each fact must have a "text" that says something')
    tags, source, turn = fields.get("tags"), fields.get("source"), fields.get("turn")
    pattern = fields.get("code_pattern")
    return ToldFact(
        text=_bounded(mask, text, READ_TEXT + 1),
        tags=tuple(_bounded(mask, tag, MAX_TAG) for tag in tags[:MAX_TAGS] if isinstance(tag, str))
        if isinstance(tags, list)
        else (),
        source=source if source in {"user", "assistant"} else None,
        turn=turn if isinstance(turn, int) and not isinstance(turn, bool) and turn >= 0 else None,
        code_pattern=_bounded(mask, pattern, MAX_CODE) if isinstance(pattern, str) and pattern.strip() else None,
    )


def decision_in(value: Any, candidates: int, mask: Mask) -> ToldDecision:
    """The verdict of an answer.

    Args:
        value: JSON of the answer.
        candidates: How many memories were shown.
        mask: Applied to the reasoning.

    Raises:
        AnswerInvalid: A verb is unknown, or the verb and its target do not go together.
    """
    if not isinstance(value, dict):
        raise AnswerInvalid("it must be an object")
    event, target = value.get("event"), value.get("targetId")
    verb = _VERBS.get(event.strip().upper()) if isinstance(event, str) else None
    if verb is None:
        raise AnswerInvalid(f'"event" must be one of {", ".join(EVENTS)}')
    if target is not None and (isinstance(target, bool) or not isinstance(target, int)):
        raise AnswerInvalid('"targetId" must be a number or null')
    if target is not None and not 0 <= target < candidates:
        raise AnswerInvalid(f'"targetId" must be null or one of 0 … {candidates - 1}')
    if verb == "ADD" and target is not None:
        raise AnswerInvalid('"targetId" must be null with ADD')
    if verb != "ADD" and target is None:
        raise AnswerInvalid(f'"targetId" must name a memory with {verb}')
    reasoning, confidence = value.get("reasoning"), value.get("confidence")
    sure = confidence if isinstance(confidence, int | float) and not isinstance(confidence, bool) else -1.0
    return ToldDecision(
        reasoning=_bounded(mask, reasoning, READ_REASONING) if isinstance(reasoning, str) else "",
        event=verb,
        target=target,
        confidence=float(sure) if 0 <= sure <= 1 else None,
    )


def _bounded(mask: Mask, text: str, limit: int) -> str:
    """A text that may be kept: masked, then cut."""
    return mask(" ".join(text.split()))[:limit]


def _as_it_is(text: str) -> str:
    """What is recorded was masked before."""
    return text


def recorded_facts(facts: tuple[ToldFact, ...]) -> str:
    """Facts in canonical form; ``recalled_facts`` reads it."""
    return _canonical({"facts": [fact.model_dump(mode="json") for fact in facts]})


def recalled_facts(answer: str) -> tuple[ToldFact, ...]:
    """Facts as they were recorded; of several requests' answers all.

    Raises:
        AnswerInvalid: It is no such record.
    """
    with _of_ours():
        return facts_in(json.loads(answer), _as_it_is, RECORDED_FACTS)


def recorded_decision(told: ToldDecision) -> str:
    """A verdict in canonical form; ``recalled_decision`` reads it."""
    return _canonical(
        {
            "reasoning": told.reasoning,
            "event": told.event,
            "targetId": told.target,
            "confidence": told.confidence,
        }
    )


def recalled_decision(answer: str, candidates: int) -> ToldDecision:
    """A verdict as it was recorded.

    Raises:
        AnswerInvalid: It is no such record.
    """
    with _of_ours():
        return decision_in(json.loads(answer), candidates, _as_it_is)


@contextmanager
def _of_ours() -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise AnswerInvalid("it is no recorded answer") from error


def _canonical(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
