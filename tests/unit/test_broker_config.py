"""What Kafka and its Java are told, and how a broker is told from any other process."""

from pathlib import Path

import pytest

from schemas.topics import MIB, RECORD_BYTES, TOPICS
from streams.broker.config import Ports, java_options, logging_properties, marked_port, marks, server_properties

PORTS = Ports(broker=20_001, controller=20_002)
HOME = Path("/home/Zoë, and a friend/broker")


def parsed(text: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in text.splitlines())


def test_every_address_is_on_loopback() -> None:
    told = parsed(server_properties(PORTS, memory_mib=512))
    assert told["listeners"] == "PLAINTEXT://127.0.0.1:20001,CONTROLLER://127.0.0.1:20002"
    assert told["advertised.listeners"] == "PLAINTEXT://127.0.0.1:20001"
    assert told["controller.quorum.voters"] == "1@127.0.0.1:20002"


def test_the_largest_record_of_every_topic_passes() -> None:
    told = parsed(server_properties(PORTS, memory_mib=512))
    largest = max(spec.max_message_bytes for spec in TOPICS)
    assert largest == RECORD_BYTES
    for name in ("message.max.bytes", "replica.fetch.max.bytes"):
        assert int(told[name]) >= largest
    assert int(told["socket.request.max.bytes"]) > 4 * largest
    assert int(told["log.segment.bytes"]) > largest


def test_one_node_asks_for_no_second_copy() -> None:
    told = parsed(server_properties(PORTS, memory_mib=512))
    copies = {name: value for name, value in told.items() if name.endswith(("replication.factor", ".min.isr"))}
    assert len(copies) == 5
    assert set(copies.values()) == {"1"}


def test_topics_are_never_made_by_a_mistyped_name() -> None:
    assert parsed(server_properties(PORTS, memory_mib=512))["auto.create.topics.enable"] == "false"


@pytest.mark.parametrize(("heap_mib", "table_mib"), [(256, 16), (512, 32), (65_536, 128)])
def test_the_cleaners_table_is_a_small_part_of_the_heap(heap_mib: int, table_mib: int) -> None:
    told = parsed(server_properties(PORTS, memory_mib=heap_mib))
    assert told["log.cleaner.dedupe.buffer.size"] == str(table_mib * MIB)


def test_no_path_of_the_user_stands_in_a_properties_file() -> None:
    assert "/" not in server_properties(PORTS, memory_mib=512).replace("://", "")
    assert "/" not in logging_properties()


def test_the_log_is_bounded() -> None:
    told = parsed(logging_properties())
    assert told["appender.file.policies.size.size"] == "8MB"
    assert told["appender.file.strategy.max"] == "1"


def test_the_heap_is_the_set_one() -> None:
    assert "-Xmx300m" in java_options(HOME, memory_mib=300)


MARKED = ["java", "-Xmx512m", *marks(HOME, PORTS), "kafka.Kafka"]
NOT_OURS = {
    "no arguments": [],
    "another program": ["python", "-m", "http.server"],
    "another Kafka": ["java", "-Xmx512m", "kafka.Kafka"],
    "a broker of another home": ["java", *marks(Path("/home/else/broker"), PORTS), "kafka.Kafka"],
    "a broker of a home whose name begins alike": ["java", *marks(HOME / "broker", PORTS), "kafka.Kafka"],
    "marks without a port": ["java", marks(HOME, PORTS)[0], "kafka.Kafka"],
    "a search for the marks": ["grep", " ".join(marks(HOME, PORTS))],
}


def test_a_broker_is_known_by_its_marks() -> None:
    assert marked_port(HOME, MARKED) == 20_001


@pytest.mark.parametrize("command_line", NOT_OURS.values(), ids=NOT_OURS)
def test_other_processes_are_not_taken_for_the_broker(command_line: list[str]) -> None:
    assert marked_port(HOME, command_line) is None
