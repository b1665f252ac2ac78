"""The client for programs without an event loop.

    with SyncMemoryClient() as memory:
        memory.publish("I moved to Porto.")
        print(memory.ask("Where do I live?", format="context").context)

Rule of this file: a façade, one line a method; the work is done by ``MemoryClient`` on a loop in a thread of its own.
"""

import asyncio
import threading
from collections.abc import Coroutine, Iterator, Sequence
from typing import Any, Self, TypeVar

from schemas.conversation import Turn
from schemas.memory import MemoryEvent, TurnReport
from schemas.retrieval import Reply
from streams.client import MemoryClient

Result = TypeVar("Result")


class SyncMemoryClient:
    """``MemoryClient`` with plain methods; use it as a context manager, from any thread."""

    def __init__(self, project: str | None = None, user: str | None = None, **options: Any) -> None:
        """Prepare a client; arguments as for ``MemoryClient``."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="memlake-client", daemon=True)
        self._arguments = (project, user, options)
        self._client: MemoryClient | None = None

    def __enter__(self) -> Self:
        """Connect."""
        self._thread.start()
        try:
            self._client = self._run(self._connected())
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Disconnect."""
        try:
            self._run(self._inner.__aexit__(None, None, None))
        finally:
            self._end()

    def publish(self, *turns: Turn | str) -> list[str]:
        """See ``MemoryClient.publish``."""
        return self._run(self._inner.publish(*turns))

    def publish_and_wait(self, turn: Turn | str, *, timeout_s: float | None = None) -> TurnReport:
        """See ``MemoryClient.publish_and_wait``."""
        return self._run(self._inner.publish_and_wait(turn, timeout_s=timeout_s))

    def ask(self, query: str, **options: Any) -> Reply:
        """See ``MemoryClient.ask``."""
        return self._run(self._inner.ask(query, **options))

    def extract_and_operate(self, interaction: str | Sequence[str], **options: Any) -> TurnReport:
        """See ``MemoryClient.extract_and_operate``."""
        return self._run(self._inner.extract_and_operate(interaction, **options))

    def forget(self, memory_id: int | None = None, **options: Any) -> TurnReport:
        """See ``MemoryClient.forget``."""
        return self._run(self._inner.forget(memory_id, **options))

    def restore(self, memory_id: int, **options: Any) -> TurnReport:
        """See ``MemoryClient.restore``."""
        return self._run(self._inner.restore(memory_id, **options))

    def feedback(self, **options: Any) -> TurnReport:
        """See ``MemoryClient.feedback``."""
        return self._run(self._inner.feedback(**options))

    def changes(self, **options: Any) -> Iterator[MemoryEvent]:
        """See ``MemoryClient.changes``."""
        found = self._inner.changes(**options)
        while True:
            event = self._run(_next(found))
            if event is None:
                return
            yield event

    @property
    def _inner(self) -> MemoryClient:
        if self._client is None:
            raise RuntimeError("use the client as a context manager: with SyncMemoryClient() as memory: …")
        return self._client

    async def _connected(self) -> MemoryClient:
        project, user, options = self._arguments
        return await MemoryClient(project, user, **options).__aenter__()

    def _run(self, work: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()


async def _next(found: Any) -> MemoryEvent | None:
    event: MemoryEvent | None = await anext(found, None)
    return event
