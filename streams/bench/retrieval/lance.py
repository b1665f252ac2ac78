"""LanceDB's own hybrid search as its documentation shows it: vectors, full text, RRFReranker.

Rule of this file: its defaults, and a table of its own; the product's tables and settings are not used.
"""

import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import lancedb
import pyarrow as pa
from lancedb.index import FTS
from lancedb.rerankers import RRFReranker

from schemas.conversation import Turn
from streams.bench.retrieval.systems import Ranked, id_of, plain_text
from streams.bench.vectors import Vectors

LIMIT: Final = 20


class LanceHybrid:
    """A real table in a folder."""

    name = "lancedb_hybrid"

    def __init__(self, vectors: Vectors, folder: Path) -> None:
        self._vectors = vectors
        self._folder = folder
        self._table: Any = None

    async def prepare(self, turns: Sequence[Turn]) -> None:
        """See ``System``."""
        texts = [plain_text(turn) for turn in turns]
        await self._vectors.prepare(texts)
        schema = pa.schema(
            [
                pa.field("id", pa.string()),
                pa.field("text", pa.string()),
                pa.field("vector", pa.list_(pa.float32(), self._vectors.dimension)),
            ]
        )
        rows = [
            {"id": id_of(turn), "text": text, "vector": self._vectors.by_text[text]}
            for turn, text in zip(turns, texts, strict=True)
        ]
        connection = await lancedb.connect_async(str(self._folder))
        self._table = await connection.create_table("turns", data=pa.Table.from_pylist(rows, schema=schema))
        await self._table.create_index("text", config=FTS())

    async def rank(self, question: str, asked_at: datetime) -> Ranked:  # noqa: ARG002 - knows no time
        """See ``System``."""
        await self._vectors.prepare([question])
        started = time.perf_counter()
        query = self._table.query().nearest_to(self._vectors.by_text[question]).distance_type("cosine")
        hybrid = query.nearest_to_text(question, columns=["text"]).rerank(RRFReranker()).limit(LIMIT)
        found = (await hybrid.to_arrow())["id"].to_pylist()
        spent = (time.perf_counter() - started) * 1000
        return Ranked(found, {"search_ms": spent})
