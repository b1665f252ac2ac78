"""The formats by name, and which one a text is.

Rule of this file: pure, a table and what asks it. A new format is a module and one line in each table. The more telling
shapes come first: a turn of ours is also a chat-completions message.
"""

import json
from collections.abc import Callable

from schemas.errors import InvalidMessage
from streams.formats import chatgpt, claude, locomo, longmemeval, openai, turns
from streams.formats.source import Parse

BYTE_ORDER_MARK = "\ufeff"
"""What some programs begin a file with; it says nothing."""

FORMATS: dict[str, Parse] = {
    "turns": turns.parse,
    "openai": openai.parse,
    "chatgpt": chatgpt.parse,
    "claude": claude.parse,
    "locomo": locomo.parse,
    "longmemeval": longmemeval.parse,
}
"""What reads each format."""

SHAPES: dict[str, Callable[[object], bool]] = {
    "longmemeval": longmemeval.fits,
    "chatgpt": chatgpt.fits,
    "claude": claude.fits,
    "locomo": locomo.fits,
    "turns": turns.fits,
    "openai": openai.fits,
}
"""Whether one record is of a format; asked in this order."""


def detect(text: str) -> str:
    """The format of an export's text, by the shape of its first record.

    Args:
        text: The whole text, or of JSON lines at least the first line that is not blank.

    Raises:
        InvalidMessage: It is empty, no JSON, or of no known shape.
    """
    return shape_of(first_value(text))


def shape_of(value: object) -> str:
    """The format of a JSON value: a record, or a list whose first one tells.

    Raises:
        InvalidMessage: It is of no known shape.
    """
    told = value
    if isinstance(value, list):
        if not value:
            raise InvalidMessage("the export is an empty list: it holds no conversation")
        told = value[0]
    for name, fits in SHAPES.items():
        if fits(told):
            return name
    raise InvalidMessage(f"the export has the shape of no known format ({', '.join(FORMATS)}): name the format")


def first_value(text: str) -> object:
    """The JSON value that a text is or, in JSON lines, that its first line is.

    Raises:
        InvalidMessage: Neither the text nor its first line is JSON.
    """
    text = text.removeprefix(BYTE_ORDER_MARK)
    try:
        return parse_json(text, "the export")
    except InvalidMessage:
        first = text.strip().partition("\n")[0]
        if not first:
            raise
        try:
            return parse_json(first, "line 1")
        except InvalidMessage:
            pass
        raise


def parse_json(text: str, place: str) -> object:
    """A JSON value.

    Raises:
        InvalidMessage: It is none; the place is named, the text never repeated.
    """
    try:
        value: object = json.loads(text)
    except RecursionError as error:
        raise InvalidMessage(f"{place}: is nested too deeply", field=place) from error
    except json.JSONDecodeError as error:
        told = f"{error.msg} (line {error.lineno}, column {error.colno})"
        raise InvalidMessage(f"{place}: is no JSON: {told}", field=place) from error
    except ValueError as error:
        raise InvalidMessage(f"{place}: holds a number of too many digits", field=place) from error
    return value
