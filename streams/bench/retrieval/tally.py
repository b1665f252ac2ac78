"""From what each system found for each question to the figures of a run.

Rule of this file: it counts what was found and asks nothing. A figure that has nothing to be measured on is left out.
The product's figures have the plain name, the others a dot and their own; baseline is the best plain system's value
of the same run. ``min`` and ``max`` of a share are its bounds of 95 %, those of a time the least and the greatest.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from streams.bench.figures import Figure, figure
from streams.bench.retrieval import golden
from streams.bench.retrieval.cases import Question
from streams.bench.retrieval.memlake import PRODUCT
from streams.bench.retrieval.scores import bounds, is_newer_first, mean, recall, sessions_of
from streams.bench.retrieval.systems import Ranked

BENCH: Final = "retrieval"
DEPTHS: Final = (5, 10, 20)
SESSION_DEPTHS: Final = (1, 3, 5, 10)
CURRENT: Final = "current_value_first"
SIMILARITY: Final = {"dense": "similarity"}
"""What a system is called where it is asked which value is current."""
RAW: Final = "lancedb_hybrid"
"""The system that a search's time is held against."""


@dataclass(frozen=True)
class Outcome:
    """One question with what each system found.

    Attributes:
        found: By system.
        session_by_turn: Of all turns that could be found.
    """

    question: Question
    found: Mapping[str, Ranked]
    session_by_turn: Mapping[str, str]


Score = Callable[[Outcome, Ranked], float | None]
"""How well an answer does, 0 … 1; None where that is not asked."""


def _turns(depth: int) -> Score:
    def score(outcome: Outcome, ranked: Ranked) -> float | None:
        gold = outcome.question.turns
        return recall(ranked.turns, gold, depth) if gold else None

    return score


def _sessions(depth: int) -> Score:
    def score(outcome: Outcome, ranked: Ranked) -> float | None:
        gold = outcome.question.sessions
        return recall(sessions_of(ranked.turns, outcome.session_by_turn), gold, depth) if gold else None

    return score


def _current(outcome: Outcome, ranked: Ranked) -> float | None:
    change = outcome.question.change
    return None if change is None else float(is_newer_first(ranked.turns, change))


SCORES: Final[dict[str, Score]] = {
    **{f"recall_at_{depth}": _turns(depth) for depth in DEPTHS},
    **{f"session_recall_at_{depth}": _sessions(depth) for depth in SESSION_DEPTHS},
}
"""What is asked of every set, by the second part of the metric's name."""


def figures_of(outcomes: Sequence[Outcome]) -> list[Figure]:
    """All figures of a run: by set, of current values, and of time."""
    by_set: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        by_set.setdefault(outcome.question.of, []).append(outcome)
    own = by_set.pop(golden.OF, [])
    figures = [found for of, some in by_set.items() for found in _of_set(of, some)]
    theirs = [outcome for some in by_set.values() for outcome in some]
    figures += _shares(CURRENT, _values(theirs, _current), SIMILARITY)
    for of, some in by_set.items():
        figures += _shares(f"{CURRENT}/{of}", _values(some, _current), SIMILARITY)
    figures += _shares(f"{golden.OF}_{CURRENT}", _values(own, _current), SIMILARITY)
    return [*figures, *_times(outcomes), *_degraded(outcomes)]


def _of_set(of: str, outcomes: Sequence[Outcome]) -> Iterator[Figure]:
    counted = [outcome for outcome in outcomes if outcome.question.counts]
    categories = sorted({outcome.question.category for outcome in outcomes})
    for name, score in SCORES.items():
        values = _values(counted, score)
        yield from _shares(f"{of}_{name}", values)
        yield from _gain(f"{of}_{name.replace('recall', 'gain')}", values)
        for category in categories:
            some = [outcome for outcome in outcomes if outcome.question.category == category]
            yield from _shares(f"{of}_{name}/{category}", _values(some, score))


def _values(outcomes: Iterable[Outcome], score: Score) -> dict[str, list[float]]:
    """The scores of each system, question by question."""
    values: dict[str, list[float]] = {}
    for outcome in outcomes:
        for system, ranked in outcome.found.items():
            told = score(outcome, ranked)
            if told is not None:
                values.setdefault(system, []).append(told)
    return values


def best_plain(values: Mapping[str, Sequence[float]]) -> str | None:
    """The plain system with the highest mean, the first of equals; None without one."""
    plain = [system for system in values if system != PRODUCT]
    return max(plain, key=lambda system: mean(values[system]), default=None)


def _shares(
    metric: str, values: Mapping[str, Sequence[float]], renamed: Mapping[str, str] | None = None
) -> Iterator[Figure]:
    best = best_plain(values)
    for system, told in values.items():
        baseline = mean(values[best]) if system == PRODUCT and best is not None else None
        name = metric if system == PRODUCT else f"{metric}.{(renamed or {}).get(system, system)}"
        value = mean(told)
        ratio = value / baseline if baseline else None
        yield Figure(BENCH, name, value, "share", baseline, ratio, *bounds(told), len(told))


def _gain(metric: str, values: Mapping[str, Sequence[float]]) -> Iterator[Figure]:
    """By how much the product does better than the best plain system, on the same questions."""
    best = best_plain(values)
    if best is not None and PRODUCT in values:
        gained = [ours - theirs for ours, theirs in zip(values[PRODUCT], values[best], strict=True)]
        yield Figure(BENCH, metric, mean(gained), "share", None, None, *bounds(gained), len(gained))


def _times(outcomes: Sequence[Outcome]) -> Iterator[Figure]:
    """The median of each stage."""
    samples: dict[tuple[str, str], list[float]] = {}
    for outcome in outcomes:
        for system, ranked in outcome.found.items():
            for stage, spent in ranked.times_ms.items():
                samples.setdefault((stage, system), []).append(spent)
    medians = {key: figure(BENCH, ".".join(key), "ms", told).value for key, told in samples.items()}
    for (stage, system), told in samples.items():
        if system == PRODUCT:
            yield figure(BENCH, stage, "ms", told, medians.get((stage, RAW)))
        else:
            yield figure(BENCH, f"{stage}.{system}", "ms", told)


def _degraded(outcomes: Sequence[Outcome]) -> Iterator[Figure]:
    """The share of the product's answers for which something could not be had."""
    told = [float(bool(outcome.found[PRODUCT].degraded)) for outcome in outcomes if PRODUCT in outcome.found]
    if told:
        yield Figure(BENCH, "degraded", mean(told), "share", None, None, *bounds(told), len(told))
