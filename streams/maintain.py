"""Maintenance in the writer: tables are compacted between batches, by commits and by idle time, or when asked.

Rule of this file: a failure is counted, told and tried again later; it never stops the work on messages.
"""

import time
from datetime import timedelta

from lakehouse.maintenance import Maintained, MaintenancePolicy, MaintenanceState, compact
from lakehouse.store import Shard
from schemas.errors import MemlakeError
from schemas.identity import derived_id
from schemas.message import cloud_event
from schemas.reports import MaintenanceReport
from streams.logs import logger
from streams.ports import Ports
from streams.wire import Outgoing

TABLES = ("memories", "turns")
log = logger("maintain")


class Maintainer:
    """Compacts the shards that this worker owns."""

    def __init__(self, ports: Ports) -> None:
        settings = ports.settings
        self._ports = ports
        self._policy = MaintenancePolicy(
            settings.maintain_commits, settings.maintain_idle_s, timedelta(seconds=settings.keep_versions_s)
        )
        self._states: dict[tuple[int, str], MaintenanceState] = {}
        self._owned: frozenset[int] = frozenset()

    def own(self, partitions: frozenset[int]) -> None:
        """Only these shards are ours to compact."""
        self._owned = partitions

    async def tick(self) -> None:
        """Compact what is due; call it every second or so."""
        now = time.monotonic()
        for shard in self._ports.lake.opened():
            if shard.partition not in self._owned:
                continue
            for name in TABLES:
                state = self._states.setdefault((shard.partition, name), MaintenanceState())
                state.committed(now, shard.commits[name])
                reason = state.due(self._policy, now)
                if reason is not None and (report := await self._compact(shard, name, reason)):
                    await self._ports.outbox.send([report])

    async def by_command(self, partition: int) -> list[Outgoing | None]:
        """Compact both tables of a shard now.

        Returns:
            A report for ``memlake.reports`` for each table; None for one that could not be compacted.
        """
        shard = await self._ports.lake.shard(partition)
        return [await self._compact(shard, name, "by command") for name in TABLES]

    async def _compact(self, shard: Shard, name: str, reason: str) -> Outgoing | None:
        started = time.monotonic()
        table = f"{name}_{shard.partition:04}"
        state = self._states.setdefault((shard.partition, name), MaintenanceState())
        state.committed(started, shard.commits[name])
        try:
            done = await compact(shard, name, self._policy.keep, inside=self._inside)
        except MemlakeError as error:
            state.failed(started)
            self._ports.metrics.maintenance.labels(table, "failed").inc()
            log.warning("maintenance failed", table=table, reason=str(error))
            return None
        state.done(self._policy, time.monotonic(), done.rows)
        took = (time.monotonic() - started) * 1000
        self._ports.metrics.maintenance.labels(table, "done").inc()
        self._ports.metrics.fragments.labels(table).set(done.fragments_after)
        log.info("maintained", table=table, why=reason, fragments=done.fragments_after, rows=done.rows, ms=round(took))
        return self._report(table, shard.partition, reason, done, took_ms=took)

    def _inside(self) -> None:
        self._ports.faults.reached("maintain.inside")

    def _report(self, table: str, partition: int, reason: str, done: Maintained, *, took_ms: float) -> Outgoing:
        now = self._ports.clock()
        report = MaintenanceReport(
            table=table,
            partition=partition,
            reason=reason,
            fragments_before=done.fragments_before,
            fragments_after=done.fragments_after,
            rows=done.rows,
            duration_ms=round(took_ms, 1),
            timestamp=now,
        )
        headers = cloud_event(
            report,
            event_id=derived_id("maintenance", table, now.isoformat()),
            source=self._ports.outbox.source,
            time=now,
            key=report.kind,
        )
        return Outgoing("reports", report.kind, report.encode(), headers)
