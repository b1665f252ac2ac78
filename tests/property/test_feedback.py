"""How far feedback moves a memory: within bounds, the more the more is said, ever less with time, and not at all once
taken back, in whatever order it is read.
"""

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakehouse.retrieval.feedback import BOUND, HALF_LIFE, Judged, factors, judged_by
from schemas.memory import MemoryEvent

GOLDEN = Path(__file__).parents[1] / "data" / "golden" / "memory-event.v1.json"
NOW = datetime(2026, 3, 2, tzinfo=UTC)
QUESTIONS = (None, None, "Where?", "When?")
SWAPPED: dict[Any, Any] = {"helpful": "unhelpful", "unhelpful": "helpful"}


def said(value: Any, days: float = 0, sequence: int = 1, memory_id: int = 1, query: str | None = None) -> Judged:
    return Judged(memory_id, value, NOW - timedelta(days=days), sequence, query)


def stories(*values: str) -> st.SearchStrategy[list[Judged]]:
    """What was said of two memories, in the order of its events; several things at the same moment among them."""
    one = st.tuples(st.sampled_from(values), st.integers(0, 40), st.integers(1, 2), st.sampled_from(QUESTIONS))
    return st.lists(one, max_size=30).map(
        lambda told: [
            said(value, 5.0 * days, sequence, memory_id, query)
            for sequence, (value, days, memory_id, query) in enumerate(
                sorted(told, key=lambda one: one[1], reverse=True), 1
            )
        ]
    )


ANY = stories("used", "used", "helpful", "helpful", "unhelpful", "withdrawn")


def factor(told: Sequence[Judged], now: datetime = NOW, memory_id: int = 1, **options: Any) -> float:
    return factors(told, now, **options).get(memory_id, 1.0)


@given(ANY, st.integers(0, 400), st.sampled_from([0.0, 0.05, BOUND, 0.5, 1.0]))
def test_no_memory_is_moved_by_more_than_the_bound(told: list[Judged], days: int, bound: float) -> None:
    for moved in factors(told, NOW + timedelta(days=days), bound=bound).values():
        assert 1 - bound <= moved <= 1 + bound


@given(ANY, st.integers(0, 40), st.sampled_from(QUESTIONS), st.integers(1, 99))
def test_one_more_helpful_never_moves_a_memory_down_nor_one_more_unhelpful_up(
    told: list[Judged], days: int, query: str | None, sequence: int
) -> None:
    good, bad = (said(value, 5.0 * days, sequence, query=query) for value in ("helpful", "unhelpful"))

    assert factor([*told, bad]) <= factor([*told, good])
    last = replace(good, recorded_at=NOW, sequence=100)
    assert factor(told) <= factor([*told, last])
    assert factor([*told, replace(last, value="unhelpful")]) <= factor(told)


@given(ANY, st.integers(0, 40), st.sampled_from(QUESTIONS), st.integers(1, 99))
def test_one_more_use_never_moves_a_memory_down(
    told: list[Judged], days: int, query: str | None, sequence: int
) -> None:
    assert factor([*told, said("used", 5.0 * days, sequence, query=query)]) >= factor(told) - 1e-12


@given(ANY, st.integers(0, 900), st.integers(0, 900))
def test_what_was_said_moves_ever_less_until_it_moves_nothing(told: list[Judged], days: int, more: int) -> None:
    near, far = (abs(factor(told, NOW + timedelta(days=one)) - 1) for one in (days, days + more))

    assert far <= near + 1e-12
    assert factor(told, NOW + 100 * HALF_LIFE) == pytest.approx(1, abs=1e-15)


@given(ANY, ANY)
def test_what_is_taken_back_leaves_no_trace(before: list[Judged], after: list[Judged]) -> None:
    earlier = [replace(one, recorded_at=one.recorded_at - timedelta(days=300)) for one in before]
    taken = [said("withdrawn", days=250, memory_id=memory_id) for memory_id in (1, 2)]

    assert factors([*earlier, *taken, *after], NOW) == factors(after, NOW)


@given(ANY, st.sampled_from(["used", "helpful", "unhelpful"]))
def test_a_judgement_of_a_question_and_its_withdrawal_are_as_nothing(told: list[Judged], value: str) -> None:
    both = [said(value, sequence=98, query="Who?"), said("withdrawn", sequence=99, query="Who?")]

    assert factors([*told, *both], NOW) == factors(told, NOW)


@given(ANY, st.randoms(use_true_random=False))
def test_the_order_in_which_it_is_read_changes_nothing(told: list[Judged], chance: random.Random) -> None:
    shuffled = list(told)
    chance.shuffle(shuffled)

    assert factors(shuffled, NOW) == factors(told, NOW)


@given(ANY)
def test_what_is_said_of_one_memory_moves_no_other(told: list[Judged]) -> None:
    alone = [[one for one in told if one.memory_id == memory_id] for memory_id in (1, 2)]

    assert factors(told, NOW) == factors(alone[0], NOW) | factors(alone[1], NOW)


@given(stories("helpful", "unhelpful", "withdrawn"))
def test_helpful_and_unhelpful_weigh_the_same(told: list[Judged]) -> None:
    swapped = [replace(one, value=SWAPPED.get(one.value, one.value)) for one in told]

    assert factor(swapped) - 1 == pytest.approx(1 - factor(told), abs=1e-15)


def test_of_two_words_for_one_question_the_last_counts_and_words_for_others_beside_it() -> None:
    first, last = said("helpful", 10, 1, query="Where?"), said("unhelpful", 5, 2, query="Where?")

    assert factor([first, last]) == factor([last]) < 1
    assert factor([first, replace(last, value="helpful", query="When?")]) > factor([first])
    assert factor([replace(first, recorded_at=NOW), replace(last, recorded_at=NOW)]) < 1  # the sequence decides


def test_the_figures_that_the_formula_promises() -> None:
    def several(value: str, count: int, days: float = 0) -> float:
        return factor([said(value, days, number, query=f"{number}?") for number in range(1, count + 1)])

    assert several("helpful", 1) == pytest.approx(1 + 0.1 / 3)
    assert several("helpful", 2) == pytest.approx(1.05)
    assert several("unhelpful", 2) == pytest.approx(0.95)
    assert several("helpful", 4, days=30) == pytest.approx(1.05)
    assert several("used", 1) == pytest.approx(1 + 0.1 * 0.5 / 2.5)
    assert several("used", 1) < several("used", 2) < several("used", 20) < several("helpful", 1)
    assert factor([said("helpful", 1)], half_life=timedelta(days=1), bound=1) == pytest.approx(1 + 0.5 / 2.5)


def test_what_a_clock_ahead_of_ours_has_stamped_counts_as_said_now() -> None:
    assert factor([said("helpful", days=-3)]) == factor([said("helpful")])


def test_a_memory_of_which_nothing_counts_has_no_factor() -> None:
    assert factors([said("helpful"), said("withdrawn", sequence=2)], NOW) == {}
    assert factors([], NOW) == {}


def test_what_events_tell_is_taken_as_they_tell_it() -> None:
    event = MemoryEvent.decode(GOLDEN.read_bytes())
    made: dict[str, Any] = {"event": "NONE", "fact_id": None, "command_id": "c", "id": 7, "sequence": 9}
    told = event.model_copy(update=made | {"metadata": {"feedback": {"value": "used", "query": "Where?"}}})

    assert list(judged_by([event, told])) == [Judged(7, "used", event.recorded_at, 9, "Where?")]
