"""Health is progress: what was handled, how far behind, how late the loop, and since when something is in the way.

Rule of this file: pure state and judgement; the clock is an argument. A process that lives and does nothing while work
waits is unhealthy.
"""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class HealthPolicy:
    """What we want.

    Attributes:
        unhealthy_after_s: Seconds without progress, with work waiting, after which a worker is unhealthy.
        exit_after_s: Seconds of ill health after which it exits.
        loop_delay_s: Seconds the event loop may be late.
    """

    unhealthy_after_s: float
    exit_after_s: float
    loop_delay_s: float = 5.0


@dataclass
class AgentProgress:
    """What one agent has done; times in seconds of the caller's clock."""

    last_done: float
    in_hand: dict[int, float] = field(default_factory=dict)
    """Since when a batch of a partition is in hand."""
    waiting_for: dict[int, str] = field(default_factory=dict)
    """Why a partition's batch in hand is tried again."""
    handled: int = 0

    @property
    def waits_for_the_world(self) -> bool:
        """Whether all that is in hand is being tried again."""
        return bool(self.in_hand) and self.in_hand.keys() == self.waiting_for.keys()


@dataclass
class Health:
    """What we have seen of a worker."""

    policy: HealthPolicy
    started: float
    agents: dict[str, AgentProgress] = field(default_factory=dict)
    partitions: tuple[int, ...] | None = None
    """The shards this worker owns; None before the first assignment."""
    lag: int = 0
    """Messages not yet handled, as far as the broker told."""
    lag_moved: float = 0.0
    """When the lag was last 0, or something was handled."""
    broker_seen: float = 0.0
    beat: float = 0.0
    """When the event loop last ran our heartbeat."""
    stopping: bool = False
    _ill_since: float | None = None

    def agent(self, name: str) -> AgentProgress:
        """The progress of an agent."""
        return self.agents.setdefault(name, AgentProgress(self.started))

    def took(self, name: str, now: float, partition: int) -> None:
        """An agent has a partition's batch in hand."""
        self.agent(name).in_hand[partition] = now

    def done(self, name: str, messages: int, now: float, partition: int) -> None:
        """An agent has handled a partition's batch."""
        progress = self.agent(name)
        progress.in_hand.pop(partition, None)
        progress.waiting_for.pop(partition, None)
        progress.last_done, self.lag_moved = now, now
        progress.handled += messages

    def waits(self, name: str, reason: str, partition: int) -> None:
        """An agent tries a partition's batch again, for a reason."""
        self.agent(name).waiting_for[partition] = reason

    def reasons(self, now: float) -> list[str]:
        """Everything that is wrong; empty when the worker is well."""
        limit = self.policy.unhealthy_after_s
        found = []
        if now - self.beat > self.policy.loop_delay_s:
            found.append(f"the event loop has stood still for {now - self.beat:.0f} s")
        if now - self.broker_seen > limit:
            found.append(f"the broker has not answered for {now - self.broker_seen:.0f} s")
        for name, progress in self.agents.items():
            for partition, since in list(progress.in_hand.items()):  # a copy: the endpoint asks from its own thread
                if now - since > limit:
                    why = progress.waiting_for.get(partition, "still working")
                    found.append(f"{name} has been at one batch of {partition} for {now - since:.0f} s: {why}")
        if self.lag and now - self.lag_moved > limit:
            found.append(f"{self.lag} messages wait and none was handled for {now - self.lag_moved:.0f} s")
        return found

    def must_exit(self, now: float) -> bool:
        """Whether the worker has been unhealthy for so long that it should be started again."""
        if not self.reasons(now):
            self._ill_since = None
            return False
        if self._ill_since is None:
            self._ill_since = now
        return now - self._ill_since > self.policy.exit_after_s

    def told(self, now: float) -> dict[str, Any]:
        """The state as JSON."""
        reasons = self.reasons(now)
        status = (
            "unhealthy"
            if reasons
            else "stopping"
            if self.stopping
            else "starting"
            if self.partitions is None
            else "ready"
        )
        return {
            "status": status,
            "reasons": reasons,
            "partitions": list(self.partitions or ()),
            "lag": self.lag,
            "loopDelayMs": round(max(0.0, now - self.beat) * 1000, 1),
            "agents": {
                name: {
                    "handled": progress.handled,
                    "sinceLastS": round(now - progress.last_done, 3),
                    "waitingFor": next(iter(list(progress.waiting_for.values())), None),
                }
                for name, progress in self.agents.items()
            },
        }
