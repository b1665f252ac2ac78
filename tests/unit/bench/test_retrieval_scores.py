"""Recall by depth, sessions by their best turn, the newer of two statements, and bounds that never change."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.bench.retrieval.cases import Change
from streams.bench.retrieval.scores import bounds, is_newer_first, mean, recall, sessions_of

TURNS = st.lists(st.sampled_from("abcdefgh"), unique=True)
GOLD = st.sets(st.sampled_from("abcdefgh"), min_size=1)
VALUES = st.lists(st.floats(-1, 1), min_size=1, max_size=30)


def test_recall_is_the_share_of_gold_within_the_depth() -> None:
    assert [recall(["x", "a", "y", "b"], {"a", "b"}, depth) for depth in (1, 2, 3, 4, 9)] == [0, 0.5, 0.5, 1, 1]


@given(TURNS, GOLD, st.integers(1, 10))
def test_a_greater_depth_never_finds_less(found: list[str], gold: set[str], depth: int) -> None:
    assert 0 <= recall(found, gold, depth) <= recall(found, gold, depth + 1) <= 1


def test_a_session_stands_where_its_best_turn_does() -> None:
    assert sessions_of(["c", "a", "b"], {"a": "one", "b": "one", "c": "two"}) == ["two", "one"]


@pytest.mark.parametrize(
    ("found", "first"),
    [(["x", "new", "old"], True), (["new"], True), (["old", "new"], False), (["x"], False), ([], False)],
)
def test_the_newer_statement_must_come_before_every_older_one(found: list[str], first: bool) -> None:
    assert is_newer_first(found, Change(frozenset({"old", "older"}), frozenset({"new"}))) is first


@given(VALUES)
def test_bounds_are_the_same_each_time_and_hold_possible_means(values: list[float]) -> None:
    low, high = bounds(values)

    assert (low, high) == bounds(values)
    assert min(values) - 1e-9 <= low <= high <= max(values) + 1e-9


def test_bounds_lie_around_the_mean_and_close_in_with_more_questions() -> None:
    few, many = [0.0, 1.0] * 20, [0.0, 1.0] * 500

    for values in (few, many):
        assert bounds(values)[0] < mean(values) < bounds(values)[1]
    assert bounds(many)[1] - bounds(many)[0] < bounds(few)[1] - bounds(few)[0]


def test_a_difference_that_is_the_same_for_each_question_has_no_doubt_in_it() -> None:
    assert bounds([0.25] * 7) == (0.25, 0.25)
