"""Dead letters: what could not be handled, masked, with the reason, and an answer to whoever waits for one."""

import json
import re
from collections.abc import Iterator
from datetime import datetime

from schemas.errors import InvalidMessage, MemlakeError
from schemas.facts import Masked
from schemas.identity import derived_id
from schemas.message import cloud_event
from schemas.reports import DeadLetter
from schemas.retrieval import ErrorCode, ErrorReply
from schemas.topics import RECORD_BYTES
from streams.incoming import Incoming, reply_address
from streams.masking import Masker
from streams.wire import Outbox, Outgoing

VALUE_CHARACTERS = RECORD_BYTES // 8
"""The letter of a larger value holds its beginning: a character may take six bytes as JSON."""
REASON_CHARACTERS = 1000
KEY_CHARACTERS = 4096
HEADER_CHARACTERS = 1024
HEADERS = 100
"""A letter shows so many headers, each cut: that they were too many or too long can be seen all the same."""


_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(["\\/nrtbf]))')
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}


def dead_letter(incoming: Incoming, error: BaseException, masker: Masker, *, attempt: int, now: datetime) -> DeadLetter:
    """Describe a message that is given up.

    Args:
        incoming: The message.
        error: Why.
        masker: Of the deployment.
        attempt: How often it was tried, from 1.
        now: When it is given up.
    """
    return DeadLetter(
        id=letter_id(incoming),
        topic=incoming.topic,
        partition=incoming.partition,
        offset=incoming.offset,
        key=_told(incoming.key, KEY_CHARACTERS, masker),
        value=_told(incoming.value, VALUE_CHARACTERS, masker),
        headers=tuple(_header(name, value, masker) for name, value in incoming.headers[:HEADERS]),
        error=type(error).__name__,
        reason=masker.text(str(error) or type(error).__name__)[:REASON_CHARACTERS],
        field=_field(error, masker),
        attempt=attempt,
        timestamp=now,
    )


def letter_id(incoming: Incoming) -> str:
    """Id of the letter of a message: given up twice, it is the same letter."""
    return derived_id("dead-letter", incoming.topic, incoming.partition, incoming.offset)


def letters(
    incoming: Incoming, error: BaseException, outbox: Outbox, masker: Masker, *, attempt: int, now: datetime
) -> list[Outgoing]:
    """The dead letter, and an error reply where the message asked for an answer."""
    letter = dead_letter(incoming, error, masker, attempt=attempt, now=now)
    headers = cloud_event(letter, event_id=letter.id, source=outbox.source, time=now, key=letter.key or "")
    sent = [Outgoing("deadletters", letter.key or "", letter.encode(), headers)]
    answer = error_reply(incoming, error, outbox, masker, now=now)
    return [*sent, answer] if answer else sent


def error_reply(
    incoming: Incoming, error: BaseException, outbox: Outbox, masker: Masker, *, now: datetime
) -> Outgoing | None:
    """The error as an answer; None where nobody asked for one, or where it cannot be told to whom."""
    try:
        address = reply_address(incoming, f"{outbox.settings.name}.replies", timed=False)
    except InvalidMessage:
        return None
    if address is None:
        return None
    reply = ErrorReply(
        code=_code(error),
        message=masker.text(str(error))[:REASON_CHARACTERS]
        if isinstance(error, MemlakeError)
        else type(error).__name__,
        field=_field(error, masker),
    )
    return outbox.reply(reply, incoming, address, now=now, key="")


def _field(error: BaseException, masker: Masker) -> str | None:
    return masker.text(error.field) if isinstance(error, InvalidMessage) and error.field else None


def _code(error: BaseException) -> ErrorCode:
    if isinstance(error, InvalidMessage):
        return "invalid_request"
    return "unavailable" if isinstance(error, MemlakeError) else "internal"


def _header(name: str, value: bytes | None, masker: Masker) -> tuple[str, str]:
    told = _told(value, HEADER_CHARACTERS, masker) or ""
    (shown,), _ = masker.data([{name[:HEADER_CHARACTERS]: told}])
    ((masked_name, masked),) = shown.items()
    return masked_name[:HEADER_CHARACTERS], masked[:HEADER_CHARACTERS]


def _told(value: bytes | None, characters: int, masker: Masker) -> str | None:
    """Bytes as masked text, cut; a byte that is no UTF-8 is shown by its number.

    Of the ways in which they can be read, the one that hides most is shown: the first, where none hides more.
    """
    if value is None:
        return None
    beginning = value[: 4 * characters]
    text = beginning.decode(errors="backslashreplace")
    readings = [masker.mask(text), *_spelt_out(text, masker)]
    if (other := beginning.decode(errors="replace")) != text:
        readings.append(masker.mask(other))
    return max(readings, key=lambda reading: _count(reading[1]))[0][:characters]


def _spelt_out(text: str, masker: Masker) -> Iterator[tuple[str, tuple[Masked, ...]]]:
    """A text masked with its escapes written as what they stand for, so that no secret hides behind them."""
    try:
        data, told = masker.data(json.loads(text))
    except (ValueError, RecursionError):
        if not _ESCAPE.search(text):
            return
        shown, told = masker.mask(_ESCAPE.sub(_unescaped, text))
    else:
        shown = json.dumps(data, ensure_ascii=False)
    yield shown.encode(errors="replace").decode(), told


def _unescaped(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16)) if escape[1] else _ESCAPED.get(escape[2], escape[2])


def _count(masked: tuple[Masked, ...]) -> int:
    return sum(one.count for one in masked)
