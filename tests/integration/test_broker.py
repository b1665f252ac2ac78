"""The broker that memlake runs itself, for real: started, written to, stopped, killed and found again."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from schemas.errors import Misconfigured, Unavailable
from schemas.topics import BY_SUFFIX
from streams.broker import LocalBroker, archive, bootstrap_of, jars, process, state
from streams.broker.config import Ports
from streams.settings import Settings

pytestmark = pytest.mark.broker

CACHE = Settings.from_env(os.environ).cache
TOPIC = "written"
LARGEST = BY_SUFFIX["facts"]
START = """
import sys
from pathlib import Path
from streams.broker import LocalBroker
from streams.settings import Settings
print(LocalBroker(Settings(home=Path(sys.argv[1]), cache=Path(sys.argv[2]))).start().pid)
"""
BROKEN_DATA: dict[str, tuple[Callable[[str], str], str]] = {
    "another node's data": (lambda text: text.replace("node.id=1", "node.id=2"), "Stored node id 2 doesn't match"),
    "a future format": (
        lambda text: text.replace("version=1", "version=99"),
        "Unknown meta.properties version number 99",
    ),
    "an emptied file": (lambda _: "", "node ID not found"),
}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "a home, with ünï", cache=CACHE)


@pytest.fixture
def broker(settings: Settings) -> Iterator[LocalBroker]:
    broker = LocalBroker(settings)
    yield broker
    broker.stop(10)


def port_of(bootstrap: str | None) -> int:
    assert bootstrap is not None
    return int(bootstrap.rpartition(":")[2])


def wait_gone(pid: int) -> None:
    deadline = time.monotonic() + 10
    while psutil.pid_exists(pid):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def running(pid: int | None) -> int:
    assert pid is not None
    assert psutil.pid_exists(pid)
    return pid


def meta_properties(settings: Settings) -> Path:
    return settings.home / "broker" / "data" / "meta.properties"


async def create(bootstrap: str | None) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await admin.start()
    try:
        await admin.create_topics([NewTopic(TOPIC, 1, 1, topic_configs=LARGEST.config())])
    finally:
        await admin.close()


async def write(bootstrap: str | None, value: bytes) -> None:
    size = LARGEST.max_message_bytes + 1024
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap, acks="all", max_request_size=size)
    await producer.start()
    try:
        await producer.send_and_wait(TOPIC, value, key=b"k", partition=0)
    finally:
        await producer.stop()


async def read(bootstrap: str | None) -> list[bytes]:
    size = LARGEST.max_message_bytes + 1024
    consumer = AIOKafkaConsumer(bootstrap_servers=bootstrap, max_partition_fetch_bytes=size)
    await consumer.start()
    try:
        partition = TopicPartition(TOPIC, 0)
        consumer.assign([partition])
        await consumer.seek_to_beginning(partition)
        end = (await consumer.end_offsets([partition]))[partition]
        return [(await consumer.getone()).value for _ in range(end)]
    finally:
        await consumer.stop()


async def test_what_was_written_is_there_after_a_restart_on_the_same_port(broker: LocalBroker) -> None:
    first = broker.start()
    await create(first.bootstrap)
    await write(first.bootstrap, b"before")
    assert broker.stop()
    second = broker.start()
    assert second.bootstrap == first.bootstrap
    assert second.pid != first.pid
    assert await read(second.bootstrap) == [b"before"]


async def test_the_largest_record_is_taken_and_given_back(broker: LocalBroker) -> None:
    bootstrap = broker.start().bootstrap
    await create(bootstrap)
    value = os.urandom(LARGEST.max_message_bytes - 1024)
    await write(bootstrap, value)
    assert await read(bootstrap) == [value]


async def test_a_killed_broker_starts_again_with_what_it_had_acknowledged(broker: LocalBroker) -> None:
    first = broker.start()
    await create(first.bootstrap)
    await write(first.bootstrap, b"acknowledged")
    pid = running(first.pid)
    os.kill(pid, signal.SIGKILL)
    wait_gone(pid)
    assert not broker.status().running
    second = broker.start()
    assert second.bootstrap == first.bootstrap
    assert await read(second.bootstrap) == [b"acknowledged"]


@pytest.mark.parametrize("taken", ["broker", "controller"])
async def test_a_port_that_another_process_took_meanwhile_is_replaced(broker: LocalBroker, taken: str) -> None:
    first = broker.start()
    await create(first.bootstrap)
    await write(first.bootstrap, b"kept")
    broker.stop()
    known = state.load(first.data)
    assert known is not None
    with socket.create_server(("127.0.0.1", getattr(known.ports, taken))):
        second = broker.start()
        assert (second.bootstrap != first.bootstrap) == (taken == "broker")
        assert await read(second.bootstrap) == [b"kept"]


def test_a_port_taken_in_the_last_moment_costs_another_try(
    broker: LocalBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        found, taken = state.ports_for, Ports(server.getsockname()[1], state.ports_for(None).controller)
        looks = iter([taken])
        monkeypatch.setattr(state, "ports_for", lambda known: next(looks, None) or found(known))
        status = broker.start()
    assert port_of(status.bootstrap) != taken.broker


def test_nothing_listens_but_on_loopback(broker: LocalBroker) -> None:
    status = broker.start()
    listening = [c.laddr for c in psutil.Process(running(status.pid)).net_connections() if c.status == "LISTEN"]
    assert {address.ip.removeprefix("::ffff:") for address in listening} == {"127.0.0.1"}
    assert port_of(status.bootstrap) in {address.port for address in listening}
    assert len(listening) == 2


def test_a_second_start_says_so_and_starts_no_second_broker(broker: LocalBroker, settings: Settings) -> None:
    told: list[str] = []
    first = broker.start()
    assert LocalBroker(settings).start(progress=told.append) == first
    assert told == [f"The broker is running already (process {first.pid}, {first.bootstrap})"]


def test_simultaneous_starts_give_one_broker(broker: LocalBroker, settings: Settings) -> None:
    command = [sys.executable, "-c", START, str(settings.home), str(settings.cache)]

    def start() -> str:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    with ThreadPoolExecutor(3) as pool:
        pids = set(pool.map(lambda _: start(), range(3)))
    # Nothing but the process id on standard output, and the same one three times.
    assert pids == {f"{broker.status().pid}\n"}


def test_the_broker_outlives_the_process_that_started_it(broker: LocalBroker, settings: Settings) -> None:
    command = [sys.executable, "-c", START, str(settings.home), str(settings.cache)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, start_new_session=True)
    pid = int(done.stdout)
    assert broker.status().pid == pid
    assert os.getsid(pid) == pid
    assert broker.stop()
    wait_gone(pid)


def test_a_stop_is_clean_and_is_told_apart_from_no_broker(broker: LocalBroker) -> None:
    started = broker.start()
    assert started.running
    assert broker.stop()
    assert (started.data / "data" / ".kafka_cleanshutdown").exists()
    stopped = broker.status()
    assert (stopped.running, stopped.pid, stopped.bootstrap, stopped.data) == (False, None, None, started.data)
    assert not broker.stop()


def test_a_broker_that_does_not_heed_is_ended_by_force(broker: LocalBroker) -> None:
    pid = running(broker.start().pid)
    os.kill(pid, signal.SIGSTOP)
    assert broker.stop(timeout_s=0.3)
    wait_gone(pid)


def test_a_process_id_that_is_another_process_now_does_no_harm(broker: LocalBroker) -> None:
    first = broker.start()
    broker.stop()
    with subprocess.Popen(["sleep", "60"]) as other:
        known = state.load(first.data)
        assert known is not None
        state.save(first.data, state.State(known.ports, other.pid))
        assert not broker.status().running
        assert not broker.stop()
        assert broker.start().pid != other.pid
        assert other.poll() is None
        other.kill()


@pytest.mark.parametrize("remembered", ["", "{torn", None])
def test_a_running_broker_is_found_without_what_was_remembered(broker: LocalBroker, remembered: str | None) -> None:
    first = broker.start()
    if remembered is None:
        (first.data / "state.json").unlink()
    else:
        (first.data / "state.json").write_text(remembered)
    assert broker.status() == first
    assert broker.start() == first


@pytest.mark.parametrize(("broken", "told"), BROKEN_DATA.values(), ids=BROKEN_DATA)
def test_a_failing_start_tells_the_brokers_own_reason(
    broker: LocalBroker, settings: Settings, broken: Callable[[str], str], told: str
) -> None:
    broker.start()
    broker.stop()
    meta = meta_properties(settings)
    whole = meta.read_text()
    meta.write_text(broken(whole))
    with pytest.raises(Unavailable, match=told) as failure:
        broker.start()
    assert len(str(failure.value).splitlines()) <= 7
    assert "\tat " not in str(failure.value)
    assert not broker.status().running
    meta.write_text(whole)
    assert broker.start().running


def test_data_of_an_unknown_cluster_is_never_formatted_over(broker: LocalBroker, settings: Settings) -> None:
    broker.start()
    broker.stop()
    meta_properties(settings).unlink()
    with pytest.raises(Misconfigured, match=r"no meta\.properties"):
        broker.start()
    assert not meta_properties(settings).exists()


@pytest.mark.parametrize("place", ["", "broker", "broker/data"])
def test_a_folder_that_cannot_be_used_is_told(broker: LocalBroker, settings: Settings, place: str) -> None:
    path = settings.home / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("a file")
    with pytest.raises(Misconfigured, match="cannot be used"):
        broker.start()


def test_a_start_that_takes_too_long_leaves_no_broker(broker: LocalBroker) -> None:
    broker.start()
    broker.stop()
    with pytest.raises(Unavailable, match=r"did not answer within 0\.1 s"):
        broker.start(timeout_s=0.1)
    assert not broker.status().running


def test_without_a_network_and_a_cache_it_says_what_to_do(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "")
    cache = tmp_path / "cache"
    with pytest.raises(Unavailable, match="could not be fetched") as failure:
        LocalBroker(settings.model_copy(update={"cache": cache})).start()
    assert "MEMLAKE_BROKER" in str(failure.value)
    assert "network" in str(failure.value)
    assert [path.name for path in (cache / "kafka").iterdir()] == ["lock"]


def test_a_second_run_uses_the_archive_of_the_first_and_never_a_damaged_one(settings: Settings, tmp_path: Path) -> None:
    class_path, kafka = jars.ensure(CACHE, print), tmp_path / "cache" / "kafka"
    kafka.mkdir(parents=True)
    (kafka / jars.VERSION).symlink_to(CACHE / "kafka" / jars.VERSION)
    class_path = [kafka / jars.VERSION / jar.name for jar in class_path]
    broker = LocalBroker(settings.model_copy(update={"cache": tmp_path / "cache"}))

    def used() -> list[Path]:
        option = archive.java_options(kafka / "archives", process.java(), class_path)[0]
        return [Path(path) for path in option.removeprefix("-XX:SharedArchiveFile=").split(os.pathsep)]

    assert len(used()) == 1
    broker.start()
    broker.stop()
    java, classes = used()
    classes.write_bytes(classes.read_bytes()[:-1])
    assert used() == [java]
    java.write_bytes(b"garbage")
    assert used()[0].stat().st_size > 1_000_000


async def test_a_name_that_is_no_topic_makes_none(broker: LocalBroker) -> None:
    bootstrap = broker.start().bootstrap
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await admin.start()
    try:
        await admin.describe_topics(["mistyped"])
        assert await admin.list_topics() == []
    finally:
        await admin.close()


def test_a_cluster_of_others_is_neither_started_nor_stopped(settings: Settings) -> None:
    broker = LocalBroker(settings.model_copy(update={"broker": "kafka.example:9092"}))
    for act in (broker.start, broker.stop):
        with pytest.raises(Misconfigured, match="MEMLAKE_BROKER names a cluster that memlake does not run"):
            act()
    assert not settings.home.exists()


def test_clients_are_told_where_the_broker_is(broker: LocalBroker, settings: Settings) -> None:
    with pytest.raises(Unavailable, match="memlake broker start"):
        bootstrap_of(settings)
    status = broker.start()
    assert bootstrap_of(settings) == status.bootstrap
    assert bootstrap_of(settings.model_copy(update={"broker": "kafka.example:9092"})) == "kafka.example:9092"
