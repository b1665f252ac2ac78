"""What Kafka and its Java machine are told.

Rule of this file: pure text, no I/O. Kafka runs *in* its folder and is given names relative to it, so that no path of
the user's (spaces, commas, accents) ever has to pass through a properties file.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from schemas.topics import MIB, RECORD_BYTES

DATA = "data"
PROPERTIES = "server.properties"
LOGGING = "log4j2.properties"
LOG = "broker.log"
CONSOLE = "console.log"
SCRATCH = "tmp"

HOST = "127.0.0.1"
NODE = 1
REQUEST_BYTES = 4 * RECORD_BYTES + 4 * MIB
"""A client sends one record batch of each of its partitions in one request."""
CLEANER_SHARE, CLEANER_MIB = 16, 128
"""The cleaner's table of keys takes this part of the heap, up to Kafka's default (half of the smallest heap here)."""

_MARK = "-Dmemlake.broker="
_PORT = "-Dmemlake.port="


@dataclass(frozen=True)
class Ports:
    """The two ports of one node, 1 to 65535."""

    broker: int
    controller: int

    @property
    def bootstrap(self) -> str:
        """Where clients ask first."""
        return f"{HOST}:{self.broker}"


Properties = dict[str, str | int]


def server_properties(ports: Ports, *, memory_mib: int) -> str:
    """The configuration of the node.

    Args:
        ports: Where it listens, on loopback.
        memory_mib: The Java heap, MiB.
    """
    settings = _who_and_where(ports) | _one_of_everything() | _sizes(memory_mib) | _pace()
    return "".join(f"{name}={value}\n" for name, value in settings.items())


def _who_and_where(ports: Ports) -> Properties:
    return {
        "process.roles": "broker,controller",
        "node.id": NODE,
        # The voter is given here and not kept in the metadata, so that a changed port needs no more than this file.
        "controller.quorum.voters": f"{NODE}@{HOST}:{ports.controller}",
        "listeners": f"PLAINTEXT://{HOST}:{ports.broker},CONTROLLER://{HOST}:{ports.controller}",
        "advertised.listeners": f"PLAINTEXT://{HOST}:{ports.broker}",
        "inter.broker.listener.name": "PLAINTEXT",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "log.dirs": DATA,
    }


def _one_of_everything() -> Properties:
    """One node holds the only copy; what memlake declares is all there is."""
    return {
        # Topics are declared by memlake; a mistyped name must fail, not become a topic.
        "auto.create.topics.enable": "false",
        "group.initial.rebalance.delay.ms": 0,
        "offsets.topic.replication.factor": 1,
        "offsets.topic.num.partitions": 8,
        "offsets.topic.segment.bytes": 16 * MIB,
        "transaction.state.log.replication.factor": 1,
        "transaction.state.log.min.isr": 1,
        "transaction.state.log.num.partitions": 4,
        "share.coordinator.state.topic.replication.factor": 1,
        "share.coordinator.state.topic.min.isr": 1,
        "share.coordinator.state.topic.num.partitions": 4,
        "auto.leader.rebalance.enable": "false",
    }


def _sizes(memory_mib: int) -> Properties:
    return {
        "message.max.bytes": RECORD_BYTES,
        "replica.fetch.max.bytes": RECORD_BYTES,
        "socket.request.max.bytes": REQUEST_BYTES,
        "log.segment.bytes": 64 * MIB,
        "log.index.size.max.bytes": MIB,
        "log.cleaner.enable": "true",
        "log.cleaner.dedupe.buffer.size": min(memory_mib // CLEANER_SHARE, CLEANER_MIB) * MIB,
        "metadata.log.segment.bytes": 8 * MIB,
        "metadata.max.retention.bytes": 32 * MIB,
        "num.network.threads": 2,
        "num.io.threads": 4,
        "background.threads": 4,
    }


def _pace() -> Properties:
    return {
        # One copy, no replica to recover from: a power cut may cost a second of records, not all since the last flush.
        "log.flush.interval.ms": 1000,
        "log.flush.scheduler.interval.ms": 1000,
        # An idle node writes nothing: by default it would add two metadata records a second for ever.
        "metadata.max.idle.interval.ms": 0,
        # After a kill the node waits until its own former session has run out: 3 s, not 9.
        "broker.session.timeout.ms": 3000,
        "broker.heartbeat.interval.ms": 1000,
    }


def logging_properties() -> str:
    """Logging: what matters, into a log of 8 MiB and one older."""
    return f"""\
status=error
appender.file.type=RollingFile
appender.file.name=file
appender.file.fileName={LOG}
appender.file.filePattern={LOG}.%i
appender.file.layout.type=PatternLayout
appender.file.layout.pattern=%d{{ISO8601}} %p %m (%c{{1}})%n
appender.file.policies.type=Policies
appender.file.policies.size.type=SizeBasedTriggeringPolicy
appender.file.policies.size.size=8MB
appender.file.strategy.type=DefaultRolloverStrategy
appender.file.strategy.max=1
rootLogger.level=warn
rootLogger.appenderRef.file.ref=file
"""


def java_options(folder: Path, *, memory_mib: int) -> list[str]:
    """Options of every Java run in the folder."""
    return [
        f"-Xmx{memory_mib}m",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        # A node without memory answers nobody: it ends, says why, and can be started again.
        "-XX:+ExitOnOutOfMemoryError",
        "-XX:-UsePerfData",
        "-XX:ErrorFile=crash.log",
        "-Xlog:disable",  # Java's grumbling about archives and modules would hide the broker's reason
        "-Djava.awt.headless=true",
        f"-Djava.io.tmpdir={folder / SCRATCH}",
        f"-Dlog4j2.configurationFile={LOGGING}",
    ]


def marks(folder: Path, ports: Ports) -> list[str]:
    """Arguments that do nothing but tell, in the table of processes, whose broker this is and where it answers."""
    return [f"{_MARK}{folder}", f"{_PORT}{ports.broker}"]


def marked_port(folder: Path, command_line: Sequence[str]) -> int | None:
    """The port of the broker that this command line runs.

    Args:
        folder: The broker's folder, as it was given to ``marks``.
        command_line: A process' arguments.

    Returns:
        None where the process is no broker of this folder.
    """
    if f"{_MARK}{folder}" not in command_line:
        return None
    told = next((part.removeprefix(_PORT) for part in command_line if part.startswith(_PORT)), "")
    return int(told) if told.isdecimal() else None
