"""How hosts are treated: how much, how often and how long, and when one is left alone.

Rule of this file: pure. ``Limits`` is what we want and ``HostState`` what we have seen of one host; the clock is an
argument. A clock that was set back leaves no host alone for longer than it would have been.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

MEBIBYTE: Final = 1024 * 1024


@dataclass(frozen=True)
class Pace:
    """How often a host is asked.

    Attributes:
        per_s: Requests a second in the long run.
        burst: Requests at once after a pause.
        at_once: Requests under way.
    """

    per_s: float
    burst: int
    at_once: int


CONTENT_TYPES: Final = frozenset(
    {
        "",  # many hosts do not know what an inventory is
        "application/atom+xml",
        "application/gzip",
        "application/json",
        "application/octet-stream",
        "application/rss+xml",
        "application/vnd.github+json",
        "application/x-gzip",
        "application/x-tar",
        "application/xhtml+xml",
        "application/xml",
        "text/html",
        "text/markdown",
        "text/plain",
        "text/x-markdown",
        "text/x-rst",
        "text/xml",
    }
)
"""What documentation, inventories, metadata and source distributions come as."""


@dataclass(frozen=True)
class Limits:
    """What a fetch may take.

    Attributes:
        body_bytes: Of a body, packed and unpacked, where the caller names no other number.
        total_s: Seconds for everything that is not ours: names, connections, rules, redirects, the last byte.
        queue_s: Seconds in which it must be a request's turn; they do not count as the host's.
        connect_s: Seconds to connect to one address.
        redirects: That are followed.
        content_types: That are read; the header up to a semicolon, in lower case.
        pace: Of hosts.
        serial_pace: Of ``serial_hosts``.
        serial_hosts: Those that ask programs to come one request after another, by name.
        failures: In a row, after which a host is left alone.
        alone_s: Seconds for which it is; then one request may look.
        longest_wait_s: Of the seconds that a host asks to wait, at most these are waited.
        refused_s: Seconds in which a page that is gone, refused or not allowed is not asked for again.
        failed_s: Seconds in which a page that failed is not asked for again.
    """

    body_bytes: int = 2 * MEBIBYTE
    total_s: float = 2.0
    queue_s: float = 30.0
    connect_s: float = 1.0
    redirects: int = 3
    content_types: frozenset[str] = CONTENT_TYPES
    pace: Pace = Pace(per_s=2.0, burst=4, at_once=2)
    serial_pace: Pace = Pace(per_s=1.0, burst=1, at_once=1)
    serial_hosts: frozenset[str] = frozenset()
    failures: int = 5
    alone_s: float = 60.0
    longest_wait_s: float = 24 * 3600.0
    refused_s: float = 24 * 3600.0
    failed_s: float = 60.0

    def pace_of(self, host: str) -> Pace:
        """How often a host is asked.

        Args:
            host: Its name.
        """
        return self.serial_pace if host in self.serial_hosts else self.pace


class HostState:
    """What was seen of one host. Whoever gets a yes from ``admits`` tells how it ended, by one of the three below."""

    def __init__(self, failures: int, alone_s: float) -> None:
        """Begin with nothing seen.

        Args:
            failures: In a row, after which it is left alone.
            alone_s: Seconds for which it is.
        """
        self._most = failures
        self._alone = timedelta(seconds=alone_s)
        self._failures = 0
        self._since: datetime | None = None
        self._pause = timedelta(0)
        self._trying = False

    def alone_for(self, now: datetime) -> timedelta | None:
        """For how long it is still left alone; None where it may be asked, if only by one."""
        if self._since is None:
            return None
        left = self._since + self._pause - now
        return left if timedelta(0) < left <= self._pause else None

    def admits(self, now: datetime) -> bool:
        """Whether a request may go out now; after a pause only one at a time, until one has succeeded."""
        if self.alone_for(now) is not None or self._trying:
            return False
        self._trying = self._since is not None
        return True

    def answered(self, now: datetime) -> None:
        """It has answered, whatever it said. A pause that began meanwhile goes on."""
        if self.alone_for(now) is None:
            self._since = None
        self._failures, self._trying = 0, False

    def failed(self, now: datetime) -> None:
        """It gave no answer, a broken one, or one that tells of a fault of its own."""
        self._failures += 1
        if self._failures >= self._most or self._trying:
            self._since, self._pause = now, self._alone
        self._trying = False

    def asked_to_wait(self, now: datetime, seconds: float) -> None:
        """It asks to be left alone.

        Args:
            now: When.
            seconds: For how long.
        """
        self._since, self._pause, self._trying = now, timedelta(seconds=seconds), False

    def released(self) -> None:
        """A request ended without telling anything about it."""
        self._trying = False
