"""What a home remembers of its broker, and who may touch it.

Rule of this file: small files, replaced whole. Nothing here is trusted without a look at the machine: a lost or torn
file costs the remembered ports, never the data.
"""

import fcntl
import json
import os
import random
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from schemas.errors import Unavailable
from streams.broker.config import HOST, Ports

_STATE = "state.json"
_POLL_S = 0.05
_TRIES = 200
_LOWEST, _HIGHEST = 20_000, 29_999
"""Below what systems hand out to outgoing connections, so that a stopped broker's port is seldom taken by chance."""


@dataclass(frozen=True)
class State:
    """What is remembered: the ports for the next start, and the process to look at first."""

    ports: Ports
    pid: int | None = None


def load(folder: Path) -> State | None:
    """Read what is remembered; None where nothing readable is."""
    try:
        told = json.loads((folder / _STATE).read_text("utf-8"))
        ports = Ports(int(told["ports"]["broker"]), int(told["ports"]["controller"]))
        return State(ports, None if told["pid"] is None else int(told["pid"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def save(folder: Path, state: State) -> None:
    """Remember, in one step."""
    replace(folder / _STATE, json.dumps(asdict(state)) + "\n")


def replace(path: Path, text: str) -> None:
    """Write a file so that readers see the old or the new one, never a part."""
    scratch = path.with_name(f"{path.name}.new")
    scratch.write_text(text, "utf-8")
    scratch.replace(path)


def ports_for(remembered: Ports | None) -> Ports:
    """The remembered ports, each replaced where another process listens on it now.

    Raises:
        Unavailable: No free port was found.
    """
    broker = remembered.broker if remembered and is_free(remembered.broker) else _free_port(())
    keep = remembered is not None and remembered.controller != broker and is_free(remembered.controller)
    return Ports(broker, remembered.controller if remembered and keep else _free_port((broker,)))


def is_free(port: int) -> bool:
    """Whether a server could listen on this port of loopback now."""
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as Java does: old connections don't block
        try:
            server.bind((HOST, port))
            server.listen(1)
        except (OSError, OverflowError):
            return False
    return True


def _free_port(taken: tuple[int, ...]) -> int:
    for _ in range(_TRIES):
        port = random.randint(_LOWEST, _HIGHEST)  # noqa: S311 - not a secret
        if port not in taken and is_free(port):
            return port
    raise Unavailable(f"no free port between {_LOWEST} and {_HIGHEST} on {HOST}")


@contextmanager
def locked(path: Path, timeout_s: float, busy: str, progress: Callable[[str], None] | None = None) -> Iterator[None]:
    """Hold a file's lock; the system gives it up for a holder that dies.

    Args:
        path: The lock's file, made if need be.
        timeout_s: How long to wait for another holder.
        busy: What the other holder does, in words.
        progress: Told once if there is a wait.

    Raises:
        Unavailable: It is still held after the time-out.
    """
    deadline = time.monotonic() + timeout_s
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        told = progress is None
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise Unavailable(f"{busy}, still after {timeout_s:g} s") from None
                if progress is not None and not told:
                    progress(f"Waiting: {busy}")
                    told = True
                time.sleep(_POLL_S)
        yield
    finally:
        os.close(descriptor)
