"""How much a document may help with one question.

Rule of this file: pure. The score knows how far a source is trusted and how often it is asked, and little of what the
question is: it only orders documents that a floor of similarity has let through.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Generic, Protocol, TypeVar

from lakehouse.external.advice import MAX_DOCUMENTS
from lakehouse.external.policy import MIN_TRUST, age
from lakehouse.external.releases import FITTING, Fit, fit
from lakehouse.similarity import DIGITS

CREDIBILITY: Final = 0.40
FRESHNESS: Final = 0.20
USAGE: Final = 0.20
SIMILARITY: Final = 0.20
FRESH_DAYS: Final = 730
"""A document that was last known to hold so long ago has no freshness left."""
MANY_USES: Final = 100
"""More do not count."""
OTHER_VERSION: Final = 0.5
"""What is left of the score of a document of another version than the wanted one."""


class Scored(Protocol):
    """What the score of a document is made of."""

    @property
    def trust(self) -> float:
        """How far its source is trusted, 0 … 1."""

    @property
    def credibility(self) -> float:
        """The same; 0 where its text looks like orders to a reader."""

    @property
    def last_updated(self) -> datetime | None:
        """When its source last said that it holds; None where it never did."""

    @property
    def access_count(self) -> int:
        """How often it was given."""

    @property
    def version(self) -> str | None:
        """Of what it documents."""


Doc = TypeVar("Doc", bound=Scored)


@dataclass(frozen=True)
class Ranked(Generic[Doc]):
    """A document with how well it fits a question.

    Attributes:
        doc: The document.
        similarity: To the question, 0 … 1.
        score: Its relevance, 0 … 1, halved where it is of another version.
        fit: How its version fits the wanted one.
    """

    doc: Doc
    similarity: float
    score: float
    fit: Fit


def calculate_relevance_score(doc: Scored, similarity: float, *, now: datetime) -> float:
    """Weigh a kept document for one question.

    Args:
        doc: The document; its use saturates at 100.
        similarity: Cosine of its summary and the question; clamped to 0 … 1.
        now: Of the question, timezone-aware.

    Returns:
        0 … 1: 40 % trust in its source, 20 % freshness (whole days; 0 from 730 on), 20 % use, 20 % similarity.
    """
    return standing_score(doc, now=now) + SIMILARITY * min(1.0, max(0.0, similarity))


def standing_score(doc: Scored, *, now: datetime) -> float:
    """The part of the relevance that no question changes, 0 … 0.8: what is kept with the document."""
    days_old = FRESH_DAYS if doc.last_updated is None else age(doc.last_updated, now).days
    freshness = max(0.0, 1.0 - days_old / FRESH_DAYS)
    usage = min(1.0, doc.access_count / MANY_USES)
    return CREDIBILITY * doc.credibility + FRESHNESS * freshness + USAGE * usage


def most_relevant(
    found: Iterable[tuple[Doc, float]],
    *,
    floor: float,
    now: datetime,
    limit: int = MAX_DOCUMENTS,
    version: str | None = None,
    min_trust: float = MIN_TRUST,
) -> list[Ranked[Doc]]:
    """The documents that may help, best first.

    Args:
        found: Documents with their similarity to the question.
        floor: Of the similarity; what is below is out, whatever its score.
        now: Of the question.
        limit: How many at most.
        version: Of what is asked about; documents of another one come after, and say so.
        min_trust: Documents of sources that are trusted less are out.
    """
    ranked = [
        _ranked(doc, similarity, now, version)
        for doc, similarity in found
        if similarity >= floor and doc.trust >= min_trust
    ]
    ranked.sort(key=lambda one: (-one.score, -one.similarity))  # equal ones stay as they were found
    return ranked[:limit]


def _ranked(doc: Doc, similarity: float, now: datetime, version: str | None) -> Ranked[Doc]:
    how = fit(doc.version, version)
    score = calculate_relevance_score(doc, similarity, now=now)
    return Ranked(doc, similarity, round(score if how in FITTING else score * OTHER_VERSION, DIGITS), how)
