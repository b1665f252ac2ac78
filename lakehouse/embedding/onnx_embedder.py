"""The embedder that serves an exported model.

Rule of this file: every text goes through ``embedding_text`` here, so no caller can embed by another recipe; and the
vector of a text never depends on what else was asked for.
"""

import asyncio
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from lakehouse.embedding.embedder import Vectors
from lakehouse.embedding.exported import FORMAT
from lakehouse.embedding.text import RECIPE, embedding_text
from lakehouse.embedding.thread import TOKENS_PER_RUN, EmbeddingThread, Model
from schemas.conversation import is_blank
from schemas.errors import InvalidMessage, Unavailable

QUEUE_TEXTS = 8192
"""Texts in work at once; callers beyond it wait."""

_CLOSE_TIMEOUT_S = 2.0


class OnnxEmbedder:
    """Serves an exported model by onnxruntime, fp32 on the CPU, in one thread of its own.

    May be awaited from several tasks, threads and event loops at once.
    """

    def __init__(
        self, model: Model, model_id: str, *, grouped: bool, cache_size: int, queue_texts: int = QUEUE_TEXTS
    ) -> None:
        """Start serving.

        Args:
            model: The opened model; the embedder owns it.
            model_id: Its identity.
            grouped: Whether texts of equally many tokens run together: faster, if ``groups_are_exact``.
            cache_size: Texts whose vectors are kept in memory; 0 keeps none.
            queue_texts: Texts in work at once; callers beyond it wait.
        """
        self.id = f"{model_id}/onnx-fp32-{FORMAT}/{RECIPE}"
        self.dimension = model.dimension
        self._cache = _VectorCache(cache_size)
        self._closed = False
        self._thread = EmbeddingThread(model, queue_texts=queue_texts, tokens_per_run=TOKENS_PER_RUN if grouped else 1)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """See ``Embedder.embed``. Equal texts are computed once; a cancelled call is dropped at its next step."""
        if self._closed:
            raise Unavailable("The embedder is closed")
        made = [embedding_text(text) for text in texts]
        blank = next((index for index, text in enumerate(made) if is_blank(text)), None)
        if blank is not None:
            raise InvalidMessage(f"Text {blank + 1} of {len(made)} is blank: there is nothing to embed")
        keys = [hashlib.sha256(text.encode()).digest() for text in made]
        rows = self._cache.get(keys)
        missing = {key: text for key, text in zip(keys, made, strict=True) if key not in rows}
        if missing:
            vectors = await asyncio.wrap_future(self._thread.submit(list(missing.values())))
            fresh = dict(zip(missing, vectors, strict=True))
            self._cache.put(fresh)
            rows |= fresh
        return np.stack([rows[key] for key in keys]) if keys else np.empty((0, self.dimension), np.float32)

    async def close(self) -> None:
        """See ``Embedder.close``. Returns within about two seconds even if a run cannot be stopped."""
        self._closed = True
        await asyncio.to_thread(self._thread.close, _CLOSE_TIMEOUT_S)


class _VectorCache:
    """The last used vectors by their text's hash; for any thread."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._vectors: OrderedDict[bytes, Vectors] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, keys: Iterable[bytes]) -> dict[bytes, Vectors]:
        """Those that are kept; each is used by this."""
        found = {}
        with self._lock:
            for key in keys:
                if (vector := self._vectors.get(key)) is not None:
                    self._vectors.move_to_end(key)
                    found[key] = vector
        return found

    def put(self, vectors: Mapping[bytes, Vectors]) -> None:
        """Keep these, and forget the longest unused beyond the size."""
        with self._lock:
            for key, vector in vectors.items():
                self._vectors[key] = vector.copy()  # a row of a large array would keep it all
                self._vectors.move_to_end(key)
            while len(self._vectors) > self._size:
                self._vectors.popitem(last=False)
