"""Committed offsets: the next offset behind what is durable, and never one more.

Rule of this file: Faust's own acknowledgement is not used. It takes skipped events of an old generation for handled
ones and computes its commit point over gaps; what we know is simpler: each partition is handled in order, so the last
durable offset says it all. Going back is harmless (work is done again, with the same effect); going past is loss.
"""

import asyncio
from collections.abc import Awaitable, Callable

from streams.logs import logger

INTERVAL_S = 0.25
TIMEOUT_S = 10.0
log = logger("commit")

Place = tuple[str, int]
Commit = Callable[[dict[Place, int]], Awaitable[bool]]


class Committer:
    """Gathers offsets and commits them a few times a second."""

    def __init__(self, commit: Commit) -> None:
        """Prepare.

        Args:
            commit: Commits (topic, partition) → next offset; False where the partition isn't ours any more.
        """
        self._commit = commit
        self._waiting: dict[Place, int] = {}
        self.handled: dict[Place, int] = {}
        """Next offset of each partition behind what is durable."""

    def note(self, topic: str, partition: int, offset: int) -> None:
        """Everything before ``offset`` is durable."""
        place = (topic, partition)
        self._waiting[place] = offset
        self.handled[place] = offset

    def moved(self, assigned: set[Place]) -> None:
        """Partitions have moved; positions of those that are not ours are of no use."""
        self.handled = {place: offset for place, offset in self.handled.items() if place in assigned}
        self._waiting = {place: offset for place, offset in self._waiting.items() if place in assigned}

    async def run(self) -> None:
        """Commit for ever, a few times a second."""
        while True:
            await asyncio.sleep(INTERVAL_S)
            await self.flush()

    async def flush(self) -> None:
        """Commit what waits now; what could not be committed waits on."""
        if not self._waiting:
            return
        offsets, self._waiting = self._waiting, {}
        try:
            async with asyncio.timeout(TIMEOUT_S):
                done = await self._commit(offsets)
        except Exception as error:  # noqa: BLE001 - the work is durable; only its being done again is at stake
            done = False
            log.warning("commit failed", error=repr(error)[:300])
        if not done:
            self._waiting = offsets | self._waiting
