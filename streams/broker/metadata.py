"""Ask a broker for its metadata, in Kafka's own protocol.

Rule of this file: the one request that proves that a broker answers, with a plain socket, so that it can be asked from
any thread, inside or outside an event loop, and before any client is imported.
"""

import socket
import struct
from dataclasses import dataclass

from schemas.errors import Unavailable

_METADATA, _VERSION = 3, 2
_CORRELATION = 1
_CLIENT = b"memlake"
_LARGEST_BYTES = 1 << 20


@dataclass(frozen=True)
class Cluster:
    """What a broker says of its cluster.

    Attributes:
        id: The cluster's id.
        brokers: ``host:port`` of each broker.
    """

    id: str
    brokers: tuple[str, ...]


def ask(host: str, port: int, *, timeout_s: float) -> Cluster:
    """Send one metadata request for no topic and read the answer.

    Args:
        host: Where the broker is.
        port: Its port.
        timeout_s: Deadline of each step.

    Raises:
        Unavailable: Nobody answers there, or not as Kafka does.
    """
    try:
        with socket.create_connection((host, port), timeout_s) as connection:
            connection.sendall(request())
            (size,) = struct.unpack(">i", _read(connection, 4))
            if not 0 < size <= _LARGEST_BYTES:
                raise Unavailable(f"{host}:{port} does not answer as Kafka does")
            return answer(_read(connection, size))
    except (OSError, struct.error, UnicodeDecodeError) as error:
        raise Unavailable(f"{host}:{port} does not answer: {error}") from error


def request() -> bytes:
    """A metadata request for no topics, framed."""
    header = struct.pack(f">hhih{len(_CLIENT)}s", _METADATA, _VERSION, _CORRELATION, len(_CLIENT), _CLIENT)
    body = header + struct.pack(">i", 0)
    return struct.pack(">i", len(body)) + body


def answer(payload: bytes) -> Cluster:
    """Read the answer to ``request``.

    Raises:
        Unavailable: It is the answer to something else.
        struct.error: It is cut off.
    """
    correlation, count = struct.unpack_from(">ii", payload)
    if correlation != _CORRELATION or count < 0:
        raise Unavailable("the metadata is the answer to another question")
    at = 8
    brokers = []
    for _ in range(count):
        host, at = _string(payload, at + 4)
        (port,) = struct.unpack_from(">i", payload, at)
        _, at = _string(payload, at + 4)
        brokers.append(f"{host}:{port}")
    cluster, _ = _string(payload, at)
    return Cluster(cluster, tuple(brokers))


def _string(payload: bytes, at: int) -> tuple[str, int]:
    (size,) = struct.unpack_from(">h", payload, at)
    if size < 0:
        return "", at + 2
    (text,) = struct.unpack_from(f">{size}s", payload, at + 2)
    return text.decode(), at + 2 + size


def _read(connection: socket.socket, size: int) -> bytes:
    parts: list[bytes] = []
    while size:
        part = connection.recv(size)
        if not part:
            raise ConnectionResetError("the connection was closed")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
