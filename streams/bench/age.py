"""What many single turns leave behind: files a shard, and a question's time beside a freshly compacted copy."""

import asyncio
import statistics
import tempfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from shutil import copytree

from lakehouse.maintenance import compact
from lakehouse.store import Lake
from lakehouse.tables import local_folder
from streams.bench.figures import Figure, figure
from streams.bench.query import raw_searches
from streams.bench.stage import deployment, embedder, sentences
from streams.client import MemoryClient
from streams.settings import Settings

TURNS = 5000
SCOPES = 8


def measure(settings: Settings, count: int | None) -> Iterator[Figure]:
    """Turns one at a time, each its own commit; then the same questions to the lake and to a compacted copy of it."""
    with deployment(settings) as (own, _):
        yield from asyncio.run(_measured(own, count or TURNS))


async def _measured(settings: Settings, turns: int) -> list[Figure]:
    clients = [MemoryClient("bench", f"age-{n}", settings=settings, timeout_s=120) for n in range(SCOPES)]
    for number, client in enumerate(clients):
        async with client:
            for text in sentences(turns // SCOPES, start=number * turns):
                await client.publish_and_wait(text)
    folder = local_folder(settings.lake_uri)
    files = [] if folder is None else [_files(table) for table in sorted(folder.glob("*_[0-9][0-9][0-9][0-9].lance"))]
    questions = [f"What about {text[4:-1]}?" for text in sentences(100, start=9_000_000)]
    with tempfile.TemporaryDirectory(prefix="memlake-bench-") as copy:
        async with embedder(settings) as model:
            aged = await raw_searches(settings, "age-0", model, questions)
            if folder is not None:
                fresh = settings.model_copy(update={"lake": str(copytree(folder, Path(copy) / "lake"))})
                lake = await Lake.open(fresh.lake_uri)
                for partition in range(settings.partitions):
                    for name in ("memories", "turns"):
                        await compact(await lake.shard(partition), name, timedelta(0))
                compacted = await raw_searches(fresh, "age-0", model, questions)
            else:
                compacted = aged
    return [
        figure("age", "files_per_table", "files", files or [0]),
        figure("age", "lancedb_ms", "ms", aged, statistics.median(compacted)),
    ]


def _files(table: Path) -> float:
    return float(sum(1 for path in table.rglob("*") if path.is_file()))
