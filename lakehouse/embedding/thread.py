"""The one thread in which texts are tokenised and embedded, and the bounded queue before it.

Rule of this file: engine and tokenizer are touched by this thread alone, so callers may come from any thread or event
loop. Calls take turns, a step each (some texts tokenised, or one run), so a question waits for a step, not for
somebody's thousand texts. At most ``queue_texts`` texts are in work; the calls beyond wait in order of arrival.

Theory of operation: a call is a ``_Job``. It stands in ``_waiting`` until it fits, then goes round in ``_turns`` until
its last run is done. A caller who gives up cancels the future, and the job is dropped at its next turn.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, InvalidStateError
from itertools import groupby
from typing import Protocol

import numpy as np

from lakehouse.embedding.embedder import Vectors
from schemas.errors import MemlakeError, Unavailable

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
        self._queue_texts = queue_texts
        self._tokens_per_run = tokens_per_run
        self._changed = threading.Condition()
        self._waiting: deque[_Job] = deque()
        self._turns: deque[_Job] = deque()
        self._texts = 0  # of the jobs that take turns
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="memlake-embedder", daemon=True)
        self._thread.start()

    def submit(self, texts: Sequence[str]) -> "Future[Vectors]":
        """Ask for the vectors of texts, in their order; to cancel the future drops what is not yet done.

        The future fails with ``Unavailable`` if the model does or the thread is closed, ``InvalidMessage`` if the
        model reads nothing in a text.

        Raises:
            Unavailable: The thread is closed.
        """
        job = _Job(texts, self._model, self._tokens_per_run)
        with self._changed:
            if self._closed:
                raise Unavailable("The embedder is closed")
            self._waiting.append(job)
            self._changed.notify()
        return job.future

    def close(self, timeout_s: float) -> None:
        """Stop the run in hand, fail every call that waits, and wait for the thread to end, at most ``timeout_s``."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._model.stop()
        self._thread.join(timeout_s)

    def _work(self) -> None:
        while (job := self._next()) is not None:
            done = job.step()
            with self._changed:
                if done:
                    self._texts -= job.size
                else:
                    self._turns.append(job)
        for job in (*self._turns, *self._waiting):
            job.fail(Unavailable("The embedder is closed"))

    def _next(self) -> "_Job | None":
        """Wait for a job whose turn it is; None once closed."""
        with self._changed:
            while True:
                if self._closed:
                    return None
                while self._waiting and self._fits(self._waiting[0]):
                    job = self._waiting.popleft()
                    self._texts += job.size
                    self._turns.append(job)
                if self._turns:
                    return self._turns.popleft()
                self._changed.wait()

    def _fits(self, job: "_Job") -> bool:
        return not self._texts or self._texts + job.size <= self._queue_texts


class _Job:
    """One call: its texts, how far it is, and the future its caller awaits."""

    def __init__(self, texts: Sequence[str], model: Model, tokens_per_run: int) -> None:
        self.size = len(texts)
        self.future: Future[Vectors] = Future()
        self._vectors: Vectors = np.empty((self.size, model.dimension), np.float32)
        self._work = self._steps(list(texts), model, tokens_per_run)

    def step(self) -> bool:
        """Do the next piece of work; True when there is none left, be it done, failed or given up."""
        if self.future.cancelled():
            return True
        try:
            next(self._work)
        except StopIteration:
            self._settle(lambda: self.future.set_result(self._vectors))
        except MemlakeError as error:
            self.fail(error)
        except Exception as error:  # noqa: BLE001 - the thread must outlive any call, and the caller must hear of it
            self.fail(Unavailable(f"Embedding failed: {error!r}"))
        return self.future.done()

    def fail(self, error: MemlakeError) -> None:
        """Tell the caller, if there still is one."""
        self._settle(lambda: self.future.set_exception(error))

    def _settle(self, settle: Callable[[], None]) -> None:
        try:
            settle()
        except InvalidStateError:  # cancelled meanwhile: nobody waits
            self.future.cancel()

    def _steps(self, texts: list[str], model: Model, tokens_per_run: int) -> Iterator[None]:
        """Tokenise all, then run equal lengths together; stops after each piece."""
        rows: list[list[int]] = []
        for start in range(0, len(texts), _TEXTS_PER_STEP):
            rows += map(model.tokenize, texts[start : start + _TEXTS_PER_STEP])
            yield
        for group in equal_length_groups([len(row) for row in rows], tokens_per_run):
            self._vectors[group] = model.run([rows[index] for index in group])
            yield


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
