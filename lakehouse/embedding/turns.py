"""One thread in which several callers' work takes turns, and the bounded queue before it.

Rule of this file: the steps of all work run in this thread alone, so a model is never touched by two, and callers may
come from any thread or event loop. Work takes turns, a step each, so a question waits for a step, not for somebody's
thousand texts. No more than ``room`` is in work; what is beyond waits in order of arrival, or is refused.

Theory of operation: a call is a ``_Job``. It stands in ``_waiting`` until it fits, then goes round in ``_turns``, whose
first is the one in hand, until its last step is done. A caller who gives up cancels the future, and the job is dropped
at its next turn. A step that hangs holds the thread and nothing else: not its caller, not the end of the process.
"""

import threading
from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import Future, InvalidStateError
from typing import Any, Generic, TypeAlias, TypeVar

from schemas.errors import MemlakeError, Unavailable

Result = TypeVar("Result")
Steps: TypeAlias = Generator[None, None, Result]
"""Work that stops after each step and at the end returns what was asked for."""


class TurnThread:
    """Does what is submitted, in turns. Starts at once, ends with ``close`` and never keeps the process alive."""

    def __init__(
        self, name: str, *, room: int, most_waiting: int | None = None, stop: Callable[[], object] | None = None
    ) -> None:
        """Start the thread.

        Args:
            name: What the thread serves, for messages: "embedder".
            room: Most in work at once, in the unit of ``size``; a larger single call waits until it is the only one.
            most_waiting: Calls that wait beyond it; further ones are refused. None has all wait.
            stop: Ends the step in hand, from another thread.
        """
        self._name = name
        self._room = room
        self._most_waiting = most_waiting
        self._stop = stop
        self._changed = threading.Condition()
        self._waiting: deque[_Job[Any]] = deque()
        self._turns: deque[_Job[Any]] = deque()
        self._size = 0  # of the jobs that take turns
        self._closed = False
        self._thread = threading.Thread(target=self._work, name=f"memlake-{name}", daemon=True)
        self._thread.start()

    def submit(self, size: int, steps: Steps[Result]) -> "Future[Result]":
        """Ask for work to be done; to cancel the future drops what is not yet done.

        The future fails with the ``MemlakeError`` that a step raised, with ``Unavailable`` if one raised anything else
        or the thread is closed.

        Args:
            size: How much of ``room`` it takes.
            steps: The work; run in the thread alone.

        Raises:
            Unavailable: The thread is closed, or too many wait already.
        """
        job = _Job(self._name, size, steps)
        with self._changed:
            if self._closed:
                raise Unavailable(f"The {self._name} is closed")
            self._waiting.append(job)
            self._admit()
            if self._most_waiting is not None and len(self._waiting) > self._most_waiting:
                self._waiting.pop()
                raise Unavailable(f"The {self._name} has too much to do: {self._most_waiting} calls wait already")
            self._changed.notify()
        return job.future

    def close(self, timeout_s: float) -> None:
        """Stop the step in hand, wait for the thread to end, at most ``timeout_s``, and fail every call not done."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        if self._stop is not None:
            self._stop()
        self._thread.join(timeout_s)
        with self._changed:
            for job in (*self._turns, *self._waiting):
                job.fail(Unavailable(f"The {self._name} is closed"))

    def _work(self) -> None:
        while (job := self._next()) is not None:
            done = job.step()
            with self._changed:
                self._turns.popleft()
                if done:
                    self._size -= job.size
                else:
                    self._turns.append(job)

    def _next(self) -> "_Job[Any] | None":
        """Wait for a job whose turn it is; None once closed."""
        with self._changed:
            while not self._closed:
                self._admit()
                if self._turns:
                    return self._turns[0]
                self._changed.wait()
            return None

    def _admit(self) -> None:
        while self._waiting and (not self._size or self._size + self._waiting[0].size <= self._room):
            job = self._waiting.popleft()
            self._size += job.size
            self._turns.append(job)


class _Job(Generic[Result]):
    """One call: its work, how far it is, and the future its caller awaits."""

    def __init__(self, name: str, size: int, steps: Steps[Result]) -> None:
        self.size = size
        self.future: Future[Result] = Future()
        self._name = name
        self._steps = steps

    def step(self) -> bool:
        """Do the next piece of work; True when there is none left, be it done, failed or given up."""
        if self.future.cancelled():
            return True
        try:
            next(self._steps)
        except StopIteration as end:
            result = end.value
            self._settle(lambda: self.future.set_result(result))
        except MemlakeError as error:
            self.fail(error)
        except Exception as error:  # noqa: BLE001 - the thread must outlive any call, and the caller must hear of it
            self.fail(Unavailable(f"The {self._name} failed: {error!r}"))
        return self.future.done()

    def fail(self, error: MemlakeError) -> None:
        """Tell the caller, if there still is one."""
        self._settle(lambda: self.future.set_exception(error))

    def _settle(self, settle: Callable[[], None]) -> None:
        try:
            settle()
        except InvalidStateError:  # cancelled or told meanwhile: nobody waits
            self.future.cancel()
