"""LongMemEval: a question, the sessions that it is asked about, and the messages that hold its answer.

Rule of this file: messages are read as ``memlake publish`` reads them; only the user's can be found. Questions without
an answer in the sessions are left out. Where only an assistant's message holds it, only sessions count.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from schemas.conversation import Turn
from streams.bench.quality.memory import scope_of
from streams.bench.retrieval.cases import Change, Question, Unit
from streams.formats import longmemeval
from streams.formats.longmemeval import moment_of_date

OF: Final = "longmemeval"
WITHOUT_ANSWER: Final = "_abs"
"""End of the id of a question that cannot be answered."""
CHANGED: Final = "knowledge-update"


def units_of(paths: tuple[Path, ...]) -> Iterator[Unit]:
    """One unit a question."""
    for path in paths:
        told = json.loads(path.read_text(encoding="utf-8"))
        for record in told if isinstance(told, list) else [told]:
            if not record["question_id"].endswith(WITHOUT_ANSWER):
                yield _unit(record)


def _unit(record: dict[str, Any]) -> Unit:
    name = record["question_id"]
    messages = [message for session in record["haystack_sessions"] for message in session]
    items = longmemeval.parse(record, scope_of(name))
    turns: dict[str, Turn] = {}
    gold: list[Turn] = []
    for message, item in zip(messages, items, strict=True):
        if isinstance(item, Turn) and item.role == "user":
            turns[item.turn_id or ""] = item
            if message.get("has_answer"):
                gold.append(item)
    question = Question(
        OF,
        record["question"],
        moment_of_date(record["question_date"], "question_date"),
        record["question_type"],
        frozenset(turn.turn_id or "" for turn in gold),
        sessions=frozenset(record["answer_session_ids"]),
        change=change_of(gold) if record["question_type"] == CHANGED else None,
    )
    return Unit(name, tuple(sorted(turns.values(), key=lambda turn: turn.timestamp)), (question,))


def change_of(gold: list[Turn]) -> Change | None:
    """The statements of the latest session against those before it; None where all are of one session."""
    if not gold:
        return None
    last = max(gold, key=lambda turn: turn.timestamp).session_id
    newer = frozenset(turn.turn_id or "" for turn in gold if turn.session_id == last)
    older = frozenset(turn.turn_id or "" for turn in gold if turn.session_id != last)
    return Change(older, newer) if older else None
