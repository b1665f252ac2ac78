"""The LoCoMo layout: two people's sessions in one object, ``session_1`` with ``session_1_date_time`` and so on.

Rule of this file: pure. Both speakers are people, so both have the role user and their ``name``. A session has one time
("1:56 pm on 8 May, 2023", no zone: UTC) and each of its messages is one second later than the one before. The caption
of a shared picture follows the text on a line of its own: ``[image: …]``.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from schemas.conversation import Scope
from streams.formats.source import (
    Item,
    a_list,
    a_name,
    a_text,
    after,
    an_object,
    below,
    fault,
    items,
    optional_text,
    records,
    turn,
)

MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december")  # fmt: skip  # noqa: E501
SESSION = re.compile(r"session_([0-9]{1,9})")
WHEN = re.compile(r"([0-9]{1,2}):([0-9]{2})\s*([ap])m on ([0-9]{1,2}) ([a-z]+),? ([0-9]{4})", re.IGNORECASE)
NOON = 12


def fits(record: object) -> bool:
    """Whether a record looks like a sample of this layout, or like its conversation alone."""
    if not isinstance(record, dict):
        return False
    conversation = record.get("conversation", record)
    return isinstance(conversation, dict) and any(SESSION.fullmatch(str(name)) for name in conversation)


def parse(document: object, scope: Scope, *, start: datetime | None = None) -> Iterator[Item]:  # noqa: ARG001 - has times
    """One item for each message, session by session in the order of their numbers; see ``Parse``."""
    for place, record in records(document):
        sample = an_object(record, place)
        inside = below(place, "conversation") if "conversation" in sample else place
        conversation = an_object(sample.get("conversation", sample), inside)
        name = optional_text(sample, "sample_id", place) or place
        numbered = sorted((int(found[1]), key) for key in conversation if (found := SESSION.fullmatch(key)))
        if not numbered:
            raise fault(inside, "must have a session_1")
        for _, key in numbered:
            yield from _session(conversation, key, inside, scope=scope, sample=name)


def _session(conversation: dict[str, Any], key: str, place: str, *, scope: Scope, sample: str) -> Iterator[Item]:
    opened = moment_of_session(conversation.get(f"{key}_date_time"), below(place, f"{key}_date_time"))
    session_id = f"{sample}/{key}" if sample else key
    inside = below(place, key)
    for index, (where, value) in enumerate(items(a_list(conversation.get(key), inside), inside)):
        message = an_object(value, where)
        said = a_text(message.get("text"), below(where, "text"))
        caption = optional_text(message, "blip_caption", where)
        identity = optional_text(message, "dia_id", where) or str(index)
        yield turn(
            where,
            scope=scope,
            source=("locomo", session_id, opened.isoformat(), identity),
            session_id=session_id,
            role="user",
            name=a_name(message.get("speaker"), below(where, "speaker")),
            content="\n".join(filter(None, (said, caption and f"[image: {caption}]"))),
            timestamp=after(opened, index, where),
        )


def moment_of_session(value: object, place: str) -> datetime:
    """The time of a session, in UTC."""
    found = WHEN.fullmatch(a_text(value, place).strip())
    if found is None or found[5].lower() not in MONTHS:
        raise fault(place, "must be a time such as 1:56 pm on 8 May, 2023")
    hour = int(found[1]) % NOON + (NOON if found[3].lower() == "p" else 0)
    month = MONTHS.index(found[5].lower()) + 1
    try:
        if not 1 <= int(found[1]) <= NOON:
            raise ValueError("no hour of a 12-hour clock")  # noqa: TRY301 - one handler for all that is no time
        return datetime(int(found[6]), month, int(found[4]), hour, int(found[2]), tzinfo=UTC)
    except ValueError as error:
        raise fault(place, "is no time that a calendar has") from error
