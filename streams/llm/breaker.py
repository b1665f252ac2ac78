"""When to leave an endpoint alone: after failures in a row, for a while, and then one call to see.

Rule of this file: pure. Policy is what we want, state is what we have seen; the clock is an argument, in seconds.
"""

from dataclasses import dataclass
from typing import Literal

State = Literal["closed", "half-open", "open"]


@dataclass(frozen=True)
class BreakerPolicy:
    """What we want.

    Attributes:
        failures: Failed calls in a row after which no call is made.
        cooloff_s: Seconds without calls; then a single one is let through.
    """

    failures: int
    cooloff_s: float


class Breaker:
    """What we have seen of an endpoint."""

    def __init__(self, policy: BreakerPolicy) -> None:
        self._policy = policy
        self._failures = 0
        self._opened_at: float | None = None
        self._probing = False

    def state(self, now: float) -> State:
        """Whether calls are made: all, one, or none."""
        if self._opened_at is None:
            return "closed"
        return "half-open" if now - self._opened_at >= self._policy.cooloff_s else "open"

    def admits(self, now: float) -> bool:
        """Whether a call may be made now; whoever gets a yes tells how it ended, by one of the three below."""
        state = self.state(now)
        if state == "closed":
            return True
        if state == "open" or self._probing:
            return False
        self._probing = True
        return True

    def succeeded(self) -> None:
        """The endpoint has answered."""
        self._failures, self._opened_at, self._probing = 0, None, False

    def failed(self, now: float, *, at_once: bool = False) -> None:
        """The endpoint has failed.

        Args:
            now: When.
            at_once: It said that it will go on failing, so there is no need to count.
        """
        self._failures += 1
        state = self.state(now)
        if at_once or state == "half-open" or (state == "closed" and self._failures >= self._policy.failures):
            self._opened_at = now
        self._probing = False

    def released(self) -> None:
        """A call ended without telling anything about the endpoint."""
        self._probing = False
