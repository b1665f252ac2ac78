"""A history handled the hard way: in any batches, again and again, by workers that fail, stall, restart and linger.

Rule of this file: a run is a function of its steps. It never decides what is right; it ends with everything handled.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Literal

from schemas.errors import Unavailable
from tests.contract.perils import Mishap, When, stalled
from tests.contract.world import PARTITIONS, Agent, Worker, World

Key = tuple[Agent, int]


@dataclass(frozen=True)
class Step:
    """One batch for one agent, and what happens meanwhile.

    Attributes:
        agent: Who.
        partition: Of which partition.
        size: Messages at most.
        back: How many of those that it has handled it gets again.
        old: Whether the worker before the last restart gets it, which doesn't know that it was replaced.
        at: The call to the world at which a mishap strikes; 0 is none.
        when: See ``Mishap``.
        holds: Whether the call stalls until later, instead of failing.
        first: What happens before the batch: the worker starts again, or its partitions move away and come back.
    """

    agent: Agent
    partition: int
    size: int
    back: int = 0
    old: bool = False
    at: int = 0
    when: When = "before"
    holds: bool = False
    first: Literal["", "restart", "forget"] = ""


@dataclass
class Held:
    """A batch that stalls."""

    task: asyncio.Task[None]
    mishap: Mishap
    end: int
    counts: bool = True
    """Whether its being done is still of interest: not after its partitions moved."""


@dataclass
class Member:
    """A worker with what it believes to have handled."""

    worker: Worker
    done: dict[Key, int] = field(default_factory=dict)
    held: dict[Key, Held] = field(default_factory=dict)


class Run:
    """Carries steps out, on one world."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._committed: dict[Key, int] = {}
        self._now: Member
        self._old: Member | None = None

    async def through(self, steps: list[Step], *, ghosts_last: bool) -> None:
        """Carry out all steps, then let the last worker handle what is left.

        Args:
            steps: In order.
            ghosts_last: Whether what stalls in an old worker goes on only after everything was handled.
        """
        self._now = Member(await self._world.worker())
        for step in steps:
            await self._step(step)
        if not ghosts_last:
            await self._release_all(self._old)
        await self._release_all(self._now)
        for agent in ("intake", "remember"):
            for partition in range(PARTITIONS):
                while self._committed.get((agent, partition), 0) < len(self._world.delivered(agent, partition)):
                    await self._batch(self._now, Step(agent, partition, 4))
        await self._release_all(self._old)

    async def _step(self, step: Step) -> None:
        if step.first == "restart":
            await self._release_all(self._old)
            self._old = self._now
            self._now = Member(await self._world.worker(), dict(self._committed))
        elif step.first == "forget":
            self._now.worker.forget()
            self._now.done = dict(self._committed)
            for held in self._now.held.values():
                held.counts = False
        await self._batch(self._old or self._now if step.old else self._now, step)

    async def _batch(self, member: Member, step: Step) -> None:
        key: Key = (step.agent, step.partition)
        for agent in ("intake", "remember"):  # one that stalls may hold the shard's lock
            await self._release(member, (agent, step.partition))
        start = max(0, member.done.get(key, 0) - step.back)
        batch = self._world.delivered(step.agent, step.partition)[start : start + step.size]
        if not batch:
            return
        mishap = Mishap(step.at, step.when, step.holds)
        task = await stalled(member.worker.handle(step.agent, step.partition, batch, mishap), mishap)
        member.held[key] = Held(task, mishap, start + len(batch))
        if not (step.holds and mishap.reached.is_set()):
            await self._release(member, key)

    async def _release_all(self, member: Member | None) -> None:
        for key in list(member.held) if member else ():
            await self._release(member, key)

    async def _release(self, member: Member | None, key: Key) -> None:
        held = member.held.pop(key, None) if member else None
        if member is None or held is None:
            return
        held.mishap.released.set()
        try:
            await held.task
        except Unavailable:
            return  # it is handled again
        if held.counts:
            member.done[key] = max(member.done.get(key, 0), held.end)
            if member is self._now:
                self._committed[key] = max(self._committed.get(key, 0), held.end)
