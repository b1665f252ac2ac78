"""Shares, precision and recall, and the threshold that is best on the very answers it is judged by."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.bench.quality.scores import Counts, best_threshold, counted, mean, retrieval, share
from streams.bench.splits import is_in, part_of

SCORED = st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=30)


def test_precision_is_of_what_was_said_and_recall_of_what_is_right() -> None:
    counts = counted([(True, True), (True, False), (True, False), (False, True), (False, False)])

    assert counts == Counts(hits=1, false=2, missed=1)
    assert (counts.precision, counts.recall, counts.f1) == pytest.approx((1 / 3, 1 / 2, 2 / 5))


def test_who_says_nothing_is_never_right() -> None:
    counts = counted([(False, True), (False, False)])

    assert (counts.precision, counts.recall, counts.f1) == (0.0, 0.0, 0.0)


@given(SCORED)
def test_no_threshold_is_better_than_the_best(scored: list[tuple[float, bool]]) -> None:
    threshold, best = best_threshold(scored)

    assert best == counted((score >= threshold, right) for score, right in scored) or best.hits == 0
    assert all(counted((score >= other, right) for score, right in scored).f1 <= best.f1 for other, _ in scored)


def test_a_share_is_over_all_answers_with_the_least_and_greatest_unit() -> None:
    (figure,) = share("metric", [[True, True, True], [False], []], baseline=0.5)

    assert (figure.value, figure.min, figure.max, figure.n) == (0.75, 0.0, 1.0, 4)
    assert (figure.bench, figure.unit, figure.baseline, figure.ratio) == ("quality", "share", 0.5, 1.5)


def test_what_nothing_was_asked_of_has_no_figure() -> None:
    assert (share("metric", [[], []]), retrieval("metric", []), mean([])) == ([], [], None)


def test_a_retrieval_has_three_figures_against_their_own_baselines() -> None:
    figures = retrieval("metric", [[(True, True), (True, False)], [(False, True)]], Counts(1, 1, 0))

    assert [figure.metric for figure in figures] == ["metric_f1", "metric_precision", "metric_recall"]
    assert [figure.value for figure in figures] == [0.5, 0.5, 0.5]
    assert [figure.baseline for figure in figures] == pytest.approx([2 / 3, 0.5, 1.0])
    assert [figure.n for figure in figures] == [3, 3, 3]


@given(st.text(st.characters(codec="ascii")))
def test_a_unit_is_in_exactly_one_part(unit: str) -> None:
    assert [is_in(unit, part) for part in ("tune", "report")].count(True) == 1
    assert is_in(unit, part_of(unit))
    assert is_in(unit, "all")


def test_about_half_of_all_units_are_in_each_part() -> None:
    assert 400 < sum(part_of(f"dialogue {number}") == "tune" for number in range(1000)) < 600
