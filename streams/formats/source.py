"""What every format reads an export with: records, fields that must be there, times, texts, and the turn in the end.

Rule of this file: pure, and it knows no format. A place is the path of a JSON value in its file (``[2].messages[5]``,
``line 7.role``); a fault names it and never repeats the value.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from pydantic import JsonValue, ValidationError

from schemas.conversation import Role, Scope, Turn, is_blank
from schemas.errors import InvalidMessage
from schemas.identity import derived_id
from schemas.message import invalid, utf8

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)
TOPIC_CHARACTERS = 1024
"""The longest conversation topic that a turn takes; a longer title is cut."""

_INDEX = re.compile(r"\.\[")


@dataclass(frozen=True)
class LeftOut:
    """A message of the export that becomes no turn."""

    place: str
    reason: str


@dataclass(frozen=True)
class JsonLines:
    """An export of one JSON value a line, read as far as it is asked for."""

    values: Iterable[tuple[str, object]]
    """Place ("line 7") and value of each line, once."""


Item = Turn | LeftOut


class Parse(Protocol):
    """A format: an export's JSON value (or lines) in, one item for each of its messages out."""

    def __call__(self, document: object, scope: Scope, *, start: datetime | None = None) -> Iterator[Item]:
        """Read an export.

        Args:
            document: The parsed JSON, or ``JsonLines``.
            scope: Whose memory it becomes.
            start: Time of the first message where the format has no times; with a zone. Others leave it aside.

        Raises:
            InvalidMessage: A value is not as the format has it; place and field are named.
        """


def records(document: object) -> Iterator[tuple[str, object]]:
    """Place and value of each record: the items of a list, the lines of JSON lines, or the one value that it is."""
    if isinstance(document, JsonLines):
        yield from document.values
    elif isinstance(document, list):
        yield from items(document, "")
    else:
        yield "", document


def items(value: list[Any], place: str) -> Iterator[tuple[str, object]]:
    """Place and value of each item of a list."""
    for index, item in enumerate(value):
        yield f"{place}[{index}]", item


def below(place: str, name: str) -> str:
    """The place of a field in the object at a place."""
    return f"{place}.{name}" if place else name


def fault(place: str, wanted: str) -> InvalidMessage:
    """The error for a value that is not as wanted."""
    return InvalidMessage(f"{place or 'the export'}: {wanted}", field=place or None)


def an_object(value: object, place: str) -> dict[str, Any]:
    """The value, which must be a JSON object."""
    if not isinstance(value, dict):
        raise fault(place, "must be an object")
    return value


def a_list(value: object, place: str) -> list[Any]:
    """The value, which must be a list."""
    if not isinstance(value, list):
        raise fault(place, "must be a list")
    return value


def a_text(value: object, place: str) -> str:
    """The value, which must be text (it may be empty)."""
    if not isinstance(value, str):
        raise fault(place, "must be text")
    try:
        return utf8(value)
    except ValueError as error:  # half a surrogate pair: JSON can spell it
        raise fault(place, str(error)) from error


def a_name(value: object, place: str) -> str:
    """The value, which must be text that shows something: an id or a speaker."""
    if is_blank(a_text(value, place)):
        raise fault(place, "must not be blank")
    return str(value)


def an_id(value: object, place: str) -> str:
    """The value, which must be an id: a whole number, or text that shows something."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else a_name(value, place)


def optional_text(record: dict[str, Any], name: str, place: str) -> str | None:
    """A field that is text, or absent, null or blank (then None)."""
    value = record.get(name)
    if value is None or is_blank(a_text(value, below(place, name))):
        return None
    return str(value)


def moment_of_seconds(value: object, place: str) -> datetime:
    """A time in UTC from seconds since 1970, fractions included."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise fault(place, "must be a time in seconds since 1970")
    try:
        return EPOCH + timedelta(seconds=value)
    except (OverflowError, ValueError) as error:
        raise fault(place, "is no time that a calendar has") from error


def moment_of_text(value: object, place: str) -> datetime:
    """A time from ISO 8601 text; the zone as given, UTC where none is."""
    try:
        moment = datetime.fromisoformat(a_text(value, place))
    except ValueError as error:
        raise fault(place, "must be a time such as 2025-01-31T09:30:00Z") from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def after(moment: datetime, seconds: int, place: str) -> datetime:
    """The time so many seconds later."""
    try:
        return moment + seconds * SECOND
    except OverflowError as error:
        raise fault(place, "comes later than a calendar goes") from error


def turn(
    place: str,
    *,
    scope: Scope,
    source: tuple[JsonValue, ...],
    session_id: str,
    role: Role,
    content: str,
    timestamp: datetime,
    name: str | None = None,
    topic: str | None = None,
    others: Sequence[str] = (),
) -> Item:
    """The turn that a message becomes; one that shows nothing is left out.

    Args:
        place: Where the message stands.
        scope: Whose memory it becomes; part of the id.
        source: The format and the source's own ids of the message: equal ones are one turn.
        session_id: The conversation it belongs to.
        role: Who speaks.
        content: What is said.
        timestamp: When, with a zone.
        name: The speaker.
        topic: Title of the conversation; cut at 1,024 characters.
        others: Kinds of the message's parts that are no text (pictures, tool calls): told in ``metadata.leftOutParts``.

    Raises:
        InvalidMessage: A field is longer or other than a turn can hold.
    """
    if is_blank(content):
        return LeftOut(place, f"it has no text, only {', '.join(others)}" if others else "it says nothing")
    try:
        return Turn(
            turn_id=derived_id("turn", scope.key, *source),
            scope=scope,
            session_id=session_id,
            role=role,
            name=name,
            content=content,
            timestamp=timestamp,
            conversation_topic=topic[:TOPIC_CHARACTERS] if topic else None,
            metadata={"leftOutParts": list(others)} if others else None,
        )
    except ValidationError as error:
        raise within(place, invalid(error)) from error


def within(place: str, error: InvalidMessage) -> InvalidMessage:
    """The same fault of a message, told with the message's place."""
    field = _INDEX.sub("[", f"{place}.{error.field}") if place and error.field else place or error.field
    return InvalidMessage(f"{place}: {error}" if place else str(error), field=field or None)
