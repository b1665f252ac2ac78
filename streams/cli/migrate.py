"""``memlake knowledge migrate``: metadata of documentation into a graph database, and whether that is worth it.

Rule of this file: never by itself. What is cheaper comes first; what is in the lake stays there.
"""

import dataclasses
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import click

from schemas.errors import MemlakeError
from streams.cli.options import as_json, emit, run, say, settings

ADVISED_ON_DAYS = 28


@click.command()
@click.option("--uri", metavar="BOLT", help="Where it is: bolt://127.0.0.1:7687; without it, only advice is given.")
@click.option("--user", "name", metavar="NAME", default="neo4j", show_default=True, help="Who asks.")
@click.option("--password", envvar="MEMLAKE_NEO4J_PASSWORD", metavar="TEXT", default="", help="Its password.")
@click.option("--dry-run", is_flag=True, help="Only say what would be written.")
@as_json
def migrate(uri: str | None, name: str, password: str, dry_run: bool, json_lines: bool) -> None:
    """Copy metadata of documents and findings into a Neo4j 5 server; run again, it goes on.

    Without --uri it says whether that is worth it, by what the last four weeks measured, and what is cheaper.
    """
    if uri is None:
        told = run(_advice())
        if json_lines:
            emit(dataclasses.asdict(told))
            return
        print(told.reason)
        for cure in told.cures:
            print(f"- {cure}")
        return
    report = run(_migrated(uri, name, password, dry_run=dry_run))
    if json_lines:
        emit(dataclasses.asdict(report))
    else:
        say(f"{report.documents} documents: {report.written} written, {report.kept} there already")
        say(f"{report.findings} findings, {sum(report.left_out.values())} left out")
    if faults := len(report.missing) + len(report.different) + len(report.unlinked):
        raise MemlakeError(f"the graph differs from the lake in {faults} places: run it again")


async def _advice() -> Any:
    from lakehouse.external.migration import migration_advice
    from lakehouse.external.report import weekly_analysis
    from lakehouse.external.store import DocumentStore

    store = await DocumentStore.open(settings().lake_uri)
    now = datetime.now(UTC)
    told = await weekly_analysis(store, until=now, days=ADVISED_ON_DAYS)
    lookups = (await store.lookups(told.since, now)).values()
    reached = [one for one in lookups if one.stage != "project"]
    days = (now - min((one.at for one in reached), default=now)).total_seconds() / 86_400
    return migration_advice(told.cache_hit_rate, told.avg_query_time_ms, days=round(days, 1), lookups=len(reached))


async def _migrated(uri: str, name: str, password: str, *, dry_run: bool) -> Any:
    from lakehouse.external.graph import ExternalKnowledgeNeo4j, migrate_cache_to_neo4j
    from lakehouse.external.store import DocumentStore

    store = await DocumentStore.open(settings().lake_uri)

    async def told() -> AsyncIterator[Any]:
        for row in await store.live():
            yield row.document
        for finding in await store.findings():
            yield finding

    async with ExternalKnowledgeNeo4j(uri, name, password) as graph:
        return await migrate_cache_to_neo4j(told(), graph, dry_run=dry_run, progress=say)
