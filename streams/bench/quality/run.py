"""What a run is made of: who reads and decides, which part is judged, and where wrong cases are told.

Rule of this file: no measuring.
"""

from dataclasses import dataclass, field
from typing import Final

from streams.bench.quality.minds import RULES, Mind
from streams.bench.splits import Split, is_in
from streams.bench.vectors import Vectors
from streams.decide import DecisionOptions

TURNS: Final = DecisionOptions(enable_delete_operations=True)
"""As turns are decided on by default."""


@dataclass
class Run:
    """One run over some sets.

    Attributes:
        split: Which units are judged.
        limit: Units (people, dialogues, chats, files) of a set at most; None for all.
        errors: Wrong cases to keep of each metric.
        wrong: Wrong cases so far, by metric.
    """

    vectors: Vectors
    mind: Mind = RULES
    split: Split = "all"
    limit: int | None = None
    errors: int = 0
    wrong: dict[str, list[str]] = field(default_factory=dict)

    def judges(self, unit: str) -> bool:
        """Whether a unit is in the part that is judged."""
        return is_in(unit, self.split)

    def note(self, metric: str, case: str) -> None:
        """Keep a wrong case, while there is room."""
        if len(self.wrong.get(metric, ())) < self.errors:
            self.wrong.setdefault(metric, []).append(case)
