"""A record as it came: its way back, its time, and what travels on with it."""

from datetime import UTC, datetime

import pytest

from schemas.errors import InvalidMessage
from schemas.message import Headers
from streams.incoming import Incoming, ReplyAddress, passed_on, reply_address

STAMP = datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC)
ANSWERS = "lake.replies"
ID = ("correlation_id", b"c1")
REFUSED: list[tuple[Headers, str]] = [
    ([("reply_to", b"other.replies"), ID], "reply_to"),
    ([("reply_to", b"lake.facts"), ID], "reply_to"),
    ([("reply_to", b"lake.repliesx"), ID], "reply_to"),
    ([("reply_to", b"LAKE.replies"), ID], "reply_to"),
    ([("reply_to", b""), ID], "reply_to"),
    ([("reply_to", b" lake.replies"), ID], "reply_to"),
    ([("reply_to", b"lake.replies\xff"), ID], "reply_to"),
    ([("reply_to", b"lake.replies.a b"), ID], "reply_to"),
    ([("reply_to", b"lake.replies." + b"x" * 249), ID], "reply_to"),
    ([("reply_to", b"lake.replies")], "correlation_id"),
    ([("reply_to", b"lake.replies"), ("correlation_id", b"x" * 1025)], "correlation_id"),
    ([("reply_to", b"lake.replies"), ("correlation_id", b"")], "correlation_id"),
    ([("reply_to", b"lake.replies"), ID, ("deadline", b"soon")], "deadline"),
    ([("reply_to", b"lake.replies"), ID, ("deadline", b"")], "deadline"),
    ([("reply_to", b"lake.replies"), ID, ("deadline", b"1.5")], "deadline"),
    ([("reply_to", b"lake.replies"), ID, ("deadline", b"9" * 40)], "deadline"),
]
TAKEN: list[tuple[Headers, ReplyAddress | None]] = [
    ([], None),
    ([ID, ("deadline", b"soon")], None),
    ([("reply_to", b"lake.replies"), ID], ReplyAddress("lake.replies", "c1")),
    ([("reply_to", b"lake.replies.web-1"), ID], ReplyAddress("lake.replies.web-1", "c1")),
    ([("reply_to", b"x"), ("reply_to", b"lake.replies"), ID], ReplyAddress("lake.replies", "c1")),
    (
        [("reply_to", b"lake.replies"), ID, ("deadline", b"1735787045250")],
        ReplyAddress("lake.replies", "c1", datetime(2025, 1, 2, 3, 4, 5, 250_000, tzinfo=UTC)),
    ),
]


def a_record(headers: Headers, value: bytes | None = b"{}") -> Incoming:
    return Incoming("lake.turns", 1, 7, b"shop/ann", value, headers, STAMP)


@pytest.mark.parametrize(("headers", "field"), REFUSED, ids=str)
def test_an_answer_that_cannot_be_sent_is_refused_by_the_header_at_fault(headers: Headers, field: str) -> None:
    with pytest.raises(InvalidMessage) as refused:
        reply_address(a_record(headers), ANSWERS)

    assert refused.value.field == field


@pytest.mark.parametrize(("headers", "address"), TAKEN, ids=str)
def test_the_way_back_is_what_the_headers_say(headers: Headers, address: ReplyAddress | None) -> None:
    assert reply_address(a_record(headers), ANSWERS) == address


FORWARDED = ("memlake_forwarded", b"1")
RECORDED: list[tuple[Headers, datetime]] = [
    ([], STAMP),
    ([FORWARDED, ("memlake_recorded_at", b"2025-01-01T23:00:00+01:00")], datetime(2025, 1, 1, 22, 0, tzinfo=UTC)),
    ([FORWARDED, ("memlake_recorded_at", b"1990-01-01T00:00:00Z")], STAMP),
    ([FORWARDED, ("memlake_recorded_at", b"2025-01-02T03:04:06Z")], STAMP),
    ([("memlake_recorded_at", b"2025-01-01T23:00:00+01:00")], STAMP),
    ([FORWARDED], STAMP),
    ([FORWARDED, ("memlake_recorded_at", b"yesterday")], STAMP),
    ([FORWARDED, ("memlake_recorded_at", b"2025-01-01T23:00:00")], STAMP),
    ([FORWARDED, ("memlake_recorded_at", b"0001-01-01T00:00:00+14:00")], STAMP),
]


@pytest.mark.parametrize(("told", "moment"), RECORDED, ids=str)
def test_an_input_was_recorded_when_the_broker_first_took_it_in(told: Headers, moment: datetime) -> None:
    assert a_record(told).recorded_at == moment


def test_the_size_is_that_of_key_value_and_headers_and_no_record_is_free() -> None:
    empty = Incoming("t", 0, 0, None, None, [], STAMP).size

    assert empty > 0
    assert a_record([]).size == empty + 10
    assert a_record([], None).size == empty + 8
    assert a_record([("x", b"y" * 1000)]).size > empty + 1000


def test_only_the_way_back_and_the_trace_travel_on() -> None:
    headers = [("ce_id", b"1"), ID, ("reply_to", b"r"), ("deadline", b"1"), ("traceparent", b"t"), ("x", b"y")]

    assert passed_on(a_record(headers)) == [ID, ("reply_to", b"r"), ("deadline", b"1"), ("traceparent", b"t")]
