"""Compacting a table: when, and what is kept.

Rule of this file: the owner of a shard calls it between two batches, under the shard's lock. Every commit leaves a
version and some files; without compaction a query slows down with age, not with data.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol

from lakehouse import tables

RETRY_S = 30.0
FEWEST_COMMITS = 25
ROWS_A_COMMIT = 200
"""A compaction may rewrite the whole table, so a table of n rows takes n / 200 commits before it is due."""


class Owned(Protocol):
    """Tables that have one writer; each is an attribute by its name."""

    lock: asyncio.Lock
    commits: dict[str, int]
    """Since the last compaction, by the table's name."""

    def require_present(self) -> None:
        """Raise ``Unavailable`` where the lake has gone."""


@dataclass(frozen=True)
class MaintenancePolicy:
    """What we want.

    Attributes:
        commits: Commits after which even the largest table is compacted.
        idle_s: Seconds without work after which a table with new commits is compacted.
        keep: How long old versions stay readable.
    """

    commits: int
    idle_s: float
    keep: timedelta

    def commits_for(self, rows: int) -> int:
        """Commits after which a table of so many rows is compacted: at least 25, at most ``commits``."""
        return min(self.commits, max(FEWEST_COMMITS, rows // ROWS_A_COMMIT))


@dataclass
class MaintenanceState:
    """What we have seen of one table since it was last compacted; times in seconds of the caller's clock."""

    commits: int = 0
    last_commit: float = 0.0
    not_before: float = 0.0
    """After a failure: when it may be tried again."""
    rows: int = 0
    """When it was last compacted."""
    leftover_due: float | None = None
    """When the versions that a compaction had to keep may go; None when there are none."""

    def committed(self, now: float, commits: int) -> None:
        """Take note of new commits."""
        if commits != self.commits:
            self.commits, self.last_commit = commits, now

    def due(self, policy: MaintenancePolicy, now: float) -> str | None:
        """Why the table should be compacted now; None when it shouldn't."""
        if now < self.not_before:
            return None
        if self.commits >= policy.commits_for(self.rows):
            return f"{self.commits} commits"
        if self.commits and now - self.last_commit >= policy.idle_s:
            return f"idle after {self.commits} commits"
        if not self.commits and self.leftover_due is not None and now >= self.leftover_due:
            return "old versions"
        return None

    def done(self, policy: MaintenancePolicy, now: float, rows: int) -> None:
        """It was compacted and has so many rows."""
        kept_some = self.commits > 0
        self.commits, self.not_before, self.rows = 0, 0.0, rows
        self.leftover_due = now + policy.keep.total_seconds() + 1 if kept_some else None

    def failed(self, now: float) -> None:
        """It could not be compacted: leave it for a while."""
        self.not_before = now + RETRY_S


@dataclass(frozen=True)
class Maintained:
    """What one round did."""

    table: str
    rows: int
    fragments_before: int
    fragments_after: int


async def compact(shard: Owned, name: str, keep: timedelta, inside: Callable[[], None] = lambda: None) -> Maintained:
    """Compact one table of a shard and drop versions older than ``keep``.

    Args:
        shard: Ours: nobody else writes it.
        name: Of the table, such as "memories" or "turns".
        keep: How long old versions stay readable.
        inside: Called once compaction is under way; a test can kill the process there.

    Raises:
        Unavailable: Disk or store failed; the table stays as it was and readable.
    """
    table = getattr(shard, name)
    async with shard.lock:
        shard.require_present()
        before = await _fragments(table)
        with tables.lake_errors():
            work = asyncio.ensure_future(table.optimize(cleanup_older_than=keep))
            await asyncio.sleep(0)
            inside()
            await work
        await _mend_word_index(table)
        after = await _fragments(table)
        shard.commits[name] = 0
        with tables.lake_errors():
            rows = await table.count_rows()
    return Maintained(table.name, rows, before, after)


async def _fragments(table: Any) -> int:
    with tables.lake_errors():
        stats = await table.stats()
    count: int = stats["fragment_stats"]["num_fragments"]
    return count


async def _mend_word_index(table: Any) -> None:
    """After a compaction every row must be in the keyword index; one that isn't means the index is broken."""
    with tables.lake_errors():
        for index in await table.list_indices():
            if index.columns == ["keywords"] and index.num_unindexed_rows:
                await table.create_index("keywords", config=tables.words_index(), replace=True)
