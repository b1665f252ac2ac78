"""The demonstration, act by act. It uses what everybody uses: broker, worker, client, lake.

Rule of this file: the order of the acts and what each must show; how it looks is in ``show``.
"""

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lakehouse.digest import Digest, digest_of
from lakehouse.store import Lake
from schemas.conversation import Scope, Turn
from schemas.errors import MemlakeError
from schemas.memory import MemoryEvent, TurnReport
from schemas.retrieval import Reply
from streams.broker import LocalBroker
from streams.client import MemoryClient
from streams.demo import show
from streams.deployment import WorkerProcess
from streams.formats.reading import read_file
from streams.settings import Settings

BUNDLED = Path(__file__).parent / "data" / "conversation.jsonl"
CHUNK = 100
QUESTION = "Is a midcourse correction required?"
"""What the bundled conversation is asked."""
SHOWN = 12


def play(settings: Settings, file: Path | None, *, keep: bool) -> None:
    """Run the demonstration.

    Args:
        settings: Name, home and lake are replaced by the demonstration's own, unless it is kept.
        file: A conversation in any of the known formats; the bundled one where not given.
        keep: Leave memory and broker data where they are, to go on with.

    Raises:
        MemlakeError: A step did not show what it must show.
    """
    started = time.monotonic()
    with _home(settings, keep=keep) as own:
        turns = list(_turns(file))
        show.title(f"{len(turns)} turns of {file or 'Apollo 11, air to ground, July 1969'}")
        broker = LocalBroker(own)
        ours = not own.broker and not broker.status().running
        try:
            _acts(own, turns, file)
        finally:
            if ours:
                broker.stop()
        show.closing(own, time.monotonic() - started, kept=keep)


@contextmanager
def _home(settings: Settings, *, keep: bool) -> Iterator[Settings]:
    """A deployment of the demonstration's own."""
    told = {name: getattr(settings, name) for name in settings.model_fields_set}
    name = f"demo-{os.urandom(3).hex()}"
    folder = settings.home / "demo" if keep else Path(tempfile.mkdtemp(prefix="memlake-demo-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield Settings.model_validate(told | {"name": name, "home": folder, "lake": str(folder / name / "lake")})
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def _turns(file: Path | None) -> Iterator[Turn]:
    scope = Scope(project_id="demo", user_id=_user(file))
    for turn in read_file(file or BUNDLED, None, scope):
        yield turn.model_copy(update={"scope": scope})


def _user(file: Path | None) -> str:
    return file.stem if file else "apollo-11"


def _acts(settings: Settings, turns: list[Turn], file: Path | None) -> None:
    user = _user(file)
    with _running(settings) as (broker, worker):
        show.act("1", f"A Kafka at {broker} and a worker are running. The conversation goes in.")
        reports = asyncio.run(_publish(settings, broker, user, turns))
        events = asyncio.run(_events(settings, broker, user))
        show.act("2", "Facts were extracted, and each was decided upon.")
        show.facts(reports, SHOWN)
        show.decisions(events)
        update = _update(events)
        show.act("3", "One thing changed while they talked: the old text is kept beside the new one.")
        show.update(update)
        show.act("4", "A question before the next model call: context for the prompt, citations for the reader.")
        reply = asyncio.run(_ask(settings, broker, user, QUESTION if file is None else update.text))
        show.answer(reply)
        show.act("5", "The audit log: every change is an event that anyone can consume.")
        show.log(events, SHOWN)
        before = asyncio.run(_digest(settings))
        worker.end()
    show.act("6", "Worker and broker were stopped. Both start again.")
    with _running(settings) as (broker, worker):
        after = asyncio.run(_digest(settings))
        again = asyncio.run(_ask(settings, broker, user, QUESTION if file is None else update.text))
        show.digests(before, after)
        if before != after or [r.id for r in again.results] != [r.id for r in reply.results]:
            raise MemlakeError("the memory is not the same after the restart")
        worker.end()


@contextmanager
def _running(settings: Settings) -> Iterator[tuple[str, WorkerProcess]]:
    """Broker and worker, both stopped afterwards (the broker only if it is memlake's own)."""
    local = None if settings.broker else LocalBroker(settings)
    bootstrap = str(local.start(progress=show.progress).bootstrap) if local else settings.broker
    worker = WorkerProcess(settings.model_copy(update={"broker": bootstrap}), settings.home / "worker.log")
    try:
        show.progress("starting a worker")
        worker.start()
        yield bootstrap, worker
    finally:
        worker.end()
        if local:
            local.stop()


async def _publish(settings: Settings, broker: str, user: str, turns: list[Turn]) -> list[TurnReport]:
    reports: list[TurnReport] = []
    async with MemoryClient("demo", user, settings=settings, bootstrap=broker, timeout_s=600) as memory:
        with show.bar("publishing", len(turns)) as advance:
            for start in range(0, len(turns), CHUNK):
                for result in await memory.publish_all_and_wait(turns[start : start + CHUNK]):
                    if isinstance(result, Exception):
                        raise result
                    reports.append(result)
                    advance()
    return reports


async def _events(settings: Settings, broker: str, user: str) -> list[MemoryEvent]:
    async with MemoryClient("demo", user, settings=settings, bootstrap=broker) as memory:
        return [event async for event in memory.changes()]


async def _ask(settings: Settings, broker: str, user: str, question: str) -> Reply:
    async with MemoryClient("demo", user, settings=settings, bootstrap=broker) as memory:
        reply = await memory.ask(question, format="context")
    if not reply.results:
        raise MemlakeError(f"nothing was found for {question!r}")
    return reply


async def _digest(settings: Settings) -> Digest:
    lake = await Lake.open(settings.lake_uri)
    return digest_of([row async for row in lake.all_rows()])


def _update(events: list[MemoryEvent]) -> MemoryEvent:
    """The update that is easiest to read: the shortest with an old text."""
    updates = [event for event in events if event.event == "UPDATE" and event.old_memory]
    if not updates:
        raise MemlakeError("nothing in this conversation changed: there is no UPDATE to show")
    return min(updates, key=lambda event: len(event.text) + len(event.old_memory or ""))
