"""Whatever is killed, and whenever: each turn has exactly one outcome, and the rows are the fold of the audit log.

Moments are random with a fixed seed; the points named in ``streams.faults`` are hit for certain.
"""

import asyncio
import itertools
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import get_args

import pytest

from lakehouse.digest import digest_of
from lakehouse.store import Lake
from lakehouse.versions import Change, fold
from schemas.conversation import Turn
from schemas.errors import Unavailable
from schemas.memory import MemoryEvent
from streams.broker import LocalBroker
from streams.client import MemoryClient
from streams.deployment import WorkerProcess
from streams.faults import Point
from streams.settings import Settings

pytestmark = [pytest.mark.broker, pytest.mark.chaos]

TURNS = 2000
SCOPES = 20
KILLS = 40
CHUNK = 25
PATIENCE_S = 420
CACHE = Settings.from_env(os.environ).cache


def said(number: int) -> str:
    """Three of four turns are about something new; every fourth changes or repeats what was told before."""
    if number % 8 == 3:
        return f"The gauge of tank {number // 40} stands at {number} bar."
    if number % 8 == 7:
        return f"Crate {number - 7} holds the seeds of the plant called Plant-{number - 7}."
    return f"Crate {number} holds the seeds of the plant called Plant-{number}."


@contextmanager
def deployment(folder: Path) -> Iterator[tuple[Settings, LocalBroker]]:
    """A broker and settings of this test's own."""
    home = {"name": f"chaos-{os.urandom(3).hex()}", "home": folder, "lake": str(folder / "lake"), "cache": CACHE}
    work = {"session_timeout_s": 6, "maintain_commits": 20, "batch_size": 20}
    broker = LocalBroker(Settings.model_validate(home))
    try:
        yield Settings.model_validate(home | work | {"broker": str(broker.start().bootstrap)}), broker
    finally:
        broker.stop()


async def publish(settings: Settings, bootstrap: str, count: int, stop: asyncio.Event) -> list[Turn]:
    """Turns flow, a few at a time, whatever happens meanwhile."""
    turns: list[Turn] = []
    async with MemoryClient("chaos", "nobody", settings=settings, bootstrap=bootstrap, timeout_s=120) as client:
        for start in range(0, count, CHUNK):
            some = [
                client.turn(
                    said(number),
                    scope={"projectId": "chaos", "userId": f"user-{number % SCOPES}"},
                    turnId=f"turn-{number}",
                    sessionId="s",
                )
                for number in range(start, min(start + CHUNK, count))
            ]
            await insist(client, some)
            turns.extend(some)
            if not stop.is_set():
                await asyncio.sleep(KILLS * 5 * CHUNK / count)
    return turns


async def insist(client: MemoryClient, turns: list[Turn]) -> None:
    """Publish until the broker has them; the same ids make the same turns."""
    for attempt in range(10):
        try:
            await client.publish(*turns)
        except Unavailable:
            await asyncio.sleep(attempt)
        else:
            return
    raise AssertionError("the broker never took the turns")


async def audit_log(settings: Settings, bootstrap: str) -> dict[str, list[MemoryEvent]]:
    """Every event by scope as a consumer sees them, doubles checked and dropped."""
    found: dict[str, list[MemoryEvent]] = {}
    seen: dict[str, bytes] = {}
    async with MemoryClient("chaos", "nobody", settings=settings, bootstrap=bootstrap, timeout_s=60) as client:
        async for record in client.records("changes"):
            event = MemoryEvent.decode(record.value)
            if event.event_id in seen:
                assert seen[event.event_id] == record.value, "the same event was told in two ways"
                continue
            seen[event.event_id] = record.value
            found.setdefault(event.scope.key, []).append(event)
    return found


async def wait_for_outcomes(settings: Settings, bootstrap: str, count: int) -> dict[str, list[MemoryEvent]]:
    end = time.monotonic() + PATIENCE_S
    while True:
        log = await audit_log(settings, bootstrap)
        if sum(map(len, log.values())) >= count or time.monotonic() > end:
            return log
        await asyncio.sleep(2)


async def require_all_is_right(settings: Settings, bootstrap: str, count: int) -> None:
    log = await wait_for_outcomes(settings, bootstrap, count)
    outcomes = Counter(turn for events in log.values() for event in events for turn in event.source_turn_ids)
    sequences = {scope: [event.sequence for event in events] for scope, events in log.items()}
    lake = await Lake.open(settings.lake_uri)
    rows = [row async for row in lake.all_rows()]
    told = [row for events in log.values() for row in fold(Change(event, "", 0) for event in events).values()]

    assert [turn for turn in (f"turn-{n}" for n in range(count)) if outcomes[turn] != 1] == []
    assert {scope: numbers for scope, numbers in sequences.items() if numbers != [*range(1, len(numbers) + 1)]} == {}
    assert len({row.event.event_id for row in rows}) == len(rows)
    assert {row.event.event_id: row.event for row in rows} == {row.event.event_id: row.event for row in told}
    assert digest_of(rows) == digest_of(told)


def test_forty_kills_lose_and_double_nothing(tmp_path: Path) -> None:
    dice = random.Random(20260301)
    points = itertools.cycle(get_args(Point))

    async def scenario(settings: Settings, bootstrap: str) -> None:
        stop = asyncio.Event()
        flowing = asyncio.create_task(publish(settings, bootstrap, TURNS, stop))
        first = WorkerProcess(settings, tmp_path / "first.log")
        second = WorkerProcess(settings, tmp_path / "second.log")
        try:
            for kill in range(KILLS):
                if kill % 4 == 3:  # one of four dies at a named point
                    await dies_at(settings, tmp_path, f"{next(points)}:{dice.randint(1, 3)}")
                    continue
                await asyncio.to_thread(first.start)
                if kill % 3 == 1 and second.process is None:
                    await asyncio.to_thread(second.start)
                await asyncio.sleep(dice.uniform(0.2, 3.0))
                assert await asyncio.to_thread(first.end, signal.SIGKILL) == -signal.SIGKILL
                if second.process is not None and kill % 3 == 0:
                    await asyncio.to_thread(second.end, dice.choice((signal.SIGKILL, signal.SIGTERM)))
            stop.set()
            await flowing
            await asyncio.to_thread(first.start)
            await require_all_is_right(settings, bootstrap, TURNS)
        finally:
            flowing.cancel()
            first.end()
            second.end()

    with deployment(tmp_path) as (settings, _):
        asyncio.run(scenario(settings, settings.broker))


async def dies_at(settings: Settings, folder: Path, fault: str) -> None:
    """A worker that kills itself at a named point; one that finds no work there is killed in the end all the same."""
    doomed = WorkerProcess(settings, folder / "doomed.log", {"MEMLAKE_FAULT": fault})
    await asyncio.to_thread(doomed.start)
    end = time.monotonic() + 15
    while doomed.process is not None and doomed.process.poll() is None and time.monotonic() < end:  # noqa: ASYNC110
        await asyncio.sleep(0.1)
    assert await asyncio.to_thread(doomed.end, signal.SIGKILL) == -signal.SIGKILL


def test_a_broker_killed_twice_loses_and_doubles_nothing(tmp_path: Path) -> None:
    count = 400

    async def scenario(settings: Settings, broker: LocalBroker) -> None:
        bootstrap = settings.broker
        stop = asyncio.Event()
        worker = WorkerProcess(settings, tmp_path / "worker.log")
        await asyncio.to_thread(worker.start)
        flowing = asyncio.create_task(publish(settings, bootstrap, count, stop))
        try:
            for _ in range(2):
                await asyncio.sleep(4)
                os.kill(int(broker.status().pid or 0), signal.SIGKILL)
                await asyncio.sleep(2)
                await asyncio.to_thread(broker.start)
            stop.set()
            await flowing
            await require_all_is_right(settings, bootstrap, count)
            assert worker.process is not None
            assert worker.process.poll() is None
        finally:
            flowing.cancel()
            worker.end()

    with deployment(tmp_path) as (settings, broker):
        asyncio.run(scenario(settings, broker))
