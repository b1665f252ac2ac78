"""Which part of a set rules may be tuned on, and which part figures are reported on.

Rule of this file: the part hangs on the name of a unit (a person, a chat, a dialogue, a session) and on nothing else,
so that the same unit is in the same part on every machine and beside whatever other units.
"""

from hashlib import sha256
from typing import Literal

Split = Literal["tune", "report", "all"]


def part_of(unit: str) -> Literal["tune", "report"]:
    """The part of a unit: about half of all names are in each."""
    return "report" if sha256(unit.encode()).digest()[0] & 1 else "tune"


def is_in(unit: str, split: Split) -> bool:
    """Whether a unit is judged in a run over this part."""
    return split in {"all", part_of(unit)}
