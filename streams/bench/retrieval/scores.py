"""Recall, which of two statements comes first, and how far a mean may be off.

Rule of this file: arithmetic only.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

import numpy as np

from streams.bench.retrieval.cases import Change

RESAMPLES: Final = 2000
SEED: Final = 20
EDGES: Final = (2.5, 97.5)
"""Percentiles of the resampled means: 95 % lie between."""


def recall(found: Sequence[str], gold: Collection[str], depth: int) -> float:
    """The share of gold among the first ``depth`` found, 0 … 1.

    Args:
        found: Best first, each once.
        gold: At least one.
        depth: At least 1.
    """
    return len(set(found[:depth]) & set(gold)) / len(gold)


def sessions_of(turns: Sequence[str], session_by_turn: Mapping[str, str]) -> list[str]:
    """Sessions in the order of their best turn."""
    return list(dict.fromkeys(session_by_turn[turn] for turn in turns))


def is_newer_first(found: Sequence[str], change: Change) -> bool:
    """Whether a turn that holds now is found before every turn that no longer does; not so where none is found."""
    first = next((turn for turn in found if turn in change.newer or turn in change.older), None)
    return first in change.newer


def mean(values: Sequence[float]) -> float:
    """The mean of at least one value."""
    return sum(values) / len(values)


def bounds(values: Sequence[float]) -> tuple[float, float]:
    """Between what the mean would lie in 95 of 100 samples like this one: percentile bootstrap, always the same dice.

    Args:
        values: At least one; of two systems, the differences question by question.
    """
    told = np.asarray(values, dtype=np.float64)
    dice = np.random.default_rng(SEED)
    means = told[dice.integers(0, len(told), size=(RESAMPLES, len(told)))].mean(axis=1)
    low, high = np.percentile(means, EDGES)
    return float(low), float(high)
