"""LongMemEval: a question, the sessions that it is asked about, and the messages that hold its answer.

Rule of this file: messages are read as ``memlake publish`` reads them; only the user's can be found. Questions without
an answer in the sessions are left out. Where only an assistant's message holds it, only sessions count.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from lakehouse.keywords import query_terms
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
        _ids(gold),
        sessions=frozenset(record["answer_session_ids"]),
        change=change_of(gold, record["answer"]) if record["question_type"] == CHANGED else None,
    )
    return Unit(name, tuple(sorted(turns.values(), key=lambda turn: turn.timestamp)), (question,))


def change_of(gold: list[Turn], answer: object) -> Change | None:
    """The statements of the latest session against those before it.

    Args:
        gold: The statements.
        answer: What the set holds to be right.

    Returns:
        None where all are of one session, and where the answer is what was said before, which is then asked for.
    """
    if not gold:
        return None
    last = max(gold, key=lambda turn: turn.timestamp).session_id
    newer = [turn for turn in gold if turn.session_id == last]
    older = [turn for turn in gold if turn.session_id != last]
    right, before, after = _words([str(answer)]), _words(_told(older)), _words(_told(newer))
    if not older or len((right & before) - after) > len((right & after) - before):
        return None
    return Change(_ids(older), _ids(newer))


def _words(texts: Iterable[str]) -> set[str]:
    return {word for text in texts for word in query_terms(text)}


def _told(turns: list[Turn]) -> Iterator[str]:
    return (turn.content for turn in turns)


def _ids(turns: list[Turn]) -> frozenset[str]:
    return frozenset(turn.turn_id or "" for turn in turns)
