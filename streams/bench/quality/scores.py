"""What was right, what was not, and the figures made of it.

Rule of this file: arithmetic only; a figure that has nothing to be measured on is left out and not called zero.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from streams.bench.figures import Figure

BENCH: Final = "quality"


@dataclass(frozen=True)
class Counts:
    """How often a yes was said and was right.

    Attributes:
        hits: Said and right.
        false: Said and wrong.
        missed: Not said and yet right.
    """

    hits: int = 0
    false: int = 0
    missed: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(self.hits + other.hits, self.false + other.false, self.missed + other.missed)

    @property
    def precision(self) -> float:
        """Of what was said, the share that is right; 0 … 1, 0 where nothing was said."""
        return self.hits / (self.hits + self.false) if self.hits else 0.0

    @property
    def recall(self) -> float:
        """Of what is right, the share that was said; 0 … 1, 0 where nothing is right."""
        return self.hits / (self.hits + self.missed) if self.hits else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of both, 0 … 1."""
        said = 2 * self.hits + self.false + self.missed
        return 2 * self.hits / said if said else 0.0


def mean(answers: Iterable[bool]) -> float | None:
    """The share of true answers, 0 … 1; None where nothing was asked."""
    told = list(answers)
    return sum(told) / len(told) if told else None


def counted(answers: Iterable[tuple[bool, bool]]) -> Counts:
    """Counts of (said, right) pairs."""
    pairs = list(answers)
    return Counts(
        sum(said and right for said, right in pairs),
        sum(said and not right for said, right in pairs),
        sum(right and not said for said, right in pairs),
    )


def best_threshold(scored: Sequence[tuple[float, bool]]) -> tuple[float, Counts]:
    """The score from which "yes" gives the best F1 on these very answers: more than a threshold can promise.

    Args:
        scored: (score, right) of each case.
    """
    right = sum(yes for _, yes in scored)
    best, threshold, hits = Counts(missed=right), 1.0, 0
    ordered = sorted(scored, key=lambda pair: -pair[0])
    for place, (score, yes) in enumerate(ordered, 1):
        hits += yes
        if place < len(ordered) and ordered[place][0] == score:
            continue
        counts = Counts(hits, place - hits, right - hits)
        if counts.f1 > best.f1:
            best, threshold = counts, score
    return threshold, best


def share(
    metric: str,
    units: Sequence[Sequence[bool]],
    baseline: float | None = None,
) -> list[Figure]:
    """The share of true answers over all units, with the least and the greatest of a single unit.

    Args:
        metric: What was asked.
        units: Answers by person, chat or dialogue.
        baseline: The share that a plain method reaches.

    Returns:
        One figure; none where nothing was asked.
    """
    asked = [answers for answers in units if answers]
    if not asked:
        return []
    answers = [answer for unit_answers in asked for answer in unit_answers]
    single = [sum(one) / len(one) for one in asked]
    return [_figure(metric, sum(answers) / len(answers), single, n=len(answers), baseline=baseline)]


def retrieval(
    metric: str, units: Sequence[Sequence[tuple[bool, bool]]], baseline: Counts | None = None, *, parts: bool = True
) -> list[Figure]:
    """F1 over all units with its precision and recall, and the least and the greatest of a single unit.

    Args:
        metric: What was said or not; "_f1", "_precision" and "_recall" are added.
        units: (said, right) of each case, by person, chat or dialogue.
        baseline: What a plain method reaches.
        parts: Whether precision and recall are told too.

    Returns:
        Three figures, or one; none where nothing was asked.
    """
    asked = [unit for unit in units if unit]
    if not asked:
        return []
    singles = [counted(unit) for unit in asked]
    total = sum(singles, Counts())
    cases = sum(map(len, asked))
    told = ("f1", "precision", "recall") if parts else ("f1",)
    return [
        _figure(
            f"{metric}_{part}",
            getattr(total, part),
            [getattr(one, part) for one in singles],
            n=cases,
            baseline=getattr(baseline, part) if baseline else None,
        )
        for part in told
    ]


def _figure(metric: str, value: float, singles: Sequence[float], *, n: int, baseline: float | None) -> Figure:
    ratio = value / baseline if baseline else None
    return Figure(BENCH, metric, value, "share", baseline, ratio, min(singles), max(singles), n)
