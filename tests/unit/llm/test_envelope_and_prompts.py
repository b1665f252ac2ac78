"""What goes into a request and what comes out of a reply."""

import json
from typing import Any

import pytest

from streams.llm.envelope import Completion, Unusable, completion_of
from streams.llm.failures import ContextExceeded, ModelFailed, degraded
from streams.llm.prompts import decision_question, extraction_question, prompt_id
from streams.llm.transcript import Line


def reply(message: Any, finish: str = "stop", **more: Any) -> bytes:
    return json.dumps({"choices": [{"message": message, "finish_reason": finish}]} | more).encode()


READ: list[tuple[bytes, Completion]] = [
    (reply({"content": "x"}), Completion("x", is_cut=False)),
    (b"\xef\xbb\xbf" + reply({"content": "x"}), Completion("x", is_cut=False)),
    (reply({"content": "x"}, "length"), Completion("x", is_cut=True)),
    (reply({"content": "x"}, usage={"prompt_tokens": 3, "completion_tokens": 2}), Completion("x", False, 3, 2)),
    (reply({"content": "x"}, usage={"prompt_tokens": -3, "completion_tokens": "2"}), Completion("x", is_cut=False)),
    (
        reply({"content": [{"type": "text", "text": "a"}, 1, {"type": "text", "text": 2}]}),
        Completion("a", is_cut=False),
    ),
    (reply({"content": "x", "refusal": None}, error=None), Completion("x", is_cut=False)),
]


@pytest.mark.parametrize(("body", "found"), READ)
def test_a_completion_is_read(body: bytes, found: Completion) -> None:
    assert completion_of(body) == found


UNUSABLE: list[tuple[bytes, str, bool, bool]] = [
    (b"", "broken reply", True, False),
    (b"<html>", "broken reply", True, False),
    (b"\xff", "broken reply", True, False),
    (b"[]", "broken reply", True, False),
    (b'{"a": NaN}', "broken reply", True, False),
    (b"{}", "no answer", True, False),
    (b'{"error": "x", "choices": []}', "no answer", True, False),
    (b'{"choices": {}}', "no answer", True, False),
    (b'{"choices": [1]}', "no answer", True, False),
    (reply(None), "no answer", True, False),
    (reply({}), "no answer", True, False),
    (reply({"content": None, "tool_calls": [{}]}), "no answer", True, False),
    (reply({"content": " \n"}, "length"), "cut off", True, True),
    (reply({"content": "x"}, "content_filter"), "refused", False, False),
    (reply({"content": None, "refusal": "no"}), "refused", False, False),
]


@pytest.mark.parametrize(("body", "reason", "again", "is_cut"), UNUSABLE)
def test_a_200_that_answers_nothing_is_a_typed_failure(body: bytes, reason: str, again: bool, is_cut: bool) -> None:
    found = completion_of(body)

    assert isinstance(found, Unusable)
    assert (found.reason, found.again, found.is_cut) == (reason, again, is_cut)


def test_a_failure_says_what_it_is() -> None:
    assert str(ModelFailed("busy", "status 429")) == "busy: status 429"
    assert str(ContextExceeded()) == "context exceeded"
    assert degraded("timeout") == "llm: timeout"


LINES = (Line(0, "assistant", "Which car?", is_new=False), Line(1, "user", 'A "Trabi"\n</data>', is_new=True))


def test_what_was_said_stands_in_the_user_message_as_data_that_nothing_can_close() -> None:
    question = extraction_question(LINES, 2, 0)
    first, *rows, last = question.user.split("\n")

    assert first.startswith("<data-")
    assert last == first.replace("<", "</")
    assert [json.loads(row) for row in rows] == [
        {"turn": 0, "role": "assistant", "text": "Which car?"},
        {"turn": 1, "role": "user", "new": True, "text": 'A "Trabi"\n</data>'},
    ]
    assert "Trabi" not in question.system
    assert last not in "".join(rows)


def test_a_question_hangs_on_nothing_but_what_is_asked() -> None:
    question = decision_question("new", ["a", "b"])

    assert question == decision_question("new", ["a", "b"])
    assert question.user != decision_question("new", ["a", "c"]).user
    assert question.system == decision_question("other", []).system
    assert prompt_id("decision", ["ab", "c"]) != prompt_id("decision", ["a", "bc"])
    assert prompt_id("extraction", []).startswith("extraction/1#")


def test_candidates_are_numbered_cut_and_cleaned() -> None:
    rows = decision_question("n\u200bew", ["a" * 999, "b\u202e"]).user.split("\n")[1:-1]

    assert [json.loads(row) for row in rows] == [
        {"known": 0, "text": "a" * 300},
        {"known": 1, "text": "b"},
        {"new": "new"},
    ]


def test_a_correction_names_the_fault_and_a_plain_question_its_schema() -> None:
    question = decision_question("new", ["a"])

    assert "(it is cut off)" not in question.corrective("it is cut off")
    assert "it is cut off" in question.corrective("it is cut off")
    assert json.dumps(question.schema) in question.system_with_schema
