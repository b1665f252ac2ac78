"""How a message looks on the wire: UTF-8 JSON with camelCase names, CloudEvents headers beside it.

Rule of this file: it knows how any message is written and read, and of no message in particular. What a message *is*
lives in the module of its subject; what changed between two versions of it lives in ``upcast``.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Self

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, JsonValue, ValidationError, ValidationInfo
from pydantic.alias_generators import to_camel

from schemas.errors import InvalidMessage
from schemas.upcast import upcast

Headers = list[tuple[str, bytes]]
MAX_METADATA_BYTES = 16 * 1024


MAX_PLACE_CHARACTERS = 200
"""Of a field's name in an error: the names of unknown fields are the sender's."""
_HALF_PAIR = re.compile(r"\\u[dD][89a-fA-F]")
"""Spells half a surrogate pair, or both."""


def utf8(text: str) -> str:
    """The text, if UTF-8 can hold it: half a surrogate pair is no text.

    Raises:
        ValueError: It can't.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError("must be text that UTF-8 can hold") from error
    return text


def small(metadata: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """The sender's own fields, if they are small enough to be kept beside each memory.

    Raises:
        ValueError: They are larger than ``MAX_METADATA_BYTES`` as JSON, or no text that UTF-8 can hold.
    """
    size = len(utf8(json.dumps(metadata, ensure_ascii=False)).encode())
    if size > MAX_METADATA_BYTES:
        raise ValueError(f"has {size} bytes as JSON, at most {MAX_METADATA_BYTES} are kept beside each memory")
    return metadata


def in_utc(moment: datetime) -> datetime:
    """The same moment in UTC.

    Raises:
        ValueError: It is not within the years that a calendar in UTC has.
    """
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("must lie within the years 1 to 9999 of UTC") from error


def small_as_sent(metadata: dict[str, JsonValue], info: ValidationInfo) -> dict[str, JsonValue]:
    """What somebody sends must be small; what we keep of it may have grown when it was masked."""
    return metadata if info.context is KEPT else small(metadata)


KEPT = object()
"""Validation context of messages of ours: what is in them was taken in already."""
Metadata = Annotated[dict[str, JsonValue], AfterValidator(small_as_sent)]
"""Fields of the sender's own: they are copied to every memory of the message, so they are small."""
Instant = Annotated[AwareDatetime, AfterValidator(in_utc)]
"""A moment in UTC; one without a zone is refused."""

CONTENT_TYPE = b"application/json; charset=utf-8"


class Part(BaseModel):
    """A frozen piece of a message. Unknown fields of what *we* wrote are ignored, so that old readers read new rows."""

    model_config = ConfigDict(
        frozen=True,
        populate_by_name=True,
        alias_generator=to_camel,
        extra="ignore",
        allow_inf_nan=False,
        hide_input_in_errors=True,  # an error's text reaches logs, what somebody said doesn't
    )

    def to_wire(self) -> dict[str, Any]:
        """The JSON object that goes onto a topic: wire names, no absent fields."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class Message(Part):
    """A thing said on a topic. ``kind`` names it in ``ce_type`` and in the table of upcasts."""

    kind: ClassVar[str]
    current_version: ClassVar[int] = 1
    read_as: ClassVar[object] = None
    """Validation context; ``KEPT`` for messages of ours that hold what others sent."""

    schema_version: int = 1

    def encode(self) -> bytes:
        """The value on a topic: UTF-8 JSON, the same bytes for equal messages.

        Raises:
            InvalidMessage: A text was put in that UTF-8 cannot hold.
        """
        try:
            return json.dumps(self.to_wire(), ensure_ascii=False, separators=(",", ":")).encode()
        except UnicodeEncodeError as error:
            raise InvalidMessage("the message holds half a surrogate pair, which is no text") from error

    @classmethod
    def decode(cls, value: bytes | str | None) -> Self:
        """Read a value from a topic, of this or an earlier version; fields have their wire names only.

        Args:
            value: The record's value, or its text.

        Raises:
            InvalidMessage: It is empty, no UTF-8, no JSON object, of a newer version, or a field is wrong (named).
        """
        return cls._read(parse_object(value), by_name=False)

    @classmethod
    def from_wire(cls, payload: Mapping[str, Any]) -> Self:
        """Validate a JSON object as this message; see ``decode``. Fields may have their Python names, too."""
        return cls._read(payload, by_name=True)

    @classmethod
    def _read(cls, payload: Mapping[str, Any], *, by_name: bool) -> Self:
        try:
            return cls.model_validate(
                upcast(cls.kind, payload, cls.current_version), by_alias=True, by_name=by_name, context=cls.read_as
            )
        except ValidationError as error:
            raise invalid(error) from error


class Input(Part):
    """A piece of what *others* write: an unknown field is a mistake worth telling, not worth guessing at."""

    model_config = ConfigDict(extra="forbid")


def parse_object(value: bytes | str | None) -> dict[str, Any]:
    """A JSON object from bytes or text.

    Raises:
        InvalidMessage: With the reason, which never repeats the value.
    """
    if not value or not value.strip():
        raise InvalidMessage("the value is empty: send a JSON object")
    try:
        text = value if isinstance(value, str) else value.decode()
    except UnicodeDecodeError as error:
        raise InvalidMessage(f"the value is not UTF-8 (byte {error.start})") from error
    try:
        payload = json.loads(text, parse_constant=_no_constant, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise InvalidMessage(f"the value is not JSON: {reason}") from error
    if not isinstance(payload, dict):
        raise InvalidMessage(f"the value is JSON but no object: send {{…}}, not {type(payload).__name__}")
    if _HALF_PAIR.search(text):
        _require_text(payload)
    return payload


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("a number is too large")
    return number


def _require_text(payload: dict[str, Any]) -> None:
    """Refuse half surrogate pairs: JSON can spell them, UTF-8 can't hold them."""
    waiting: list[tuple[str, Any]] = [("", payload)]
    while waiting:
        place, value = waiting.pop()
        text = value
        if isinstance(value, dict):
            waiting.extend((_place([place, key] if place else [key]), inner) for key, inner in value.items())
            text = "".join(value)
        elif isinstance(value, list):
            waiting.extend((_place([place, index]), inner) for index, inner in enumerate(value))
        if isinstance(text, str):
            try:
                utf8(text)
            except ValueError as error:
                raise InvalidMessage(f"{place or 'message'}: {error}", field=place or None) from error


def invalid(error: ValidationError) -> InvalidMessage:
    """The first fault that pydantic found, told by its wire name; the value itself is never repeated."""
    faults = error.errors(include_url=False, include_input=False, include_context=False)
    told = [_fault(fault["loc"], fault["msg"]) for fault in faults[:5]]
    return InvalidMessage("; ".join(f"{field or 'message'}: {reason}" for field, reason in told), field=told[0][0])


def _fault(place: Sequence[int | str], reason: str) -> tuple[str | None, str]:
    """The field and what is wrong with it; a rule over several fields names the one it is about itself."""
    said = reason.removeprefix("Value error, ")
    if place:
        return _place(place), said
    field, colon, rest = said.partition(": ")
    return (field, rest) if colon else (None, said)


def _place(parts: Sequence[object]) -> str:
    return ".".join(map(str, parts))[:MAX_PLACE_CHARACTERS]


def cloud_event(message: Message, *, event_id: str, source: str, time: datetime, key: str) -> Headers:
    """CloudEvents 1.0 headers in Kafka's binary mode.

    Args:
        message: Its kind and version make ``ce_type``, e.g. ``memlake.turn.v1``.
        event_id: Unique within the source.
        source: Who says it, as a URI reference, e.g. ``/memlake/extract``.
        time: When it happened, timezone-aware.
        key: The partition key; for scope-keyed topics the scope, whatever the record's own key is.
    """
    return [
        ("ce_specversion", b"1.0"),
        ("ce_type", f"memlake.{message.kind}.v{message.schema_version}".encode()),
        ("ce_id", event_id.encode()),
        ("ce_source", source.encode()),
        ("ce_time", time.isoformat().encode()),
        ("ce_partitionkey", key.encode()),
        ("content-type", CONTENT_TYPE),
    ]


def header(headers: Iterable[tuple[str, bytes]], name: str) -> str | None:
    """The last header of that name as text; None where there is none. Bytes that are no UTF-8 are replaced."""
    found = None
    for key, value in headers:
        if key == name and value is not None:
            found = value.decode(errors="replace")
    return found
