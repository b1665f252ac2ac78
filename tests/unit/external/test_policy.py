"""When a document is stale, looked at again, or let go: each bound from both sides."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import get_args

import pytest

from lakehouse.external import policy
from lakehouse.external.policy import is_stale, percentile, recently_used, should_evict, should_refresh, trust_of, ttl
from schemas.knowledge import Category
from tests.unit.external.keeping import START

NOW = START + timedelta(days=400)
SECOND, HOUR = timedelta(seconds=1), timedelta(hours=1)


@dataclass(frozen=True)
class Doc:
    category: str = "official_docs"
    last_updated: datetime | None = START
    access_count: int = 0
    last_accessed: datetime | None = None


@pytest.mark.parametrize(
    ("category", "days"),
    [("official_docs", 30), ("tutorials", 90), ("community", 7), ("library_specific", 14), ("of its own", 30)],
)
def test_a_document_is_stale_after_the_days_of_its_category_and_not_before(category: str, days: int) -> None:
    assert ttl(category) == timedelta(days=days)
    told = [is_stale(Doc(category, NOW - timedelta(days=days) + step), NOW) for step in (SECOND, 0 * SECOND, -SECOND)]
    assert told == [False, False, True]
    assert policy.stale_since(category, START) == START + timedelta(days=days)


def test_every_category_has_its_days() -> None:
    assert set(policy.TTL_DAYS) == set(get_args(Category))


def test_a_document_that_was_never_known_to_hold_is_stale() -> None:
    assert is_stale(Doc(last_updated=None), NOW)


@pytest.mark.parametrize(
    ("ago", "recent"),
    [
        (timedelta(days=6, hours=23), True),
        (timedelta(days=7) - SECOND, True),
        (timedelta(days=7), False),
        (timedelta(days=7, hours=1), False),
        (-HOUR, True),
    ],
)
def test_recently_used_is_less_than_seven_whole_days_ago(ago: timedelta, *, recent: bool) -> None:
    assert recently_used(Doc(last_accessed=NOW - ago), NOW) is recent
    assert should_refresh(Doc(last_accessed=NOW - ago), NOW, percentile_80=5) is recent


@pytest.mark.parametrize(("count", "refreshed"), [(4, False), (5, False), (6, True)])
def test_valuable_is_strictly_more_than_the_percentile(count: int, *, refreshed: bool) -> None:
    assert should_refresh(Doc(access_count=count), NOW, percentile_80=5) is refreshed


def test_what_is_not_stale_is_not_refreshed_however_it_is_used() -> None:
    assert not should_refresh(Doc(last_updated=NOW - HOUR, access_count=99, last_accessed=NOW), NOW, percentile_80=0)


def test_what_is_stale_and_was_never_used_is_not_refreshed() -> None:
    assert not should_refresh(Doc(), NOW, percentile_80=0)


def test_a_clock_that_was_set_back_makes_nothing_stale_and_nothing_unused() -> None:
    before = START - HOUR
    assert policy.age(START, before) == timedelta(0)
    for category in policy.TTL_DAYS:
        assert not is_stale(Doc(category), before)
        assert not should_refresh(Doc(category, access_count=9, last_accessed=START), before, percentile_80=0)
        assert not should_evict(Doc(category), before, older_than_days=0)


@pytest.mark.parametrize("many", [1, 2, 10])
def test_of_equal_documents_none_is_valuable(many: int) -> None:
    assert percentile([3] * many, policy.VALUABLE_SHARE) == 3


def test_the_percentile_is_the_smallest_value_that_four_of_five_do_not_exceed() -> None:
    assert percentile([5, 3, 1, 4, 2], 0.8) == 4
    assert percentile(range(1, 11), 0.8) == 8
    assert percentile([0] * 9 + [1], 0.8) == 0
    assert percentile([], 0.8) == 0
    assert percentile([7, 9], 1) == 9
    assert percentile(range(1, 101), 0.29) == 29


@pytest.mark.parametrize("share", [0, -0.5, 1.1])
def test_a_share_that_is_none_is_refused(share: float) -> None:
    with pytest.raises(ValueError, match="share"):
        percentile([1], share)


@pytest.mark.parametrize(
    ("updated", "accessed", "evicted"),
    [
        (timedelta(days=90), None, False),
        (timedelta(days=90) + SECOND, None, True),
        (timedelta(days=91), timedelta(days=90), False),
        (timedelta(days=91), timedelta(days=90) + SECOND, True),
        (timedelta(days=91), -HOUR, False),
    ],
)
def test_let_go_is_what_is_old_and_was_not_used_for_as_long(
    updated: timedelta, accessed: timedelta | None, *, evicted: bool
) -> None:
    doc = Doc(last_updated=NOW - updated, last_accessed=None if accessed is None else NOW - accessed)
    assert should_evict(doc, NOW) is evicted


def test_use_saves_nothing_where_age_alone_decides_and_the_days_are_an_option() -> None:
    used = Doc(last_updated=NOW - timedelta(days=91), last_accessed=NOW)
    assert should_evict(used, NOW, unused=False)
    assert not should_evict(used, NOW, older_than_days=91, unused=False)
    assert should_evict(Doc(last_updated=None), NOW)


def test_sources_are_trusted_as_told_and_unknown_ones_by_half() -> None:
    told = {"python_docs": 0.95, "microsoft_learn": 0.95, "mdn": 0.95, "real_python": 0.85, "github_maintainer": 0.80}
    told |= {"stackoverflow_accepted": 0.75, "reddit_highvote": 0.60, "blog_unknown": 0.40, "forum_post": 0.35}
    assert {source: trust_of(source) for source in told} == told
    assert trust_of("nobody knows it") == 0.50
    assert all(0 <= trust <= 1 for trust in policy.TRUST.values())
