"""Which hits answer, and in what order.

Rule of this file: pure. Similarity is an absolute score (cosine, 0 … 1); fusion only orders; thresholds compare with
absolute scores, so that a higher threshold never adds a hit.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from lakehouse.versions import MemoryRow

SEMANTIC_WEIGHT = 0.7
KEYWORD_WEIGHT = 0.3
"""Weights of the hybrid score, as in the chat knowledge service this follows."""
DIGITS = 4
"""Similarities are rounded before anything compares them: the last bits depend on the machine."""


@dataclass(frozen=True)
class Hit:
    """A row that may answer.

    Attributes:
        row: The version found.
        similarity: Cosine to the question, 0 … 1, rounded.
        coverage: Share of the question's terms that the text holds, 0 … 1.
        by_vector: Whether the vector side found it.
        by_keyword: Whether the keyword side found it.
    """

    row: MemoryRow
    similarity: float
    coverage: float
    by_vector: bool
    by_keyword: bool

    @property
    def score(self) -> float:
        """What thresholds compare with: the similarity, as no reranker ran."""
        return self.similarity

    @property
    def hybrid(self) -> float:
        """What hybrid results are ordered by, 0 … 1."""
        return SEMANTIC_WEIGHT * self.similarity + KEYWORD_WEIGHT * self.coverage


def similarity_of_distance(distance: float) -> float:
    """1 - cosine distance, clamped to 0 … 1 and rounded."""
    return round(min(1.0, max(0.0, 1.0 - distance)), DIGITS)


def rank(hits: Iterable[Hit], *, mode: str, threshold: float, top_k: int) -> list[Hit]:
    """Keep what passes and order it.

    Args:
        hits: Candidates of one search, each row once.
        mode: "semantic", "keyword" or "hybrid".
        threshold: 0 … 1. In keyword and hybrid mode a hit that holds all the question's terms passes anyway.
        top_k: How many to keep at most.

    Returns:
        Best first; equal scores by the newer event time, then by id and newer version, so that the order never
        depends on chance.
    """
    kept = [hit for hit in hits if _passes(hit, mode, threshold)]
    kept.sort(key=lambda hit: (*_order(hit, mode), *_tie(hit.row)))
    return kept[:top_k]


def _tie(row: MemoryRow) -> tuple[float, int, int]:
    return -row.valid_from.timestamp(), row.event.id, -row.event.sequence


def _passes(hit: Hit, mode: str, threshold: float) -> bool:
    if mode == "keyword" and not hit.by_keyword:
        return False
    if mode == "semantic":
        return hit.score >= threshold
    return hit.score >= threshold or hit.coverage == 1.0


def _order(hit: Hit, mode: str) -> tuple[float, float]:
    if mode == "semantic":
        return -hit.similarity, 0.0
    if mode == "keyword":
        return -hit.coverage, -hit.similarity  # more of the terms first, then the closer one
    return -hit.hybrid, 0.0
