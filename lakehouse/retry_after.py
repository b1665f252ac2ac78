"""How long a host asks to wait, as it writes it into a header.

Rule of this file: pure. What makes no sense is nothing that was asked.
"""

import math
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def seconds_told(told: str | None, now: datetime) -> float | None:
    """Seconds to wait by a ``Retry-After``, which is a number of them or a date.

    Args:
        told: The header's value; None where there is none.
        now: Timezone-aware.

    Returns:
        0 or more; None where nothing, or nothing that makes sense, is told.
    """
    seconds = number_told(told)
    if seconds is not None or told is None:
        return seconds
    try:
        moment = parsedate_to_datetime(told)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())


def number_told(told: str | None) -> float | None:
    """A finite number from 0 on; None where that is none."""
    try:
        number = float(told or "")
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None
