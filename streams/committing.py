"""Committed offsets: the next offset behind what is durable, and never one more.

Rule of this file: Faust's own acknowledgement is not used. It takes skipped events of an old generation for handled
ones and computes its commit point over gaps; what we know is simpler: each partition is handled in order, so the last
durable offset says it all. Going back is harmless (work is done again, with the same effect); going past is loss.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass

from streams.logs import logger

INTERVAL_S = 0.25
TIMEOUT_S = 10.0
log = logger("commit")

Place = tuple[str, int]
Offsets = dict[Place, int]


@dataclass(frozen=True)
class Group:
    """The consumer group at the broker.

    Attributes:
        commit: Commits next offsets, and returns those of places that are ours.
        stored: The group's committed offsets by place; a place without one is left out.
    """

    commit: Callable[[Offsets], Awaitable[Offsets]]
    stored: Callable[[Collection[Place]], Awaitable[Offsets]]


class Committer:
    """Gathers offsets and commits them a few times a second, one commit at a time."""

    def __init__(self, group: Group) -> None:
        self._group = group
        self._waiting: Offsets = {}
        self._running: asyncio.Task[None] | None = None
        self.handled: Offsets = {}
        """Next offset of each partition behind what is durable."""
        self.committed: Offsets = {}
        """What the broker confirmed to us."""
        self.lost: Place | None = None
        """A place whose committed offset has gone: somebody deleted its topic."""

    def note(self, topic: str, partition: int, offset: int) -> None:
        """Everything before ``offset`` is durable."""
        place = (topic, partition)
        self._waiting[place] = offset
        self.handled[place] = offset

    def moved(self, assigned: set[Place]) -> None:
        """Partitions have moved; positions of those that are not ours are of no use."""
        for offsets in (self.handled, self.committed, self._waiting):
            for place in offsets.keys() - assigned:
                del offsets[place]

    async def run(self) -> None:
        """Commit for ever, a few times a second."""
        while True:
            await asyncio.sleep(INTERVAL_S)
            await self.flush()

    async def flush(self, timeout_s: float = TIMEOUT_S) -> None:
        """Commit what waits now; what could not be committed waits on.

        Args:
            timeout_s: How long to wait for the broker. A commit that it has not answered by then stays under way: two
                at once could arrive in either order.
        """
        if self._running is None and self._waiting and self.lost is None:
            offsets, self._waiting = self._waiting, {}
            self._running = asyncio.create_task(self._step(offsets))
        if self._running is not None:
            done, _ = await asyncio.wait({self._running}, timeout=timeout_s)
            if done:
                self._running = None

    async def _step(self, offsets: Offsets) -> None:
        try:
            known = self.committed.keys() & offsets.keys()
            gone = known - (await self._group.stored(known)).keys() if known else set()
            if gone:
                self.lost = min(gone)
                return
            done = await self._group.commit(offsets)
        except Exception as error:  # noqa: BLE001 - the work is durable; only its being done again is at stake
            log.warning("commit failed", error=repr(error)[:300])
            self._waiting = offsets | self._waiting
        else:
            self.committed |= done
