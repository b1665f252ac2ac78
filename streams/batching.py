"""Batches of whatever is waiting, from a stream that must never be cancelled in the middle.

Rule of this file: it knows no topic and no Faust. Faust's own ``take()`` acknowledges what it was cancelled with, and
goes deaf on a decode error; ``wait_for`` on a stream's next event loses that event when the time is up. So one pending
read is kept for good, and only ever *looked at* with a time-out.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True)
class BatchPolicy:
    """How large a batch may be.

    Attributes:
        size: Items at most.
        total_bytes: Bytes at most; a larger single item is a batch of its own.
        linger_s: Seconds to wait for one more.
    """

    size: int
    total_bytes: int
    linger_s: float


class Batcher(Generic[Item]):
    """Cuts an endless iterator into batches: what is there now, within the policy."""

    def __init__(self, source: AsyncIterator[Item], policy: BatchPolicy, size_of: Callable[[Item], int]) -> None:
        self._source = source
        self._policy = policy
        self._size_of = size_of
        self._pending: asyncio.Future[Item] | None = None
        self._held: list[Item] = []

    async def __aiter__(self) -> AsyncIterator[list[Item]]:
        """Batches, never empty, in order; ends when the source ends."""
        while batch := await self._next():
            yield batch

    async def _next(self) -> list[Item]:
        batch, total = self._held, sum(map(self._size_of, self._held))
        self._held = []
        while len(batch) < self._policy.size:
            item = await self._read(None if not batch else self._policy.linger_s)
            if item is None:
                break
            total += self._size_of(item)
            if batch and total > self._policy.total_bytes:
                self._held = [item]
                break
            batch.append(item)
        return batch

    async def _read(self, patience_s: float | None) -> Item | None:
        """The next item; None when the time is up or the source has ended."""
        if self._pending is None:
            self._pending = asyncio.ensure_future(anext(self._source))
        done, _ = await asyncio.wait({self._pending}, timeout=patience_s)
        if not done:
            return None
        ended, self._pending = self._pending, None
        try:
            return ended.result()
        except StopAsyncIteration:
            return None

    def close(self) -> None:
        """Give up the pending read; what it would have brought was never acknowledged."""
        if self._pending is not None:
            self._pending.cancel()
            self._pending = None
