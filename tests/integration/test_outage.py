"""Lake, disk, broker, workers go away and come back: nothing is lost, nothing is given up, and health says so."""

import asyncio
import os
import resource
import signal
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from schemas.conversation import Scope
from streams.broker import LocalBroker
from streams.client import RequestFailed
from streams.deployment import WorkerProcess
from streams.settings import Settings
from tests.integration.conftest import Deploy
from tests.integration.stage import SHORT, Deployment, gapless, plain_producer, scopes, turn, until

pytestmark = pytest.mark.broker

TURNS = 40
TMPFS_MIB = 48


def facts(label: str, count: int = TURNS) -> list[tuple[Scope, str, str]]:
    """Turns of one fact each, with their ids, of two scopes in two partitions."""
    both = scopes(2, label)
    return [
        (both[number % 2], f"{label}-{number}", f"My {label} locker {number} has the code {number * 37 + 1000}.")
        for number in range(count)
    ]


async def publish(deployment: Deployment, said: list[tuple[Scope, str, str]]) -> None:
    async with plain_producer(deployment.bootstrap, linger_ms=0) as producer:
        for scope, turn_id, text in said:
            await producer.send_and_wait(
                deployment.topic("turns"), turn(scope, text, turnId=turn_id), key=scope.key.encode()
            )


async def each_once(deployment: Deployment, said: list[tuple[Scope, str, str]]) -> None:
    """Every turn has its one outcome, on a log without gaps, and none was given up."""
    await deployment.settled(60)
    events = await deployment.events()
    gapless(events)
    outcomes: dict[str, set[str]] = {}
    for event in events:
        for turn_id in event.source_turn_ids:
            outcomes.setdefault(turn_id, set()).add(event.event_id)
    assert {turn_id: len(outcomes.get(turn_id, ())) for _, turn_id, _ in said} == {one: 1 for _, one, _ in said}
    assert await deployment.records("deadletters") == []


async def unhealthy(deployment: Deployment, reason: str) -> dict[str, Any]:
    """Wait until health says so, for this reason."""

    async def look() -> dict[str, Any]:
        told = await asyncio.to_thread(deployment.health)
        return told if any(reason in one for one in told["reasons"]) else {}

    told = await until(look, 30)
    assert told["status"] == "unhealthy"
    assert (await asyncio.to_thread(deployment.get, "/health"))[0] == 503
    return told


async def healthy(deployment: Deployment) -> None:
    async def look() -> bool:
        return bool((await asyncio.to_thread(deployment.health))["status"] == "ready")

    await until(look, 60)


@contextmanager
def lake_renamed(lake: Path, _: WorkerProcess) -> Iterator[None]:
    away = lake.with_name("away")
    lake.rename(away)
    try:
        yield
    finally:
        away.rename(lake)


@contextmanager
def no_byte_more(_: Path, worker: WorkerProcess) -> Iterator[None]:
    """The worker can write to no file, as on a full disk; this needs no rights."""
    assert worker.process is not None
    before = resource.prlimit(worker.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(worker.process.pid, resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.prlimit(worker.process.pid, resource.RLIMIT_FSIZE, before)


@contextmanager
def disk_full(lake: Path, _: WorkerProcess) -> Iterator[None]:
    filler = lake / "filler"
    with suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(b"\0" * 4096)
    assert os.statvfs(lake).f_bavail == 0
    try:
        yield
    finally:
        filler.unlink()


Outage = Callable[[Path, WorkerProcess], Any]
OUTAGES: dict[str, Outage] = {"the lake is renamed": lake_renamed, "no file can grow": no_byte_more}


async def survives(deployment: Deployment, outage: Outage, reason: str) -> None:
    worker = deployment.start()
    said = facts("lake")
    await publish(deployment, said[:10])
    await deployment.settled()
    lake = Path(deployment.settings.lake_uri)
    with outage(lake, worker):
        await publish(deployment, said[10:30])
        await unhealthy(deployment, reason)
        async with deployment.client(said[0][0], timeout_s=5) as memory:
            before = deployment.metric("memlake_handled_total")
            context = await memory.ask("Which locker?", format="context")
            if outage is lake_renamed:
                assert (context.results, context.context) == ((), "")
                assert context.degraded
                with pytest.raises(RequestFailed) as failed:
                    await memory.ask("Which locker?")
                assert failed.value.reply.code == "unavailable"
        await publish(deployment, said[30:])
        assert deployment.metric("memlake_handled_total") - before <= 2  # the questions
        assert worker.process is not None
        assert worker.process.poll() is None
    await healthy(deployment)
    await each_once(deployment, said)


@pytest.mark.parametrize("outage", OUTAGES.values(), ids=OUTAGES)
async def test_while_the_lake_is_away_consumption_pauses_and_then_all_goes_on(deploy: Deploy, outage: Outage) -> None:
    await survives(deploy(), outage, "lake")


async def run(*command: str) -> None:
    assert await (await asyncio.create_subprocess_exec(*command)).wait() == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount; the test above covers a disk that takes no more")
async def test_a_disk_that_is_full_is_waited_for(deploy: Deploy, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    lake.mkdir()
    await run("mount", "-t", "tmpfs", "-o", f"size={TMPFS_MIB}m", "tmpfs", str(lake))
    try:
        deployment = deploy(lake=str(lake))
        await survives(deployment, disk_full, "lake")
        deployment.end()
    finally:
        await run("umount", "-l", str(lake))


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalBroker]:
    """A broker of this module's own, since it is frozen and killed."""
    broker = LocalBroker(Settings(home=tmp_path_factory.mktemp("own"), broker_memory_mib=256))
    broker.start()
    yield broker
    broker.stop(10)


@pytest.fixture(scope="module")
def running(local: LocalBroker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """A deployment on that broker, with a worker."""
    folder = tmp_path_factory.mktemp("outage")
    options = {**SHORT, "name": "outage", "home": folder, "broker": local.status().bootstrap}
    deployment = Deployment(Settings.model_validate(options), folder)
    deployment.start()
    yield deployment
    deployment.end()


@asynccontextmanager
async def in_flight(deployment: Deployment, label: str) -> AsyncIterator[list[tuple[Scope, str, str]]]:
    """Turns of which some are being handled; the rest comes afterwards."""
    said = facts(label)
    await publish(deployment, said[:30])
    yield said
    await publish(deployment, said[30:])


def pid_of(local: LocalBroker) -> int:
    pid = local.status().pid
    assert pid is not None
    return pid


async def test_a_frozen_broker_makes_health_bad_and_is_waited_for(local: LocalBroker, running: Deployment) -> None:
    async with in_flight(running, "frozen") as said:
        os.kill(pid_of(local), signal.SIGSTOP)
        try:
            await unhealthy(running, "the broker has not answered")
            await asyncio.sleep(8)  # longer than the session's time-out
        finally:
            os.kill(pid_of(local), signal.SIGCONT)
    await healthy(running)
    await each_once(running, said)


async def test_a_killed_broker_that_comes_back_finds_everything_handled(
    local: LocalBroker, running: Deployment
) -> None:
    async with in_flight(running, "killed") as said:
        os.kill(pid_of(local), signal.SIGKILL)
        await unhealthy(running, "the broker has not answered")
        await asyncio.to_thread(local.start)
    await healthy(running)
    await each_once(running, said)


async def test_a_stop_with_the_broker_down_ends_in_time(local: LocalBroker, running: Deployment) -> None:
    async with in_flight(running, "down") as said:
        os.kill(pid_of(local), signal.SIGKILL)
        started = time.monotonic()
        assert await asyncio.to_thread(running.workers[-1].end) == 0
        assert time.monotonic() - started < 15
        await asyncio.to_thread(local.start)
        await asyncio.to_thread(running.start)
    await each_once(running, said)


async def test_workers_that_come_and_go_repeat_nothing_and_lose_nothing(deploy: Deploy) -> None:
    deployment = deploy(partitions=4, batch_size=5)
    deployment.start()
    said = [
        (scope, f"{scope.user_id}-{number}", f"My crate {number} weighs {number * 13 + 7} kilograms.")
        for number in range(40)
        for scope in scopes(4, "move")
    ]
    publishing = asyncio.create_task(publish(deployment, said))
    for number in (signal.SIGTERM, signal.SIGKILL):
        worker = await asyncio.to_thread(deployment.start)
        await asyncio.to_thread(worker.end, number)
    await publishing
    await each_once(deployment, said)


def test_a_model_that_is_not_there_is_told_at_the_start(deploy: Deploy, tmp_path: Path) -> None:
    worker = deploy(embedder=str(tmp_path / "no-model")).start(wait=False)
    assert worker.process is not None
    assert worker.process.wait(60) == 1
    assert "no-model" in worker.told()
    assert "Traceback" not in worker.told()
