"""BEAM: long chats with an assistant, and questions about the facts in them with the messages that hold the answer.

Rule of this file: only the user's messages can be found, without the plan's marks. A batch of a chat is one session;
its first message may carry its date, and messages are a minute apart.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from schemas.conversation import Turn
from streams.bench.quality.beam import ABILITIES, START, leaves, messages_of, pairs_of
from streams.bench.quality.memory import scope_of
from streams.bench.retrieval.cases import Change, Question, Unit

OF: Final = "beam"
OF_FACTS: Final = (
    "contradiction_resolution",
    "information_extraction",
    "knowledge_update",
    "multi_session_reasoning",
    "temporal_reasoning",
)
"""Abilities whose questions ask for facts."""
MINUTE: Final = timedelta(minutes=1)


def units_of(paths: tuple[Path, ...]) -> Iterator[Unit]:
    """One unit a chat."""
    for path in paths:
        name = f"{path.parent.name}/{path.name}"
        turns = turns_of(json.loads((path / "chat.json").read_text(encoding="utf-8")), name)
        asked = json.loads((path / "probing_questions.json").read_text(encoding="utf-8"))
        yield Unit(name, tuple(turns.values()), tuple(_questions(asked, turns)))


def turns_of(batches: list[dict[str, Any]], name: str) -> dict[int, Turn]:
    """The user's messages by their ids, in the order of the chat."""
    found: dict[int, Turn] = {}
    at = START
    for index, batch in enumerate(batches):
        at = max(at if found else datetime.min.replace(tzinfo=UTC), anchor_of(batch) or at)
        for number, (role, text) in messages_of([batch]).items():
            at += MINUTE
            if role == "user":
                found[number] = Turn(
                    scope=scope_of(name),
                    turn_id=f"m{number}",
                    session_id=f"batch {index}",
                    role="user",
                    content=text,
                    timestamp=at,
                )
    return found


def anchor_of(batch: dict[str, Any]) -> datetime | None:
    """The date that a batch's messages carry; None where none does."""
    dates = (message.get("time_anchor") for message in leaves(batch["turns"]))
    told = next(filter(None, dates), None)
    return None if told is None else datetime.strptime(told, "%B-%d-%Y").replace(tzinfo=UTC)


def ids_in(told: Any) -> set[int]:
    """All message ids in lists and objects of them."""
    if isinstance(told, dict):
        told = list(told.values())
    if isinstance(told, list):
        return {number for one in told for number in ids_in(one)}
    return set() if told is None else {int(told)}


def _questions(asked: dict[str, list[dict[str, Any]]], turns: dict[int, Turn]) -> Iterator[Question]:
    last = max(turn.timestamp for turn in turns.values())
    for ability in OF_FACTS:
        for told in asked.get(ability, ()):
            gold = _turn_ids(ids_in(told.get("source_chat_ids")), turns)
            if gold:
                change = _change(told, turns) if ability == ABILITIES["update"][0] else None
                yield Question(OF, told["question"], last, ability, gold, change=change)


def _change(told: dict[str, Any], turns: dict[int, Turn]) -> Change | None:
    _, before, after = ABILITIES["update"]
    for pair in pairs_of([told], before, after):
        older, newer = _turn_ids(pair.earlier, turns), _turn_ids(pair.later, turns)
        if older and newer:
            return Change(older, newer)
    return None


def _turn_ids(numbers: set[int] | frozenset[int], turns: dict[int, Turn]) -> frozenset[str]:
    return frozenset(turns[number].turn_id or "" for number in numbers if number in turns)
