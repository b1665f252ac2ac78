"""What waits for one partition's turn: a queue bounded by bytes, so that a backlog of large messages is no flood.

Rule of this file: it holds records and knows nothing of what is done with them. A full lane holds up the stream, which
pauses consumption; nothing is dropped but what will be delivered again.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable

from streams.incoming import Incoming


class Lane:
    """Records of one partition, first in, first out."""

    def __init__(self, max_bytes: int) -> None:
        """Make an empty lane.

        Args:
            max_bytes: Bytes that may wait or be in hand; a larger single record is let in alone.
        """
        self._max_bytes = max_bytes
        self._waiting: deque[Incoming] = deque()
        self._held = 0
        self._clears = 0
        self._ended = False
        self._changed = asyncio.Event()
        self._room = asyncio.Event()

    async def put(self, incoming: Incoming) -> None:
        """Add a record, once there is room.

        Where the lane is cleared meanwhile, the record goes with what stood before it: let in, it would stand in front
        of them when they come again, and its offset would say that they are handled.
        """
        clears = self._clears
        while self._held and self._held + incoming.size > self._max_bytes:
            self._room.clear()
            await self._room.wait()
        if clears != self._clears:
            return
        self._held += incoming.size
        self._waiting.append(incoming)
        self._changed.set()

    async def items(self) -> AsyncIterator[Incoming]:
        """The records, until the lane has ended; each counts as held until it is ``done``."""
        while True:
            while self._waiting:
                yield self._waiting.popleft()
            if self._ended:
                return
            self._changed.clear()
            await self._changed.wait()

    def done(self, records: Iterable[Incoming]) -> None:
        """Records have been handled: their room is free."""
        self._free(records)

    def clear(self) -> None:
        """Drop what waits: it will be delivered again."""
        self._clears += 1
        dropped, self._waiting = self._waiting, deque()
        self._free(dropped)

    def end(self) -> None:
        """Nothing more will come."""
        self._ended = True
        self._changed.set()

    def _free(self, records: Iterable[Incoming]) -> None:
        self._held -= sum(record.size for record in records)
        self._room.set()
