"""A record as it came from a topic, before anybody has understood it."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from schemas.errors import InvalidMessage
from schemas.message import Headers, header

FORWARDED = "memlake_forwarded"
"""Set on a record that was moved to its scope's own partition: once is enough."""
RECORDED_AT = "memlake_recorded_at"
"""When the broker first took the input in, kept through forwarding."""
CORRELATION_ID, REPLY_TO, DEADLINE, TRACE = "correlation_id", "reply_to", "deadline", "traceparent"
FORWARDING = timedelta(days=1)
"""A record is forwarded at once, or after an outage; what claims to be older is believed no more than its new stamp."""
HEADER_BYTES, RECORD_BYTES = 100, 500
TRACE_BYTES = 512
"""A longer trace is no trace."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
"""What Kafka takes as a topic's name."""
CORRELATION_CHARACTERS = 1024


@dataclass(frozen=True)
class Incoming:
    """One record.

    Attributes:
        topic: Full name of the topic.
        timestamp: The broker's or producer's stamp, in UTC.
    """

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Headers
    timestamp: datetime

    @property
    def size(self) -> int:
        """Bytes of key, value and headers, with what keeping a record costs."""
        headers = sum(len(name) + len(value or b"") + HEADER_BYTES for name, value in self.headers)
        return len(self.key or b"") + len(self.value or b"") + headers + RECORD_BYTES

    def header(self, name: str) -> str | None:
        """The last header of that name."""
        return header(self.headers, name)

    @property
    def recorded_at(self) -> datetime:
        """When the broker took it in, before any forwarding."""
        told = self.header(RECORDED_AT) if self.header(FORWARDED) else None
        try:
            moment = datetime.fromisoformat(told or "")
        except ValueError:
            return self.timestamp  # not ours: only our own forwarding writes this header rightly
        if moment.tzinfo is None or not self.timestamp - FORWARDING <= moment <= self.timestamp:
            return self.timestamp
        return moment.astimezone(UTC)


@dataclass(frozen=True)
class ReplyAddress:
    """Where an answer goes.

    Attributes:
        topic: Full name of the reply topic.
        correlation_id: Which request it answers.
        deadline: After it nobody listens; None where the asker named none.
    """

    topic: str
    correlation_id: str
    deadline: datetime | None = None


def reply_address(incoming: Incoming, reply_topic: str, *, timed: bool = True) -> ReplyAddress | None:
    """Read the request's headers.

    Args:
        incoming: The record.
        reply_topic: ``<name>.replies``: answers go there, or to a topic whose name starts with it and a dot.
        timed: Whether to read the deadline, too; one that cannot be read is answered all the same.

    Returns:
        None where no answer is asked for.

    Raises:
        InvalidMessage: The topic is not one of ours, the id is missing, or the deadline is no number.
    """
    topic, correlation_id, deadline = (incoming.header(name) for name in (REPLY_TO, CORRELATION_ID, DEADLINE))
    if topic is None:
        return None
    if topic != reply_topic and not topic.startswith(f"{reply_topic}."):
        raise InvalidMessage(f"reply_to: must be {reply_topic} or start with {reply_topic}.", field=REPLY_TO)
    if not TOPIC.fullmatch(topic):
        raise InvalidMessage("reply_to: no topic can have this name", field=REPLY_TO)
    if not correlation_id:
        raise InvalidMessage("correlation_id: needed to answer", field=CORRELATION_ID)
    if len(correlation_id) > CORRELATION_CHARACTERS:
        raise InvalidMessage(
            f"correlation_id: {len(correlation_id)} characters, at most {CORRELATION_CHARACTERS} are sent back",
            field=CORRELATION_ID,
        )
    moment = None if deadline is None or not timed else _moment(deadline)
    return ReplyAddress(topic, correlation_id, moment)


def _moment(deadline: str) -> datetime:
    wrong = InvalidMessage("deadline: must be a whole number of milliseconds since 1970", field=DEADLINE)
    if not (deadline.isascii() and deadline.isdecimal()):
        raise wrong
    try:
        return EPOCH + timedelta(milliseconds=int(deadline))
    except (ValueError, OverflowError) as error:
        raise wrong from error


def trace(incoming: Incoming) -> Headers:
    """The trace that a record belongs to, as headers for what it causes."""
    return [(name, value) for name, value in incoming.headers if name == TRACE and len(value or b"") <= TRACE_BYTES]


def passed_on(incoming: Incoming) -> Headers:
    """The headers that travel with what a record causes: the way back, and the trace."""
    kept = {CORRELATION_ID, REPLY_TO, DEADLINE, TRACE}
    return [(name, value) for name, value in incoming.headers if name in kept and value is not None]
