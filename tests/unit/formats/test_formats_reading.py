"""Files and texts: the format is known by its shape, JSON lines are read as they come, faults name their line."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from schemas.conversation import Scope, Turn
from schemas.errors import InvalidMessage, Misconfigured
from streams.formats.reading import read_file
from streams.formats.registry import FORMATS, SHAPES, detect
from streams.formats.source import JsonLines, LeftOut

SCOPE = Scope(project_id="shop", user_id="ann")
START = datetime(2025, 3, 1, 9, 0, tzinfo=UTC)
MESSAGE = {"role": "user", "content": "I play the cello."}
TURN = {**MESSAGE, "timestamp": "2025-01-02T03:04:05+01:00", "sessionId": "s"}
OWN = {"scope": {"projectId": "p", "userId": "u"}}
NODE = {
    "author": {"role": "user"},
    "create_time": 1,
    "content": {"content_type": "text", "parts": ["I play the cello."]},
}
CHAT = {"uuid": "m", "sender": "human", "created_at": "2025-01-02T03:04:05Z", "text": "I play the cello."}
LOCOMO = {
    "session_1_date_time": "1:00 pm on 8 May, 2023",
    "session_1": [{"speaker": "Ida", "text": "I play the cello."}],
}
HAYSTACK = {
    "haystack_dates": ["2024/03/01 (Fri) 08:15"],
    "haystack_session_ids": ["s"],
    "haystack_sessions": [[MESSAGE]],
}

EXPORTS: list[tuple[str, Any]] = [
    ("turns", [TURN]),
    ("turns", TURN | OWN),
    ("openai", [MESSAGE]),
    ("openai", {"messages": [MESSAGE]}),
    ("openai", [[MESSAGE]]),
    ("chatgpt", [{"id": "c", "mapping": {"n": {"parent": None, "message": NODE}}}]),
    ("claude", [{"uuid": "c", "chat_messages": [CHAT]}]),
    ("locomo", [{"sample_id": "s", "conversation": LOCOMO}]),
    ("locomo", LOCOMO),
    ("longmemeval", HAYSTACK),
    ("longmemeval", [HAYSTACK]),
]
NO_EXPORTS = [
    pytest.param("", "no JSON", id="empty"),
    pytest.param("hello", "no JSON", id="prose"),
    pytest.param("[]", "empty list", id="empty-list"),
    pytest.param('{"a": 1}', "no known format", id="another-object"),
    pytest.param("[3]", "no known format", id="a-number"),
    pytest.param("[" * 100_000, "nested too deeply", id="nested"),
    pytest.param("1" * 5000, "too many digits", id="a-long-number"),
]


def turns_of(source: Path | str, name: str | None = None) -> list[Turn]:
    return list(read_file(source, name, SCOPE, start=START))


@pytest.mark.parametrize(("name", "export"), EXPORTS)
def test_a_format_is_known_by_its_shape_and_read(name: str, export: object) -> None:
    text = json.dumps(export, indent=2)

    assert detect(text) == name
    assert [turn.content for turn in turns_of(text)] == ["I play the cello."]


@pytest.mark.parametrize(("name", "export"), EXPORTS)
def test_a_file_of_json_lines_is_read_like_the_list(name: str, export: Any, tmp_path: Path) -> None:
    record = export[0] if isinstance(export, list) else export
    path = tmp_path / "export.jsonl"
    path.write_text("\ufeff\n" + f"{json.dumps(record)}\r\n\n" * 3, encoding="utf-8")

    assert detect(path.read_text(encoding="utf-8")) == name
    assert len(turns_of(path)) == 3


@pytest.mark.parametrize(("text", "told"), NO_EXPORTS)
def test_what_is_no_export_says_why(text: str, told: str) -> None:
    with pytest.raises(InvalidMessage, match=told):
        detect(text)
    with pytest.raises(InvalidMessage, match=told if text else "the export is empty"):
        turns_of(text)


def test_every_format_has_a_shape() -> None:
    assert FORMATS.keys() == SHAPES.keys()


def test_a_fault_names_line_and_field() -> None:
    text = f"{json.dumps(TURN)}\n\n{json.dumps(TURN | {'timestamp': '2025-01-02T03:04:05'})}"

    with pytest.raises(InvalidMessage) as caught:
        turns_of(text)

    assert caught.value.field == "line 3.timestamp"


def test_the_turns_before_a_broken_line_are_read_first() -> None:
    turns = read_file(f"{json.dumps(TURN)}\n{json.dumps(TURN)}\n{{broken", None, SCOPE)

    assert [next(turns).role, next(turns).role] == ["user", "user"]
    with pytest.raises(InvalidMessage, match="line 3: is no JSON"):
        next(turns)


def test_a_fault_in_a_text_of_one_value_names_its_own_line() -> None:
    with pytest.raises(InvalidMessage, match=r"line 4, column 3"):
        turns_of('\n[\n {"role": "user"},\n  oops]')


def test_json_lines_are_read_only_as_far_as_asked() -> None:
    asked = []

    def values() -> Iterator[tuple[str, object]]:
        for number in range(1, 4):
            asked.append(number)
            yield f"line {number}", MESSAGE

    next(iter(FORMATS["openai"](JsonLines(values()), SCOPE, start=START)))

    assert asked == [1]


def test_messages_that_become_no_turn_are_told() -> None:
    told: list[LeftOut] = []
    export = [MESSAGE, {"role": "user", "content": ""}]

    turns = list(read_file(json.dumps(export), None, SCOPE, start=START, left_out=told.append))

    assert (len(turns), told) == (1, [LeftOut("[1]", "it says nothing")])
    assert turns_of(json.dumps(export)) == turns


def test_a_turn_keeps_its_own_scope_and_takes_the_given_one_without() -> None:
    own, given = turns_of(json.dumps([TURN | OWN, TURN]))

    assert (own.scope, given.scope) == (Scope(project_id="p", user_id="u"), SCOPE)


def test_an_unknown_format_is_refused_before_anything_is_read() -> None:
    with pytest.raises(Misconfigured, match="there is no format 'xml'"):
        read_file("[]", "xml", SCOPE)


def test_a_file_that_is_not_there_is_the_operators_to_mend(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="No such file"):
        turns_of(tmp_path / "gone.json")


def test_bytes_that_are_no_utf_8_are_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "latin.json"
    path.write_bytes('[{"role": "user", "content": "Käse"}]'.encode("latin-1"))

    with pytest.raises(InvalidMessage, match="not UTF-8"):
        turns_of(path)


def test_a_turn_with_half_a_surrogate_pair_in_its_session_is_a_fault() -> None:
    with pytest.raises(InvalidMessage):
        turns_of(json.dumps([TURN | {"sessionId": "\ud800"}]))
