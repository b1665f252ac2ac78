"""Scopes and turns: whose memory it is, and what somebody said, as clients send it."""

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from pydantic import ValidationError

from schemas.conversation import Scope, Turn, is_blank
from schemas.errors import InvalidMessage
from schemas.identity import derived_id

TURN: dict[str, Any] = {
    "scope": {"projectId": "shop", "userId": "ann"},
    "sessionId": "s1",
    "role": "user",
    "content": "I play the cello.",
    "timestamp": "2025-01-02T03:04:05+01:00",
}
NOBODY = ["", " ", "\t\n", "\u200b", "\u200b \u200b \u200b", "\u2060\ufeff\u00ad", "\u200e", "\x00", "\u3164", "*", "%"]
BLANK = ["", "   ", "\n\t\r\f", "\u200b", " \u200b \u200d ", "\u2028\u2029\x85", "\u2800", "\ufe0f"]
NOT_BLANK = ["a", " a ", "\u200ba", ".", "\U0001f642", "é", "\u4e00", "-", "**", "%%"]
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"timestamp": "2025-01-02T03:04:05"}, "timestamp"),
    ({"timestamp": "yesterday"}, "timestamp"),
    ({"timestamp": "0001-01-01T00:00:00+14:00"}, "timestamp"),
    ({"timestamp": "9999-12-31T23:59:59-14:00"}, "timestamp"),
    ({"timestamp": None}, "timestamp"),
    ({"role": "robot"}, "role"),
    ({"content": " \u200b "}, "content"),
    ({"content": 7}, "content"),
    ({"scope": {"projectId": "shop"}}, "scope.userId"),
    ({"scope": {"projectId": "shop", "userId": "*"}}, "scope.userId"),
    ({"scope": {"projectId": "%", "userId": "ann"}}, "scope.projectId"),
    ({"scope": {"projectId": "x" * 257, "userId": "ann"}}, "scope.projectId"),
    ({"scope": {"projectId": "shop", "userId": "ann", "tenant": 1}}, "scope.tenant"),
    ({"turnId": ""}, "turnId"),
    ({"turnId": "x" * 257}, "turnId"),
    ({"sessionId": 3}, "sessionId"),
    ({"conversationTopic": "x" * 1025}, "conversationTopic"),
    ({"metadata": {"k": "v" * 16_384}}, "metadata"),
    ({"metadata": ["a"]}, "metadata"),
    ({"mood": "good"}, "mood"),
    ({"session_id": "s2"}, "session_id"),
    ({"schema_version": 9}, "schema_version"),
]


@pytest.mark.parametrize("name", NOBODY)
@pytest.mark.parametrize("part", ["project_id", "user_id"])
def test_a_scope_that_names_nobody_is_refused(part: str, name: str) -> None:
    with pytest.raises(ValidationError):
        Scope(**{"project_id": "shop", "user_id": "ann"} | {part: name})


@pytest.mark.parametrize("name", ["* ", "%%", "o'neil", "x' OR '1'='1", "c:\\d", "a\nb", "\U0001f642", "x" * 256])
def test_any_other_name_is_a_scope(name: str) -> None:
    scope = Scope(project_id=name, user_id=name)

    assert (scope.project_id, scope.user_id) == (name, name)


def test_a_scope_needs_both_parts() -> None:
    with pytest.raises(ValidationError):
        Scope.model_validate({"userId": "ann"})


def test_half_a_surrogate_pair_names_nobody_and_says_nothing() -> None:
    for fields in ({"project_id": "a\ud800"}, {"user_id": "\udfff"}):
        with pytest.raises(ValidationError):
            Scope(**{"project_id": "shop", "user_id": "ann"} | fields)
    with pytest.raises(InvalidMessage, match="content"):
        Turn.from_wire(TURN | {"content": "a\ud83d"})


@pytest.mark.parametrize("text", BLANK)
def test_a_text_that_shows_nothing_is_blank(text: str) -> None:
    assert is_blank(text)


@pytest.mark.parametrize("text", NOT_BLANK)
def test_a_text_that_shows_something_is_not_blank(text: str) -> None:
    assert not is_blank(text)


@pytest.mark.parametrize(("change", "field"), REFUSED, ids=lambda value: value if isinstance(value, str) else "")
def test_a_wrong_turn_is_refused_with_the_wire_name_of_its_field(change: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidMessage) as refused:
        Turn.decode(json.dumps(TURN | change))

    assert refused.value.field is not None
    assert refused.value.field.startswith(field)
    assert str(refused.value).startswith(field)


@pytest.mark.parametrize("field", ["scope", "role", "content", "timestamp"])
def test_a_turn_without_what_it_needs_is_refused(field: str) -> None:
    with pytest.raises(InvalidMessage) as refused:
        Turn.decode(json.dumps({key: value for key, value in TURN.items() if key != field}))

    assert refused.value.field == field


def test_the_zone_of_a_turn_is_kept() -> None:
    turn = Turn.decode(json.dumps(TURN))

    assert turn.timestamp.utcoffset() == timedelta(hours=1)
    assert b'"timestamp":"2025-01-02T03:04:05+01:00"' in turn.encode()


def test_a_turn_keeps_the_id_it_came_with() -> None:
    turn = Turn.decode(json.dumps(TURN | {"turnId": "mine"}))

    assert turn.identified() is turn


def test_a_turn_without_an_id_gets_one_of_scope_session_role_time_and_content() -> None:
    turn = Turn.decode(json.dumps(TURN)).identified()

    assert turn.turn_id == derived_id(
        "turn", "shop/ann", "s1", "user", "2025-01-02T03:04:05+01:00", "I play the cello."
    )
    assert Turn.decode(turn.encode()).identified() == turn


@pytest.mark.parametrize(
    "change",
    [
        {"scope": {"projectId": "shop", "userId": "bo"}},
        {"sessionId": "s2"},
        {"sessionId": None},
        {"role": "assistant"},
        {"content": "I play the cello!"},
        {"timestamp": "2025-01-02T03:04:06+01:00"},
    ],
    ids=str,
)
def test_whatever_makes_another_turn_makes_another_id(change: dict[str, Any]) -> None:
    one, other = (Turn.decode(json.dumps(told)).identified() for told in (TURN, TURN | change))

    assert one.turn_id != other.turn_id


def test_what_is_said_about_a_turn_does_not_change_its_id() -> None:
    one = Turn.decode(json.dumps(TURN)).identified()
    other = Turn.decode(json.dumps(TURN | {"metadata": {"a": 1}, "agentId": "x", "name": "Ann"})).identified()

    assert one.turn_id == other.turn_id


def test_a_turn_can_be_made_with_python_names() -> None:
    moment = datetime(2025, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=1)))
    scope = Scope(project_id="shop", user_id="ann")

    made = Turn(scope=scope, session_id="s1", role="user", content="I play the cello.", timestamp=moment)

    assert made == Turn.decode(json.dumps(TURN))
    assert moment.astimezone(UTC).hour == 2
