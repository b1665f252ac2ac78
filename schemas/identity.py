"""Who is who: deterministic ids and partitions.

Rule of this file: an id is a function of what caused the thing and of nothing else, so that a message delivered twice
makes the same thing twice. The scope is part of every id: equal turn ids in two scopes are two turns.
"""

import json
import uuid
from urllib.parse import quote

NAMESPACE = uuid.UUID("6d656d6c-616b-5e00-8000-000000000001")
_JOINED = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def derived_id(kind: str, *parts: object) -> str:
    """UUIDv5 of a kind and the parts that caused it.

    Args:
        kind: What is named ("turn", "fact", "event", …), so that two kinds never share an id.
        parts: JSON values. They are joined as JSON, so ("ab", "c") and ("a", "bc") differ.

    Returns:
        The UUID as 36 lower-case characters.
    """
    return str(uuid.uuid5(NAMESPACE, _JOINED.encode([kind, *parts])))


def scope_key(project_id: str, user_id: str) -> str:
    """The partition key of a scope: ``projectId/userId``, each percent-encoded."""
    return f"{quote(project_id, safe='')}/{quote(user_id, safe='')}"


def partition_of(key: str, partitions: int) -> int:
    """Partition of a key, as the Java clients choose it (murmur2, sign bit cleared).

    Args:
        key: The record key; UTF-8 on the wire.
        partitions: Number of partitions, at least 1.

    Returns:
        0 … partitions - 1.
    """
    return (murmur2(key.encode()) & 0x7FFFFFFF) % partitions


def murmur2(data: bytes) -> int:
    """Kafka's murmur2 (seed 0x9747b28c) as an unsigned 32-bit number.

    Source: ``org.apache.kafka.common.utils.Utils.murmur2``; Austin Appleby's MurmurHash2, public domain.
    """
    mask, mix = 0xFFFFFFFF, 0x5BD1E995
    length = len(data)
    value = (0x9747B28C ^ length) & mask
    whole = length - length % 4
    for start in range(0, whole, 4):
        word = int.from_bytes(data[start : start + 4], "little") * mix & mask
        word = (word ^ word >> 24) * mix & mask
        value = (value * mix & mask) ^ word
    if whole < length:
        value = (value ^ int.from_bytes(data[whole:], "little")) * mix & mask
    value = (value ^ value >> 13) * mix & mask
    return value ^ value >> 15
