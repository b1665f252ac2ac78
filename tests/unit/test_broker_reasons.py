"""The few lines that tell why a broker did not start."""

import pytest

from streams.broker.reasons import LINES, WIDTH, is_port_taken, reason

NODE_ID = """\
2026-11-30T00:16:57,751 WARN [QuorumController id=1] Performing controller activation. (QuorumController)
2026-11-30T00:16:57,952 ERROR Exiting Kafka due to fatal exception (Kafka$)
java.lang.RuntimeException: Stored node id 2 doesn't match previous node id 1 in data/meta.properties.
\tat org.apache.kafka.metadata.properties.MetaPropertiesEnsemble.verify(MetaPropertiesEnsemble.java:502)
\tat kafka.server.KafkaRaftServer$.initializeLogDirs(KafkaRaftServer.scala:135)
\tat kafka.Kafka.main(Kafka.scala)
"""
BIND = """\
2026-11-30T00:30:25,777 ERROR Unable to start acceptor for PLAINTEXT (DataPlaneAcceptor)
org.apache.kafka.common.KafkaException: Socket server failed to bind to 127.0.0.1:19092: Address already in use.
\tat kafka.network.Acceptor.openServerSocket(SocketServer.scala:615)
Caused by: java.net.BindException: Address already in use
\tat java.base/sun.nio.ch.Net.bind0(Native Method)
\t... 18 more
2026-11-30T00:30:25,784 ERROR [BrokerServer id=1] Received a fatal error while waiting (BrokerServer)
java.lang.RuntimeException: Unable to start acceptor for PLAINTEXT
Caused by: o.a.k.common.KafkaException: Socket server failed to bind to 127.0.0.1:19092: Address already in use.
\t... 16 more
2026-11-30T00:30:25,785 ERROR [BrokerServer id=1] Fatal error during broker startup (BrokerServer)
2026-11-30T00:30:25,790 ERROR Exiting Kafka due to fatal exception during startup. (Kafka$)
"""
MACHINE = """\
Error occurred during initialization of VM
Could not reserve enough space for 67108864KB object heap
"""
KILLED = "Terminating due to java.lang.OutOfMemoryError: Java heap space\n"

CASES = {
    "the error and its exception, without stack, stamp and package": (
        NODE_ID,
        """\
ERROR Exiting Kafka due to fatal exception
RuntimeException: Stored node id 2 doesn't match previous node id 1 in data/meta.properties.""",
    ),
    "the first of a chain of errors": (
        BIND,
        """\
ERROR Unable to start acceptor for PLAINTEXT
KafkaException: Socket server failed to bind to 127.0.0.1:19092: Address already in use.
BindException: Address already in use
ERROR [BrokerServer id=1] Received a fatal error while waiting
RuntimeException: Unable to start acceptor for PLAINTEXT""",
    ),
    "Java itself": (MACHINE, "Error occurred during initialization of VM"),
    "no memory": (KILLED, "Terminating due to OutOfMemoryError: Java heap space"),
    "no error logged": ("2026-11-30T00:16:57,952 WARN odd (Kafka$)\n\nlast words\n", "WARN odd\nlast words"),
    "the same twice": ("ERROR a (X)\nERROR a (Y)\n", "ERROR a"),
    "nothing logged": ("", ""),
}


@pytest.mark.parametrize(("log", "told"), CASES.values(), ids=CASES)
def test_a_reason_is_what_the_broker_said(log: str, told: str) -> None:
    assert reason(log) == told


def test_a_long_log_gives_its_first_errors_and_no_endless_line() -> None:
    log = "\n".join(f"ERROR number {number} {'x' * 1000}" for number in range(50))
    lines = reason(log).splitlines()
    assert [line.split()[2] for line in lines] == ["0", "1", "2", "3", "4"]
    assert len(lines) == LINES
    assert max(map(len, lines)) <= WIDTH


def test_a_taken_port_is_recognised_in_the_brokers_words() -> None:
    assert is_port_taken(reason(BIND))
    assert not is_port_taken(reason(NODE_ID))
