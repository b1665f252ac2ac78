"""What many single turns leave behind: files of a shard, and a search's time beside a freshly compacted copy."""

import asyncio
import statistics
import tempfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from shutil import copytree

from lakehouse.embedding import Embedder
from lakehouse.maintenance import compact
from lakehouse.store import Lake
from streams.bench.figures import Figure, figure
from streams.bench.query import raw_searches
from streams.bench.stage import deployment, embedder, sentences
from streams.client import MemoryClient
from streams.settings import Settings

TURNS = 5000
SCOPES = 8
REST_S = 15
"""Seconds beyond idle time and kept versions, for a worker to notice both."""


def measure(settings: Settings, count: int | None) -> Iterator[Figure]:
    """Turns one at a time, each its own commit; then the same questions to the lake and to a compacted copy of it."""
    with deployment(settings) as (own, _):
        yield from asyncio.run(_measured(own, count or TURNS))


async def _measured(settings: Settings, turns: int) -> list[Figure]:
    async with embedder(settings) as model:
        for number in range(SCOPES):
            async with MemoryClient("bench", f"age-{number}", settings=settings, timeout_s=120) as client:
                for text in sentences(turns // SCOPES, start=number * turns):
                    await client.publish_and_wait(text)
        at_once, aged = files_by_shard(settings), await _times(settings, model)
        compacted = await _compacted(settings, model)
    await asyncio.sleep(settings.maintain_idle_s + settings.keep_versions_s + REST_S)
    return [
        figure("age", "files_per_shard_at_rest", "files", files_by_shard(settings)),
        figure("age", "files_per_shard_at_once", "files", at_once),
        figure("age", "p50_ms", "ms", aged, statistics.median(compacted)),
    ]


async def _times(settings: Settings, model: Embedder) -> list[float]:
    questions = [f"What about {text[4:-1]}?" for text in sentences(200, start=9_000_000)]
    return (await raw_searches(settings, "age-0", model, questions))[20:]


async def _compacted(settings: Settings, model: Embedder) -> list[float]:
    """The same questions to a copy of the lake that was compacted just now."""
    with tempfile.TemporaryDirectory(prefix="memlake-bench-") as folder:
        copy = copytree(settings.lake_uri, Path(folder) / "lake")
        lake = await Lake.open(str(copy))
        for partition in range(settings.partitions):
            for name in ("memories", "turns"):
                await compact(await lake.shard(partition), name, timedelta(seconds=1))
        return await _times(settings.model_copy(update={"lake": str(copy)}), model)


def files_by_shard(settings: Settings) -> list[float]:
    """Files of both tables of each shard."""
    lake = Path(settings.lake_uri)
    shards = [[lake / f"{name}_{n:04}.lance" for name in ("memories", "turns")] for n in range(settings.partitions)]
    return [float(sum(1 for t in tables for path in t.rglob("*") if path.is_file())) for tables in shards]
