"""The LongMemEval layout: for each question, haystack sessions with their dates and ids in three lists of one length.

Rule of this file: pure. Only the haystack is read, never question or answer. A date ("2023/05/20 (Sat) 02:21") has no
zone: UTC; each message is one second later than the one before in its session. A session that stands in several
questions with the same date and messages is the same turns each time.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from schemas.conversation import Role, Scope
from streams.formats.source import Item, a_list, a_name, a_text, after, an_object, below, fault, items, records, turn

ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
WHEN = re.compile(r"([0-9]{4})/([0-9]{1,2})/([0-9]{1,2})(?: \([A-Za-z]+\))? ([0-9]{1,2}):([0-9]{2})")


def fits(record: object) -> bool:
    """Whether a record looks like a question of this layout."""
    return isinstance(record, dict) and isinstance(record.get("haystack_sessions"), list)


def parse(document: object, scope: Scope, *, start: datetime | None = None) -> Iterator[Item]:  # noqa: ARG001 - has times
    """One item for each message, in the file's order; see ``Parse``."""
    for place, record in records(document):
        yield from _question(an_object(record, place), place, scope)


def _question(record: dict[str, Any], place: str, scope: Scope) -> Iterator[Item]:
    names = ("haystack_sessions", "haystack_dates", "haystack_session_ids")
    sessions, dates, ids = (a_list(record.get(name), below(place, name)) for name in names)
    for name, other in zip(names[1:], (dates, ids), strict=True):
        if len(other) != len(sessions):
            raise fault(below(place, name), f"must be as long as {names[0]} ({len(sessions)}, not {len(other)})")
    told = [below(place, name) for name in names]
    for index, (messages, date, identity) in enumerate(zip(sessions, dates, ids, strict=True)):
        inside = f"{told[0]}[{index}]"
        opened = moment_of_date(date, f"{told[1]}[{index}]")
        session_id = a_name(identity, f"{told[2]}[{index}]")
        for number, (where, value) in enumerate(items(a_list(messages, inside), inside)):
            yield _item(
                an_object(value, where), where, scope=scope, session_id=session_id, opened=opened, number=number
            )


def _item(message: dict[str, Any], place: str, *, scope: Scope, session_id: str, opened: datetime, number: int) -> Item:
    role = ROLES.get(a_text(message.get("role"), below(place, "role")))
    if role is None:
        raise fault(below(place, "role"), f"must be one of {', '.join(ROLES)}")
    said = a_text(message.get("content"), below(place, "content"))
    return turn(
        place,
        scope=scope,
        source=("longmemeval", session_id, opened.isoformat(), number, role, said),
        session_id=session_id,
        role=role,
        content=said,
        timestamp=after(opened, number, place),
    )


def moment_of_date(value: object, place: str) -> datetime:
    """The time of a session, in UTC."""
    found = WHEN.fullmatch(a_text(value, place).strip())
    if found is None:
        raise fault(place, "must be a time such as 2023/05/20 (Sat) 02:21")
    year, month, day, hour, minute = map(int, found.groups())
    try:
        return datetime(year, month, day, hour, minute, tzinfo=UTC)
    except ValueError as error:
        raise fault(place, "is no time that a calendar has") from error
