"""Chat-completions messages become turns, one second apart from a given start."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from schemas.conversation import Scope, Turn
from schemas.errors import InvalidMessage
from streams.formats.openai import parse
from streams.formats.source import LeftOut

SCOPE = Scope(project_id="shop", user_id="ann")
START = datetime(2025, 3, 1, 9, 0, tzinfo=UTC)
PICTURE = {"type": "image_url", "image_url": {"url": "data:,"}}
CALL = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": {}}]}

SAID = [
    pytest.param({"role": "user", "content": "We use Go."}, ("user", "We use Go."), id="text"),
    pytest.param(
        {"role": "user", "content": [{"type": "text", "text": "Look:"}, {"type": "text", "text": "this"}]},
        ("user", "Look:\nthis"),
        id="parts",
    ),
    pytest.param({"role": "developer", "content": "Be brief."}, ("system", "Be brief."), id="developer-is-system"),
    pytest.param({"role": "function", "name": "f", "content": "42"}, ("tool", "42"), id="function-is-tool"),
    pytest.param({"role": "assistant", "content": None, "refusal": "No."}, ("assistant", "No."), id="refusal-field"),
    pytest.param(
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
        ("assistant", "No."),
        id="refusal-part",
    ),
]
SILENT = [
    pytest.param(CALL, "it calls a tool and says nothing", id="tool-call"),
    pytest.param({"role": "user", "content": " \u200b"}, "it says nothing", id="blank"),
    pytest.param({"role": "user", "content": [PICTURE]}, "it has no text, only image_url", id="picture"),
    pytest.param({"role": "assistant", "content": None}, "it says nothing", id="null"),
]
WRONG: list[Any] = [
    pytest.param([{"role": "user"}, 7], "[1]", id="no-object"),
    pytest.param([{"content": "x"}], "[0].role", id="no-role"),
    pytest.param([{"role": "robot", "content": "x"}], "[0].role", id="unknown-role"),
    pytest.param({"messages": [{"role": "user", "content": 3}]}, "messages[0].content", id="content-is-a-number"),
    pytest.param({"messages": "x"}, "messages", id="messages-are-text"),
    pytest.param([{"id": " ", "messages": []}], "[0].id", id="blank-id"),
    pytest.param(
        [{"role": "user", "content": [{"type": "text", "text": 1}]}], "[0].content[0].text", id="part-is-a-number"
    ),
    pytest.param([{"role": "user", "content": "x", "name": "n" * 257}], "[0].name", id="name-too-long"),
    pytest.param([{"role": "user", "content": "a\ud800"}], "[0].content", id="half-a-surrogate-pair"),
]


def read(document: object) -> list[Turn | LeftOut]:
    return list(parse(document, SCOPE, start=START))


@pytest.mark.parametrize(("message", "expected"), SAID)
def test_a_message_with_text_is_a_turn(message: dict[str, Any], expected: tuple[str, str]) -> None:
    (turn,) = read([message])

    assert isinstance(turn, Turn)
    assert (turn.role, turn.content) == expected


@pytest.mark.parametrize(("message", "reason"), SILENT)
def test_a_message_without_text_is_told_as_left_out(message: dict[str, Any], reason: str) -> None:
    assert read([message]) == [LeftOut("[0]", reason)]


@pytest.mark.parametrize(("document", "field"), WRONG)
def test_a_wrong_value_is_named_by_its_place(document: object, field: str) -> None:
    with pytest.raises(InvalidMessage) as caught:
        read(document)

    assert caught.value.field == field
    assert str(caught.value).startswith(field.removesuffix(".name"))


def test_each_message_is_one_second_later_than_the_one_before_left_out_or_not() -> None:
    items = read([{"role": "user", "content": "a"}, CALL, {"role": "user", "content": "b"}])

    times = [item.timestamp for item in items if isinstance(item, Turn)]
    assert times == [START, START + timedelta(seconds=2)]


@pytest.mark.parametrize("start", [None, datetime(2025, 3, 1, 9, 0)])  # noqa: DTZ001 - the fault under test
def test_a_start_with_a_zone_must_be_given(start: datetime | None) -> None:
    with pytest.raises(InvalidMessage, match="when it started"):
        list(parse([], SCOPE, start=start))


def test_parts_that_are_no_text_are_told_in_the_metadata() -> None:
    (turn,) = read([{"role": "user", "content": [{"type": "text", "text": "See"}, PICTURE]}])

    assert isinstance(turn, Turn)
    assert turn.metadata == {"leftOutParts": ["image_url"]}


def test_bare_messages_are_one_conversation_and_lists_are_each_their_own() -> None:
    message = {"role": "user", "content": "hello"}

    bare = {item.session_id for item in read([message, message]) if isinstance(item, Turn)}
    listed = {item.session_id for item in read([[message], [message]]) if isinstance(item, Turn)}
    wrapped = {item.session_id for item in read([{"id": 7, "messages": [message]}]) if isinstance(item, Turn)}

    assert (len(bare), len(listed), wrapped) == (1, 2, {"7"})


def test_another_start_makes_other_turns() -> None:
    document = [{"role": "user", "content": "hello"}]
    later = parse(json.loads(json.dumps(document)), SCOPE, start=START + timedelta(days=1))

    (first,), (second,) = read(document), later
    assert isinstance(first, Turn)
    assert isinstance(second, Turn)
    assert (first.turn_id, first.session_id) != (second.turn_id, second.session_id)


def test_messages_past_the_end_of_the_calendar_are_a_fault() -> None:
    end = datetime.max.replace(tzinfo=UTC)

    with pytest.raises(InvalidMessage, match=r"^\[1\]: comes later"):
        list(parse([{"role": "user", "content": "a"}] * 2, SCOPE, start=end))
