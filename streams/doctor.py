"""A look at everything a deployment needs, one finding a thing; nothing is changed."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass

from schemas.errors import MemlakeError
from streams.settings import Settings, unknown_settings


@dataclass(frozen=True)
class Finding:
    """What was examined.

    Attributes:
        found: What is there.
        fault: What is wrong and what to do; None when nothing is.
    """

    what: str
    found: str
    fault: str | None = None


def examine(settings: Settings) -> Iterator[Finding]:
    """Examine one thing after the other; a fault in one hides no other."""
    masker = settings.masker()
    unknown = unknown_settings(os.environ)
    yield Finding("settings", "consistent", f"unknown: {', '.join(unknown)}" if unknown else None)
    for what, look in LOOKS.items():
        try:
            yield Finding(what, masker.text(asyncio.run(_look(look, settings))))
        except MemlakeError as error:
            yield Finding(what, "", masker.text(str(error)))


async def _look(look: Callable[[Settings], Awaitable[str]], settings: Settings) -> str:
    return await look(settings)


async def _model(settings: Settings) -> str:
    from lakehouse.embedding import load_embedder  # noqa: PLC0415 - heavy, and only looked at here

    embedder = await load_embedder(settings.embedder, settings.cache, threads=1, cache_size=0)
    await embedder.embed(["the model answers"])
    await embedder.close()
    return embedder.id


async def _broker(settings: Settings) -> str:
    from streams.admin import admin  # noqa: PLC0415
    from streams.broker import bootstrap_of  # noqa: PLC0415

    bootstrap = bootstrap_of(settings)
    async with admin(settings, bootstrap) as client:
        topics = await client.list_topics()
    return f"{bootstrap} answers, {len(topics)} topics"


async def _topics(settings: Settings) -> str:
    from streams.admin import topic_states  # noqa: PLC0415
    from streams.broker import bootstrap_of  # noqa: PLC0415

    faults = [state.fault for state in await topic_states(settings, bootstrap_of(settings)) if state.fault]
    if faults:
        raise MemlakeError("; ".join(faults) + ": run memlake topics apply, or start a worker")
    return "as they should be"


async def _lake(settings: Settings) -> str:
    from lakehouse.store import Lake  # noqa: PLC0415

    lake = await Lake.open(settings.lake_uri)
    rows = 0
    async for _ in lake.all_rows():  # each is read: a count would be taken from the tables' heads alone
        rows += 1
    return f"{settings.lake_uri}: {lake.shape.partitions} shards, {rows} events, {lake.shape.embedder}"


async def _language_model(settings: Settings) -> str:
    from streams.judging import probe  # noqa: PLC0415

    return await probe(settings) if settings.llm_url else "none is set: rules do all"


async def _documentation(settings: Settings) -> str:
    from lakehouse.external.sites import sites_of  # noqa: PLC0415
    from lakehouse.external.sources import SOURCES  # noqa: PLC0415

    named = [f"{site.project} at {site.url}" for site in sites_of(settings.docs, SOURCES)]
    return f"may be asked for {', '.join(named)}" if named else "no site is named: nobody is asked"


LOOKS: dict[str, Callable[[Settings], Awaitable[str]]] = {
    "model": _model,
    "broker": _broker,
    "topics": _topics,
    "lake": _lake,
    "language model": _language_model,
    "documentation": _documentation,
}
