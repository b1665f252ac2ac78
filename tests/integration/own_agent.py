"""One agent of ours with a handler that misbehaves as its messages say; tells what it did as JSON lines.

Run as a process, with a deployment's settings in the environment. It reads ``queries``: a value is what to do, "fine",
"raises", "once", "slow:SECONDS" or "away:TIMES", and behind a blank whatever tells it apart.
"""

import asyncio
import json
import os
import signal
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any, cast

from schemas.errors import Unavailable
from streams import logs
from streams.app import build_app, commit, register
from streams.committing import Committer, Group
from streams.faults import Faults
from streams.health import Health, HealthPolicy
from streams.incoming import Incoming
from streams.loop import AgentLoop
from streams.metrics import Metrics
from streams.ports import Ports
from streams.positions import Positions
from streams.settings import Settings
from streams.wire import Outbox


def tell(what: str, value: Any = None) -> None:
    sys.stdout.write(json.dumps({"what": what, "value": value}) + "\n")
    sys.stdout.flush()


class Misbehaving:
    """Does what its messages say."""

    def __init__(self) -> None:
        self.tries: dict[bytes, int] = {}

    def forget(self) -> None:
        """Nothing is kept."""

    async def handle(self, partition: int, batch: list[Incoming]) -> None:
        for incoming in batch:
            value = incoming.value or b""
            tries = self.tries[value] = self.tries.get(value, 0) + 1
            order, _, argument = value.decode().partition(" ")[0].partition(":")
            if order == "raises" or (order == "once" and tries == 1):
                raise RuntimeError(order)
            if order == "away" and tries <= int(argument):
                raise Unavailable("the world is away")
            if order == "slow":
                tell("begun", value.decode())
                await asyncio.sleep(float(argument))
        for incoming in batch:
            tell("done", (incoming.value or b"").decode())


async def main() -> None:
    settings = Settings.from_env(os.environ)
    logs.configure(settings.log_level, settings.log_format, settings.masker())
    outbox = await Outbox(settings, settings.broker, "own").start()
    positions = await Positions(settings, settings.broker).start()
    ports = Ports(
        settings=settings,
        lake=cast("Any", None),
        embedder=cast("Any", None),
        outbox=outbox,
        masker=settings.masker(),
        judge=cast("Any", None),
        known=cast("Any", None),
        metrics=Metrics(),
        rules=ThreadPoolExecutor(1),
        clock=lambda: datetime.now(UTC),
        faults=Faults(),
    )
    app = build_app(settings, settings.broker, tempfile.mkdtemp())
    committer = Committer(Group(lambda offsets: commit(app, offsets), positions.stored))
    health = Health(HealthPolicy(20, 60), 0.0)
    loop = AgentLoop("answer", Misbehaving(), ports, health, committer.note)
    register(app, settings, "answer", loop)

    async def assigned(*told: Any, **_: Any) -> None:
        loop.moved()
        committer.moved({(tp.topic, tp.partition) for tp in told[-1]})
        tell("assigned", len(told[-1]))

    app.on_partitions_assigned.connect(assigned, weak=False)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    committing = asyncio.create_task(committer.run())
    await app.start()
    await stop.wait()
    tell("finished", await loop.stop(2))
    committing.cancel()
    await committer.flush(2)
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(main())
