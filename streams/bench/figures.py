"""A figure as it is printed, and how it is made of samples."""

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Figure:
    """One line of a benchmark.

    Attributes:
        bench: Which benchmark.
        metric: What was measured.
        value: The figure; the median of the samples where there are several.
        unit: Its unit.
        baseline: What it is held against, in the same unit; None where it is a part or stands alone.
        ratio: value / baseline.
        min: The least sample.
        max: The greatest sample.
        n: Number of samples.
    """

    bench: str
    metric: str
    value: float
    unit: str
    baseline: float | None
    ratio: float | None
    min: float
    max: float
    n: int

    def row(self) -> dict[str, Any]:
        """As JSON, with four significant digits."""
        return {key: _short(value) for key, value in asdict(self).items()}


def figure(bench: str, metric: str, unit: str, samples: Sequence[float], baseline: float | None = None) -> Figure:
    """The median of samples, against a baseline."""
    value = statistics.median(samples)
    ratio = value / baseline if baseline else None
    return Figure(bench, metric, value, unit, baseline, ratio, min(samples), max(samples), len(samples))


def percentile(samples: Sequence[float], share: float) -> float:
    """The sample that this share of the samples does not exceed (nearest rank).

    Args:
        samples: At least one.
        share: 0 … 1.
    """
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, max(0, round(share * len(ordered)) - 1))]


def _short(value: Any) -> Any:
    return float(f"{value:.4g}") if isinstance(value, float) else value
