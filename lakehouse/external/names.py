"""What the names of hosts resolve to, asked of the system in threads that nobody has to wait for.

Rule of this file: the only one here that asks for names. The system's way of asking blocks and cannot be stopped, so
each question has a thread of its own that ends with the process, and there are only so many.
"""

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Final

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""From a host's name and port to all its addresses.

Raises:
    OSError: They could not be had.
"""
MAX_WAITING: Final = 16
"""Questions under way, those that nobody waits for any more among them."""


class SystemNames:
    """Asks the system's resolver. For one event loop."""

    def __init__(self) -> None:
        self._free = threading.BoundedSemaphore(MAX_WAITING)

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        """All addresses of a host, the preferred first, each once.

        Args:
            host: Its name.
            port: Where it is asked.

        Raises:
            OSError: There are none, or too many names are being asked for already.
        """
        if not self._free.acquire(blocking=False):
            raise OSError(f"{MAX_WAITING} names are being asked for already, and none is answered")
        loop = asyncio.get_running_loop()
        found: asyncio.Future[Sequence[str]] = loop.create_future()

        def ask() -> None:
            outcome: Sequence[str] | OSError
            try:
                told = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
                outcome = list(dict.fromkeys(str(address[0]) for *_, address in told))
            except OSError as error:
                outcome = error
            self._free.release()
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(_tell, found, outcome)

        threading.Thread(target=ask, name=f"name of {host}", daemon=True).start()
        return await found


def _tell(found: "asyncio.Future[Sequence[str]]", outcome: Sequence[str] | OSError) -> None:
    """Hand over what was found, unless nobody waits any more."""
    if found.done():
        return
    if isinstance(outcome, OSError):
        found.set_exception(outcome)
    else:
        found.set_result(outcome)
