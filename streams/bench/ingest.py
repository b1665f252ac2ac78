"""Turns a second through the whole product, beside the embedder alone on the same texts in the same run."""

import asyncio
import time
from collections.abc import Iterator

from lakehouse.embedding import Embedder
from schemas.memory import TurnReport
from streams.bench.figures import Figure, figure
from streams.bench.stage import deployment, embedder, sentences
from streams.client import MemoryClient
from streams.settings import Settings

TURNS = 1500
SCOPES = 12
ROUNDS = 3


def measure(settings: Settings, count: int | None) -> Iterator[Figure]:
    """Publish new turns of several scopes at once and wait for all reports; then embed the same texts alone.

    What must be embedded is each turn and each fact; a fact that is its turn's text is embedded once.
    """
    turns = count or TURNS
    with deployment(settings) as (own, _):
        yield from asyncio.run(_measured(own, turns))


async def _measured(settings: Settings, turns: int) -> list[Figure]:
    ingest, alone = [], []
    await _publish(settings, sentences(200, start=10_000_000))  # warm
    async with embedder(settings) as model:
        await model.embed(sentences(50, start=20_000_000))
        for number in range(ROUNDS):
            texts = sentences(turns // ROUNDS, start=number * turns)
            before = await _embedding(model, texts)
            took, facts = await _publish(settings, texts)
            after = await _embedding(model, list(dict.fromkeys([*texts, *facts])))
            ingest.append(len(texts) / took)
            alone.append(len(texts) / ((before + after) / 2 if set(facts) <= set(texts) else after))
    embedded = figure("ingest", "embedder_turns_per_s", "turns/s", alone)
    return [figure("ingest", "turns_per_s", "turns/s", ingest, embedded.value), embedded]


async def _embedding(model: Embedder, texts: list[str]) -> float:
    started = time.perf_counter()
    await model.embed(texts)
    return time.perf_counter() - started


async def _publish(settings: Settings, texts: list[str]) -> tuple[float, list[str]]:
    """Seconds until all were remembered, and the facts' texts."""
    clients = [MemoryClient("bench", f"user-{n}", settings=settings, timeout_s=600) for n in range(SCOPES)]
    for client in clients:
        await client.__aenter__()
    try:
        for client in clients:
            await client.ask("warm")  # the way back is open
        shares = [[client.turn(text) for text in texts[n::SCOPES]] for n, client in enumerate(clients)]
        started = time.perf_counter()
        answers = await asyncio.gather(
            *(client.publish_all_and_wait(share) for client, share in zip(clients, shares, strict=True))
        )
        took = time.perf_counter() - started
    finally:
        for client in clients:
            await client.__aexit__()
    facts: list[str] = []
    for report in (one for share in answers for one in share):
        if not isinstance(report, TurnReport):
            raise report
        facts.extend(outcome.text for outcome in report.memory)
    return took, facts
