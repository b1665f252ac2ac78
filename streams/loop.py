"""The loop of every agent: batches in, a handler, offsets out, and nothing acknowledged before it is durable.

Rule of this file: it knows no topic. What the environment causes is tried again in place, for ever, while consumption
pauses and health says so; what a message causes becomes a dead letter; a handler that fails otherwise is tried message
by message, so that one bad message never takes its neighbours with it.
"""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Protocol

from schemas.errors import Conflict, InvalidMessage, Unavailable
from streams.batching import Batcher, BatchPolicy
from streams.health import Health
from streams.incoming import Incoming
from streams.lane import Lane
from streams.letters import letters
from streams.logs import logger, trace_of
from streams.ports import Ports

FIRST_PAUSE_S = 0.2
LOOK_S = 0.1
log = logger("agent")


class Moved(Exception):  # noqa: N818 - no error: the work is somebody else's now
    """Partitions have moved while a batch was being tried again."""


class Handler(Protocol):
    """What an agent does with the messages of one partition."""

    async def handle(self, partition: int, batch: list[Incoming]) -> None:
        """Handle a batch durably, or raise."""

    def forget(self) -> None:
        """Partitions have moved: drop what is kept in memory."""


@dataclass
class AgentLoop:
    """One agent: its handler, and the way its offsets are committed.

    Attributes:
        name: Of the agent, in logs and metrics.
        handled: Called with (topic, partition, next offset) once everything before is durable.
    """

    name: str
    handler: Handler
    ports: Ports
    health: Health
    handled: Callable[[str, int, int], None]
    linger_s: float = 0.0
    """How long a batch waits for one more message."""
    idle: asyncio.Event = field(default_factory=asyncio.Event)
    stopping: bool = False
    going: asyncio.Event = field(default_factory=asyncio.Event)
    """Cleared while partitions move: no batch is begun then."""
    moves: int = 0
    """How often partitions have moved."""
    _lanes: dict[int, Lane] = field(default_factory=dict)
    _busy: int = 0

    def __post_init__(self) -> None:
        self.idle.set()
        self.going.set()

    async def stop(self, patience_s: float) -> bool:
        """Take no further batch, and wait for the one in hand.

        Args:
            patience_s: Seconds to wait.

        Returns:
            Whether it was finished; otherwise it is simply not acknowledged.
        """
        self.stopping = True
        return await self.settled(patience_s)

    async def settled(self, patience_s: float) -> bool:
        """Wait for the batch in hand, unless it waits for the world; see ``stop``."""
        end = time.monotonic() + patience_s
        while not self.idle.is_set():
            left = end - time.monotonic()
            if left <= 0 or self.health.agent(self.name).waits_for_the_world:
                return False
            await asyncio.wait([waiting := asyncio.ensure_future(self.idle.wait())], timeout=min(left, LOOK_S))
            waiting.cancel()
        return True

    def moved(self) -> None:
        """Partitions have moved: what the handler keeps may be old, and what is in hand will be delivered again."""
        self.moves += 1
        for lane in self._lanes.values():
            lane.clear()
        self.handler.forget()
        self.going.set()

    async def run(self, source: AsyncIterator[Incoming]) -> None:
        """Work until the source ends or the task is cancelled; a batch in hand is then simply not acknowledged.

        Each partition has a lane of its own: while one commits, another embeds, and one that is stuck holds up the
        others only when its lane is full, which keeps what is held bounded.
        """
        async with asyncio.TaskGroup() as lanes:
            async for incoming in source:
                lane = self._lanes.get(incoming.partition)
                if lane is None:
                    lane = self._lanes[incoming.partition] = Lane(self.ports.settings.batch_bytes)
                    lanes.create_task(self._work(incoming.partition, lane))
                await lane.put(incoming)
            for lane in self._lanes.values():
                lane.end()
        self._lanes.clear()

    async def _work(self, partition: int, lane: Lane) -> None:
        settings = self.ports.settings
        policy = BatchPolicy(settings.batch_size, settings.batch_bytes, self.linger_s)
        batcher = Batcher(lane.items(), policy, lambda incoming: incoming.size)
        try:
            async for batch in batcher:
                if self.stopping:
                    await asyncio.Event().wait()  # until the application ends this task
                await self.going.wait()
                self._busy += 1
                self.idle.clear()
                try:
                    await self._batch(partition, batch)
                finally:
                    lane.done(batch)
                    self._busy -= 1
                    if not self._busy:
                        self.idle.set()
        finally:
            batcher.close()

    async def _batch(self, partition: int, batch: list[Incoming]) -> None:
        started = time.monotonic()
        self.health.took(self.name, started, partition)
        await self._shard(partition, batch)
        ended = time.monotonic()
        self.health.done(self.name, len(batch), ended, partition)
        metrics = self.ports.metrics
        metrics.handled.labels(self.name).inc(len(batch))
        metrics.batch_size.labels(self.name).observe(len(batch))
        metrics.batch_seconds.labels(self.name).observe(ended - started)
        took_ms = round((ended - started) * 1000, 1)
        log.debug("handled", agent=self.name, messages=len(batch), partition=partition, ms=took_ms)

    async def _shard(self, partition: int, batch: list[Incoming]) -> None:
        """Handle one partition's part to the end, whatever it takes, then let its offsets go."""
        moves = self.moves
        try:
            await self._whatever_it_takes(partition, batch)
        except Moved:
            return
        if moves != self.moves:
            return  # it may not be ours any more, and it is read again from what was committed
        last: dict[str, int] = {}
        for incoming in batch:
            last[incoming.topic] = incoming.offset + 1
        for topic, offset in last.items():
            self.handled(topic, partition, offset)

    async def _whatever_it_takes(self, partition: int, batch: list[Incoming]) -> None:
        try:
            await self._patiently(partition, batch)
        except Moved:
            raise
        except Exception as error:  # noqa: BLE001 - one of them is at fault: find out which
            if len(batch) > 1:
                log.warning("batch failed, trying one by one", agent=self.name, error=type(error).__name__)
            for incoming in batch:
                await self._alone(partition, incoming)

    async def _pause(self, seconds: float, moves: int) -> None:
        """Wait before another try; give up where partitions have moved meanwhile.

        Raises:
            Moved: The batch will be delivered again, to us or to somebody else.
        """
        if moves == self.moves:
            await asyncio.sleep(seconds * random.uniform(0.7, 1.0))  # noqa: S311 - workers must not try in step
        if moves != self.moves:
            raise Moved

    async def _patiently(self, partition: int, batch: list[Incoming]) -> None:
        """Handle, and try again for as long as the environment is at fault."""
        pause, moves, conflicts = FIRST_PAUSE_S, self.moves, 0
        while True:
            try:
                await self.handler.handle(partition, batch)
            except (Unavailable, Conflict) as error:
                conflicts += isinstance(error, Conflict)
                if conflicts > self.ports.settings.attempts:
                    raise  # what never fits is no race that somebody else won
                self.health.waits(self.name, self.ports.masker.text(str(error)), partition)
                self.ports.metrics.retries.labels(self.name, type(error).__name__).inc()
                log.warning("trying again", agent=self.name, partition=partition, pause_s=pause, reason=str(error))
                await self._pause(pause, moves)
                pause = min(2 * pause, self.ports.settings.retry_max_s)
            else:
                return

    async def _alone(self, partition: int, incoming: Incoming) -> None:
        """Handle one message; when it fails by itself, give it up with its reason."""
        attempts, moves = self.ports.settings.attempts, self.moves
        for attempt in range(1, attempts + 1):
            try:
                await self._patiently(partition, [incoming])
            except Moved:
                raise
            except Exception as error:  # noqa: BLE001 - whatever it is, it must not hold up what comes after it
                final = attempt == attempts or isinstance(error, InvalidMessage)
                log.error(  # noqa: TRY400 - the text of an error may hold what somebody said
                    "message failed",
                    agent=self.name,
                    topic=incoming.topic,
                    offset=incoming.offset,
                    final=final,
                    error=type(error).__name__,
                    trace=trace_of(error),
                )
                if final:
                    await self._give_up(incoming, error, attempt)
                    return
                await self._pause(FIRST_PAUSE_S * attempt, moves)
            else:
                return

    async def _give_up(self, incoming: Incoming, error: Exception, attempt: int) -> None:
        self.ports.metrics.dead.labels(incoming.topic, type(error).__name__).inc()
        outbox, masker, now = self.ports.outbox, self.ports.masker, self.ports.clock()
        outgoing = await asyncio.to_thread(letters, incoming, error, outbox, masker, attempt=attempt, now=now)
        pause, moves = FIRST_PAUSE_S, self.moves
        while True:
            try:
                await self.ports.outbox.send(outgoing)
            except Unavailable as away:
                self.health.waits(self.name, self.ports.masker.text(str(away)), incoming.partition)
                await self._pause(pause, moves)
                pause = min(2 * pause, self.ports.settings.retry_max_s)
            else:
                return
