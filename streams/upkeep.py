"""The daily upkeep of documentation: asked for once a day by whoever owns the first partition of the commands.

Rule of this file: it asks, and the owner of the tables does it. Asked twice for one day, nothing is done twice.
"""

from datetime import timedelta
from typing import Final

from streams.ports import Ports
from streams.refreshing import upkeep_of

REPORT_ON = 0
"""Monday: the week before it is reported."""
AFTER_START: Final = timedelta(minutes=1)
"""Who has just begun has something better to do."""


class Daily:
    """Asks for the upkeep of each day (UTC) once."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._begins = ports.clock() + AFTER_START
        self._asked = ""

    async def tick(self, *, is_ours: bool) -> None:
        """Ask, if it is ours to ask and this day's is not asked for yet; call it every second or so.

        Raises:
            Unavailable: The broker does not take it; it is asked for with the next tick.
        """
        now = self._ports.clock()
        day = now.date().isoformat()
        if not is_ours or day == self._asked or now < self._begins:
            return
        report = now.weekday() == REPORT_ON
        await self._ports.outbox.send([upkeep_of(now, self._ports.outbox.source, report=report, scheduled=True)])
        self._asked = day
