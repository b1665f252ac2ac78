"""Requests about documentation on their way: pages to look at, and the daily upkeep.

Rule of this file: messages only, so that a client that imports neither a model nor the lake can send them.
"""

from datetime import datetime
from urllib.parse import urlsplit

from schemas.identity import derived_id
from schemas.knowledge import RefreshRequest, Upkeep
from schemas.message import cloud_event
from streams.wire import Outgoing


def refresh_of(request: RefreshRequest, source: str) -> Outgoing:
    """A request on its way, keyed by the host that it is about."""
    try:
        host = urlsplit(request.url).hostname
    except ValueError:  # no address: whoever works on it tells why
        host = None
    key = host or request.project or "symbol"
    event_id = derived_id("refresh", request.url, request.symbol, request.requested_at.isoformat())
    headers = cloud_event(request, event_id=event_id, source=source, time=request.requested_at, key=key)
    return Outgoing("knowledge.refresh", key, request.encode(), headers)


def upkeep_of(now: datetime, source: str, *, report: bool, scheduled: bool = False) -> Outgoing:
    """A request for the upkeep, on its way.

    Args:
        now: When it is asked for.
        source: Who asks.
        report: Whether the last week's usage is to be reported as well.
        scheduled: Whether nobody in particular asks.
    """
    upkeep = Upkeep(requested_at=now, reason="scheduled" if scheduled else "asked", report=report)
    headers = cloud_event(
        upkeep, event_id=derived_id("upkeep", source, now.isoformat()), source=source, time=now, key=upkeep.kind
    )
    return Outgoing("knowledge.refresh", upkeep.kind, upkeep.encode(), headers)
