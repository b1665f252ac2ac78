"""The topics: one row each. Names, keys, sizes and retention are declared here and nowhere else.

Rule of this file: data. ``memlake topics apply`` makes the broker look like this table; the documentation is generated
from it. A new topic is a new row.
"""

from dataclasses import dataclass
from typing import Literal

DAY_MS = 24 * 60 * 60 * 1000
MIB = 1024 * 1024
INPUT_BYTES = 8 * MIB
RECORD_BYTES = 24 * MIB
"""A record of 8 MiB, masked and with its facts, fits into a topic of this size."""

Suffix = Literal[
    "turns",
    "commands",
    "facts",
    "changes",
    "queries",
    "replies",
    "knowledge.refresh",
    "knowledge.changes",
    "reports",
    "deadletters",
]


@dataclass(frozen=True)
class TopicSpec:
    """What one topic must be.

    Attributes:
        suffix: The name behind the deployment's.
        key: What the record's key is, in words.
        messages: Kinds of message on it.
        retention_ms: How long records are kept; None is for ever.
        scoped: Whether its partition is that of the scope; such topics have the same number of partitions.
        compacted: Whether the newest record of each key is all that is kept.
        max_message_bytes: The largest record.
        log_append_time: Whether the broker stamps records; its stamp is then ``recordedAt``.
    """

    suffix: Suffix
    key: str
    messages: tuple[str, ...]
    retention_ms: int | None
    scoped: bool = False
    compacted: bool = False
    max_message_bytes: int = MIB
    log_append_time: bool = False

    def config(self) -> dict[str, str]:
        """The broker's settings for this topic."""
        config = {
            "cleanup.policy": "compact" if self.compacted else "delete",
            "retention.ms": str(-1 if self.retention_ms is None else self.retention_ms),
            "max.message.bytes": str(self.max_message_bytes),
            "message.timestamp.type": "LogAppendTime" if self.log_append_time else "CreateTime",
        }
        if self.compacted:
            # Erasing is a tombstone per record: it must reach consumers before it is compacted away, and must be
            # compacted away within the hour.
            config |= {"min.compaction.lag.ms": str(10 * 60 * 1000), "max.compaction.lag.ms": str(60 * 60 * 1000)}
        return config


TOPICS: tuple[TopicSpec, ...] = (
    TopicSpec(
        "turns", "scope", ("turn",), 7 * DAY_MS, scoped=True, max_message_bytes=INPUT_BYTES, log_append_time=True
    ),
    TopicSpec(
        "commands", "scope", ("command",), 7 * DAY_MS, scoped=True, max_message_bytes=INPUT_BYTES, log_append_time=True
    ),
    TopicSpec(
        "facts",
        "recordId#nonce",
        ("turn-record", "command-record", "repeat"),
        None,
        scoped=True,
        compacted=True,
        max_message_bytes=RECORD_BYTES,
    ),
    TopicSpec(
        "changes",
        "scope#sequence",
        ("memory-event",),
        None,
        scoped=True,
        compacted=True,
        max_message_bytes=RECORD_BYTES,
    ),
    TopicSpec("queries", "scope", ("search-request",), DAY_MS // 24, scoped=True),
    TopicSpec(
        "replies", "correlation id", ("reply", "turn-report", "error"), DAY_MS // 24, max_message_bytes=RECORD_BYTES
    ),
    TopicSpec("knowledge.refresh", "host", ("refresh-request", "accesses", "upkeep"), DAY_MS),
    TopicSpec("knowledge.changes", "source", ("document-event",), None, max_message_bytes=RECORD_BYTES),
    TopicSpec("reports", "report kind", ("maintenance-report", "knowledge-maintenance", "usage-report"), 90 * DAY_MS),
    TopicSpec("deadletters", "as it came", ("dead-letter",), 30 * DAY_MS, max_message_bytes=RECORD_BYTES),
)
BY_SUFFIX: dict[str, TopicSpec] = {spec.suffix: spec for spec in TOPICS}


def topic_name(deployment: str, suffix: Suffix) -> str:
    """``<deployment>.<suffix>``, so that two deployments on one broker never meet."""
    return f"{deployment}.{suffix}"
