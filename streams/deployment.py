"""Broker and worker processes of a deployment, started and stopped from Python: for ``demo``, ``bench`` and the tests.

Rule of this file: what it started it ends, by pid; it uses the same command line as everybody.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from schemas.errors import Unavailable
from streams.broker import LocalBroker
from streams.settings import PREFIX, Settings

READY_S = 120.0
STOP_S = 60.0


class WorkerProcess:
    """One worker in a process of its own."""

    def __init__(self, settings: Settings, log: Path, extra: Mapping[str, str] | None = None) -> None:
        """Prepare a worker; nothing is started yet.

        Args:
            settings: Of the deployment.
            log: Where its stderr goes; appended.
            extra: Further environment variables.
        """
        self.log = log
        self._env = environment(settings) | dict(extra or {})
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, *, wait: bool = True) -> "WorkerProcess":
        """Start it and wait until it has its partitions.

        Raises:
            Unavailable: It ended or was not ready in time; with the end of its log.
            RuntimeError: It runs already.
        """
        if self.process is not None and self.process.poll() is None:
            raise RuntimeError(f"this worker runs already (pid {self.process.pid})")
        offset = self.log.stat().st_size if self.log.exists() else 0
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "streams", "worker"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self._env,
            )
        if wait:
            self.wait_ready(offset)
        return self

    def wait_ready(self, offset: int = 0) -> None:
        """Wait for the line ``ready`` behind an offset of the log; see ``start``."""
        end = time.monotonic() + READY_S
        while "\nready\n" not in f"\n{self.told(offset)}":
            if self.process is None or self.process.poll() is not None or time.monotonic() > end:
                raise Unavailable(f"the worker did not start: {self.told(offset)[-2000:]}")
            time.sleep(0.05)

    def told(self, offset: int = 0) -> str:
        """Its log from an offset on."""
        if not self.log.exists():
            return ""
        with self.log.open("rb") as log:
            log.seek(offset)
            return log.read().decode(errors="replace")

    def end(self, number: int = signal.SIGTERM) -> int:
        """Send it a signal and wait.

        Returns:
            Its exit code; negative is the signal that ended it. 0 when none ran.
        """
        if self.process is None:
            return 0
        process, self.process = self.process, None
        if process.poll() is None:
            process.send_signal(number)
        try:
            return process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()


def environment(settings: Settings) -> dict[str, str]:
    """This process' environment with the deployment's settings instead of those it has."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    return kept | settings.to_env() | {"PYTHONSAFEPATH": "1", "HF_HUB_OFFLINE": "1"}


@contextmanager
def running_broker(settings: Settings) -> Iterator[str]:
    """The deployment's broker: the one that is set, the local one that runs, or one that runs as long as this lasts."""
    if settings.broker:
        yield settings.broker
        return
    broker = LocalBroker(settings)
    ours = not broker.status().running
    bootstrap = broker.start().bootstrap
    try:
        yield str(bootstrap)
    finally:
        if ours:
            broker.stop()
