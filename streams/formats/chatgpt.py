"""The ChatGPT data export (``conversations.json``): a tree of messages for each conversation.

Rule of this file: pure. What counts is the branch that ends at ``current_node``, as the person last saw it; messages of
other branches (edited, asked again) are told as left out. Where ``current_node`` is absent, the last child is taken at
each fork. Times are seconds since 1970, so UTC; a message without one has its predecessor's on the branch, the first of
them the conversation's.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from schemas.conversation import Role, Scope
from streams.formats.source import (
    Item,
    LeftOut,
    a_list,
    a_name,
    a_text,
    an_object,
    below,
    fault,
    items,
    moment_of_seconds,
    optional_text,
    records,
    turn,
)

ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system", "tool": "tool"}
UNSAID = {"thoughts", "reasoning_recap", "user_editable_context", "model_editable_context"}
"""Content types that hold no part of the conversation: reasoning, and the settings shown to the model."""


def fits(record: object) -> bool:
    """Whether a record looks like a conversation of this export."""
    return isinstance(record, dict) and isinstance(record.get("mapping"), dict)


def parse(document: object, scope: Scope, *, start: datetime | None = None) -> Iterator[Item]:  # noqa: ARG001 - has times
    """One item for each message, in the order of each conversation's branch; then those off the branch."""
    for place, record in records(document):
        yield from _conversation(an_object(record, place), place, scope)


def _conversation(record: dict[str, Any], place: str, scope: Scope) -> Iterator[Item]:
    inside = below(place, "mapping")
    mapping = an_object(record.get("mapping"), inside)
    nodes = {a_text(key, inside): an_object(node, below(inside, key)) for key, node in mapping.items()}
    branch = _branch(record, nodes, place)
    identity = "conversation_id" if record.get("conversation_id") is not None else "id"
    session_id = a_name(record.get(identity), below(place, identity))
    title = optional_text(record, "title", place)
    moment = None
    if record.get("create_time") is not None:
        moment = moment_of_seconds(record["create_time"], below(place, "create_time"))
    for key in branch:
        if nodes[key].get("message") is None:
            continue
        where = below(below(inside, key), "message")
        message = an_object(nodes[key]["message"], where)
        if message.get("create_time") is not None:
            moment = moment_of_seconds(message["create_time"], below(where, "create_time"))
        if moment is None:
            raise fault(below(where, "create_time"), "is missing, and so is the conversation's")
        yield _item(message, where, key, scope=scope, session_id=session_id, title=title, moment=moment)
    on_branch = set(branch)
    for key, node in nodes.items():
        if key not in on_branch and node.get("message") is not None:
            yield LeftOut(below(below(inside, key), "message"), "it stands on a branch that was given up")


def _branch(record: dict[str, Any], nodes: dict[str, dict[str, Any]], place: str) -> list[str]:
    """Ids of the nodes from the root to the current one."""
    current, told = record.get("current_node"), below(place, "current_node")
    key = _last_leaf(nodes, below(place, "mapping")) if current is None else a_text(current, told)
    branch: dict[str, None] = {}
    while key is not None:
        if key not in nodes:
            raise fault(told, "must name a node of the mapping, and each node's parent too")
        if key in branch:
            raise fault(below(below(below(place, "mapping"), key), "parent"), "must not lead back to the node itself")
        branch[key] = None
        parent = nodes[key].get("parent")
        key = None if parent is None else a_text(parent, below(below(below(place, "mapping"), key), "parent"))
    return list(branch)[::-1]


def _last_leaf(nodes: dict[str, dict[str, Any]], inside: str) -> str | None:
    """The node that the last child at each fork leads to; None in an empty tree."""
    key = next((key for key, node in nodes.items() if node.get("parent") is None), None)
    seen: set[str] = set()
    while key is not None and key in nodes and key not in seen:
        seen.add(key)
        where = below(below(inside, key), "children")
        children = a_list(nodes[key].get("children") or [], where)
        if not children:
            break
        key = a_text(children[-1], f"{where}[{len(children) - 1}]")
    return key


def _item(
    message: dict[str, Any], place: str, key: str, *, scope: Scope, session_id: str, title: str | None, moment: datetime
) -> Item:
    author = an_object(message.get("author"), below(place, "author"))
    role = ROLES.get(a_text(author.get("role"), below(below(place, "author"), "role")))
    if role is None:
        raise fault(below(below(place, "author"), "role"), f"must be one of {', '.join(ROLES)}")
    content = an_object(message.get("content"), below(place, "content"))
    hidden = an_object(message.get("metadata") or {}, below(place, "metadata"))
    if hidden.get("is_visually_hidden_from_conversation"):
        return LeftOut(place, "it was hidden from the conversation")
    if content.get("content_type") in UNSAID:
        return LeftOut(place, f"its content is {content['content_type']}, which nobody said")
    if message.get("recipient") not in {None, "all"}:
        return LeftOut(place, "it is addressed to a tool")
    said, others = _content(content, below(place, "content"))
    return turn(
        place,
        scope=scope,
        source=("chatgpt", session_id, optional_text(message, "id", place) or key),
        session_id=session_id,
        role=role,
        name=optional_text(author, "name", below(place, "author")),
        content=said,
        timestamp=moment,
        topic=title,
        others=others,
    )


def _content(content: dict[str, Any], place: str) -> tuple[str, list[str]]:
    """The text of a content, and the types of its parts that are no text."""
    if "parts" not in content:
        return optional_text(content, "text", place) or "", []
    texts, others = [], []
    inside = below(place, "parts")
    for where, part in items(a_list(content["parts"], inside), inside):
        if isinstance(part, str):
            texts.append(a_text(part, where))
        elif isinstance(part, dict):
            if "text" in part:
                texts.append(a_text(part["text"], below(where, "text")))
            else:
                others.append(str(part.get("content_type", "object")))
        elif part is not None:
            raise fault(where, "must be text or an object")
    return "\n".join(text for text in texts if text), others
