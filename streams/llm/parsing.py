"""JSON out of what a model wrote: fences, thoughts and prose around it do no harm, half an object is none.

Rule of this file: it finds values and repairs nothing. What is cut off, holds a key twice or a number that JSON does
not know is refused as a whole, so that no part of it is taken for the answer.
"""

import json
import math
import re
from dataclasses import dataclass
from typing import Any, Final

MAX_CHARACTERS: Final = 64_000
MAX_VALUES: Final = 20
"""Objects and arrays of one answer that are looked at, parsed or not."""
_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_LOOKS_LIKE_JSON = re.compile(r"\{\s*[\"}]|\[\s*[\[{\"\]]")
_OPENING = re.compile(r"[{\[]")
_SIGN = re.compile(r"[{}\[\]\"\\]")


@dataclass(frozen=True)
class Found:
    """What is in an answer.

    Attributes:
        values: Its outermost objects and arrays that are JSON, in order.
        fault: What is wrong with the first that is none; None where nothing is.
    """

    values: tuple[Any, ...]
    fault: str | None = None


def values_in(text: str) -> Found:
    """The outermost JSON objects and arrays of a text.

    Args:
        text: What the model wrote.
    """
    if len(text) > MAX_CHARACTERS:
        return Found((), "it is too long")
    text = _THOUGHT.sub(" ", text)
    values: list[Any] = []
    fault: str | None = None
    place, looked = 0, 0
    while looked < MAX_VALUES and (start := _OPENING.search(text, place)) is not None:
        place = start.end()
        if _LOOKS_LIKE_JSON.match(text, start.start()) is None:
            continue
        looked += 1
        end = _end_of(text, start.start())
        if end is None:  # what began as JSON and never ends: nothing inside it is the answer
            fault = fault or "it is cut off"
            break
        place = end
        try:
            values.append(_value(text[start.start() : end]))
        except (ValueError, RecursionError) as error:
            fault = fault or _told(error)
    return Found(tuple(values), fault)


def _end_of(text: str, start: int) -> int | None:
    """Behind the bracket that closes the one at ``start``; None where none does."""
    depth, quoted, place = 0, False, start
    while (sign := _SIGN.search(text, place)) is not None:
        found, place = sign.group(), sign.end()
        if found == "\\":
            place += quoted
        elif found == '"':
            quoted = not quoted
        elif not quoted:
            depth += 1 if found in "{[" else -1
            if depth == 0:
                return place
    return None


def _value(text: str) -> Any:
    value = json.loads(
        text, strict=False, parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=_without_repeats
    )
    json.dumps(value, ensure_ascii=False).encode()  # half a surrogate pair is no text
    return value


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("a number is too large")
    return number


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice in one object")
    return found


def _told(error: Exception) -> str:
    """The fault without anything of the text."""
    if isinstance(error, json.JSONDecodeError):
        return f"it is no JSON: {error.msg}"
    if isinstance(error, UnicodeEncodeError):
        return "it holds half a surrogate pair"
    if isinstance(error, RecursionError):
        return "it is nested too deep"
    return str(error)
