"""What the operator reads: dead letters and reports of maintenance."""

from typing import ClassVar

from schemas.message import Instant, Message


class DeadLetter(Message):
    """A message that could not be handled, as it came, masked, with the reason."""

    kind: ClassVar[str] = "dead-letter"

    id: str
    topic: str
    partition: int
    offset: int
    key: str | None = None
    value: str | None = None
    """Masked text; bytes that are no UTF-8 are shown as \\xNN."""
    headers: tuple[tuple[str, str], ...] = ()
    error: str
    """The class of the error."""
    reason: str
    field: str | None = None
    attempt: int
    """How often it was tried, from 1."""
    timestamp: Instant
    """When it was given up."""


class MaintenanceReport(Message):
    """What one round of maintenance did to one table."""

    kind: ClassVar[str] = "maintenance-report"

    table: str
    partition: int
    reason: str
    fragments_before: int
    fragments_after: int
    rows: int
    duration_ms: float
    timestamp: Instant
