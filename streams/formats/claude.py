"""The Claude data export (``conversations.json``): a list of messages for each conversation.

Rule of this file: pure. Text parts of ``content`` are what was said; where there are none (older exports), ``text`` is.
What a tool was asked and gave, and thinking, is not said. Times carry their zone; one without is UTC.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from schemas.conversation import Role, Scope
from streams.formats.source import (
    Item,
    a_list,
    a_name,
    a_text,
    an_object,
    below,
    fault,
    items,
    moment_of_text,
    optional_text,
    records,
    turn,
)

ROLES: dict[str, Role] = {"human": "user", "assistant": "assistant"}


def fits(record: object) -> bool:
    """Whether a record looks like a conversation of this export."""
    return isinstance(record, dict) and isinstance(record.get("chat_messages"), list)


def parse(document: object, scope: Scope, *, start: datetime | None = None) -> Iterator[Item]:  # noqa: ARG001 - has times
    """One item for each message, in the export's order; see ``Parse``."""
    for place, record in records(document):
        conversation = an_object(record, place)
        inside = below(place, "chat_messages")
        session_id = a_name(conversation.get("uuid"), below(place, "uuid"))
        title = optional_text(conversation, "name", place)
        for where, value in items(a_list(conversation.get("chat_messages"), inside), inside):
            yield _item(an_object(value, where), where, scope=scope, session_id=session_id, title=title)


def _item(message: dict[str, Any], place: str, *, scope: Scope, session_id: str, title: str | None) -> Item:
    role = ROLES.get(a_text(message.get("sender"), below(place, "sender")))
    if role is None:
        raise fault(below(place, "sender"), f"must be one of {', '.join(ROLES)}")
    identity = a_name(message.get("uuid"), below(place, "uuid"))
    moment = moment_of_text(message.get("created_at"), below(place, "created_at"))
    said, others = _content(message, place)
    return turn(
        place,
        scope=scope,
        source=("claude", session_id, identity),
        session_id=session_id,
        role=role,
        content=said,
        timestamp=moment,
        topic=title,
        others=others,
    )


def _content(message: dict[str, Any], place: str) -> tuple[str, list[str]]:
    """The text of a message, and the types of its parts that are no text."""
    inside = below(place, "content")
    texts, others = [], []
    for where, value in items(a_list(message.get("content") or [], inside), inside):
        part = an_object(value, where)
        kind = a_text(part.get("type"), below(where, "type"))
        if kind == "text":
            texts.append(a_text(part.get("text"), below(where, "text")))
        else:
            others.append(kind)
    if not texts and not others:  # with parts that are no text, "text" only says that they cannot be shown
        texts = [optional_text(message, "text", place) or ""]
    return "\n".join(text for text in texts if text), others
