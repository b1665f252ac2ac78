"""Unit vectors by text, each text embedded once in a run.

Rule of this file: the deployment's embedder as it is; it only remembers.
"""

import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from lakehouse.embedding import Embedder
from lakehouse.embedding.embedder import Vectors as Array
from schemas.conversation import is_blank


class Vectors:
    """Vectors of all texts that were asked for so far."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.by_text: dict[str, Any] = {}

    @property
    def embedder(self) -> str:
        """What made them; see ``Embedder.id``."""
        return self._embedder.id

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._embedder.dimension

    async def prepare(self, texts: Iterable[str]) -> None:
        """Embed what is missing, all at once; blank texts have no vector."""
        missing = [text for text in dict.fromkeys(texts) if text not in self.by_text and not is_blank(text)]
        if missing:
            self.by_text.update(zip(missing, await self._embedder.embed(missing), strict=True))

    async def cpu_ms(self, text: str) -> float:
        """CPU time of this process to embed one text alone, whether or not it is known, in milliseconds."""
        started = time.process_time_ns()
        await self._embedder.embed([text])
        return (time.process_time_ns() - started) / 1e6

    def between(self, one: str, other: str) -> float:
        """How alike two prepared texts are, 0 … 1."""
        return float(min(1.0, max(0.0, self.by_text[one] @ self.by_text[other])))


class Shared:
    """An embedder that answers from the vectors of a run, and adds to them what it is asked first."""

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors

    @property
    def id(self) -> str:
        """See ``Embedder``."""
        return self._vectors.embedder

    @property
    def dimension(self) -> int:
        """See ``Embedder``."""
        return self._vectors.dimension

    async def embed(self, texts: Sequence[str]) -> Array:
        """See ``Embedder``."""
        await self._vectors.prepare(texts)
        found = [self._vectors.by_text[text] for text in texts]
        return np.array(found, dtype=np.float32).reshape(len(texts), self.dimension)

    async def close(self) -> None:
        """The embedder behind it belongs to whoever opened it."""
