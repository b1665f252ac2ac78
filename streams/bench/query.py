"""A question over Kafka, beside the sum of its parts: embedding, raw LanceDB search, one round trip."""

import asyncio
import time
from collections.abc import Iterator
from typing import Any

from lakehouse import tables
from lakehouse.embedding import Embedder
from lakehouse.store import Lake
from schemas.conversation import Scope
from streams.bench.figures import Figure, figure, percentile
from streams.bench.stage import deployment, embed_times, embedder, filled, round_trips, sentences
from streams.client import MemoryClient
from streams.settings import Settings

QUESTIONS = 200
MEMORIES = 500


def measure(settings: Settings, count: int | None) -> Iterator[Figure]:
    """One question at a time to a scope of 500 memories; every question is new to the embedder."""
    with deployment(settings) as (own, _):
        yield from asyncio.run(_measured(own, count or QUESTIONS))


async def _measured(settings: Settings, questions: int) -> list[Figure]:
    await filled(settings, "query", sentences(MEMORIES))
    asked = [f"What is known about {text[4:-1]}?" for text in sentences(questions + 10, start=5_000_000)]
    async with MemoryClient("bench", "query", settings=settings) as memory:
        samples = (await asking(memory, asked))[10:]
    async with embedder(settings) as model:
        embed = figure("query", "embed_ms", "ms", await embed_times(model, [f"{text} again" for text in asked[:100]]))
        raw = figure("query", "lancedb_ms", "ms", await raw_searches(settings, "query", model, asked[:100]))
    hop = figure("query", "round_trip_ms", "ms", await round_trips(settings, 100))
    parts = embed.value + raw.value + hop.value
    p50, p95 = figure("query", "p50_ms", "ms", samples, parts), percentile(samples, 0.95)
    tail = Figure("query", "p95_ms", p95, "ms", parts, p95 / parts, min(samples), max(samples), len(samples))
    return [p50, tail, embed, raw, hop]


async def asking(memory: MemoryClient, questions: list[str]) -> list[float]:
    """Milliseconds for each question, one after the other."""
    samples = []
    for question in questions:
        started = time.perf_counter()
        await memory.ask(question)
        samples.append((time.perf_counter() - started) * 1000)
    return samples


async def raw_searches(settings: Settings, user: str, model: Embedder, questions: list[str]) -> list[float]:
    """Milliseconds for LanceDB's vector search in the scope, nothing around it."""
    shard = await (await Lake.open(settings.lake_uri)).shard_of(scope := Scope(project_id="bench", user_id=user))
    vectors: Any = await model.embed(questions)
    wanted = tables.equals("status", "current")
    samples = []
    for vector in vectors:
        started = time.perf_counter()
        await shard.by_vector(scope, "knowledge", wanted, vector, 20)
        samples.append((time.perf_counter() - started) * 1000)
    return samples
