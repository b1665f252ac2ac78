"""What may go wrong around a handler: any of its calls to lake, model or broker fails, or stalls as long as one likes.

Rule of this file: it stands where other people's libraries stand, and knows nothing of handlers. A mishap belongs to
the task that was started with it, and strikes at one of that task's calls, counted from 1.
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

Result = TypeVar("Result")
When = Literal["before", "midst", "after"]
"""Before the call has any effect, after half of it (of a send: elsewhere as before), or after all of it."""


@dataclass
class Mishap:
    """One call that fails, or waits until it is let go on.

    Attributes:
        at: Which call of the task, from 1; a task with fewer calls is spared.
        when: Relative to the call's effect.
        holds: Whether the call waits there, instead of failing.
        calls: How many were made so far.
    """

    at: int
    when: When = "before"
    holds: bool = False
    calls: int = 0
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    released: asyncio.Event = field(default_factory=asyncio.Event)

    async def strike(self, error: Callable[[], Exception]) -> None:
        """Fail, or wait to be released."""
        self.reached.set()
        if not self.holds:
            raise error()
        await self.released.wait()


CURRENT: ContextVar[Mishap | None] = ContextVar("mishap", default=None)


async def perilous(
    call: Callable[[], Awaitable[Result]],
    error: Callable[[], Exception],
    half: Callable[[], Awaitable[None]] | None = None,
) -> Result:
    """Make a call to the world, with the mishap of this task if it is this call's turn.

    Args:
        call: The call.
        error: What the caller sees when it fails.
        half: A part of its effect, where it can happen in part.
    """
    mishap = CURRENT.get()
    if mishap is None:
        return await call()
    mishap.calls += 1
    if mishap.calls != mishap.at:
        return await call()
    if mishap.when != "after":
        if mishap.when == "midst" and half is not None:
            await half()
        await mishap.strike(error)
    result = await call()
    if mishap.when == "after":
        await mishap.strike(error)
    return result


class Perilous:
    """An object of the lake's library, and what it makes: all their asynchronous calls may meet a mishap."""

    def __init__(self, thing: Any) -> None:
        self._thing = thing

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._thing, name)
        if not callable(found):
            return found
        if not (inspect.iscoroutinefunction(found) or name == "execute"):
            return lambda *args, **options: Perilous(found(*args, **options))

        async def call(*args: Any, **options: Any) -> Any:
            result = await perilous(lambda: found(*args, **options), lambda: OSError("the disk is away"))
            return Perilous(result) if name == "open_table" else result

        return call


async def stalled(work: Coroutine[Any, Any, None], mishap: Mishap) -> asyncio.Task[None]:
    """Start work that was given a mishap, and come back once it stalls there or has ended."""
    task = asyncio.create_task(work)
    reached = asyncio.create_task(mishap.reached.wait())
    await asyncio.wait({task, reached}, return_when=asyncio.FIRST_COMPLETED)
    reached.cancel()
    return task
