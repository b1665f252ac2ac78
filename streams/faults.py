"""Named points at which a test can kill the process, to prove that a crash there changes nothing in the end.

Rule of this file: off unless ``MEMLAKE_FAULT`` names a point, optionally with a count: ``after-commit:3`` kills at the
third time.
"""

import os
import signal
from typing import Literal

Point = Literal[
    "intake.after-commit", "intake.after-publish", "remember.after-commit", "remember.after-publish", "maintain.inside"
]


class Faults:
    """Counts passages of a point and kills at the chosen one."""

    def __init__(self, chosen: str = "") -> None:
        self._point, _, count = chosen.partition(":")
        self._left = int(count or 1)

    def reached(self, point: Point) -> None:
        """Pass a point, or die there as ``kill -9`` would have it."""
        if point != self._point:
            return
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
