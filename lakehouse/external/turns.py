"""Whose turn it is to ask a host: so many at once, so many a second, and none while it is left alone.

Rule of this file: it waits and counts, and asks nobody. The deadline of a trip is for the hosts' time and stands still
while we wait for our own turn, which has a bound of its own: else many pages of one host would look like a host that
has failed.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime

from aiolimiter import AsyncLimiter

from lakehouse.external.answers import Fault
from lakehouse.external.hosts import HostState, Limits
from lakehouse.external.origins import Refused
from lakehouse.external.source import Origin
from lakehouse.external.unpacking import TooLarge


@dataclass
class Trip:
    """The way to one page.

    Attributes:
        deadline: Of the hosts' time.
        patience_s: Left to wait for our own turn.
        place: Where it is, for reasons.
    """

    deadline: asyncio.Timeout
    patience_s: float
    place: str


@dataclass
class _Host:
    state: HostState
    slots: asyncio.Semaphore
    limiter: AsyncLimiter


class Turns:
    """All hosts that were asked. For one event loop."""

    def __init__(self, limits: Limits, clock: Callable[[], datetime]) -> None:
        """Begin with none.

        Args:
            limits: How often hosts are asked, and when they are left alone.
            clock: Now, timezone-aware.
        """
        self._limits = limits
        self._clock = clock
        self._hosts: dict[Origin, _Host] = {}

    @asynccontextmanager
    async def one(self, trip: Trip, origin: Origin) -> AsyncIterator[HostState]:
        """A host, when it is our turn to ask it. What goes wrong meanwhile is noted; whoever asks notes the answer.

        Args:
            trip: Whose turn.
            origin: The place that is asked.

        Raises:
            Fault: It is left alone, or our turn does not come.
        """
        host = self._host(origin)
        self._check_alone(trip, host)
        await _wait(trip, host)
        try:
            if not host.state.admits(self._clock()):
                self._check_alone(trip, host)
                raise Fault(f"{trip.place} was left alone, and another request is looking whether it is back")
            try:
                yield host.state
            except BaseException as error:
                _note(host.state, trip, error, self._clock())
                raise
        finally:
            host.slots.release()

    def _check_alone(self, trip: Trip, host: _Host) -> None:
        left = host.state.alone_for(self._clock())
        if left is not None:
            seconds = left.total_seconds()
            raise Fault(f"{trip.place} is left alone for another {seconds:.0f} s", retry_after_s=seconds)

    def _host(self, origin: Origin) -> _Host:
        host = self._hosts.get(origin)
        if host is None:
            pace = self._limits.pace_of(origin.host)
            state = HostState(self._limits.failures, self._limits.alone_s)
            limiter = AsyncLimiter(pace.burst, pace.burst / pace.per_s)
            host = self._hosts[origin] = _Host(state, asyncio.Semaphore(pace.at_once), limiter)
        return host


async def _wait(trip: Trip, host: _Host) -> None:
    """Wait for our turn while the hosts' time stands still.

    Raises:
        Fault: It takes too long.
    """
    loop = asyncio.get_running_loop()
    begun = loop.time()
    until = trip.deadline.when()
    assert until is not None
    trip.deadline.reschedule(None)
    try:
        async with asyncio.timeout(trip.patience_s):
            await host.slots.acquire()
            try:
                await host.limiter.acquire()
            except BaseException:
                host.slots.release()
                raise
    except TimeoutError as error:
        raise Fault(f"too many requests to {trip.place} wait for their turn: ask for fewer pages at once") from error
    waited = loop.time() - begun
    trip.patience_s -= waited
    trip.deadline.reschedule(until + waited)


def _note(state: HostState, trip: Trip, error: BaseException, now: datetime) -> None:
    if trip.deadline.expired() or (isinstance(error, Fault) and error.away):
        state.failed(now)
    elif isinstance(error, Fault | Refused | TooLarge):
        state.answered(now)
    else:
        state.released()
