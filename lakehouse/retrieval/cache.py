"""Answers kept for a while: never older than the last change, and worked out once for all who ask together.

Rule of this file: no clock and no I/O; time, generations and the work itself are passed in. A key is a value that holds
everything the answer depends on (scope, question, options, models) and is compared as a whole, never a digest of it.

Theory of operation: a *generation* is what the answer was read from, such as the applied offset and the lake's version.
It is read before the work begins and again when it has ended, and an answer is kept only if it has not moved: what a
slow question found must not outlive the change that overtook it. A *flight* is the work on one key at one generation.
Whoever asks for the same meanwhile waits for it; one who asks after a change finds no flight of its generation and
starts its own. The work runs in the task of whoever began it: if that task is cancelled, the first of those who wait
begins anew, and one who waits can go without anybody noticing.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

TTL_S = 300.0
"""How long an answer may be given again: what ranks by the time of the question is not to drift further."""

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


@dataclass
class CacheCounts:
    """What became of the questions so far. Each that was not cancelled is one hit, miss or coalesced.

    Attributes:
        hits: Answered by what was kept.
        misses: Worked out, whether it then succeeded, failed or was cancelled.
        stale: Kept answers that were found too old or overtaken by a change, and dropped.
        coalesced: Waited for another's work and took its outcome, be it an answer or an error.
    """

    hits: int = 0
    misses: int = 0
    stale: int = 0
    coalesced: int = 0


@dataclass(frozen=True)
class _Entry(Generic[Value]):
    value: Value
    generation: Hashable
    expires: float


class QueryCache(Generic[Key, Value]):
    """The last used answers. For one event loop.

    ``len`` is the number of answers kept, those that have expired but were not asked for again included.
    """

    def __init__(
        self,
        *,
        max_entries: int,
        clock: Callable[[], float],
        keep: Callable[[Value], bool],
        ttl_s: float = TTL_S,
    ) -> None:
        """Begin empty.

        Args:
            max_entries: Answers kept; the longest unused goes first. 0 keeps none.
            clock: Seconds, never going back.
            keep: Whether an answer is worth keeping; a degraded one is not. It is given to all who wait all the same.
            ttl_s: Seconds from the begin of its work in which an answer is given again; at this age no more.
        """
        self.counts = CacheCounts()
        self._max_entries = max_entries
        self._clock = clock
        self._keep = keep
        self._ttl_s = ttl_s
        self._entries: OrderedDict[Key, _Entry[Value]] = OrderedDict()
        self._flights: dict[tuple[Key, Hashable], asyncio.Future[Value]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    async def get_or_compute(
        self, key: Key, generation: Callable[[], Hashable], compute: Callable[[], Awaitable[Value]]
    ) -> Value:
        """Give the kept answer, wait for the one that is being worked out, or work it out.

        Args:
            key: Everything the answer depends on, but for the generation.
            generation: What would be read now; a generation that has passed must not come back.
            compute: Works the answer out; called at most once, and only if nobody else is at it.

        Returns:
            The answer, shared with others: not to be changed.

        Raises:
            Exception: What ``compute`` raised, here or where the same was asked; it is not remembered.
        """
        while True:
            now = generation()
            entry = self._entries.get(key)
            if entry is not None and self._is_fresh(entry, now):
                self._entries.move_to_end(key)
                self.counts.hits += 1
                return entry.value
            if entry is not None:
                del self._entries[key]
                self.counts.stale += 1
            flight = self._flights.get((key, now))
            if flight is None:
                self.counts.misses += 1
                return await self._lead(key, now, generation, compute)
            await asyncio.wait({flight})  # unlike to await it, this leaves it alone when this task is cancelled
            if not flight.cancelled():
                self.counts.coalesced += 1
                return flight.result()

    def forget(self, forgotten: Callable[[Key], bool]) -> None:
        """Drop what is kept under some keys; what is being worked out for them will not be kept, nor waited for."""
        for key in [key for key in self._entries if forgotten(key)]:
            del self._entries[key]
        for slot in [slot for slot in self._flights if forgotten(slot[0])]:
            del self._flights[slot]

    def clear(self) -> None:
        """Forget everything."""
        self.forget(lambda _: True)

    def _is_fresh(self, entry: _Entry[Value], generation: Hashable) -> bool:
        return entry.generation == generation and self._clock() < entry.expires

    async def _lead(
        self,
        key: Key,
        begun_at: Hashable,
        generation: Callable[[], Hashable],
        compute: Callable[[], Awaitable[Value]],
    ) -> Value:
        slot, expires = (key, begun_at), self._clock() + self._ttl_s
        flight: asyncio.Future[Value] = asyncio.get_running_loop().create_future()
        self._flights[slot] = flight
        try:
            value = await compute()
            kept = self._flights.get(slot) is flight and generation() == begun_at and self._keep(value)
        except Exception as error:
            flight.set_exception(error)
            flight.exception()  # seen: it is raised here, and nobody else may be waiting
            raise
        except BaseException:
            flight.cancel()
            raise
        finally:
            if self._flights.get(slot) is flight:
                del self._flights[slot]
        flight.set_result(value)
        if kept:
            self._put(key, _Entry(value, begun_at, expires))
        return value

    def _put(self, key: Key, entry: _Entry[Value]) -> None:
        self._entries[key] = entry  # the last one used: whatever was kept under it is gone since its work began
        while len(self._entries) > self._max_entries:
            self._entries.popitem(last=False)
