"""One scope's question in a small lake and in a large one: what others know must not slow it down.

Rule of this file: every scope holds as many rows; each question is the first to its scope, so that nothing of it is
kept in memory yet. The vectors are of no text: how they are made is not measured here.
"""

import asyncio
import tempfile
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa

from lakehouse import memory_table, tables
from lakehouse.embedding import Embedder
from lakehouse.maintenance import compact
from lakehouse.retrieval.engine import Retrieval
from lakehouse.store import Lake
from lakehouse.tables import LakeShape
from schemas.conversation import Scope
from schemas.retrieval import SearchRequest
from streams.bench.figures import Figure, figure, percentile
from streams.bench.quality.memory import Memory
from streams.bench.quality.minds import RULES
from streams.bench.quality.run import TURNS
from streams.bench.stage import embedder, sentences
from streams.bench.vectors import Vectors
from streams.settings import Settings

FEW, MANY = 100, 10_000
ROWS = 100
QUESTIONS = 200
WARM = 10
SCOPES_A_WRITE = 500


def measure(settings: Settings, count: int | None) -> Iterator[Figure]:
    """The same questions to a lake of 100 scopes and to one of ``count`` (10,000), 100 memories each."""
    yield from asyncio.run(_measured(settings, count or MANY))


async def _measured(settings: Settings, many: int) -> list[Figure]:
    async with embedder(settings) as model, AsyncExitStack() as lakes:
        one = await _rows_of_one_scope(model)
        few, most = [await _filled(settings, model, one, count, lakes) for count in (FEW, many)]
        samples: dict[int, list[float]] = {FEW: [], many: []}
        texts = sentences(QUESTIONS + WARM, start=7_000_000)
        for number, text in enumerate(texts):  # one after the other in turn: what else the machine does slows both
            for scopes, engine in ((FEW, few), (many, most)):
                samples[scopes].append(await _time(engine, _scope(number * 7919 % scopes), text))
    small, large = samples[FEW][WARM:], samples[many][WARM:]
    least, greatest = percentile(small, 0.95), percentile(large, 0.95)
    first = figure("scopes", "few_ms", "ms", small)
    tail = Figure("scopes", "p95_ms", greatest, "ms", least, greatest / least, min(large), max(large), len(large))
    return [first, figure("scopes", "many_ms", "ms", large, first.value), tail]


async def _rows_of_one_scope(model: Embedder) -> pa.Table:
    """What a writer would commit for one scope, as a table."""
    memory = Memory(Vectors(model), RULES, TURNS, "somebody")
    for text in sentences(ROWS):
        await memory.tell(await memory.hear(text, datetime(2026, 1, 1, tzinfo=UTC)))
    return memory_table.to_table(list(memory.rows.values()), model.dimension)


async def _filled(settings: Settings, model: Embedder, one: pa.Table, scopes: int, lakes: AsyncExitStack) -> Retrieval:
    """An engine over a lake of so many scopes, which goes with the stack."""
    folder = lakes.enter_context(tempfile.TemporaryDirectory(prefix="memlake-bench-"))
    lake = await Lake.make(folder, LakeShape(settings.partitions, model.id, model.dimension))
    await _fill(lake, one, scopes)
    return Retrieval(lake, model, lambda: datetime.now(UTC))


async def _time(engine: Retrieval, scope: Scope, text: str) -> float:
    """Milliseconds from question to hits, without the embedding, of a scope of which nothing is kept."""
    engine.clear()
    started = time.perf_counter()
    found = await engine.search(SearchRequest(scope=scope, query=f"What about {text[4:-1]}?"))
    return (time.perf_counter() - started) * 1000 - found.times.embedding_ms


def _scope(number: int) -> Scope:
    return Scope(project_id="bench", user_id=f"user-{number}")


async def _fill(lake: Lake, one: pa.Table, scopes: int) -> None:
    """Write the rows once for each scope, under its name, and compact."""
    by_partition: dict[int, list[int]] = {}
    for number in range(scopes):
        by_partition.setdefault(_scope(number).partition(lake.shape.partitions), []).append(number)
    for partition, numbers in by_partition.items():
        shard = await lake.shard(partition)
        for start in range(0, len(numbers), SCOPES_A_WRITE):
            some = pa.concat_tables(_of_scope(one, number) for number in numbers[start : start + SCOPES_A_WRITE])
            with tables.lake_errors():
                await shard.memories.add(some)
        await compact(shard, "memories", timedelta(0))


def _of_scope(one: pa.Table, number: int) -> pa.Table:
    """The rows as those of another scope."""
    columns: dict[str, Any] = {
        "scope": [_scope(number).key] * len(one),
        "user_id": [_scope(number).user_id] * len(one),
        "event_id": [f"{number}#{row}" for row in np.arange(len(one))],
    }
    for name, values in columns.items():
        place = one.schema.get_field_index(name)
        one = one.set_column(place, one.schema.field(name), pa.array(values))
    return one
