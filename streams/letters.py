"""Dead letters: what could not be handled, masked, with the reason, and an answer to whoever waits for one."""

import json
from datetime import datetime

from schemas.errors import InvalidMessage, MemlakeError
from schemas.facts import Masked
from schemas.identity import derived_id
from schemas.message import cloud_event
from schemas.reports import DeadLetter
from schemas.retrieval import ErrorCode, ErrorReply
from schemas.topics import RECORD_BYTES
from streams.extract.masking import mask
from streams.incoming import Incoming, reply_address
from streams.wire import Outbox, Outgoing

VALUE_CHARACTERS = RECORD_BYTES // 8
"""The letter of a larger value holds its beginning: a character may take six bytes as JSON."""
REASON_CHARACTERS = 1000
KEY_CHARACTERS = 4096
HEADER_CHARACTERS = 1024
HEADERS = 100
"""A letter shows so many headers, each cut: that they were too many or too long can be seen all the same."""


def dead_letter(incoming: Incoming, error: BaseException, *, attempt: int, now: datetime) -> DeadLetter:
    """Describe a message that is given up.

    Args:
        incoming: The message.
        error: Why.
        attempt: How often it was tried, from 1.
        now: When it is given up.
    """
    return DeadLetter(
        id=letter_id(incoming),
        topic=incoming.topic,
        partition=incoming.partition,
        offset=incoming.offset,
        key=_told(incoming.key, KEY_CHARACTERS),
        value=_told(incoming.value, VALUE_CHARACTERS),
        headers=tuple(
            (mask(name)[0][:HEADER_CHARACTERS], _told(value, HEADER_CHARACTERS) or "")
            for name, value in incoming.headers[:HEADERS]
        ),
        error=type(error).__name__,
        reason=mask(str(error) or type(error).__name__)[0][:REASON_CHARACTERS],
        field=_field(error),
        attempt=attempt,
        timestamp=now,
    )


def letter_id(incoming: Incoming) -> str:
    """Id of the letter of a message: given up twice, it is the same letter."""
    return derived_id("dead-letter", incoming.topic, incoming.partition, incoming.offset)


def letters(incoming: Incoming, error: BaseException, outbox: Outbox, *, attempt: int, now: datetime) -> list[Outgoing]:
    """The dead letter, and an error reply where the message asked for an answer."""
    letter = dead_letter(incoming, error, attempt=attempt, now=now)
    headers = cloud_event(letter, event_id=letter.id, source=outbox.source, time=now, key=letter.key or "")
    sent = [Outgoing("deadletters", letter.key or "", letter.encode(), headers)]
    answer = error_reply(incoming, error, outbox, now=now)
    return [*sent, answer] if answer else sent


def error_reply(incoming: Incoming, error: BaseException, outbox: Outbox, *, now: datetime) -> Outgoing | None:
    """The error as an answer; None where nobody asked for one, or where it cannot be told to whom."""
    try:
        address = reply_address(incoming, f"{outbox.settings.name}.replies", timed=False)
    except InvalidMessage:
        return None
    if address is None:
        return None
    reply = ErrorReply(
        code=_code(error),
        message=mask(str(error))[0][:REASON_CHARACTERS] if isinstance(error, MemlakeError) else type(error).__name__,
        field=_field(error),
    )
    return outbox.reply(reply, incoming, address, now=now, key="")


def _field(error: BaseException) -> str | None:
    return mask(error.field)[0] if isinstance(error, InvalidMessage) and error.field else None


def _code(error: BaseException) -> ErrorCode:
    if isinstance(error, InvalidMessage):
        return "invalid_request"
    return "unavailable" if isinstance(error, MemlakeError) else "internal"


def _told(value: bytes | None, characters: int) -> str | None:
    """Bytes as masked text, cut; a byte that is no UTF-8 is shown by its number."""
    if value is None:
        return None
    text = value[: 4 * characters].decode(errors="backslashreplace")
    shown = [text, _spelt_out(text), value[: 4 * characters].decode(errors="replace")]
    masked = [mask(one) for one in shown]
    return max(masked, key=lambda one: _count(one[1]))[0][:characters]  # the first, where none hides more


def _spelt_out(text: str) -> str:
    """JSON with its escapes written as the letters they stand for, so that no secret hides behind them."""
    try:
        return json.dumps(json.loads(text), ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


def _count(masked: tuple[Masked, ...]) -> int:
    return sum(one.count for one in masked)
