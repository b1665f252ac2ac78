"""The LoCoMo layout: both speakers are users with a name, sessions come in the order of their numbers."""

from datetime import UTC, datetime
from typing import Any

import pytest

from schemas.conversation import Scope, Turn
from schemas.errors import InvalidMessage
from streams.formats.locomo import moment_of_session, parse
from streams.formats.source import LeftOut

SCOPE = Scope(project_id="shop", user_id="ann")
CONVERSATION: dict[str, Any] = {
    "speaker_a": "Ida",
    "speaker_b": "Olaf",
    "session_10_date_time": "12:05 am on 3 June, 2024",
    "session_10": [{"speaker": "Ida", "dia_id": "D10:1", "text": "I sold the boat."}],
    "session_2_date_time": "1:56 pm on 8 May, 2024",
    "session_2": [
        {"speaker": "Ida", "dia_id": "D2:1", "text": "I bought a boat."},
        {"speaker": "Olaf", "dia_id": "D2:2", "text": "Show me!", "blip_caption": "a red boat"},
    ],
    "session_99_date_time": "9:00 am on 1 July, 2024",
}
TIMES = [
    pytest.param("1:56 pm on 8 May, 2023", datetime(2023, 5, 8, 13, 56, tzinfo=UTC), id="afternoon"),
    pytest.param("12:00 am on 1 January, 2024", datetime(2024, 1, 1, tzinfo=UTC), id="midnight"),
    pytest.param("12:30 PM on 29 February 2024", datetime(2024, 2, 29, 12, 30, tzinfo=UTC), id="noon"),
]
NO_TIMES = [
    "13:00 pm on 8 May, 2023",
    "0:10 am on 8 May, 2023",
    "1:00 pm on 31 June, 2023",
    "1:00 pm on 8 Mai, 2023",
    "",
    7,
    None,
]
WRONG: list[Any] = [
    pytest.param({"session_2_date_time": None}, "conversation.session_2_date_time", id="no-time"),
    pytest.param({"session_2": {}}, "conversation.session_2", id="no-list"),
    pytest.param({"session_2": [{"text": "x"}]}, "conversation.session_2[0].speaker", id="no-speaker"),
    pytest.param({"session_2": [{"speaker": "Ida"}]}, "conversation.session_2[0].text", id="no-text"),
]


def read(document: object) -> list[Turn | LeftOut]:
    return list(parse(document, SCOPE))


def test_sessions_come_in_the_order_of_their_numbers() -> None:
    items = read([{"sample_id": "s1", "conversation": CONVERSATION}])

    told = [(item.session_id, item.name, item.role, item.content) for item in items if isinstance(item, Turn)]
    assert told == [
        ("s1/session_2", "Ida", "user", "I bought a boat."),
        ("s1/session_2", "Olaf", "user", "Show me!\n[image: a red boat]"),
        ("s1/session_10", "Ida", "user", "I sold the boat."),
    ]


def test_messages_of_a_session_are_one_second_apart() -> None:
    first, second, _ = read(CONVERSATION)

    assert isinstance(first, Turn)
    assert isinstance(second, Turn)
    assert (first.timestamp, second.timestamp) == (
        datetime(2024, 5, 8, 13, 56, tzinfo=UTC),
        datetime(2024, 5, 8, 13, 56, 1, tzinfo=UTC),
    )


def test_samples_without_a_name_keep_their_sessions_apart() -> None:
    items = read([{"conversation": CONVERSATION}, {"conversation": CONVERSATION}])

    assert len({item.turn_id for item in items if isinstance(item, Turn)}) == 6


def test_a_message_without_text_or_picture_is_told_as_left_out() -> None:
    silent = {**CONVERSATION, "session_2": [{"speaker": "Ida", "dia_id": "D2:1", "text": ""}]}

    assert read(silent)[0] == LeftOut("session_2[0]", "it says nothing")


@pytest.mark.parametrize(("text", "moment"), TIMES)
def test_a_session_time_is_read_as_utc(text: str, moment: datetime) -> None:
    assert moment_of_session(text, "x") == moment


@pytest.mark.parametrize("text", NO_TIMES)
def test_what_is_no_time_is_a_fault(text: object) -> None:
    with pytest.raises(InvalidMessage):
        moment_of_session(text, "x")


@pytest.mark.parametrize(("fields", "field"), WRONG)
def test_a_wrong_value_is_named_by_its_place(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidMessage) as caught:
        read({"conversation": {**CONVERSATION, **fields}})

    assert caught.value.field == field


def test_a_conversation_without_sessions_is_a_fault() -> None:
    with pytest.raises(InvalidMessage, match="must have a session_1"):
        read({"conversation": {"speaker_a": "Ida"}})
