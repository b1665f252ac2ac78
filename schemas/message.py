"""How a message looks on the wire: UTF-8 JSON with camelCase names, CloudEvents headers beside it.

Rule of this file: it knows how any message is written and read, and of no message in particular. What a message *is*
lives in the module of its subject; what changed between two versions of it lives in ``upcast``.
"""

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Self, TypeVar

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, JsonValue, ValidationError
from pydantic.alias_generators import to_camel

from schemas.errors import InvalidMessage
from schemas.upcast import upcast

Headers = list[tuple[str, bytes]]
MAX_METADATA_BYTES = 16 * 1024


def _small(metadata: dict[str, JsonValue]) -> dict[str, JsonValue]:
    size = len(json.dumps(metadata, ensure_ascii=False).encode(errors="surrogatepass"))
    if size > MAX_METADATA_BYTES:
        raise ValueError(f"has {size} bytes as JSON, at most {MAX_METADATA_BYTES} are kept beside each memory")
    return metadata


Metadata = Annotated[dict[str, JsonValue], AfterValidator(_small)]
"""Fields of the sender's own: they are copied to every memory of the message, so they are small."""
Instant = Annotated[AwareDatetime, AfterValidator(lambda moment: moment.astimezone(UTC))]
"""A moment in UTC; one without a zone is refused."""

CONTENT_TYPE = b"application/json; charset=utf-8"


class Part(BaseModel):
    """A frozen piece of a message. Unknown fields of what *we* wrote are ignored, so that old readers read new rows."""

    model_config = ConfigDict(
        frozen=True, populate_by_name=True, alias_generator=to_camel, extra="ignore", allow_inf_nan=False
    )

    def to_wire(self) -> dict[str, Any]:
        """The JSON object that goes onto a topic: wire names, no absent fields."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class Message(Part):
    """A thing said on a topic. ``kind`` names it in ``ce_type`` and in the table of upcasts."""

    kind: ClassVar[str]
    current_version: ClassVar[int] = 1

    schema_version: int = 1

    def encode(self) -> bytes:
        """The value on a topic: UTF-8 JSON, the same bytes for equal messages."""
        return json.dumps(self.to_wire(), ensure_ascii=False, separators=(",", ":")).encode()

    @classmethod
    def decode(cls, value: bytes | None) -> Self:
        """Read a value from a topic, of this or an earlier version.

        Args:
            value: The record's value.

        Raises:
            InvalidMessage: It is empty, no UTF-8, no JSON object, of a newer version, or a field is wrong (named).
        """
        return cls.from_wire(parse_object(value))

    @classmethod
    def from_wire(cls, payload: Mapping[str, Any]) -> Self:
        """Validate a JSON object as this message; see ``decode``."""
        try:
            return cls.model_validate(upcast(cls.kind, payload, cls.current_version))
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
        payload = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise InvalidMessage(f"the value is not JSON: {reason}") from error
    if not isinstance(payload, dict):
        raise InvalidMessage(f"the value is JSON but no object: send {{…}}, not {type(payload).__name__}")
    return payload


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


MessageT = TypeVar("MessageT", bound=Message)


def invalid(error: ValidationError) -> InvalidMessage:
    """The first fault that pydantic found, told by its wire name; the value itself is never repeated."""
    faults = error.errors(include_url=False, include_input=False, include_context=False)
    field = ".".join(str(part) for part in faults[0]["loc"])
    told = "; ".join(
        f"{'.'.join(str(part) for part in fault['loc']) or 'message'}: {fault['msg']}" for fault in faults[:5]
    )
    return InvalidMessage(told, field=field or None)


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
