"""An index of a scope: its places, what stands beside what, and what it tells of each."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from lakehouse.retrieval.moments import Stretch
from lakehouse.retrieval.ranking import newer_first, score
from lakehouse.retrieval.scope_index import ROOM, ScopeIndex
from tests.unit.retrieval.by_hand import ASKED, AXES, START, memory, near, turn


def test_places_that_are_empty_are_closed_up_when_they_are_most() -> None:
    index = ScopeIndex(4)
    for number in range(100):
        index.put(memory(number, f"fact {number}"), near(number / 100))
    for number in range(97):
        index.drop(str(number))
        places = len(index.alive())
        assert places <= max(ROOM, 2 * len(index))

    assert [item.text for _, item in index.items()] == ["fact 97", "fact 98", "fact 99"]
    assert index.similarities([AXES[0]])[index.alive()].tolist() == [0.97, 0.98, 0.99]


def test_the_turn_before_and_after_is_that_of_the_session() -> None:
    index = ScopeIndex(4)
    for number, session in ((5, "a"), (1, "a"), (2, "b"), (3, "a"), (4, None), (6, None)):
        index.put(turn(number, "hi", session=session), AXES[0])

    before, after = index.beside()

    numbers = [5, 1, 2, 3, 4, 6]
    assert [numbers[place] if place >= 0 else 0 for place in before] == [3, 0, 0, 1, 0, 0]
    assert [numbers[place] if place >= 0 else 0 for place in after] == [0, 3, 0, 5, 0, 0]


def test_speakers_are_those_whose_texts_mostly_do_not_say_their_names() -> None:
    index = ScopeIndex(4)
    index.put(turn(1, "I like tea", name="Ann"), AXES[0])
    index.put(memory(2, "Bo likes tea", subject="Bo"), AXES[0])
    index.put(memory(3, "Bo likes milk", subject="Bo"), AXES[0])
    index.put(turn(4, "me too", name="Bo"), AXES[0])

    assert (set(index.names.spaced), set(index.speakers.spaced)) == ({"ann", "bo"}, {"ann"})
    index.drop("2")
    index.drop("3")
    assert set(index.speakers.spaced) == {"ann", "bo"}
    index.drop("r1")
    assert (set(index.names.spaced), set(index.speakers.spaced)) == ({"bo"}, {"bo"})


def test_a_similarity_lies_between_nought_and_one_and_is_the_closest_of_the_vectors() -> None:
    index = ScopeIndex(4)
    for number, vector in enumerate((AXES[0], -AXES[0], AXES[1], near(0.5))):
        index.put(memory(number, "x"), vector)

    assert index.similarities([AXES[0]]).tolist() == [1.0, 0.0, 0.0, 0.5]
    assert index.similarities([AXES[0], AXES[1]]).tolist() == [1.0, 0.0, 1.0, 0.866]
    assert index.similarities([]).tolist() == [0.0] * 4


def test_a_similarity_does_not_depend_on_what_stands_beside_it() -> None:
    found = np.random.default_rng(1).normal(size=(540, 384))
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    index = ScopeIndex(384)
    for number, vector in enumerate(found[:500]):
        index.put(memory(number, "x"), vector)
    rows = index.vectors(np.arange(500))

    for vector in found[500:].astype(np.float32):
        alone = np.array([np.einsum("j,j->", row, vector) for row in rows], dtype=np.float64)
        assert index.similarities([vector]).tolist() == np.round(np.clip(alone, 0, 1), 4).tolist()


def raised(told: list[tuple[float, int, float, str]], content: tuple[str, ...] = ("city",), **turns: float) -> Any:
    """Scores after ``newer_first`` of memories: hybrid score, minute, cosine to the first axis, text."""
    index = ScopeIndex(4)
    for number, (_, minute, cosine, text) in enumerate(told):
        index.put(memory(number, text, minute, sources=(f"t{number}",)), near(cosine))
    return newer_first(index, np.array([one[0] for one in told]), content, turns).tolist()


def test_of_two_about_the_same_thing_the_newer_stands_first() -> None:
    assert raised([(0.8, 1, 1.0, "city Rome"), (0.6, 2, 0.9, "now city Oslo")]) == [0.8, 0.8001]
    assert raised([(0.8, 2, 1.0, "city Rome"), (0.6, 1, 0.9, "now city Oslo")]) == [0.8, 0.6]
    assert raised([(0.8, 1, 1.0, "city Rome"), (0.6, 1, 0.9, "now city Oslo")]) == [0.8, 0.6]


def test_of_three_in_a_row_the_newest_stands_first() -> None:
    chain = [(0.8, 1, 1.0, "city Rome"), (0.6, 2, 0.75, "now city Oslo"), (0.57, 3, 0.15, "now city Lima")]

    assert raised(chain) == [0.8, 0.8001, 0.8002]


def test_one_that_tells_no_change_is_newer_where_it_says_more_of_what_is_asked() -> None:
    cities = [(0.8, 1, 1.0, "city Rome"), (0.6, 2, 0.9, "city Oslo")]

    assert raised(cities) == [0.8, 0.6]
    assert raised(cities, ("city", "oslo")) == [0.8, 0.8001]


@pytest.mark.parametrize(("subjects", "second"), [(("red kiln", "blue kiln"), 0.7), (("red kiln", None), 0.8001)])
def test_a_change_of_something_else_is_no_newer_state(subjects: Sequence[str | None], second: float) -> None:
    index = ScopeIndex(4)
    for number, (who, text) in enumerate(zip(subjects, ("red kiln 1060", "blue kiln now 1240"), strict=True)):
        index.put(memory(number, text, number, subject=who), near(1.0 - number / 10))

    assert newer_first(index, np.array([0.8, 0.7]), ("red", "kiln"), {}).tolist() == [0.8, second]


def test_what_is_about_something_else_or_far_behind_stays_where_it_is() -> None:
    assert raised([(0.8, 1, 1.0, "city Rome"), (0.6, 2, 0.4, "now city Oslo")]) == [0.8, 0.6]
    assert raised([(0.8, 1, 1.0, "city Rome"), (0.55, 2, 0.9, "now city Oslo")]) == [0.8, 0.55]
    assert raised([(0.8, 1, 1.0, "city Rome"), (0.6, 2, 0.9, "now tea")]) == [0.8, 0.6]
    assert raised([(0.8, 1, 1.0, "city Rome"), (0.6, 2, 0.9, "now city Oslo")], ()) == [0.8, 0.6]
    assert newer_first(ScopeIndex(4), np.zeros(0), ("city",), {}).tolist() == []


def test_the_newer_stands_before_the_turns_of_the_older_too_and_never_over_one() -> None:
    two = [(0.8, 1, 1.0, "city Rome"), (0.6, 2, 0.9, "now city Oslo")]

    assert raised(two, t0=0.9, t1=0.95) == [0.8, 0.9001]
    assert raised([(1.0, 1, 1.0, "city Rome"), (0.8, 2, 0.9, "now city Oslo")]) == [1.0, 1.0]


def test_what_was_replaced_before_takes_no_place_among_the_best() -> None:
    index = ScopeIndex(4)
    for number in range(60):
        index.put(memory(number, "now city", minute=number), AXES[0])
    for number in range(30):
        index.drop(str(number))
    hybrid = np.where(index.alive(), 0.5, 0.9)
    hybrid[59] = 0.4

    assert newer_first(index, hybrid, ("city",), {})[59] == 0.4
    hybrid[41:59] = 0.1
    assert newer_first(index, hybrid, ("city",), {})[59] == 0.5011  # above each of the eleven before it


def test_a_memory_stands_before_the_turns_that_told_what_it_said_before() -> None:
    index = ScopeIndex(4)
    index.put(memory(1, "city Oslo"), AXES[0])
    index.outdate("1", ["t1", "t2"])

    assert set(index.outdated("1")) == {"t1", "t2"}
    assert set(index.outdated("2")) == set()
    assert newer_first(index, np.array([0.5]), ("city",), {"t1": 0.6, "t3": 0.9}).tolist() == [0.6001]
    assert newer_first(index, np.array([0.5]), ("city",), {"t1": 0.4}).tolist() == [0.5]


def test_what_is_of_the_time_that_was_asked_for_is_told_from_the_rest_and_scores_higher() -> None:
    index = ScopeIndex(4)
    for number in range(3):
        index.put(memory(number, "x", minute=number), AXES[0])
    first, last = START + timedelta(minutes=1), START + timedelta(minutes=2)

    assert index.within(Stretch(first, last)).tolist() == [0.0, 1.0, 0.0]
    assert index.within(Stretch(None, last)).tolist() == [1.0, 1.0, 0.0]
    assert index.within(Stretch(first, None)).tolist() == [0.0, 1.0, 1.0]
    found = score(index, [replace(ASKED, during=Stretch(first, last))], "knowledge").hybrid.tolist()
    assert found[1] > found[0] == found[2]
