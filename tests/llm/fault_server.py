"""An OpenAI-compatible endpoint on raw sockets that does whatever a script says, right or wrong.

Rule of this file: it knows HTTP well enough to break it, and nothing of memlake but the names of its two schemas. Each
request takes the next behaviour of its kind; the last one is repeated.
"""

import asyncio
import gzip
import json
import socket
import struct
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

Behaviour = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
PLAIN = "plain"
"""Kind of a request whose schema has no name, because it carries none."""


@dataclass(frozen=True)
class Received:
    """A request as it came."""

    kind: str
    path: str
    headers: Mapping[str, str]
    payload: dict[str, Any]

    @property
    def text(self) -> str:
        """What the last of its own messages says: the data."""
        return str(self.payload["messages"][1]["content"])


@dataclass
class FaultServer:
    """The endpoint.

    Attributes:
        scripts: Behaviours by kind of request.
        received: Every request, in order.
        under_way: Requests that have no answer yet.
        most: The most that were under way at once.
    """

    scripts: dict[str, list[Behaviour]] = field(default_factory=dict)
    received: list[Received] = field(default_factory=list)
    under_way: int = 0
    most: int = 0
    _server: asyncio.Server | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def url(self) -> str:
        """Base of the endpoint."""
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    def script(self, kind: str, *behaviours: Behaviour) -> None:
        """Say what is done with the next requests of a kind."""
        self.scripts[kind] = list(behaviours)

    def of_kind(self, kind: str) -> list[Received]:
        """The requests of a kind."""
        return [request for request in self.received if request.kind == kind]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            request = await _read(reader)
            self.received.append(request)
            behaviours = self.scripts.get(request.kind) or self.scripts["any"]
            behaviour = behaviours.pop(0) if len(behaviours) > 1 else behaviours[0]
            await _until_gone(behaviour, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # whoever asked has gone
        except asyncio.CancelledError:
            pass  # the server ends; asyncio's own callback would complain of it
        finally:
            self.under_way -= 1
            writer.close()


async def _until_gone(behaviour: Behaviour, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Behave until that is done, or until the other side hangs up."""
    doing = asyncio.ensure_future(behaviour(reader, writer))
    gone = asyncio.ensure_future(_gone(reader))
    try:
        await asyncio.wait({doing, gone}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (doing, gone):
            task.cancel()
        await asyncio.gather(doing, gone, return_exceptions=True)


async def _gone(reader: asyncio.StreamReader) -> None:
    """Wait until the other side hangs up; whatever else it says is of no interest."""
    while await reader.read(1024):
        pass


async def _read(reader: asyncio.StreamReader) -> Received:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:]) if name}
    payload = json.loads(await reader.readexactly(int(headers.get("content-length", "0"))))
    told = payload.get("response_format", {}).get("json_schema", {})
    return Received(told.get("name", PLAIN), head[0].split()[1], headers, payload)


def raw(*parts: bytes, pause_s: float = 0.0) -> Behaviour:
    """Send these bytes, with a pause before each but the first."""

    async def behave(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for index, part in enumerate(parts):
            if index:
                await asyncio.sleep(pause_s)
            writer.write(part)
            await writer.drain()

    return behave


def status(code: int, body: Any = "", *, content_type: str = "application/json", **headers: str) -> Behaviour:
    """A whole reply; names of headers are written with underscores."""
    text = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
    told = {"content-type": content_type, "content-length": str(len(text)), "connection": "close"}
    told |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = f"HTTP/1.1 {code} X\r\n" + "".join(f"{name}: {value}\r\n" for name, value in told.items())
    return raw(head.encode() + b"\r\n" + text)


def message(content: Any, *, finish: str = "stop", tokens: tuple[int, int] = (100, 20), **extra: Any) -> dict[str, Any]:
    """A chat completion."""
    return {
        "choices": [
            {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content} | extra}
        ],
        "usage": {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]},
    }


def says(content: Any, **options: Any) -> Behaviour:
    """The model says this; what is no text is said as JSON."""
    return status(
        200, message(content if isinstance(content, str) or content is None else json.dumps(content), **options)
    )


def error(code: int, told: str = "", **headers: str) -> Behaviour:
    """The endpoint refuses, with a code of its own."""
    return status(code, {"error": {"message": "it does not", "code": told or None, "type": told or None}}, **headers)


def after(seconds: float, then: Behaviour) -> Behaviour:
    """Do something later."""

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(seconds)
        await then(reader, writer)

    return behave


def held(release: asyncio.Event, then: Behaviour) -> Behaviour:
    """Do something when it is let go."""

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await release.wait()
        await then(reader, writer)

    return behave


async def closes(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Close the connection without a word."""
    writer.close()


async def resets(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Reset the connection."""
    told: socket.socket = writer.get_extra_info("socket")
    told.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def hangs(_: asyncio.StreamReader, __: asyncio.StreamWriter) -> None:
    """Say nothing for ever."""
    await asyncio.Event().wait()


_OK = json.dumps(message("{}")).encode()
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
DRIPS = raw(_HEAD + b"content-length: 200\r\n\r\n", *([b" "] * 200), pause_s=0.05)
STALLS = raw(_HEAD + b"content-length: 200\r\n\r\n{", b"}", pause_s=30)
CUT_BODY = raw(_HEAD + b"content-length: 5000\r\nconnection: close\r\n\r\n" + _OK)
BAD_CHUNK = raw(_HEAD + b"transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n")
NO_STATUS = raw(b"well, hello\r\n\r\n")
BAD_GZIP = status(200, b"\x1f\x8bthis is no gzip", content_encoding="gzip")
GOOD_GZIP = status(200, gzip.compress(_OK), content_encoding="gzip")
LARGE = status(200, b" " * 1_000_000)
ENDLESS = raw(_HEAD + b"connection: close\r\n\r\n", *([b" " * 65_536] * 1000))
HTML = status(200, "<html>Welcome to the proxy</html>", content_type="text/html")
HTML_502 = status(502, "<html>Bad gateway</html>", content_type="text/html")
NOT_UTF8 = status(200, b'{"choices": "\xff\xfe"}')
