"""Documentation: what is kept, found again; a site that hangs; a page that is fetched and then asked for again.

Rule of this file: the product's own parts, on a lake of its own and hosts on this machine; no Kafka. Documents are made
by hand and taken up as events, so that tables are compacted when the product compacts them. Hosts are asked without a
pace: waiting for one's turn is no figure of the machine.
"""

import asyncio
import tempfile
import time
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from lakehouse.embedding import Embedder
from lakehouse.external.fetch import LIMITS, Fetcher, agent_of
from lakehouse.external.hosts import Pace
from lakehouse.external.kept import KeptKnowledge
from lakehouse.external.library import Library
from lakehouse.external.policy import trust_of
from lakehouse.external.project import ProjectMemories
from lakehouse.external.retriever import ExternalKnowledgeRetriever
from lakehouse.external.sites import origin_of
from lakehouse.external.source import Site
from lakehouse.external.sources import sources
from lakehouse.external.store import DocumentStore
from lakehouse.retrieval.engine import Retrieval
from lakehouse.retrieval.rag_service import KnowledgeBase
from lakehouse.store import Lake
from lakehouse.tables import LakeShape
from schemas.conversation import Scope
from schemas.errors import Unavailable
from schemas.identity import derived_id
from schemas.knowledge import Document, DocumentEvent, PageState, RefreshRequest, document_id, hash_of
from streams.bench.figures import Figure, figure, percentile
from streams.bench.stage import embedder, sentences
from streams.bench.vectors import Shared, Vectors
from streams.settings import Settings

BENCH: Final = "knowledge"
ON_A_PAGE: Final = 20
"""Documents of a page."""
SAME_END: Final = 10
"""Symbols that end alike, as methods of several classes do."""
SUMMARIES: Final = 200
"""Different ones: what a summary says matters to no figure here."""
WARM: Final = 10
STRIDE: Final = 7919
"""From one symbol to the next that is looked up; a prime."""
UNPACED: Final = replace(LIMITS, pace=Pace(per_s=10_000, burst=10_000, at_once=2))
_HOST: Final = "127.0.0.1"
_SOURCE: Final = "sphinx"
_KEPT, _SERVED, _AWAY = "kept", "served", "away"
Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass(frozen=True)
class Numbers:
    """How much is measured.

    Attributes:
        documents: That are kept.
        hot: Look-ups of symbols at hand.
        cold: Look-ups of symbols that are not, each of another one; at most a tenth of the documents.
        questions: To a site that hangs.
        pages: That are fetched, and asked for again.
    """

    documents: int = 10_000
    hot: int = 1_000
    cold: int = 500
    questions: int = 20
    pages: int = 30


def measure(settings: Settings, count: int | None) -> Iterator[Figure]:
    """Look-ups among ``count`` documents (10,000), a question to a site that hangs, and pages asked for twice."""
    yield from asyncio.run(_of_deployment(settings, count))


async def _of_deployment(settings: Settings, count: int | None) -> list[Figure]:
    numbers = Numbers() if count is None else Numbers(documents=count)
    async with embedder(settings) as model:
        return await measured(model, numbers, deadline_s=settings.docs_deadline_ms / 1000)


async def measured(model: Embedder, numbers: Numbers, *, deadline_s: float) -> list[Figure]:
    """All figures.

    Args:
        model: Of the lake; each text is embedded once.
        numbers: How much is measured.
        deadline_s: Of one question.
    """
    shared = Shared(Vectors(model))
    with tempfile.TemporaryDirectory(prefix="memlake-bench-") as folder:
        lake = await Lake.make(folder, LakeShape(1, shared.id, shared.dimension))
        store = await DocumentStore.open(folder, shared)
        await store.rebuild(_fetched(numbers.documents))
        memories = KnowledgeBase(Retrieval(lake, shared, _now), Scope(project_id="bench", user_id=BENCH))
        kept = KeptKnowledge(store, shared, _now)
        return [
            *await _found(store, kept, numbers),
            await _hanging(store, kept, ProjectMemories(memories), numbers.questions, deadline_s),
            *await _asked_again(store, numbers.pages),
        ]


async def _found(store: DocumentStore, kept: KeptKnowledge, numbers: Numbers) -> list[Figure]:
    """What is at hand, and what the lake is asked for."""
    count = max(1, min(numbers.cold, numbers.documents // SAME_END))
    symbols = [_symbol(number * STRIDE % numbers.documents, numbers.documents) for number in range(count + WARM)]
    cold = [await _ms(store.find(symbol, _KEPT)) for symbol in symbols][WARM:]
    for symbol in symbols[:WARM]:
        await kept.find(symbol, _KEPT, None)
    hot = [await _ms(kept.find(symbols[number % WARM], _KEPT, None)) for number in range(numbers.hot)]
    tail = Figure(BENCH, "lake_p95_ms", percentile(cold, 0.95), "ms", None, None, min(cold), max(cold), len(cold))
    return [figure(BENCH, "hot_ms", "ms", hot), figure(BENCH, "lake_ms", "ms", cold), tail]


async def _hanging(
    store: DocumentStore, kept: KeptKnowledge, memories: ProjectMemories, questions: int, deadline_s: float
) -> Figure:
    """What a question takes whose page never comes.

    Each has a library of its own: one that had seen the site fail would give it up at once.
    """
    at_work: set[asyncio.Task[None]] = set()
    samples = []
    async with AsyncExitStack() as open_ones:
        url = await open_ones.enter_async_context(_hosted(_never))
        for number in range(questions):
            library = await open_ones.enter_async_context(_library(Site(_SOURCE, _AWAY, url), store))

            async def ask(request: RefreshRequest, library: Library = library) -> None:
                at_work.add(asyncio.create_task(_refreshed(library, store, request)))

            retriever = ExternalKnowledgeRetriever(memories, kept, ask, clock=_now, deadline_s=deadline_s)
            question = f"What does the documentation say of {_AWAY}.part_{number}.call()?"
            samples.append(await _ms(retriever.get_knowledge(question)))
        for task in at_work:
            task.cancel()
        await asyncio.gather(*at_work, return_exceptions=True)
    return figure(BENCH, "deadline_ms", "ms", samples, deadline_s * 1000)


async def _refreshed(library: Library, store: DocumentStore, request: RefreshRequest) -> None:
    await store.apply(await library.refresh(request))


async def _asked_again(store: DocumentStore, pages: int) -> list[Figure]:
    """A page from its host into the tables, and once more when its host says that it holds."""
    served = _Served(_site_of(pages + 1))
    async with _hosted(served.answer) as url, _library(Site(_SOURCE, _SERVED, url), store) as library:
        await _looked_up(library, 0)  # and the index with it
        first, again = [], []
        for page in range(1, pages + 1):
            first.append(await _looked_up(library, page))
            again.append(await _looked_up(library, page))
    fetched, share = figure(BENCH, "first_fetch_ms", "ms", [spent for spent, _ in first]), served.not_modified / pages
    return [
        fetched,
        figure(BENCH, "first_fetch_host_ms", "ms", [host for _, host in first]),
        figure(BENCH, "not_modified_ms", "ms", [spent for spent, _ in again], fetched.value),
        Figure(BENCH, "not_modified_share", share, "share", None, None, share, share, pages),
    ]


async def _looked_up(library: Library, page: int) -> tuple[float, float]:
    """Milliseconds to look a page up and to keep what came of it, and of them those that its host took.

    Raises:
        Unavailable: The host was not asked.
    """
    started = time.perf_counter()
    event, *_ = await library.fetch_and_cache(_SOURCE, f"{_SERVED}.part_{page}.call_0", _SERVED)
    if event.milliseconds is None:
        raise Unavailable(f"a host on this machine cannot be read: {event.reason}")
    return (time.perf_counter() - started) * 1000, event.milliseconds


@asynccontextmanager
async def _library(site: Site, store: DocumentStore) -> AsyncIterator[Library]:
    """The library of one site on this machine."""
    async with Fetcher({origin_of(site)}, agent=agent_of(""), clock=_now, limits=UNPACED, loopback={_HOST}) as fetcher:
        yield Library((site,), sources(fetcher, _now), fetcher, store, _now)


@asynccontextmanager
async def _hosted(answer: Answer) -> AsyncIterator[str]:
    """A host on this machine, by the address of its root."""
    server = await asyncio.start_server(answer, _HOST, 0)
    try:
        yield f"http://{_HOST}:{server.sockets[0].getsockname()[1]}/"
    finally:
        server.close()
        await server.wait_closed()


async def _never(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Take what is asked and say nothing, until whoever asked has gone."""
    await reader.read()
    writer.close()


@dataclass
class _Served:
    """A host with pages that never change.

    Attributes:
        pages: By path; there are no others.
        not_modified: How often it said that a page holds.
    """

    pages: dict[str, bytes]
    not_modified: int = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request, and its answer."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        path = head.split(" ", 2)[1]
        body = self.pages.get(path)
        tag = f'"{hash_of(path)}"'
        if body is None:
            status, body = "404 Not Found", b""
        elif f"if-none-match: {tag}" in head.lower():
            status, body = "304 Not Modified", b""
            self.not_modified += 1
        else:
            status = "200 OK"
        kind = "text/html" if path.endswith(".html") else "application/octet-stream"
        lines = (f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"ETag: {tag}", f"Content-Length: {len(body)}")
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        await writer.drain()
        writer.close()


def _site_of(pages: int) -> dict[str, bytes]:
    """Pages as Sphinx makes them, with their index."""
    found, index = {}, []
    for page in range(pages):
        sections = []
        for number, text in enumerate(sentences(ON_A_PAGE, start=page * ON_A_PAGE)):
            name = f"{_SERVED}.part_{page}.call_{number}"
            sections.append(f'<dl class="py function"><dt id="{name}">{name}()</dt><dd><p>{text}</p></dd></dl>')
            index.append(f"{name} py:function 1 part_{page}.html#$ -\n")
        found[f"/part_{page}.html"] = f"<html><body><main>{''.join(sections)}</main></body></html>".encode()
    head = f"# Sphinx inventory version 2\n# Project: {_SERVED}\n# Version: 1.0\n# The remainder is compressed: zlib.\n"
    return found | {"/objects.inv": head.encode() + zlib.compress("".join(index).encode())}


def _symbol(number: int, documents: int) -> str:
    return f"{_KEPT}.part_{number}.call_{number % max(1, documents // SAME_END)}"


def _fetched(documents: int) -> Iterator[DocumentEvent]:
    """Events that tell of so many documents, page by page."""
    texts, now = sentences(SUMMARIES), _now()
    for start in range(0, documents, ON_A_PAGE):
        url = f"https://documentation.invalid/part_{start // ON_A_PAGE}.html"
        numbers = range(start, min(start + ON_A_PAGE, documents))
        told = tuple(_document(_symbol(number, documents), url, texts[number % SUMMARIES]) for number in numbers)
        held = PageState(url=url, source=_SOURCE, project=_KEPT, content_hash=hash_of(url))
        yield DocumentEvent(
            event_id=derived_id("bench", url),
            action="FETCHED",
            at=now,
            source=_SOURCE,
            document_ids=tuple(document.id for document in told),
            documents=told,
            replaces_page=True,
            page=held.model_copy(update={"status": 200, "fetched_at": now, "checked_at": now}),
        )


def _document(name: str, url: str, text: str) -> Document:
    told = f"{text} " * 10
    return Document(
        id=document_id(_SOURCE, _KEPT, "1.0", "py:function", name),
        source=_SOURCE,
        project=_KEPT,
        version="1.0",
        role="py:function",
        name=name,
        title=f"{name}()",
        summary=text,
        text=told,
        content_hash=hash_of(told),
        page_url=url,
        anchor=name,
        category="official_docs",
        trust=trust_of(_SOURCE),
    )


async def _ms(work: Awaitable[Any]) -> float:
    """Milliseconds until it is done."""
    started = time.perf_counter()
    await work
    return (time.perf_counter() - started) * 1000


def _now() -> datetime:
    return datetime.now(UTC)
