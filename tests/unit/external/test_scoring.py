"""The seed's score, its golden figures, and the gate before it."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakehouse.external.scoring import calculate_relevance_score, most_relevant, standing_score
from tests.unit.external.keeping import START

NOW = START


@dataclass(frozen=True)
class Doc:
    name: str = "doc"
    trust: float = 0.95
    days: float | None = 0
    access_count: int = 0
    flagged: bool = False
    version: str | None = None

    @property
    def credibility(self) -> float:
        return 0.0 if self.flagged else self.trust

    @property
    def last_updated(self) -> datetime | None:
        return None if self.days is None else NOW - timedelta(days=self.days)


def score(doc: Doc, similarity: float) -> float:
    return round(calculate_relevance_score(doc, similarity, now=NOW), 10)


EXACT_UNUSED, POPULAR_UNRELATED, FRESH_UNRELATED = Doc("exact"), Doc("popular", access_count=100), Doc("fresh")


def test_the_golden_figures() -> None:
    assert score(EXACT_UNUSED, 0.90) == 0.76
    assert score(POPULAR_UNRELATED, 0.10) == 0.80
    assert score(FRESH_UNRELATED, 0.0) == 0.58


@given(trust=st.floats(0, 1), days=st.integers(0, 730), count=st.integers(0, 500), similarity=st.floats(0, 1))
def test_it_is_the_seeds_within_two_years(trust: float, days: int, count: int, similarity: float) -> None:
    seed = trust * 0.40 + (1.0 - (days / 730.0)) * 0.20 + min(1.0, count / 100.0) * 0.20 + similarity * 0.20
    assert score(Doc(trust=trust, days=days, access_count=count), similarity) == pytest.approx(seed, abs=1e-9)


def test_freshness_ends_at_two_years_and_is_never_negative() -> None:
    old = [score(Doc(days=days), 0.9) for days in (729, 730, 731, 5 * 365)]
    assert old[0] > old[1] == old[2] == old[3] == 0.56
    assert score(Doc(days=None), 0.9) == 0.56


def test_freshness_counts_whole_days_so_that_it_is_the_same_all_day() -> None:
    assert score(Doc(days=3.0), 0.5) == score(Doc(days=3.99), 0.5) > score(Doc(days=4.0), 0.5)


def test_a_clock_that_was_set_back_makes_nothing_fresher_than_new() -> None:
    assert score(Doc(days=-30), 0.9) == score(Doc(days=0), 0.9)


@pytest.mark.parametrize(("similarity", "counted"), [(-0.4, 0.0), (1.2, 1.0)])
def test_similarity_is_clamped(similarity: float, counted: float) -> None:
    assert score(Doc(), similarity) == score(Doc(), counted)


def test_the_standing_part_is_the_score_without_a_question() -> None:
    assert standing_score(POPULAR_UNRELATED, now=NOW) == calculate_relevance_score(POPULAR_UNRELATED, 0.0, now=NOW)


def test_the_gate_is_before_the_score() -> None:
    found = [(POPULAR_UNRELATED, 0.10), (EXACT_UNUSED, 0.90), (FRESH_UNRELATED, 0.0)]
    assert [one.doc.name for one in most_relevant(found, floor=0.4, now=NOW)] == ["exact"]
    assert [one.doc.name for one in most_relevant(found, floor=0.0, now=NOW)] == ["popular", "exact"]


def test_similarity_at_the_floor_passes_and_two_are_given_unless_told_otherwise() -> None:
    found = [(replace(Doc(), name=str(number)), 0.4) for number in range(4)]
    assert [one.doc.name for one in most_relevant(found, floor=0.4, now=NOW)] == ["0", "1"]
    assert len(most_relevant(found, floor=0.4, now=NOW, limit=3)) == 3
    assert most_relevant(found, floor=0.41, now=NOW) == []


def test_a_document_of_another_version_comes_after_and_says_so() -> None:
    found = [(Doc("new", version="2.0", access_count=100), 0.95), (Doc("pinned", version="1.10"), 0.5)]
    ranked = most_relevant(found, floor=0.4, now=NOW, version="1.10")
    assert [(one.doc.name, one.fit) for one in ranked] == [("pinned", "same"), ("new", "other")]
    assert most_relevant(found, floor=0.4, now=NOW)[0].doc.name == "new"


def test_a_document_that_looks_like_orders_loses_its_trust_and_is_still_there() -> None:
    found = [(Doc("flagged", flagged=True), 0.9), (Doc("plain"), 0.5)]
    assert [one.doc.name for one in most_relevant(found, floor=0.4, now=NOW)] == ["plain", "flagged"]
    assert score(Doc(flagged=True), 0.9) == 0.38


def test_sources_below_the_least_trust_give_no_advice() -> None:
    found = [(Doc("forum", trust=0.35), 0.9), (Doc("half", trust=0.5), 0.5)]
    assert [one.doc.name for one in most_relevant(found, floor=0.4, now=NOW)] == ["half"]
    assert len(most_relevant(found, floor=0.4, now=NOW, min_trust=0.3)) == 2
