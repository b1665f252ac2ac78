"""The Claude data export becomes turns."""

import copy
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from schemas.conversation import Scope, Turn
from schemas.errors import InvalidMessage
from streams.formats.claude import parse
from streams.formats.source import LeftOut

SCOPE = Scope(project_id="shop", user_id="ann")
EXPORT = [
    {
        "uuid": "c-1",
        "name": "Moving",
        "chat_messages": [
            {
                "uuid": "m-1",
                "sender": "human",
                "created_at": "2025-02-01T10:00:00.250000Z",
                "text": "older field",
                "content": [{"type": "text", "text": "I live in Graz."}],
            },
            {"uuid": "m-2", "sender": "assistant", "created_at": "2025-02-01T11:00:00+01:00", "text": "Servus!"},
        ],
    }
]
SILENT = [
    pytest.param({"content": [], "text": ""}, "it says nothing", id="blank"),
    pytest.param(
        {"content": [{"type": "tool_use"}], "text": "cannot be shown"}, "it has no text, only tool_use", id="tool"
    ),
]
TIMES = [
    pytest.param("2025-02-01T10:00:00", datetime(2025, 2, 1, 10, tzinfo=UTC), id="no-zone-is-utc"),
    pytest.param(
        "2025-02-01T10:00:00+05:30", datetime(2025, 2, 1, 10, tzinfo=timezone(timedelta(hours=5.5))), id="zone"
    ),
]
WRONG = [
    pytest.param("sender", "robot", id="sender"),
    pytest.param("sender", None, id="no-sender"),
    pytest.param("uuid", "", id="uuid"),
    pytest.param("created_at", "yesterday", id="time"),
    pytest.param("created_at", None, id="no-time"),
    pytest.param("content", "text", id="content"),
]


def read(document: object) -> list[Turn | LeftOut]:
    return list(parse(document, SCOPE))


def changed(**fields: object) -> Any:
    export: Any = copy.deepcopy(EXPORT)
    export[0]["chat_messages"] = [{**export[0]["chat_messages"][0], **fields}]
    return export


def test_text_parts_win_over_the_older_text_field() -> None:
    turns = [item for item in read(EXPORT) if isinstance(item, Turn)]

    assert [(turn.role, turn.content) for turn in turns] == [("user", "I live in Graz."), ("assistant", "Servus!")]
    assert {(turn.session_id, turn.conversation_topic) for turn in turns} == {("c-1", "Moving")}


@pytest.mark.parametrize(("fields", "reason"), SILENT)
def test_a_message_without_text_is_told_as_left_out(fields: dict[str, Any], reason: str) -> None:
    assert read(changed(**fields)) == [LeftOut("[0].chat_messages[0]", reason)]


@pytest.mark.parametrize(("text", "moment"), TIMES)
def test_the_zone_is_kept_as_given(text: str, moment: datetime) -> None:
    (turn,) = read(changed(created_at=text))

    assert isinstance(turn, Turn)
    assert (turn.timestamp, turn.timestamp.utcoffset()) == (moment, moment.utcoffset())


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_a_wrong_value_is_named_by_its_place(name: str, value: object) -> None:
    with pytest.raises(InvalidMessage) as caught:
        read(changed(**{name: value}))

    assert caught.value.field == f"[0].chat_messages[0].{name}"


def test_a_long_title_is_cut_to_what_a_topic_holds() -> None:
    (turn,) = read([{**changed()[0], "name": "n" * 2000}])

    assert isinstance(turn, Turn)
    assert turn.conversation_topic == "n" * 1024
