"""Hosts on loopback that answer byte for byte as a test wants, and a fetcher that may ask them."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from lakehouse.external.fetch import Fetcher, agent_of
from lakehouse.external.hosts import Limits, Pace
from lakehouse.external.source import Origin, Site

HOST = "127.0.0.1"
QUICK = Limits(pace=Pace(per_s=10_000, burst=1_000, at_once=50), total_s=5.0)
"""As usual, but for the pace."""
Reply = bytes | Callable[["Asked", asyncio.StreamWriter], Awaitable[None]]


@dataclass(frozen=True)
class Asked:
    """A request as it came; header names in lower case."""

    path: str
    headers: dict[str, str]


def reply(body: bytes = b"", status: int = 200, **headers: str) -> bytes:
    """A whole answer; a header's name has "_" for "-"."""
    told = {"Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(body))}
    told |= {name.replace("_", "-").title(): value for name, value in headers.items()}
    lines = [f"HTTP/1.1 {status} Some", *(f"{name}: {value}" for name, value in told.items())]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def redirect(to: str, status: int = 302) -> bytes:
    return reply(status=status, location=to)


def chunked(pieces: Iterable[bytes], *, content_type: str = "text/html") -> Reply:
    """A body of which nobody says beforehand how long it is."""

    async def send(_: Asked, writer: asyncio.StreamWriter) -> None:
        begin = reply(content_type=content_type).replace(b"Content-Length: 0\r\n", b"Transfer-Encoding: chunked\r\n")
        writer.write(begin)
        for piece in pieces:
            writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            await writer.drain()
        writer.write(b"0\r\n\r\n")

    return send


@dataclass
class Host:
    """One that is served. Paths that it does not know are not found, /robots.txt among them."""

    scheme: str = "http"
    port: int = 0
    pages: dict[str, Reply] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    news: asyncio.Event = field(default_factory=asyncio.Event)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def paths(self) -> list[str]:
        """What was asked for, without /robots.txt."""
        return [asked.path for asked in self.asked if asked.path != "/robots.txt"]

    def url(self, path: str = "/", host: str = HOST) -> str:
        return f"{self.scheme}://{host}:{self.port}{path}"

    def site(self, host: str = HOST) -> Site:
        return Site("sphinx", "flask", self.url(host=host), version="3.0")

    def origin(self, host: str = HOST) -> Origin:
        return Origin(self.scheme, host, self.port)

    async def until_asked(self, times: int) -> None:
        """Wait until so many pages were asked for."""
        while len(self.paths) < times:
            self.news.clear()
            await self.news.wait()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._answer(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # whoever asked has gone, or the test has ended
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        fields = (line.partition(":") for line in head[1:] if line)
        asked = Asked(head[0].split(" ")[1], {name.lower(): value.strip() for name, _, value in fields})
        self.asked.append(asked)
        self.news.set()
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            page = self.pages.get(asked.path, reply(status=404))
            if isinstance(page, bytes):
                writer.write(page)
            else:
                await page(asked, writer)
            await writer.drain()
        finally:
            self.at_once -= 1

    def stop(self) -> None:
        for task in list(self._tasks):
            task.cancel()


@asynccontextmanager
async def served(tls: ssl.SSLContext | None = None) -> AsyncIterator[Host]:
    """A host as long as the block lasts."""
    host = Host(scheme="http" if tls is None else "https")
    server = await asyncio.start_server(host.answer, HOST, 0, ssl=tls)
    host.port = server.sockets[0].getsockname()[1]
    try:
        yield host
    finally:
        server.close()
        host.stop()
        await server.wait_closed()
        await asyncio.sleep(0)


@dataclass
class Clock:
    """The time, as a test wants it."""

    now: datetime = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def pass_by(self, **spent: float) -> None:
        self.now += timedelta(**spent)


@dataclass
class Names:
    """What names resolve to, in turns where there are several answers; each question is counted."""

    answers: list[list[str]]
    asked: int = 0

    async def __call__(self, host: str, port: int) -> list[str]:
        self.asked += 1
        return self.answers[min(self.asked, len(self.answers)) - 1]


def fetcher(*hosts: Host, limits: Limits = QUICK, clock: Clock | None = None, **further: Any) -> Fetcher:
    """One that may ask these hosts of this machine."""
    settings: dict[str, Any] = {"loopback": {HOST}, **further}
    allowed = settings.pop("allowed", {host.origin() for host in hosts})
    return Fetcher(allowed, agent=agent_of("mailto:ops@example.org"), clock=clock or Clock(), limits=limits, **settings)


def slow(**changes: Any) -> Limits:
    """Limits for hosts that take too long."""
    return replace(QUICK, **{"total_s": 0.2, **changes})
