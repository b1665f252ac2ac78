"""The one thread in which texts are tokenised and embedded.

Rule of this file: engine and tokenizer are touched by this thread alone (``turns.py`` tells how callers share it). A
step is some texts tokenised, or one run. At most ``queue_texts`` texts are in work; the calls beyond wait.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Protocol

import numpy as np

from lakehouse.embedding.embedder import Vectors
from lakehouse.embedding.turns import Steps, TurnThread

if TYPE_CHECKING:
    from concurrent.futures import Future

TOKENS_PER_RUN = 512
"""Most tokens run together, if more than one text: beyond it nothing gets faster, and others wait longer."""

_TEXTS_PER_STEP = 64  # tokenised in one turn


class Model(Protocol):
    """What the thread runs; see ``engine.Engine``."""

    dimension: int

    def tokenize(self, text: str) -> list[int]:
        """Token ids of one text."""

    def run(self, rows: Sequence[Sequence[int]]) -> Vectors:
        """Unit vectors of rows of equally many tokens."""

    def stop(self) -> None:
        """End the run in hand, from another thread."""


class EmbeddingThread:
    """Embeds what is submitted, in turns. Starts at once, ends with ``close`` and never keeps the process alive."""

    def __init__(self, model: Model, *, queue_texts: int, tokens_per_run: int = TOKENS_PER_RUN) -> None:
        """Start the thread.

        Args:
            model: Touched by the thread alone, but for its ``stop``.
            queue_texts: Most texts in work at once; a larger single call waits until it is the only one.
            tokens_per_run: Most tokens run together; 1 runs every text by itself.
        """
        self._model = model
        self._tokens_per_run = tokens_per_run
        self._thread = TurnThread("embedder", room=queue_texts, stop=model.stop)

    def submit(self, texts: Sequence[str]) -> "Future[Vectors]":
        """Ask for the vectors of texts, in their order; to cancel the future drops what is not yet done.

        The future fails with ``Unavailable`` if the model does or the thread is closed, ``InvalidMessage`` if the
        model reads nothing in a text.

        Raises:
            Unavailable: The thread is closed.
        """
        return self._thread.submit(len(texts), self._steps(list(texts)))

    def close(self, timeout_s: float) -> None:
        """Stop the run in hand, wait for the thread to end, at most ``timeout_s``, and fail every call not done."""
        self._thread.close(timeout_s)

    def _steps(self, texts: list[str]) -> Steps[Vectors]:
        """Tokenise all, then run equal lengths together; stops after each piece."""
        vectors: Vectors = np.empty((len(texts), self._model.dimension), np.float32)
        rows: list[list[int]] = []
        for start in range(0, len(texts), _TEXTS_PER_STEP):
            rows += map(self._model.tokenize, texts[start : start + _TEXTS_PER_STEP])
            yield
        for group in equal_length_groups([len(row) for row in rows], self._tokens_per_run):
            vectors[group] = self._model.run([rows[index] for index in group])
            yield
        return vectors


def equal_length_groups(lengths: Sequence[int], tokens_per_run: int) -> Iterator[list[int]]:
    """Split rows into groups of one length each, shortest first.

    Args:
        lengths: Tokens of each row, at least 1.
        tokens_per_run: Most tokens of a group of more than one row.

    Yields:
        Indices into ``lengths``; each once.
    """
    for length, same in groupby(sorted(range(len(lengths)), key=lengths.__getitem__), key=lengths.__getitem__):
        indices = list(same)
        step = max(1, tokens_per_run // length)
        yield from (indices[start : start + step] for start in range(0, len(indices), step))
