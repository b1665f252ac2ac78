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
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NoReturn, TypeVar

import faust

from lakehouse.embedding import Embedder, load_embedder
from lakehouse.known import KnownScopes
from lakehouse.retrieval.reranking import load_reranker
from lakehouse.store import Lake
from lakehouse.tables import LakeShape
from schemas.errors import MemlakeError, Misconfigured, Unavailable
from schemas.topics import topic_name
from streams.admin import apply_topics
from streams.answer import Answer
from streams.app import assigned, build_app, commit, register, scoped_topics, topics_of
from streams.committing import Committer, Group, Offsets, Place
from streams.documentation import Documentation, know_of, outside_of
from streams.faults import Faults
from streams.health import Health, HealthPolicy
from streams.intake import Intake
from streams.judging import Judge
from streams.logs import logger
from streams.loop import AgentLoop, Handler
from streams.maintain import Maintainer
from streams.metrics import Metrics
from streams.outside import Outside
from streams.ports import Ports
from streams.positions import Positions
from streams.remember import Remember
from streams.settings import Settings
from streams.upkeep import Daily
from streams.web import Endpoint
from streams.wire import Outbox

Result = TypeVar("Result")
HEARTBEAT_S = 0.25
PROBE_S = 2.0
UNHEALTHY_EXIT = 70
HANDOVER_S = 10.0
"""How long partitions that move wait for the batch in hand."""
FLUSH_S, CLOSE_S = 1.0, 2.5
"""What is left for offsets and connections after the batch in hand, when the broker does not answer."""
log = logger("worker")


@dataclass
class Worker:
    """A worker that has been put together."""

    settings: Settings
    ports: Ports
    app: faust.App
    loops: list[AgentLoop]
    committer: Committer
    positions: Positions
    maintainer: Maintainer
    health: Health
    endpoint: Endpoint
    outside: Outside
    closing: tuple[Any, ...]
    """What is closed at the end, where it is there at all."""
    _seen: Offsets = field(default_factory=dict)
    """Where each place with waiting messages stood when it was last looked at."""

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
        positions = await _patiently(settings, lambda: Positions(settings, bootstrap).start())
        await _patiently(settings, lambda: _require_lake_of_this_log(settings, positions))
        ports = await _patiently(settings, lambda: _ports(settings, bootstrap, metrics, embedder))
        reranker = await load_reranker(settings.reranker) if settings.reranker else None
        documentation = await _patiently(settings, lambda: Documentation.open(settings, embedder, ports.clock))
        outside = outside_of(ports, documentation)
        app = build_app(settings, bootstrap, tempfile.mkdtemp(prefix=f"{settings.name}-worker-"))
        committer = Committer(Group(lambda offsets: commit(app, offsets), positions.stored))
        maintainer = Maintainer(ports)
        handlers: dict[str, Handler] = {
            "intake": Intake(ports),
            "remember": Remember(ports, maintainer),
            "answer": Answer(ports, reranker, outside),
            "know": know_of(ports, documentation, bootstrap),
        }
        loops = _loops(handlers, app, ports, health, committer)
        closing = (embedder, ports.judge, reranker, documentation)
        worker = cls(settings, ports, app, loops, committer, positions, maintainer, health, endpoint, outside, closing)
        app.on_partitions_revoked.connect(worker._revoked, weak=False)
        app.on_partitions_assigned.connect(worker._assigned, weak=False)
        return worker

    async def run(self, stop: asyncio.Event) -> int:
        """Work until told to stop.

        Args:
            stop: Set to end.

        Returns:
            The process' exit code: 0 after a clean stop, 70 when it was unhealthy for too long or crashed.
        """
        works = (self._beat(), self._probe(), self._maintain(), self.committer.run())
        watchers = [asyncio.create_task(work) for work in works]
        ended, broken = asyncio.create_task(stop.wait()), asyncio.create_task(self._broken())
        starting = asyncio.create_task(self.app.start())
        try:
            await asyncio.wait({starting, broken, ended}, return_when=asyncio.FIRST_COMPLETED)
            if starting.done() and starting.exception() is not None:
                log.error("the Kafka client did not start", reason=repr(starting.exception())[:300])
                return UNHEALTHY_EXIT
            await asyncio.wait({broken, ended}, return_when=asyncio.FIRST_COMPLETED)
            return UNHEALTHY_EXIT if broken.done() else 0
        finally:
            await self._end(watchers)

    async def _revoked(self, *_: Any, **__: Any) -> None:
        """Partitions are about to move: whoever gets them should find the batch in hand done and committed."""
        for loop in self.loops:
            loop.going.clear()
        await asyncio.gather(*(loop.settled(HANDOVER_S) for loop in self.loops))
        await self.committer.flush(FLUSH_S)

    async def _assigned(self, *told: Any, **_: Any) -> None:
        """Partitions have moved: what was kept in memory may be old."""
        for loop in self.loops:
            loop.moved()
        places = {(tp.topic, tp.partition) for tp in told[-1]}
        self.committer.moved(places)
        # Faust leaves a topic that is gone out of the assignment, and its agent idle for ever. One of a scope's topics
        # comes with the others; one of a single partition may be somebody else's.
        scoped, given = set(scoped_topics(self.settings)), dict(places)
        missing = {topic for topic in scoped if topic not in given} if scoped & given.keys() else set()
        self.committer.lost = self.committer.lost or ((min(missing), 0) if missing else None)
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
        missing: list[str] = []
        while True:
            known = await self.ports.outbox.topics()
            if known is not None:
                self.health.broker_seen = time.monotonic()
                gone = [topic for topic in topics_of(self.settings) if topic not in known]
                if gone and gone == missing:  # twice: a broker that just starts may not know them yet
                    self.committer.lost = (gone[0], 0)
                missing = gone
            try:
                lag = await self._lag(assigned(self.app) if self.health.partitions is not None else set())
            except MemlakeError as error:
                log.debug("lag unknown", error=repr(error)[:200])
            else:
                self.health.lag = lag
                if lag == 0:
                    self.health.lag_moved = time.monotonic()
            self.ports.metrics.healthy.set(not self.health.reasons(time.monotonic()))
            await asyncio.sleep(PROBE_S)

    async def _lag(self, places: set[Place]) -> int:
        """Messages that wait; also steps over what will never come, and sees where a topic was made anew."""
        handled, committed = dict(self.committer.handled), dict(self.committer.committed)
        stored = await self.positions.stored(places)
        ends = await self.positions.ends(places)
        unknown = places - handled.keys() - stored.keys()
        starts: Offsets = await self.positions.beginnings(unknown) | stored | handled
        total = 0
        for place in sorted(places & starts.keys() & ends.keys()):
            if ends[place] < starts[place] or (place in committed and place not in stored):
                self.committer.lost = place
            lag = max(0, ends[place] - starts[place])
            if lag and await self._over_gap(place, starts[place]):
                lag = 0
            self.ports.metrics.lag.labels(*place).set(lag)
            total += lag
        return total

    async def _over_gap(self, place: Place, start: int) -> bool:
        """Step over offsets that hold no record: the marks of transactions, and what was aborted or compacted away."""
        if self._seen.get(place) != start or not all(loop.idle.is_set() for loop in self.loops):
            self._seen[place] = start  # something is being done: look again next time
            return False
        behind = await self.positions.behind_gap(place, start)
        if behind is None or self.committer.handled.get(place, start) != start:
            return False
        self.committer.note(*place, behind)
        return True

    async def _maintain(self) -> None:
        daily = Daily(self.ports)
        while True:
            await asyncio.sleep(1)
            try:
                await self.maintainer.tick()
                await self.outside.tell()
                await daily.tick(is_ours=0 in (self.health.partitions or ()))
            except Exception:  # maintenance never stops the work on messages
                log.exception("maintenance failed")

    async def _broken(self) -> None:
        """Return when the worker cannot go on: it has crashed, or has been unhealthy for too long."""
        while True:
            await asyncio.sleep(1)
            if self.app.crashed:
                log.error("the Kafka client crashed", reason=repr(self.app.crash_reason))
                return
            if self.committer.lost is not None:
                topic, partition = self.committer.lost
                log.error("a topic was deleted under this worker: start it again", topic=topic, partition=partition)
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
            log.warning("a batch was not finished: it will be handled again")
        for watcher in watchers:
            watcher.cancel()
        await self.committer.flush(FLUSH_S)
        try:
            async with asyncio.timeout(CLOSE_S):
                closing = (self.app, self.ports.outbox, self.positions)
                await asyncio.gather(
                    *(one.stop() for one in closing),
                    *(one.close() for one in self.closing if one),
                )
        except Exception as error:  # noqa: BLE001 - offsets are safe; the process ends anyway
            log.warning("not everything stopped in time", error=repr(error)[:300])
        self.ports.rules.shutdown(wait=False, cancel_futures=True)
        self.endpoint.close()
        log.info("stopped")


def _loops(
    handlers: dict[str, Handler], app: faust.App, ports: Ports, health: Health, committer: Committer
) -> list[AgentLoop]:
    """Each handler with its loop, registered; questions are answered side by side: none waits for another."""
    linger_s = ports.settings.batch_linger_ms / 1000
    loops = [
        AgentLoop(name, handler, ports, health, committer.note, linger_s=0.0 if name == "answer" else linger_s)
        for name, handler in handlers.items()
    ]
    for loop in loops:
        register(app, ports.settings, loop.name, loop)
    return loops


async def _require_lake_of_this_log(settings: Settings, positions: Positions) -> None:
    """Refuse to begin a new lake where the log goes on from an old one: it would count from 1 again.

    Raises:
        Misconfigured: There is no lake, and the audit log holds events.
    """
    if await Lake.is_there(settings.lake_uri):
        return
    changes = topic_name(settings.name, "changes")
    places = [(changes, partition) for partition in range(settings.partitions)]
    begin, end = await positions.beginnings(places), await positions.ends(places)
    if any(end[place] > begin[place] for place in places):
        raise Misconfigured(
            f"there is no lake at {settings.lake_uri}, and {changes} holds the events of one: put it back, set "
            "MEMLAKE_LAKE to where it is, or choose another MEMLAKE_NAME"
        )


async def _ports(settings: Settings, bootstrap: str, metrics: Metrics, embedder: Embedder) -> Ports:
    lake = await Lake.make(settings.lake_uri, LakeShape(settings.partitions, embedder.id, embedder.dimension))
    masker, rules = settings.masker(), ThreadPoolExecutor(1, thread_name_prefix="rules")
    return Ports(
        settings=settings,
        lake=lake,
        embedder=embedder,
        outbox=await Outbox(settings, bootstrap, "worker").start(),
        masker=masker,
        judge=Judge(settings, metrics, masker.text, rules),
        known=KnownScopes(embedder.dimension, settings.scope_cache_rows),
        metrics=metrics,
        rules=rules,
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
        await asyncio.wait({making}, timeout=CLOSE_S)
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
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        code = loop.run_until_complete(work(settings, bootstrap))
    except MemlakeError as error:
        log.error("cannot work", reason=str(error))  # noqa: TRY400 - the reason is for the operator, the trace is not
        code = 1
    except Exception:
        log.exception("ended by a fault of its own")
        code = 1
    if at_end is not None:
        at_end()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
