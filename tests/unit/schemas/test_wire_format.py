"""How any message is read and written: JSON, versions, headers; what is wrong is told, what was said is not."""

import json
import traceback
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from schemas.conversation import Turn
from schemas.errors import Conflict, InvalidMessage, MemlakeError, Misconfigured, Unavailable
from schemas.facts import Repeat, decode_record
from schemas.message import MAX_METADATA_BYTES, Message, cloud_event, header, parse_object, small
from schemas.reports import MaintenanceReport
from schemas.retrieval import SearchRequest
from schemas.upcast import upcast

SECRET = "hunter2"
TURN: dict[str, Any] = {
    "scope": {"projectId": "shop", "userId": "ann"},
    "role": "user",
    "content": f"my password is {SECRET}",
    "timestamp": "2025-01-02T03:04:05Z",
}
TEXT = json.dumps(TURN)
OPEN = TEXT[:-1]
UNREADABLE = [
    pytest.param(None, "empty", id="no-value"),
    pytest.param(b"", "empty", id="empty"),
    pytest.param(b" \n\t ", "empty", id="white-space"),
    pytest.param(b"\xff\xfe" + TEXT.encode(), "not UTF-8 (byte 0)", id="not-utf8"),
    pytest.param(TEXT.encode("utf-16"), "not UTF-8", id="utf16"),
    pytest.param(b"\xef\xbb\xbf" + TEXT.encode(), "not JSON", id="byte-order-mark"),
    pytest.param(OPEN.encode(), "not JSON", id="cut"),
    pytest.param((TEXT + TEXT).encode(), "not JSON", id="two-objects"),
    pytest.param(SECRET.encode(), "not JSON", id="prose"),
    pytest.param(b"NaN", "NaN", id="nan"),
    pytest.param(OPEN + ', "metadata": {"x": NaN}}', "NaN", id="nan-inside"),
    pytest.param(OPEN + ', "metadata": {"x": -Infinity}}', "Infinity", id="infinity"),
    pytest.param(OPEN + ', "metadata": {"x": 1e999}}', "too large", id="too-large-a-number"),
    pytest.param(OPEN + ', "metadata": {"x": ' + "9" * 5000 + "}}", "not JSON", id="too-many-digits"),
    pytest.param(f'["{SECRET}"]', "no object", id="list"),
    pytest.param(f'"{SECRET}"', "no object", id="text"),
    pytest.param("[" * 100_000, "not JSON", id="deep-lists"),
    pytest.param('{"a":' * 100_000, "not JSON", id="deep-objects"),
    pytest.param(OPEN + ', "metadata": {"x": ' + "[" * 400 + "]" * 400 + "}}", "metadata", id="deep-metadata"),
]
HALVES: list[tuple[str, str]] = [
    ('"content": "\\ud800"', "content"),
    ('"content": "\\udC00 \\ud83D"', "content"),
    ('"name": "\\ud83d\\u0020"', "name"),
    ('"metadata": {"a": [1, {"b": "\\udfff"}]}', "metadata.a.1.b"),
    ('"metadata": {"\\ud800": 1}', "metadata"),
    ('"\\ud800": 1', "message"),
]
VERSIONS = [0, -1, 2, 99, True, False, 1.0, "1", None, [1]]


@pytest.mark.parametrize(("value", "reason"), UNREADABLE)
def test_what_cannot_be_read_is_refused_with_a_reason_that_never_repeats_it(value: Any, reason: str) -> None:
    with pytest.raises(InvalidMessage) as refused:
        Turn.decode(value)

    assert reason in str(refused.value)
    assert SECRET not in str(refused.value)
    assert len(str(refused.value)) < 1000
    assert len(refused.value.field or "") <= 200


@pytest.mark.parametrize(("said", "field"), HALVES)
def test_half_a_surrogate_pair_is_refused_wherever_it_stands(said: str, field: str) -> None:
    with pytest.raises(InvalidMessage) as refused:
        Turn.decode(f"{OPEN}, {said}}}")

    assert str(refused.value) == f"{field}: must be text that UTF-8 can hold"
    assert refused.value.field == (None if field == "message" else field)


def test_a_whole_surrogate_pair_is_a_character() -> None:
    turn = Turn.decode(OPEN + ', "name": "\\ud83d\\ude42", "metadata": {"a": ["\\u00e9", null]}}')

    assert turn.name == "\U0001f642"
    assert "\U0001f642".encode() in turn.encode()


def test_neither_an_error_nor_its_traceback_holds_what_was_said() -> None:
    told = ""
    try:
        Turn.decode(json.dumps(TURN | {"role": f"{SECRET}!", "metadata": {"k": 1}}))
    except InvalidMessage as error:
        told = "".join(traceback.format_exception(error))

    assert "role: Input should be" in told
    assert SECRET not in told


def test_the_first_five_faults_are_told_together_and_the_first_is_the_field() -> None:
    with pytest.raises(InvalidMessage) as refused:
        Turn.decode(b'{"a": 1, "b": 1, "c": 1, "role": "x"}')

    assert str(refused.value).count(";") == 4
    assert refused.value.field == "scope"


def test_a_long_name_of_an_unknown_field_is_cut() -> None:
    with pytest.raises(InvalidMessage) as refused:
        Turn.decode(json.dumps(TURN | {"x" * 5000: 1}))

    assert refused.value.field == "x" * 200


@pytest.mark.parametrize("version", VERSIONS, ids=repr)
def test_a_version_that_is_no_whole_number_or_too_new_is_refused(version: Any) -> None:
    with pytest.raises(InvalidMessage, match="schemaVersion") as refused:
        Turn.decode(json.dumps(TURN | {"schemaVersion": version}))

    assert refused.value.field == "schemaVersion"


def test_a_newer_version_says_what_to_do() -> None:
    with pytest.raises(InvalidMessage, match="upgrade"):
        MaintenanceReport.decode(b'{"schemaVersion": 2}')


def test_unknown_fields_of_our_own_messages_are_ignored_so_that_old_readers_read_new_rows() -> None:
    told = {
        "recordId": "r",
        "recordedAt": "2025-01-02T03:04:05Z",
        "source": {"topic": "t", "partition": 0, "offset": 1},
    }

    assert Repeat.decode(json.dumps(told | {"mood": 1})) == Repeat.decode(json.dumps(told))


def test_metadata_is_kept_up_to_its_limit_and_refused_beyond() -> None:
    room = MAX_METADATA_BYTES - len('{"k": ""}')

    assert small({"k": "x" * room}) == {"k": "x" * room}
    with pytest.raises(ValueError, match=f"{MAX_METADATA_BYTES + 1} bytes"):
        small({"k": "x" * (room + 1)})
    with pytest.raises(ValueError, match="bytes"):
        small({"k": "é" * room})


def test_metadata_is_counted_as_text() -> None:
    with pytest.raises(ValueError, match="UTF-8"):
        small({"k": ["\ud800"]})


def test_a_message_is_utf8_json_without_absent_fields_and_the_same_bytes_each_time() -> None:
    turn = Turn.decode(json.dumps(TURN | {"content": "café \U0001f642"}))

    value = turn.encode()

    assert "café \U0001f642".encode() in value
    assert b"null" not in value
    assert value == Turn.decode(value).encode()


def test_a_text_that_utf8_cannot_hold_does_not_leave_the_house() -> None:
    request = SearchRequest.from_wire({"scope": TURN["scope"], "query": "q", "filters": {"domain": "\ud800"}})

    with pytest.raises(InvalidMessage, match="surrogate"):
        request.encode()


def test_a_moment_is_told_in_utc() -> None:
    request = SearchRequest.decode(
        json.dumps({"scope": TURN["scope"], "query": "q", "asOf": "2025-01-02T03:04:05.000001+05:30"})
    )

    assert request.as_of == datetime(2025, 1, 1, 21, 34, 5, 1, tzinfo=UTC)
    assert b'"asOf":"2025-01-01T21:34:05.000001Z"' in request.encode()


def test_headers_are_cloud_events_in_binary_mode() -> None:
    turn = Turn.decode(TEXT)
    moment = datetime(2025, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=1)))

    headers = cloud_event(turn, event_id="e1", source="/memlake/intake", time=moment, key="shop/ann")

    assert headers == [
        ("ce_specversion", b"1.0"),
        ("ce_type", b"memlake.turn.v1"),
        ("ce_id", b"e1"),
        ("ce_source", b"/memlake/intake"),
        ("ce_time", b"2025-01-02T03:04:05+01:00"),
        ("ce_partitionkey", b"shop/ann"),
        ("content-type", b"application/json; charset=utf-8"),
    ]


def test_the_last_header_of_a_name_counts() -> None:
    headers: Any = [("a", b"1"), ("b", b"\xff"), ("a", b"2"), ("a", None), ("A", b"3")]

    assert header(headers, "a") == "2"
    assert header(headers, "b") == "\ufffd"
    assert header(headers, "c") is None


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [("ce_type", b"memlake.turn.v1")],
        [("ce_type", b"memlake.repeat")],
        [("ce_type", b"repeat")],
        [("ce_type", b"\xff")],
        [("type", b"memlake.repeat.v1")],
    ],
    ids=str,
)
def test_a_record_of_an_unknown_type_is_refused(headers: list[tuple[str, bytes]]) -> None:
    with pytest.raises(InvalidMessage) as refused:
        decode_record(b"{}", headers)

    assert refused.value.field == "ce_type"


def test_a_record_that_does_not_fit_its_type_is_refused() -> None:
    with pytest.raises(InvalidMessage) as refused:
        decode_record(b"{}", [("ce_type", b"memlake.turn-record.v1")])

    assert refused.value.field == "recordId"


def test_old_payloads_take_one_step_after_another() -> None:
    steps = {
        ("turn", 1): lambda told: {"text": told["t"], "schemaVersion": 1},
        ("turn", 2): lambda told: {"content": told["text"]},
        ("event", 1): lambda told: {"never": told},
    }

    assert upcast("turn", {"t": "a", "schemaVersion": 1}, 3, steps) == {"content": "a", "schemaVersion": 3}
    assert upcast("turn", {"text": "a", "schemaVersion": 2}, 3, steps) == {"content": "a", "schemaVersion": 3}
    assert upcast("turn", {"content": "a", "schemaVersion": 3}, 3, steps) == {"content": "a", "schemaVersion": 3}


def test_a_payload_without_a_version_is_current_and_is_not_changed_in_place() -> None:
    told = {"content": "a"}

    found = upcast("turn", told, 3, {})

    assert found == told
    assert found is not told


def test_a_version_without_its_step_cannot_be_read_any_more() -> None:
    with pytest.raises(InvalidMessage, match="turn v2 cannot be read"):
        upcast("turn", {"schemaVersion": 1}, 3, {("turn", 1): dict})


def test_an_old_message_is_read_as_a_current_one() -> None:
    class Later(Message):
        kind = "later"
        current_version = 2
        schema_version: int = 2

    with pytest.raises(InvalidMessage, match="later v1 cannot be read"):
        Later.decode(b'{"schemaVersion": 1}')
    assert Later.decode(b'{"schemaVersion": 2}') == Later()


@pytest.mark.parametrize("error", [MemlakeError, InvalidMessage, Unavailable, Conflict, Misconfigured])
def test_an_error_explains_itself(error: type[MemlakeError]) -> None:
    assert str(error()) == (error.__doc__ or "").strip()
    assert str(error("because")) == "because"


def test_a_value_may_be_text_already() -> None:
    assert parse_object('{"a": 1.5}') == {"a": 1.5}
