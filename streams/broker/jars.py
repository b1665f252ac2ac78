"""Kafka's jars: fetched once, checked against ``jars.lock``, kept in the cache for all homes.

Rule of this file: a folder of jars is whole or it is not there. Jars come into a scratch folder beside it, are checked
and moved in place in one step, so a fetch that is cut off leaves nothing behind that a later start would trust.
"""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from schemas.errors import Misconfigured, Unavailable
from schemas.topics import MIB
from streams.broker.state import locked

VERSION = "4.4.0"
FETCHES = 4
"""Jars fetched at once."""
FETCH_TIMEOUT_S = 600.0
"""How long a start waits for a fetch that another start is at."""


@dataclass(frozen=True)
class Jar:
    """One jar, as the lock file pins it."""

    group: str
    artifact: str
    version: str
    sha256: str
    size: int

    @property
    def name(self) -> str:
        """The file's name."""
        return f"{self.artifact}-{self.version}.jar"


def pinned() -> list[Jar]:
    """The jars of the lock file, sorted by coordinates."""
    jars = []
    for line in files("streams.broker").joinpath("jars.lock").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            coordinates, sha256, size = line.split()
            group, artifact, version = coordinates.split(":")
            jars.append(Jar(group, artifact, version, sha256, int(size)))
    return jars


def ensure(cache: Path, progress: Callable[[str], None]) -> list[Path]:
    """Find the jars in the cache, or fetch them.

    Args:
        cache: ``settings.cache``.
        progress: Told in a few lines how the fetch goes.

    Returns:
        The class path.

    Raises:
        Misconfigured: Java could not take the cache's path.
        Unavailable: They are not there and cannot be fetched; says what to do.
    """
    folder, jars = cache / "kafka" / VERSION, pinned()
    if os.pathsep in str(folder):
        raise Misconfigured(f"MEMLAKE_CACHE must not hold a {os.pathsep!r}, which parts Java's class path: {cache}")
    if not _is_whole(folder, jars):
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            with locked(folder.parent / "lock", FETCH_TIMEOUT_S, "another start is fetching Kafka", progress):
                if not _is_whole(folder, jars):
                    _fetch(folder, jars, progress)
        except OSError as error:
            raise Unavailable(f"the cache {cache} cannot be used (MEMLAKE_CACHE sets another): {error}") from error
    return [folder / jar.name for jar in jars]


def _is_whole(folder: Path, jars: list[Jar]) -> bool:
    try:
        return all((folder / jar.name).stat().st_size == jar.size for jar in jars)
    except OSError:
        return False


def _fetch(folder: Path, jars: list[Jar], progress: Callable[[str], None]) -> None:
    for left in folder.parent.glob("fetch-*"):  # of a start that was killed
        shutil.rmtree(left, ignore_errors=True)
    total = sum(jar.size for jar in jars) / MIB
    progress(f"Fetching Apache Kafka {VERSION} ({len(jars)} jars, {total:.0f} MiB; once)")
    with tempfile.TemporaryDirectory(prefix="fetch-", dir=folder.parent) as scratch:
        repository, staged = Path(scratch) / "repository", Path(scratch) / "jars"
        staged.mkdir(parents=True)
        try:
            _download(repository, staged, jars, progress)
        except Exception as error:  # whatever a resolver and a network come up with, the remedy is the same
            raise Unavailable(
                f"Apache Kafka {VERSION} could not be fetched: {error}\n"
                f"Give this machine a network for its first start, or copy {folder} from a machine that has it, "
                "or set MEMLAKE_BROKER to the host:port of a cluster."
            ) from error
        shutil.rmtree(folder, ignore_errors=True)
        staged.rename(folder)


def _download(repository: Path, staged: Path, jars: list[Jar], progress: Callable[[str], None]) -> None:
    from jgo.maven import MavenContext  # noqa: PLC0415 - half a second, and only needed once

    context = MavenContext(repo_cache=repository)

    def fetch(jar: Jar) -> None:
        path = Path(context.project(jar.group, jar.artifact).at_version(jar.version).artifact().resolve())
        if hashlib.sha256(path.read_bytes()).hexdigest() != jar.sha256:
            raise Unavailable(f"{jar.name} came, but is not the file it should be")
        path.rename(staged / jar.name)

    with ThreadPoolExecutor(FETCHES) as pool:
        tasks = [pool.submit(fetch, jar) for jar in jars]
        try:
            for number, task in enumerate(as_completed(tasks), 1):
                task.result()
                if number % 15 == 0:
                    progress(f"Fetched {number} of {len(jars)} jars")
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
