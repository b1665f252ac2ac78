"""The worker: the one place where everything is made and put together, and where it ends.

Rule of this file: composition and life. Start: settings → topics → embedder → lake → agents; end: the batch in hand,
its offsets, then the application, each within its time.
"""

import asyncio
import os
import signal
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NoReturn, TypeVar

import faust

from lakehouse.embedding import Embedder, load_embedder
from lakehouse.known import KnownScopes
from lakehouse.store import Lake
from lakehouse.tables import LakeShape
from schemas.errors import MemlakeError, Unavailable
from streams.admin import apply_topics
from streams.answer import Answer
from streams.app import build_app, committer_of, register
from streams.committing import Committer
from streams.faults import Faults
from streams.health import Health, HealthPolicy
from streams.intake import Intake
from streams.logs import logger
from streams.loop import AgentLoop, Handler
from streams.maintain import Maintainer
from streams.metrics import Metrics
from streams.ports import Ports
from streams.remember import Remember
from streams.settings import Settings
from streams.web import Endpoint
from streams.wire import Outbox

Result = TypeVar("Result")
HEARTBEAT_S = 0.25
PROBE_S = 2.0
UNHEALTHY_EXIT = 70
log = logger("worker")


@dataclass
class Worker:
    """A worker that has been put together."""

    settings: Settings
    ports: Ports
    app: faust.App
    loops: list[AgentLoop]
    committer: Committer
    maintainer: Maintainer
    health: Health
    endpoint: Endpoint

    @classmethod
    async def make(cls, settings: Settings, bootstrap: str) -> "Worker":
        """Put a worker together; nothing is consumed yet.

        Raises:
            Misconfigured: Settings, topics or lake do not fit.
            Unavailable: Broker or lake cannot be reached in time.
        """
        metrics = Metrics()
        now = time.monotonic()
        health = Health(HealthPolicy(settings.unhealthy_after_s, settings.exit_after_s), now, broker_seen=now, beat=now)
        endpoint = Endpoint(settings.web_host, settings.web_port, health, metrics.registry)
        log.info("listening", health=f"{endpoint.url}/health", metrics=f"{endpoint.url}/metrics")
        await _patiently(settings, lambda: apply_topics(settings, bootstrap))
        embedder = await load_embedder(
            settings.embedder, settings.cache, threads=settings.embedder_threads, cache_size=settings.embedder_cache
        )
        ports = await _patiently(settings, lambda: _ports(settings, bootstrap, metrics, embedder))
        app = build_app(settings, bootstrap, tempfile.mkdtemp(prefix=f"{settings.name}-worker-"))
        committer, maintainer = committer_of(app), Maintainer(ports)
        handlers: dict[str, Handler] = {
            "intake": Intake(ports),
            "remember": Remember(ports, maintainer),
            "answer": Answer(ports),
        }
        loops = [AgentLoop(name, handler, ports, health, committer.note) for name, handler in handlers.items()]
        for loop in loops:
            register(app, settings, loop.name, loop)
        worker = cls(settings, ports, app, loops, committer, maintainer, health, endpoint)
        app.on_partitions_assigned.connect(worker._assigned, weak=False)
        return worker

    async def run(self, stop: asyncio.Event) -> int:
        """Work until told to stop.

        Args:
            stop: Set to end.

        Returns:
            The process' exit code: 0 after a clean stop, 70 when it was unhealthy for too long or crashed.
        """
        watchers = [asyncio.create_task(self._beat()), asyncio.create_task(self.committer.run())]
        ended = asyncio.create_task(stop.wait())
        try:
            starting = asyncio.create_task(self.app.start())
            await asyncio.wait({starting, ended}, return_when=asyncio.FIRST_COMPLETED)
            watchers += [asyncio.create_task(self._probe()), asyncio.create_task(self._maintain())]
            broken = asyncio.create_task(self._broken())
            await asyncio.wait({broken, ended}, return_when=asyncio.FIRST_COMPLETED)
            return 0 if ended.done() and not broken.done() else UNHEALTHY_EXIT
        finally:
            await self._end(watchers)

    async def _assigned(self, *told: Any, **_: Any) -> None:
        """Partitions have moved: what was kept in memory may be old."""
        for loop in self.loops:
            loop.handler.forget()
        places = {(tp.topic, tp.partition) for tp in told[-1]}
        self.committer.moved(places)
        facts = f"{self.settings.name}.facts"
        owned = frozenset(partition for topic, partition in places if topic == facts)
        self.maintainer.own(owned)
        first = self.health.partitions is None
        self.health.partitions = tuple(sorted(owned))
        log.info("partitions", owned=sorted(owned))
        if first:
            print("ready", file=sys.stderr, flush=True)  # noqa: T201 - a promise to whoever started us

    async def _beat(self) -> None:
        """Tell the endpoint's thread that the event loop runs, and how late it is."""
        while True:
            due = time.monotonic() + HEARTBEAT_S
            await asyncio.sleep(HEARTBEAT_S)
            self.health.beat = time.monotonic()
            self.ports.metrics.loop_delay.set(max(0.0, self.health.beat - due))

    async def _probe(self) -> None:
        """Ask the broker whether it is there, and how far behind we are."""
        while True:
            if await self.ports.outbox.reachable():
                self.health.broker_seen = time.monotonic()
            try:
                lag = await self._lag()
            except Exception as error:  # noqa: BLE001 - between two assignments there is nothing to ask
                log.debug("lag unknown", error=repr(error)[:200])
            else:
                self.health.lag = lag
                if lag == 0:
                    self.health.lag_moved = time.monotonic()
            self.ports.metrics.healthy.set(not self.health.reasons(time.monotonic()))
            await asyncio.sleep(PROBE_S)

    async def _lag(self) -> int:
        consumer: Any = self.app.consumer
        total = 0
        assigned = list(consumer.assignment())
        unknown = [tp for tp in assigned if (tp.topic, tp.partition) not in self.committer.handled]
        first = await consumer.earliest_offsets(*unknown) if unknown else {}
        for tp in assigned:
            end = consumer.highwater(tp)
            if end is None:
                continue
            known = self.committer.handled.get((tp.topic, tp.partition))
            start = known if known is not None else max(consumer._committed_offset[tp] or 0, first.get(tp, 0))  # noqa: SLF001
            lag = max(0, end - start)
            self.ports.metrics.lag.labels(tp.topic, tp.partition).set(lag)
            total += lag
        return total

    async def _maintain(self) -> None:
        while True:
            await asyncio.sleep(1)
            try:
                await self.maintainer.tick()
            except Exception:  # maintenance never stops the work on messages
                log.exception("maintenance failed")

    async def _broken(self) -> None:
        """Return when the worker cannot go on: it has crashed, or has been unhealthy for too long."""
        while True:
            await asyncio.sleep(1)
            if self.app.crashed:
                log.error("the Kafka client crashed", reason=repr(self.app.crash_reason))
                return
            if self.health.must_exit(time.monotonic()):
                log.error("unhealthy for too long", reasons=self.health.reasons(time.monotonic()))
                return

    async def _end(self, watchers: list[asyncio.Task[None]]) -> None:
        """The batch in hand, its offsets, the application; each within its time."""
        self.health.stopping = True
        patience = self.settings.stop_timeout_s
        finished = await asyncio.gather(*(loop.stop(patience) for loop in self.loops))
        if not all(finished):
            log.warning("a batch was not finished in time: it will be handled again")
        await self.committer.flush()
        for watcher in watchers:
            watcher.cancel()
        try:
            async with asyncio.timeout(patience):
                await self.app.stop()
        except Exception as error:  # noqa: BLE001 - offsets are safe; the process ends anyway
            log.warning("the Kafka client did not stop in time", error=repr(error)[:300])
        await self.ports.outbox.stop()
        await self.ports.embedder.close()
        self.ports.rules.shutdown(wait=False, cancel_futures=True)
        self.endpoint.close()
        log.info("stopped")


async def _ports(settings: Settings, bootstrap: str, metrics: Metrics, embedder: Embedder) -> Ports:
    lake = await Lake.make(settings.lake_uri, LakeShape(settings.partitions, embedder.id, embedder.dimension))
    return Ports(
        settings=settings,
        lake=lake,
        embedder=embedder,
        outbox=await Outbox(settings, bootstrap, "worker").start(),
        known=KnownScopes(embedder.dimension, settings.scope_cache_rows),
        metrics=metrics,
        rules=ThreadPoolExecutor(1, thread_name_prefix="rules"),
        clock=lambda: datetime.now(UTC),
        faults=Faults(settings.fault),
    )


async def work(settings: Settings, bootstrap: str) -> int:
    """Run a worker until SIGTERM or SIGINT.

    Returns:
        The process' exit code.
    """
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    making = asyncio.create_task(Worker.make(settings, bootstrap))
    ended = asyncio.create_task(stop.wait())
    await asyncio.wait({making, ended}, return_when=asyncio.FIRST_COMPLETED)
    if not making.done():
        making.cancel()
        return 0
    return await making.result().run(stop)


async def _patiently(settings: Settings, step: Callable[[], Awaitable[Result]]) -> Result:
    """Do a step of the start, waiting for a broker or a lake that is not there yet."""
    end = time.monotonic() + settings.exit_after_s
    while True:
        try:
            return await step()
        except Unavailable as error:
            if time.monotonic() > end:
                raise
            log.warning("cannot start yet", reason=str(error))
            await asyncio.sleep(2)


def main(settings: Settings, bootstrap: str, at_end: Callable[[], object] | None = None) -> NoReturn:
    """Run a worker in this process, then end the process.

    Args:
        settings: Of the deployment.
        bootstrap: The broker.
        at_end: Called after the worker has ended.

    Threads that hang in a dead broker's or disk's hands must not keep the process: it ends at once when all is said.
    """
    try:
        code = asyncio.run(work(settings, bootstrap))
    except MemlakeError as error:
        log.error("cannot work", reason=str(error))  # noqa: TRY400 - the reason is for the operator, the trace is not
        code = 1
    if at_end is not None:
        at_end()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
