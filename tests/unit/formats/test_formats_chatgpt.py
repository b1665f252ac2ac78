"""The ChatGPT data export becomes turns of the branch that the person last saw."""

import copy
from datetime import UTC, datetime
from typing import Any

import pytest

from schemas.conversation import Scope, Turn
from schemas.errors import InvalidMessage
from streams.formats.chatgpt import parse
from streams.formats.source import LeftOut

SCOPE = Scope(project_id="shop", user_id="ann")


def message(role: str, *parts: object, at: float | None = 1_700_000_000.5, **more: Any) -> dict[str, Any]:
    content = {"content_type": "text", "parts": list(parts)}
    return {"author": {"role": role, "name": None}, "create_time": at, "content": content, "metadata": {}, **more}


def node(parent: str | None, told: dict[str, Any] | None, *children: str) -> dict[str, Any]:
    return {"message": told, "parent": parent, "children": list(children)}


EXPORT = {
    "conversation_id": "c-1",
    "title": "Editors",
    "create_time": 1_700_000_000,
    "current_node": "d",
    "mapping": {
        "root": node(None, None, "a"),
        "a": node("root", message("user", "I use Emacs.", id="m-a"), "b", "c"),
        "b": node("a", message("assistant", "Noted (first answer).")),
        "c": node("a", message("assistant", "Noted.", at=1_700_000_002), "d"),
        "d": node("c", message("user", "I moved to Helix.", at=None)),
    },
}
SILENT = [
    pytest.param(message("user", ""), "it says nothing", id="blank"),
    pytest.param(
        message("user", {"content_type": "image_asset_pointer"}),
        "it has no text, only image_asset_pointer",
        id="picture",
    ),
    pytest.param(message("assistant", "search(1)", recipient="browser"), "it is addressed to a tool", id="to-a-tool"),
    pytest.param(
        message("user", "x") | {"metadata": {"is_visually_hidden_from_conversation": True}},
        "it was hidden from the conversation",
        id="hidden",
    ),
    pytest.param(
        message("assistant") | {"content": {"content_type": "thoughts", "thoughts": []}},
        "its content is thoughts, which nobody said",
        id="reasoning",
    ),
]
SAID = [
    pytest.param(
        message("user", "a", {"content_type": "audio_transcription", "text": "b"}, None, ""), "a\nb", id="voice"
    ),
    pytest.param(message("tool") | {"content": {"content_type": "execution_output", "text": "42"}}, "42", id="output"),
    pytest.param(message("user", "hi", recipient="all"), "hi", id="to-all"),
]
WRONG = [
    pytest.param(["mapping", "a", "message", "author", "role"], "robot", "mapping.a.message.author.role", id="role"),
    pytest.param(["mapping", "a", "message", "create_time"], "noon", "mapping.a.message.create_time", id="time"),
    pytest.param(
        ["mapping", "a", "message", "create_time"], 1e300, "mapping.a.message.create_time", id="time-too-late"
    ),
    pytest.param(
        ["mapping", "a", "message", "create_time"], float("nan"), "mapping.a.message.create_time", id="no-number"
    ),
    pytest.param(["mapping", "a", "message", "content"], None, "mapping.a.message.content", id="content"),
    pytest.param(["mapping", "a", "message", "content", "parts"], [3], "mapping.a.message.content.parts[0]", id="part"),
    pytest.param(["mapping", "a"], 1, "mapping.a", id="node"),
    pytest.param(["mapping", "root", "parent"], "d", "mapping.d.parent", id="a-circle"),
    pytest.param(["mapping", "root", "parent"], "gone", "current_node", id="a-parent-that-is-not-there"),
    pytest.param(["current_node"], "gone", "current_node", id="a-current-node-that-is-not-there"),
    pytest.param(["conversation_id"], None, "id", id="no-id"),
    pytest.param(["mapping"], [], "mapping", id="mapping"),
]


def read(document: object) -> list[Turn | LeftOut]:
    return list(parse(document, SCOPE))


def only(told: dict[str, Any]) -> Turn | LeftOut:
    (item,) = read({**EXPORT, "current_node": "a", "mapping": {"a": node(None, told)}})
    return item


def test_the_branch_of_the_current_node_is_read_in_order_and_the_rest_is_told() -> None:
    items = read([EXPORT])

    assert [item.content for item in items if isinstance(item, Turn)] == ["I use Emacs.", "Noted.", "I moved to Helix."]
    assert items[3:] == [LeftOut("[0].mapping.b.message", "it stands on a branch that was given up")]


def test_a_turn_carries_conversation_title_and_time_in_utc() -> None:
    first = read(EXPORT)[0]

    assert isinstance(first, Turn)
    assert (first.session_id, first.conversation_topic, first.role) == ("c-1", "Editors", "user")
    assert first.timestamp == datetime(2023, 11, 14, 22, 13, 20, 500_000, tzinfo=UTC)


def test_a_message_without_a_time_has_its_predecessors() -> None:
    turns = [item for item in read(EXPORT) if isinstance(item, Turn)]

    assert turns[2].timestamp == turns[1].timestamp


def test_without_a_current_node_the_last_child_is_taken_at_each_fork() -> None:
    assert read({**EXPORT, "current_node": None})[:3] == read(EXPORT)[:3]


def test_an_empty_conversation_has_no_messages() -> None:
    assert read({**EXPORT, "current_node": None, "mapping": {}}) == []


@pytest.mark.parametrize(("told", "reason"), SILENT)
def test_what_nobody_said_is_told_as_left_out(told: dict[str, Any], reason: str) -> None:
    assert only(told) == LeftOut("mapping.a.message", reason)


@pytest.mark.parametrize(("told", "content"), SAID)
def test_text_in_any_of_its_forms_is_a_turn(told: dict[str, Any], content: str) -> None:
    turn = only(told)

    assert isinstance(turn, Turn)
    assert turn.content == content


@pytest.mark.parametrize(("path", "value", "field"), WRONG)
def test_a_wrong_value_is_named_by_its_place(path: list[str], value: object, field: str) -> None:
    export: Any = copy.deepcopy(EXPORT)
    inner = export
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value

    with pytest.raises(InvalidMessage) as caught:
        read(export)

    assert caught.value.field == field


def test_no_time_anywhere_is_a_fault() -> None:
    export = {**EXPORT, "create_time": None, "mapping": {"d": node(None, message("user", "x", at=None))}}

    with pytest.raises(InvalidMessage, match="so is the conversation's"):
        read(export)


def test_a_circle_of_children_ends() -> None:
    circle = {"a": node(None, None, "b"), "b": node("a", None, "a")}

    assert read({**EXPORT, "current_node": None, "mapping": circle}) == []
