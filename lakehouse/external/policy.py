"""How long what was fetched holds, how far it is trusted, when it is looked at again, and when it is let go.

Rule of this file: pure. Time is an argument; an age is never negative, so that a clock that was set back makes nothing
old and nothing unused. Bounds are told exactly: "older than" is strict, everywhere.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from math import ceil
from types import MappingProxyType
from typing import Final, Protocol

TTL_DAYS: Final[Mapping[str, int]] = MappingProxyType(
    {"official_docs": 30, "tutorials": 90, "community": 7, "library_specific": 14}
)
"""Days that a document of a category holds. The keys are those of ``schemas.knowledge.Category``."""
UNKNOWN_TTL_DAYS: Final = 30
TRUST: Final[Mapping[str, float]] = MappingProxyType(
    {
        "python_docs": 0.95,
        "microsoft_learn": 0.95,
        "mdn": 0.95,
        "bcd": 0.95,
        "node": 0.95,
        "sphinx": 0.85,
        "changelog": 0.85,
        "pypi": 0.85,
        "llms_txt": 0.85,
        "real_python": 0.85,
        "official_tutorials": 0.85,
        "github_maintainer": 0.80,
        "github": 0.75,
        "stackoverflow_accepted": 0.75,
        "reddit_highvote": 0.60,
        "blog_unknown": 0.40,
        "forum_post": 0.35,
    }
)
"""How far a source is trusted, 0 … 1, by its id."""
UNKNOWN_TRUST: Final = 0.50

VALUABLE_SHARE: Final = 0.8
"""A document is valuable that was used more often than this share of all."""
RECENT_DAYS: Final = 7
UNUSED_DAYS: Final = 90

MIN_TRUST: Final = 0.5
"""Of a source whose documents are given as advice."""


class Used(Protocol):
    """What must be known of a document to decide whether it is kept and looked at again."""

    @property
    def category(self) -> str:
        """See ``TTL_DAYS``."""

    @property
    def last_updated(self) -> datetime | None:
        """When its source last said that it holds; None where it never did."""

    @property
    def access_count(self) -> int:
        """How often it was given."""

    @property
    def last_accessed(self) -> datetime | None:
        """When it was last given; None where it never was."""


def age(moment: datetime, now: datetime) -> timedelta:
    """How long ago a moment was; nothing where it lies ahead."""
    return max(now - moment, timedelta(0))


def ttl(category: str) -> timedelta:
    """How long a document of a category holds; 30 days where the category is unknown."""
    return timedelta(days=TTL_DAYS.get(category, UNKNOWN_TTL_DAYS))


def trust_of(source: str) -> float:
    """How far a source is trusted, 0 … 1; 0.5 where it is unknown."""
    return TRUST.get(source, UNKNOWN_TRUST)


def stale_since(category: str, last_updated: datetime) -> datetime:
    """The moment after which a document is stale."""
    return last_updated + ttl(category)


def is_stale(doc: Used, now: datetime) -> bool:
    """Whether it was last known to hold longer ago than its category holds. One that never was is stale."""
    return doc.last_updated is None or age(doc.last_updated, now) > ttl(doc.category)


def recently_used(doc: Used, now: datetime, days: int = RECENT_DAYS) -> bool:
    """Whether it was given within the last days, counted as whole ones; one that never was is not."""
    return doc.last_accessed is not None and age(doc.last_accessed, now).days < days


def should_refresh(doc: Used, now: datetime, percentile_80: float) -> bool:
    """Whether a document is looked at again: it is stale, and valuable or recently used.

    Args:
        doc: The document.
        now: Timezone-aware.
        percentile_80: Of the access counts of all documents there are; only more than that is valuable.
    """
    return is_stale(doc, now) and (doc.access_count > percentile_80 or recently_used(doc, now))


def should_evict(doc: Used, now: datetime, *, older_than_days: int = UNUSED_DAYS, unused: bool = True) -> bool:
    """Whether a document is let go: it has not been known to hold for so long, and was not used for as long.

    Args:
        doc: The document.
        now: Timezone-aware.
        older_than_days: Exactly as old is not older.
        unused: Whether use saves it; without, age alone decides.
    """
    limit = timedelta(days=older_than_days)
    if doc.last_updated is not None and age(doc.last_updated, now) <= limit:
        return False
    return not unused or doc.last_accessed is None or age(doc.last_accessed, now) > limit


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest of the values that so large a share of them does not exceed (nearest rank); 0 where there is none.

    Args:
        values: In any order.
        share: More than 0, at most 1.

    Raises:
        ValueError: The share is none.
    """
    if not 0 < share <= 1:
        raise ValueError("a share is more than 0 and at most 1")
    ordered = sorted(values)
    return ordered[ceil(round(share * len(ordered), 9)) - 1] if ordered else 0
