"""The LongMemEval layout: the haystack becomes turns, question and answer do not."""

from datetime import UTC, datetime
from typing import Any

import pytest

from schemas.conversation import Scope, Turn
from schemas.errors import InvalidMessage
from streams.formats.longmemeval import moment_of_date, parse
from streams.formats.source import LeftOut

SCOPE = Scope(project_id="shop", user_id="ann")
QUESTION: dict[str, Any] = {
    "question_id": "q1",
    "question": "Which car do I drive?",
    "answer": "a blue one",
    "haystack_dates": ["2024/03/01 (Fri) 08:15", "2024/04/02 (Tue) 20:00"],
    "haystack_session_ids": ["s-1", "s-2"],
    "haystack_sessions": [
        [
            {"role": "user", "content": "I drive a red car.", "has_answer": False},
            {"role": "assistant", "content": "Nice."},
        ],
        [{"role": "user", "content": "My car is blue now.", "has_answer": True}, {"role": "assistant", "content": ""}],
    ],
}
NO_DATES = ["2024-03-01 08:15", "2024/02/30 (Fri) 08:15", "2024/03/01 (Fri) 25:15", "", None, 3]
WRONG: list[Any] = [
    pytest.param({"haystack_dates": ["2024/03/01 (Fri) 08:15"]}, "haystack_dates", id="a-date-too-few"),
    pytest.param({"haystack_session_ids": None}, "haystack_session_ids", id="no-ids"),
    pytest.param({"haystack_session_ids": ["s-1", ""]}, "haystack_session_ids[1]", id="a-blank-id"),
    pytest.param({"haystack_dates": ["x", "y"]}, "haystack_dates[0]", id="no-date"),
    pytest.param({"haystack_sessions": [[{"role": "x"}], []]}, "haystack_sessions[0][0].role", id="role"),
    pytest.param({"haystack_sessions": [[], [{"role": "user"}]]}, "haystack_sessions[1][0].content", id="no-content"),
]


def read(document: object) -> list[Turn | LeftOut]:
    return list(parse(document, SCOPE))


def test_each_haystack_message_is_a_turn_or_told() -> None:
    *turns, last = read(QUESTION)

    assert [(turn.session_id, turn.role, turn.content) for turn in turns if isinstance(turn, Turn)] == [
        ("s-1", "user", "I drive a red car."),
        ("s-1", "assistant", "Nice."),
        ("s-2", "user", "My car is blue now."),
    ]
    assert last == LeftOut("haystack_sessions[1][1]", "it says nothing")


def test_times_are_the_sessions_and_a_second_for_each_message() -> None:
    times = [turn.timestamp for turn in read(QUESTION) if isinstance(turn, Turn)]

    assert times == [
        datetime(2024, 3, 1, 8, 15, tzinfo=UTC),
        datetime(2024, 3, 1, 8, 15, 1, tzinfo=UTC),
        datetime(2024, 4, 2, 20, 0, tzinfo=UTC),
    ]


def test_a_session_that_stands_in_two_questions_is_the_same_turns() -> None:
    items = read([QUESTION, {**QUESTION, "question_id": "q2"}])

    assert len({item.turn_id for item in items if isinstance(item, Turn)}) == 3


@pytest.mark.parametrize("date", NO_DATES)
def test_what_is_no_date_is_a_fault(date: object) -> None:
    with pytest.raises(InvalidMessage):
        moment_of_date(date, "x")


@pytest.mark.parametrize(("fields", "field"), WRONG)
def test_a_wrong_value_is_named_by_its_place(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidMessage) as caught:
        read([{**QUESTION, **fields}])

    assert caught.value.field == f"[0].{field}"
