"""From a file or a text to turns: the one place of this room that opens files.

Rule of this file: JSON lines are read line by line, so that a file larger than memory goes through; a file of one JSON
value is loaded.
"""

from collections.abc import Callable, Iterator
from datetime import datetime
from io import StringIO
from itertools import chain
from pathlib import Path
from typing import TextIO

from schemas.conversation import Scope, Turn
from schemas.errors import InvalidMessage, Misconfigured
from streams.formats.registry import BYTE_ORDER_MARK, FORMATS, parse_json, shape_of
from streams.formats.source import JsonLines, LeftOut


def read_file(
    source: Path | str,
    format: str | None,  # noqa: A002 - the word that the command line has for it
    scope: Scope,
    *,
    start: datetime | None = None,
    left_out: Callable[[LeftOut], None] | None = None,
) -> Iterator[Turn]:
    """Turns of an export.

    Args:
        source: A path, or the export's text itself.
        format: A name in ``FORMATS``; None to recognise it by its shape.
        scope: Whose memory it becomes.
        start: Time of the first message, with a zone, where the format has no times (``openai``).
        left_out: Told of each message that becomes no turn, where it stands among the turns.

    Raises:
        InvalidMessage: The file is no UTF-8 or no JSON, or a value is not as the format has it (place and field named).
        Misconfigured: There is no such format, or the file cannot be read.
    """
    if format is not None and format not in FORMATS:
        raise Misconfigured(f"there is no format {format!r}: {', '.join(FORMATS)}")
    return _turns(source, format, scope, start, left_out)


def _turns(
    source: Path | str,
    format: str | None,  # noqa: A002
    scope: Scope,
    start: datetime | None,
    left_out: Callable[[LeftOut], None] | None,
) -> Iterator[Turn]:
    try:
        with _opened(source) as stream:
            document, found = _document(stream)
            for item in FORMATS[format or shape_of(found)](document, scope, start=start):
                if isinstance(item, Turn):
                    yield item
                elif left_out is not None:
                    left_out(item)
    except UnicodeDecodeError as error:
        raise InvalidMessage("the export is not UTF-8 text") from error
    except OSError as error:
        raise Misconfigured(f"{source}: {error.strerror or error}") from error


def _opened(source: Path | str) -> TextIO:
    if isinstance(source, Path):
        return source.open(encoding="utf-8-sig")
    return StringIO(source.removeprefix(BYTE_ORDER_MARK), newline=None)


def _document(stream: TextIO) -> tuple[object, object]:
    """What to parse, and the value by whose shape the format is known.

    JSON lines are what has a whole JSON value on its first line and something after it.
    """
    lines = _numbered(stream)
    number, text = next(lines, (0, ""))
    if not number:
        raise InvalidMessage("the export is empty")
    try:
        value = parse_json(text, f"line {number}")
    except InvalidMessage:
        value = parse_json("\n" * (number - 1) + text + stream.read(), "the export")
        return value, value
    second = next(lines, None)
    if second is None:
        return value, value
    return JsonLines(chain([(f"line {number}", value)], _values(chain([second], lines)))), value


def _numbered(stream: TextIO) -> Iterator[tuple[int, str]]:
    """Number, from 1, and text of each line that is not blank."""
    return ((number, line) for number, line in enumerate(stream, 1) if not line.isspace())


def _values(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[str, object]]:
    return ((f"line {number}", parse_json(text, f"line {number}")) for number, text in lines)
