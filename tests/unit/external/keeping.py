"""Documents, pages and events told in a few words, an embedder by hand, and a lake to keep them in."""

import asyncio
import atexit
import shutil
import tempfile
import zlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from lakehouse.embedding.embedder import Vectors
from lakehouse.external.store import DocumentStore
from lakehouse.store import Lake
from lakehouse.tables import LakeShape
from schemas.knowledge import (
    Deprecation,
    Document,
    DocumentAction,
    DocumentEvent,
    Lookup,
    PageState,
    document_id,
    hash_of,
)

START = datetime(2026, 1, 1, tzinfo=UTC)
PAGE = "https://docs.example/library/asyncio-runner.html"
DIMENSION = 8


class HandEmbedder:
    """One unit vector a text, always the same; told what it was asked."""

    id = "stub-1"
    dimension = DIMENSION

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return np.stack([vector_of(text) for text in texts]) if texts else np.zeros((0, DIMENSION), np.float32)

    async def close(self) -> None:
        """Nothing is open."""


def vector_of(text: str) -> Any:
    found = np.random.default_rng(zlib.crc32(text.encode())).normal(size=DIMENSION)
    return (found / np.linalg.norm(found)).astype(np.float32)


def after(**since: float) -> datetime:
    return START + timedelta(**since)


def document(name: str = "asyncio.run", text: str = "Execute the coroutine.", **fields: Any) -> Document:
    told: dict[str, Any] = {
        "source": "python_docs",
        "project": "python",
        "version": "3.11",
        "role": "py:function",
        "title": f"{name}()",
        "summary": text[:200],
        "page_url": PAGE,
        "anchor": name,
        "category": "official_docs",
        "trust": 0.95,
    } | fields
    key = document_id(told["source"], told["project"], told["version"], told["role"], name)
    return Document(id=key, name=name, text=text, content_hash=hash_of(text), **told)


def page(at: datetime, url: str = PAGE, **fields: Any) -> PageState:
    told = {"source": "python_docs", "project": "python", "status": 200, "fetched_at": at, "checked_at": at} | fields
    return PageState(url=url, **told)


def event(action: DocumentAction, at: datetime, *documents: Document, **fields: Any) -> DocumentEvent:
    """An event whose id is made of what it tells."""
    key = f"{action}-{at.isoformat()}-{fields.pop('number', 0)}"
    told = {"source": "python_docs", "documents": documents, "event_id": key} | fields
    return DocumentEvent(action=action, at=at, **told)


def fetched(at: datetime, *documents: Document, url: str = PAGE, **fields: Any) -> DocumentEvent:
    """A whole page as it came."""
    action: DocumentAction = fields.pop("action", "FETCHED")
    told = {"page": page(at, url, etag=f'"{at.isoformat()}"', content_hash=hash_of(repr(documents)))} | fields
    return event(action, at, *documents, replaces_page=True, **told)


def lookup(at: datetime, outcome: Any = "fresh", of: Document | None = None, **fields: Any) -> Lookup:
    told = {"stage": "cache", "query": "asyncio.run", "milliseconds": 1.0} | fields
    about = {} if of is None else {"document_id": of.id, "source": of.source, "query": of.name, "project": of.project}
    return Lookup(at=at, outcome=outcome, **(told | about))


def deprecation(symbol: str = "imp.reload", **fields: Any) -> Deprecation:
    told = {"project": "python", "version": "3.11", "status": "deprecated", "confidence": 1.0} | fields
    return Deprecation(symbol=symbol, **told)


async def new_store(folder: Path, embedder: HandEmbedder | None = None) -> DocumentStore:
    """A store in a lake of its own."""
    if not await asyncio.to_thread(folder.exists):
        shutil.copytree(_empty_lake(), folder)
    return await DocumentStore.open(str(folder), embedder or HandEmbedder())


@cache
def _empty_lake() -> Path:
    """A lake with the tables, which nobody writes into: a copy is had sooner than one made anew."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)

    async def make() -> None:
        await Lake.make(str(folder / "lake"), LakeShape(1, HandEmbedder.id, DIMENSION))
        await DocumentStore.open(str(folder / "lake"))

    with ThreadPoolExecutor(1) as thread:  # the caller's own loop is running
        thread.submit(asyncio.run, make()).result()
    return folder / "lake"
