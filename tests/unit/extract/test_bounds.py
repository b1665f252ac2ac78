"""Texts without end, and texts that were made to hurt: work grows with the text and not with its square."""

import time
from datetime import UTC, datetime

import pytest

from schemas.conversation import Role, Scope, Turn
from streams.extract import EXTRACTOR, extract
from streams.extract.remembered import MAX_CHARACTERS, remembered
from streams.extract.turns import MAX_FACTS

HOSTILE = [
    "I like plums and I hate figs and ",
    "a, ",
    "x",
    ". ",
    "I ",
    "why? ",
    '"I said ',
    "- I live in Lugo\n",
    "a: ",
    "我喜欢茶\uff0c",
    "ich weiß, dass ",
    "((",
    "- ",
    "'",
    "well, so, and, ",
    "maybe I could, but ",
    "that is so very really ",
    "1",
    "in two days ",
    "I hope that you ",
    "the name of ",
    "Jan's ",
    "a; ",
    "http://a.b/",
    "no, no. ",
    "Jan said that he said that ",
    "I used to ",
    "if I were ",
    "x = f(y)\n",
]
GROWTH = 4
"""How much longer the longer text is."""
GENEROUS = 16
"""What work grows by if it grows with the square; a text that is read in time stays far below."""


def turn(content: str, role: Role = "user") -> Turn:
    return Turn(
        turn_id="t",
        scope=Scope(project_id="p", user_id="u"),
        session_id="s",
        role=role,
        content=content,
        timestamp=datetime(2026, 1, 1, tzinfo=UTC),
    )


def work(content: str) -> float:
    """Seconds of CPU that reading takes, at best of two."""
    spent = []
    for _ in range(2):
        began = time.process_time()
        extract(turn(content), (), record_id="r")
        spent.append(time.process_time() - began)
    return min(spent)


@pytest.mark.parametrize("piece", HOSTILE)
def test_work_does_not_grow_with_the_square_of_the_text(piece: str) -> None:
    short, long = (f"a{piece * 20_000}"[:length] for length in (1_500, 1_500 * GROWTH))

    assert work(long) < GENEROUS * max(work(short), 0.001)


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_of_a_turn_at_the_limit_of_its_topic_a_bounded_part_is_read(role: Role) -> None:
    extraction = extract(turn("Crate 7 holds seeds. " * 400_000, role), (), record_id="r")

    assert len(extraction.facts) <= MAX_FACTS
    assert "20000" in extraction.skipped[-1].reason
    assert extraction.extractor == EXTRACTOR


def test_an_endless_turn_before_is_read_as_far_as_it_can_matter() -> None:
    before = turn("Which crate? " * 600_000, "assistant").model_copy(update={"turn_id": "before"})

    assert len(extract(turn("The red one."), (before,), record_id="r").facts) <= 1


def test_answers_are_kept_for_short_texts_only() -> None:
    asked: list[str] = []

    @remembered
    def length(text: str) -> int:
        asked.append(text[:3])
        return len(text)

    long = "x" * (MAX_CHARACTERS + 1)

    assert [length("ab"), length("ab"), length(long), length(long)] == [2, 2, len(long), len(long)]
    assert asked == ["ab", "xxx", "xxx"]
