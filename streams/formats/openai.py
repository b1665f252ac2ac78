"""Chat-completions messages: a list of them, ``{"messages": […]}``, a list of either, or JSON lines of either.

Rule of this file: pure. The format has no times, so ``start`` gives the first message's and each message of the file,
left out or not, is one second later than the one before. It has no ids either (save an ``id`` beside ``messages``), so
ids derive from ``start``, the place and what was said: the same file with the same ``start`` makes the same turns.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from typing import Any

from schemas.conversation import Role, Scope, is_blank
from schemas.errors import InvalidMessage
from schemas.identity import derived_id
from streams.formats.source import (
    Item,
    LeftOut,
    a_list,
    a_text,
    after,
    an_id,
    an_object,
    below,
    fault,
    items,
    optional_text,
    records,
    turn,
)

ROLES: dict[str, Role] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
}
"""Roles of the format, old names included, and ours."""


def fits(record: object) -> bool:
    """Whether a record looks like a message, a list of messages, or an object with ``messages``."""
    if isinstance(record, list):
        return bool(record) and fits(record[0])
    return isinstance(record, dict) and (isinstance(record.get("messages"), list) or {"role", "content"} <= set(record))


def parse(document: object, scope: Scope, *, start: datetime | None = None) -> Iterator[Item]:
    """One item for each message; see ``Parse``.

    Bare messages that follow each other at the top are one conversation.

    Args:
        document: The parsed JSON, or ``JsonLines``.
        scope: Whose memory it becomes.
        start: Time of the first message, with a zone.

    Raises:
        InvalidMessage: No ``start``, or a value is not as the format has it.
    """
    if start is None or start.tzinfo is None:
        raise InvalidMessage("this format has no times: say with a zone when it started", field="start")
    opened = start.isoformat()
    clock = count()
    for conversation, place, message in _messages(document):
        session_id = conversation.given or derived_id("session", scope.key, "openai", opened, conversation.place)
        moment = after(start, next(clock), place)
        yield _item(an_object(message, place), place, scope=scope, session_id=session_id, moment=moment, opened=opened)


@dataclass(frozen=True)
class _Conversation:
    """What a message belongs to: the id that it was given, else the place where it stands ("" for bare messages)."""

    given: str | None
    place: str


def _messages(document: object) -> Iterator[tuple[_Conversation, str, object]]:
    """Each message with its conversation and place."""
    for place, record in records(document):
        if isinstance(record, list):
            listed, conversation = items(record, place), _Conversation(None, place)
        elif "messages" in (told := an_object(record, place)):
            inside = below(place, "messages")
            given = None if told.get("id") is None else an_id(told["id"], below(place, "id"))
            listed, conversation = items(a_list(told["messages"], inside), inside), _Conversation(given, inside)
        else:
            listed, conversation = iter([(place, record)]), _Conversation(None, "")
        yield from ((conversation, where, message) for where, message in listed)


def _item(message: dict[str, Any], place: str, *, scope: Scope, session_id: str, moment: datetime, opened: str) -> Item:
    role = ROLES.get(a_text(message.get("role"), below(place, "role")))
    if role is None:
        raise fault(below(place, "role"), f"must be one of {', '.join(ROLES)}")
    said, others = _content(message, place)
    if is_blank(said) and (message.get("tool_calls") or message.get("function_call")):
        return LeftOut(place, "it calls a tool and says nothing")
    return turn(
        place,
        scope=scope,
        source=("openai", opened, session_id, place, role, said),
        session_id=session_id,
        role=role,
        name=optional_text(message, "name", place),
        content=said,
        timestamp=moment,
        others=others,
    )


def _content(message: dict[str, Any], place: str) -> tuple[str, list[str]]:
    """The text of a message, and the types of its parts that are no text."""
    content, inside = message.get("content"), below(place, "content")
    if content is None:
        return optional_text(message, "refusal", place) or "", []
    if isinstance(content, str):
        return a_text(content, inside), []
    texts: list[str] = []
    others: list[str] = []
    for where, value in items(a_list(content, inside), inside):
        part = an_object(value, where)
        field = "refusal" if part.get("type") == "refusal" else "text"
        if field in part:
            texts.append(a_text(part[field], below(where, field)))
        else:
            others.append(a_text(part.get("type"), below(where, "type")))
    return "\n".join(texts), others
