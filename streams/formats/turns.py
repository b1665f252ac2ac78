"""Memlake's own turns: one JSON object a line, a list of them, or one.

Rule of this file: pure. A turn keeps its own scope; one without takes the given one. Its id is its own, or derived as
``Turn.identified`` does. A time without a zone is a fault, as it is everywhere on the wire.
"""

from collections.abc import Iterator
from datetime import datetime

from schemas.conversation import Scope, Turn
from schemas.errors import InvalidMessage
from streams.formats.source import Item, an_object, records, within


def fits(record: object) -> bool:
    """Whether a record looks like a turn: with a role and either a scope or a time beside what was said."""
    return (
        isinstance(record, dict) and {"role", "content"} <= set(record) and bool({"scope", "timestamp"} & set(record))
    )


def parse(document: object, scope: Scope, *, start: datetime | None = None) -> Iterator[Item]:  # noqa: ARG001 - has times
    """One turn for each record; see ``Parse``."""
    for place, record in records(document):
        told = {"scope": scope.model_dump(by_alias=True), **an_object(record, place)}
        try:
            yield Turn.from_wire(told).identified()
        except InvalidMessage as error:
            raise within(place, error) from error
