"""A real Neo4j 5 for tests: its jars fetched once and checked, its Java the one that comes with memlake.

Rule of this file: loopback only, a folder that the caller throws away, and an end by process id. What is kept there is
worth nothing, so the end is a kill: a clean one takes ten seconds.
"""

import asyncio
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lakehouse.external.graph import ExternalKnowledgeNeo4j
from schemas.errors import Unavailable
from streams.broker import jars, process, state
from streams.broker.config import HOST
from streams.broker.jars import Jar

LOCK = Path(__file__).parents[1] / "data" / "neo4j" / "jars.lock"
VERSION = "5.26.0"
USER, PASSWORD = "neo4j", "only-for-tests"
START_S = 180.0
POLL_S = 0.5
HEAP_MIB = 384
OPENED = ("java.nio", "java.io", "sun.nio.ch", "java.util.concurrent")
"""Packages of Java that Neo4j 5 reaches into."""


@dataclass(frozen=True)
class Server:
    """Where it answers, and as which process."""

    uri: str
    pid: int

    def opened(self, password: str = PASSWORD) -> ExternalKnowledgeNeo4j:
        return ExternalKnowledgeNeo4j(self.uri, USER, password)


def pinned() -> list[Jar]:
    found = []
    for line in LOCK.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            coordinates, sha256, size = line.split()
            group, artifact, version = coordinates.split(":")
            found.append(Jar(group, artifact, version, sha256, int(size)))
    return found


def class_path(cache: Path, progress: Callable[[str], None]) -> list[Path]:
    """The jars, from the cache or fetched into it; raises ``Unavailable`` where they cannot be had."""
    folder, needed = cache / "neo4j" / VERSION, pinned()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with state.locked(folder.parent / "lock", jars.FETCH_TIMEOUT_S, "another test run fetches Neo4j", progress):
        if not jars._is_whole(folder, needed):
            progress(f"Fetching Neo4j {VERSION}: {len(needed)} jars, {sum(jar.size for jar in needed) >> 20} MiB; once")
            _fetch(folder, needed, progress)
    return [folder / jar.name for jar in needed]


def _fetch(folder: Path, needed: list[Jar], progress: Callable[[str], None]) -> None:
    with tempfile.TemporaryDirectory(prefix="fetch-", dir=folder.parent) as scratch:
        staged = Path(scratch) / "jars"
        staged.mkdir()
        try:
            jars._download(Path(scratch) / "repository", staged, needed, progress)
        except Exception as error:  # whatever a resolver and a network come up with
            raise Unavailable(f"Neo4j {VERSION} could not be fetched: {error}") from error
        shutil.rmtree(folder, ignore_errors=True)
        staged.rename(folder)


@contextmanager
def running(folder: Path, jars_of_it: Sequence[Path]) -> Iterator[Server]:
    """Neo4j in a folder of its own, from when it answers to its end."""
    port = state.ports_for(None).broker
    (folder / "conf").mkdir(parents=True)
    (folder / "conf" / "neo4j.conf").write_text(_configuration(port), "utf-8")
    java = [
        str(process.java()),
        f"-Xmx{HEAP_MIB}m",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED),
        "-cp",
        os.pathsep.join(map(str, jars_of_it)),
    ]
    environment = {**os.environ, "NEO4J_HOME": str(folder), "NEO4J_CONF": str(folder / "conf"), "LC_ALL": "C.UTF-8"}
    password = [*java, "org.neo4j.cli.AdminTool", "dbms", "set-initial-password", PASSWORD]
    subprocess.run(password, env=environment, cwd=folder, check=True, capture_output=True, timeout=START_S)
    server = [*java, "org.neo4j.server.CommunityEntryPoint"]
    server += [f"--home-dir={folder}", f"--config-dir={folder / 'conf'}", "--console-mode"]
    with (folder / "console.log").open("wb") as console:
        child = subprocess.Popen(server, env=environment, cwd=folder, stdout=console, stderr=subprocess.STDOUT)
    try:
        started = Server(f"bolt://{HOST}:{port}", child.pid)
        _wait(started, child, folder / "console.log")
        yield started
    finally:
        child.kill()
        child.wait(30)
        shutil.rmtree(folder / "data", ignore_errors=True)


def _configuration(port: int) -> str:
    return f"""\
server.default_listen_address={HOST}
server.bolt.listen_address={HOST}:{port}
server.bolt.advertised_address={HOST}:{port}
server.http.enabled=false
server.https.enabled=false
server.memory.pagecache.size=64m
db.tx_log.preallocate=false
dbms.usage_report.enabled=false
"""


def _wait(server: Server, child: "subprocess.Popen[bytes]", log: Path) -> None:
    async def ask() -> None:
        async with server.opened():
            pass

    deadline = time.monotonic() + START_S
    while True:
        try:
            return asyncio.run(ask())
        except Unavailable:
            if child.poll() is not None or time.monotonic() >= deadline:
                raise AssertionError(f"Neo4j did not start:\n{log.read_text('utf-8')[-4000:]}") from None
        time.sleep(POLL_S)
