"""One broker for a home: start it, find it, stop it.

Rule of this file: every step looks at the machine and not at what was written down; starts and stops of one home take
turns by a lock that the system itself gives up when its holder dies.
"""

import os
import re
import shutil
import signal
import time
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from schemas.errors import Misconfigured, Unavailable
from streams.broker import archive, config, jars, metadata, process, state
from streams.broker.reasons import is_port_taken, reason
from streams.settings import Settings

ASK_TIMEOUT_S = 2.0
KILL_TIMEOUT_S = 10.0
POLL_S = 0.05
PORT_ATTEMPTS = 3
_LOG_BYTES = 256 * 1024


@dataclass(frozen=True)
class BrokerStatus:
    """A home's broker.

    Attributes:
        pid: Its process, while it runs.
        bootstrap: ``host:port`` for clients, while it runs.
        data: Its folder: configuration, logs and data.
        running: Whether there is such a process. It may not answer yet while another start is waiting for it.
    """

    pid: int | None
    bootstrap: str | None
    data: Path
    running: bool


class LocalBroker:
    """The broker of one home."""

    def __init__(self, settings: Settings) -> None:
        """Look at nothing yet.

        Args:
            settings: ``home``, ``cache``, ``broker`` and ``broker_memory_mib`` are used.
        """
        self._settings = settings
        self._folder = (settings.home / "broker").resolve()

    def start(self, timeout_s: float = 60, progress: Callable[[str], None] | None = None) -> BrokerStatus:
        """Start the broker unless it runs, and return once it answers. It stays when this process ends.

        Args:
            timeout_s: How long it may take to answer, once its jars are there.
            progress: Told in a few lines what takes time.

        Raises:
            Misconfigured: ``MEMLAKE_BROKER`` is set, or the folder cannot be this home's.
            Unavailable: It did not start, in the broker's own words, or could not be fetched.
        """
        self._refuse_foreign()
        tell = progress or (lambda _: None)
        with self._turn(timeout_s, tell):
            found = self._find()
            if found is not None:
                tell(f"The broker is running already (process {found.pid}, {config.HOST}:{found.port})")
                runs = partial(process.runs, self._folder, found.pid)
                self._wait(runs, found.port, timeout_s, _size(self._folder / config.LOG))
                return self._status(found)
            return self._start(timeout_s, tell)

    def stop(self, timeout_s: float = 30) -> bool:
        """Stop the broker: cleanly, or by force after the time-out; what it has acknowledged is kept either way.

        Args:
            timeout_s: How long a clean end may take.

        Returns:
            Whether one ran.

        Raises:
            Misconfigured: ``MEMLAKE_BROKER`` is set.
            Unavailable: A start is under way for longer than the time-out, or the process cannot be ended.
        """
        self._refuse_foreign()
        if not self._folder.is_dir() and self._find() is None:
            return False
        with self._turn(timeout_s, None):
            found = self._find()
            if found is None:
                return False
            clean = self._end(found.pid, signal.SIGTERM, timeout_s)
            if not clean and not self._end(found.pid, signal.SIGKILL, KILL_TIMEOUT_S):
                raise Unavailable(f"the broker (process {found.pid}) could not be ended")
            part = archive.part_of(found.command_line)
            if part is not None and clean:
                archive.adopt(part)
            return True

    def status(self) -> BrokerStatus:
        """Look for the broker."""
        return self._status(self._find())

    def _refuse_foreign(self) -> None:
        if self._settings.broker:
            raise Misconfigured(
                f"MEMLAKE_BROKER names a cluster that memlake does not run ({self._settings.broker}): "
                "start and stop it by its own means, or unset MEMLAKE_BROKER to use memlake's own broker"
            )

    @contextmanager
    def _turn(self, timeout_s: float, tell: Callable[[str], None] | None) -> Iterator[None]:
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with state.locked(self._folder / "lock", timeout_s, "another start or stop of the broker is at it", tell):
                yield
        except (PermissionError, NotADirectoryError, FileExistsError) as error:
            raise Misconfigured(f"the broker's folder {self._folder} cannot be used: {error}") from error
        except OSError as error:
            raise Unavailable(f"the broker's folder {self._folder}: {error}") from error

    def _find(self) -> process.Found | None:
        known = state.load(self._folder)
        return process.find(self._folder, known.pid if known else None)

    def _status(self, found: process.Found | None) -> BrokerStatus:
        if found is None:
            return BrokerStatus(None, None, self._folder, running=False)
        return BrokerStatus(found.pid, f"{config.HOST}:{found.port}", self._folder, running=True)

    def _start(self, timeout_s: float, tell: Callable[[str], None]) -> BrokerStatus:
        java = process.java()
        class_path = jars.ensure(self._settings.cache, tell)
        shutil.rmtree(self._folder / config.SCRATCH, ignore_errors=True)  # what a killed broker unpacked
        (self._folder / config.SCRATCH).mkdir(exist_ok=True)
        command = [
            str(java),
            *config.java_options(self._folder, memory_mib=self._settings.broker_memory_mib),
            *archive.java_options(self._settings.cache / "kafka" / "archives", java, class_path),
            "-cp",
            os.pathsep.join(map(str, class_path)),
        ]
        state.replace(self._folder / config.LOGGING, config.logging_properties())
        remembered = state.load(self._folder)
        ports = state.ports_for(remembered.ports if remembered else None)
        tell("Starting the broker")
        for attempt in range(PORT_ATTEMPTS):
            try:
                return self._launch(command, ports, timeout_s)
            except Unavailable as error:
                # Somebody was faster between the look and the start.
                if not is_port_taken(str(error)) or attempt == PORT_ATTEMPTS - 1:
                    raise
                ports = state.ports_for(None)
        raise AssertionError("the last attempt returns or raises")

    def _launch(self, command: list[str], ports: config.Ports, timeout_s: float) -> BrokerStatus:
        memory_mib = self._settings.broker_memory_mib
        state.replace(self._folder / config.PROPERTIES, config.server_properties(ports, memory_mib=memory_mib))
        if self._needs_format():
            process.format_data(self._folder, [part for part in command if archive.part_of([part]) is None], _new_id())
        logged = _size(self._folder / config.LOG)
        marked = [command[0], *config.marks(self._folder, ports), *command[1:]]
        child = process.launch(self._folder, marked)
        try:
            state.save(self._folder, state.State(ports, child.pid))
            # A process that has just been made shows no arguments for a moment: this one is known by its handle.
            self._wait(lambda: child.poll() is None, ports.broker, timeout_s, logged)
        except BaseException:  # also an impatient Ctrl-C: what does not answer must not stay
            child.kill()
            child.wait()
            raise
        return self._status(process.Found(child.pid, ports.broker, tuple(marked)))

    def _needs_format(self) -> bool:
        data = self._folder / config.DATA
        if (data / "meta.properties").exists():
            return False
        if data.exists() and any(entry.is_dir() for entry in data.iterdir()):
            raise Misconfigured(
                f"{data} holds topics but no meta.properties, so it is not known which cluster it is of: "
                "put that file back, or move the folder away to start with an empty broker"
            )
        return True

    def _wait(self, runs: Callable[[], bool], port: int, timeout_s: float, logged: int) -> None:
        """Ask until the broker of this home answers.

        Args:
            runs: Whether its process does.
            port: Where it should answer.
            timeout_s: How long to ask.
            logged: Size of its log before the start, in bytes.
        """
        deadline = time.monotonic() + timeout_s
        told = "nobody answers"
        while runs():
            try:
                cluster = metadata.ask(config.HOST, port, timeout_s=ASK_TIMEOUT_S)
            except Unavailable as error:
                told = str(error)
            else:
                if cluster.id == self._cluster() and f"{config.HOST}:{port}" in cluster.brokers:
                    return
                told = f"another cluster answers on port {port}"
            if time.monotonic() >= deadline:
                why = self._reason(logged)
                raise Unavailable(f"the broker did not answer within {timeout_s:g} s ({told})\n{why}".rstrip())
            time.sleep(POLL_S)
        raise Unavailable(f"the broker did not start:\n{self._reason(logged)}\nMore in {self._folder / config.LOG}")

    def _cluster(self) -> str:
        with suppress(OSError):
            told = (self._folder / config.DATA / "meta.properties").read_text("utf-8", errors="replace")
            match = re.search(r"^cluster\.id=(\S+)$", told, re.MULTILINE)
            return match[1] if match else ""
        return ""

    def _reason(self, logged: int) -> str:
        log = self._folder / config.LOG
        return reason("\n".join([_tail(self._folder / config.CONSOLE, 0), _tail(log, logged)]))

    def _end(self, pid: int, how: signal.Signals, timeout_s: float) -> bool:
        """Signal the broker and wait.

        Returns:
            Whether it has ended.
        """
        deadline = time.monotonic() + timeout_s
        if process.runs(self._folder, pid):
            with suppress(ProcessLookupError):
                os.kill(pid, how)
        while process.runs(self._folder, pid):
            if time.monotonic() >= deadline:
                return False
            time.sleep(POLL_S)
        return True


def bootstrap_of(settings: Settings) -> str:
    """Where clients find the broker.

    Returns:
        ``settings.broker``, or the place of the broker that memlake runs.

    Raises:
        Unavailable: None is set and none runs; says how to start one.
    """
    if settings.broker:
        return settings.broker
    bootstrap = LocalBroker(settings).status().bootstrap
    if bootstrap is None:
        raise Unavailable(
            "no broker runs: start one with `memlake broker start`, or set MEMLAKE_BROKER to the host:port of a cluster"
        )
    return bootstrap


def _new_id() -> str:
    """A cluster's id as Kafka writes it: 16 random bytes in URL-safe Base64 without padding."""
    while True:
        told = urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        if not told.startswith("-"):  # would be taken for an option
            return told


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _tail(path: Path, start: int) -> str:
    """The end of a file, from a place on; whole where it has become shorter than that meanwhile."""
    try:
        size = path.stat().st_size
        with path.open("rb") as content:
            content.seek(max(start if start <= size else 0, size - _LOG_BYTES))
            return content.read().decode(errors="replace")
    except OSError:
        return ""
