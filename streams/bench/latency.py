"""A turn published to an idle system until its report is back, beside the parts it cannot do without."""

import asyncio
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime

from lakehouse.store import Lake
from lakehouse.tables import LakeShape
from lakehouse.turn_table import InputRow
from schemas.conversation import Scope, Turn
from schemas.facts import Extraction, Source, TurnRecord
from streams.bench.figures import Figure, figure, percentile
from streams.bench.stage import deployment, embed_times, embedder, hops, sentences
from streams.client import MemoryClient
from streams.settings import Settings

TURNS = 200
HOPS = 3
"""To the intake agent, to the remember agent, back to the client."""


def measure(settings: Settings, count: int | None) -> Iterator[Figure]:
    """One turn at a time; the sum is three hops, one embedding and two commits, each measured alone."""
    with deployment(settings) as (own, _):
        yield from asyncio.run(_measured(own, count or TURNS))


async def _measured(settings: Settings, turns: int) -> list[Figure]:
    async with embedder(settings) as model:
        texts = sentences(turns + 10)
        samples = []
        async with MemoryClient("bench", "latency", settings=settings) as memory:
            for text in texts:
                started = time.perf_counter()
                await memory.publish_and_wait(text)
                samples.append((time.perf_counter() - started) * 1000)
        samples = samples[10:]
        hop = figure("latency", "hop_ms", "ms", await hops(settings, 100))
        embed = figure("latency", "embed_ms", "ms", await embed_times(model, sentences(100, start=1_000_000)))
        commit = figure("latency", "commit_ms", "ms", await _commits(100, model.dimension))
    parts = HOPS * hop.value + embed.value + 2 * commit.value
    p50 = figure("latency", "p50_ms", "ms", samples, parts)
    p95 = percentile(samples, 0.95)
    tail = Figure("latency", "p95_ms", p95, "ms", parts, p95 / parts, min(samples), max(samples), len(samples))
    return [p50, tail, hop, embed, commit]


async def _commits(count: int, dimension: int) -> list[float]:
    """Milliseconds to write one row by itself."""
    with tempfile.TemporaryDirectory(prefix="memlake-bench-") as folder:
        lake = await Lake.make(folder, LakeShape(1, "bench", dimension))
        shard = await lake.shard(0)
        vector = [1.0] + [0.0] * (dimension - 1)
        samples = []
        for number in range(count):
            row = InputRow(_record(number), vector)
            started = time.perf_counter()
            await shard.commit_inputs([row])
            samples.append((time.perf_counter() - started) * 1000)
    return samples


def _record(number: int) -> TurnRecord:
    now = datetime.now(UTC)
    scope = Scope(project_id="bench", user_id="commit")
    turn = Turn(scope=scope, role="user", content=f"row {number}", timestamp=now, turn_id=str(number))
    source = Source(topic="bench.turns", partition=0, offset=number)
    return TurnRecord(
        record_id=str(number), recorded_at=now, source=source, turn=turn, extraction=Extraction(extractor="bench")
    )
