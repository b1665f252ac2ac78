"""``memlake bench asking``: follow-ups with and without what was asked before them, and questions again after feedback.

Rule of this file: it tells, asks and counts by the product's own steps; what answers is said in ``data/followups.yaml``
alone. A question is right where the first result is a memory that holds the words of its answer; one whose answer was
not kept is wrong. Thresholds are off, so that a question that says little is not wrong for that alone.
"""

import asyncio
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal

from lakehouse.retrieval.config import RAGConfig
from lakehouse.retrieval.engine import Retrieval
from lakehouse.ruledata import load_data
from lakehouse.store import Lake
from lakehouse.tables import LakeShape
from lakehouse.versions import MemoryRow
from schemas.commands import Command
from schemas.conversation import Turn
from schemas.facts import CommandRecord, Extraction, Source, command_record_id
from schemas.memory import MemoryEvent
from schemas.retrieval import MAX_RESULTS, HistoryTurn, SearchRequest
from streams.bench.figures import Figure
from streams.bench.quality.memory import MASKER, Memory, scope_of
from streams.bench.quality.scores import mean, share
from streams.bench.retrieval.memlake import filled
from streams.bench.stage import embedder
from streams.bench.vectors import Shared, Vectors
from streams.changing import change_by, named
from streams.intake import NO_RULES
from streams.settings import Settings

DATA: Final = "followups"
FEW: Final = 3
TOLD: Final = datetime(2026, 3, 2, 9, tzinfo=UTC)
ASKED: Final = TOLD + timedelta(days=1)
ASKED_AGAIN: Final = ASKED + timedelta(days=1)
TO_COMMANDS: Final = Source(topic="asking", partition=0, offset=0)


@dataclass(frozen=True)
class Question:
    """One question of a talk.

    Attributes:
        text: As asked.
        finds: Words of the answer; one memory holds all of them.
        before: The questions before it in its talk, oldest first; it leans on them. Empty for the first.
    """

    text: str
    finds: tuple[str, ...]
    before: tuple[str, ...] = ()

    def is_answered_by(self, text: str) -> bool:
        """Whether a text holds the answer."""
        return all(word.casefold() in text.casefold() for word in self.finds)


@dataclass(frozen=True)
class Conversation:
    """What was said, in its order, and what is asked about it."""

    id: str
    language: str
    said: tuple[str, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True)
class Outcome:
    """What came of one question.

    Attributes:
        followed: Place of the answer where the question was asked with those before it, from 1; None for not found.
        alone: The same, where it was asked without them.
        again: The same once more, after the conversation's feedback.
        judged: Whether the feedback was on this question.
    """

    language: str
    question: Question
    followed: int | None
    alone: int | None
    again: int | None
    judged: bool


def measure(settings: Settings, count: int | None) -> Iterator[Figure]:
    """Shares of all questions, the least and the greatest of a single language.

    Args:
        settings: What is embedded with, and what search has switched on.
        count: Whole conversations in their order, until there are so many follow-ups; None for all.
    """
    yield from asyncio.run(_measured(settings, count))


async def _measured(settings: Settings, count: int | None) -> list[Figure]:
    async with embedder(settings) as model:
        return figures_of(await outcomes_of(Vectors(model), settings.rag_config, first_of(conversations(), count)))


def first_of(told: Sequence[Conversation], count: int | None) -> list[Conversation]:
    """The first conversations that have so many follow-ups together; all for None."""
    found: list[Conversation] = []
    left = count
    for one in told:
        if left is not None and left <= 0:
            break
        found.append(one)
        left = None if left is None else left - sum(bool(question.before) for question in one.questions)
    return found


async def outcomes_of(vectors: Vectors, config: RAGConfig, told: Sequence[Conversation]) -> list[Outcome]:
    """What comes of every question, each conversation in a scope of its own."""
    with tempfile.TemporaryDirectory(prefix="memlake-bench-") as folder:
        lake = await Lake.make(folder, LakeShape(1, vectors.embedder, vectors.dimension))
        return [outcome for one in told for outcome in await _asked(lake, vectors, config, one)]


def figures_of(outcomes: Sequence[Outcome]) -> list[Figure]:
    """Follow-ups beside the same without history, and questions after feedback beside the same before it."""
    led = [one for one in outcomes if one.question.before]
    found: list[Figure] = []
    for depth, name in ((1, "followup_first"), (FEW, "followup_in_3")):
        found += _beside(name, led, "followed", "alone", depth)
        for language in _languages(led):
            of_it = [one for one in led if one.language == language]
            found += _beside(f"{name}/{language}", of_it, "followed", "alone", depth)
    found += _beside("judged_first", [one for one in outcomes if one.judged], "again", "alone")
    found += _beside("unjudged_first", [one for one in outcomes if not one.judged], "again", "alone")
    return found


Asking = Literal["followed", "alone", "again"]


def _beside(metric: str, outcomes: Sequence[Outcome], asked: Asking, baseline: Asking, depth: int = 1) -> list[Figure]:
    def right(one: Outcome, asking: Asking) -> bool:
        place: int | None = getattr(one, asking)
        return place is not None and place <= depth

    units = [[right(one, asked) for one in outcomes if one.language == name] for name in _languages(outcomes)]
    beside = mean(right(one, baseline) for one in outcomes)
    return [replace(figure, bench="asking") for figure in share(metric, units, beside)]


def _languages(outcomes: Sequence[Outcome]) -> list[str]:
    return sorted({one.language for one in outcomes})


async def _asked(lake: Lake, vectors: Vectors, config: RAGConfig, told: Conversation) -> list[Outcome]:
    """Tell a conversation, ask all of it with and without history, judge, and ask again."""
    memory = await filled(lake, _turns(told), vectors)
    now = Retrieval(lake, Shared(vectors), lambda: ASKED, config=config)
    followed = [await _found(now, memory, question, question.before) for question in told.questions]
    alone = [await _found(now, memory, question) for question in told.questions]
    known = [row.event for row in memory.known.memory.current]
    answers = [[event.id for event in known if question.is_answered_by(event.text)] for question in told.questions]
    wrong = [
        bool(ids) and _place(question, events) != 1
        for question, ids, events in zip(told.questions, answers, alone, strict=True)
    ]
    rows: list[MemoryRow] = []
    for number, question in enumerate(told.questions):
        if wrong[number]:
            moment = ASKED + timedelta(seconds=number)
            rows += _judged(memory, question, answers[number], [event.id for event in alone[number][:1]], moment)
    await (await lake.shard_of(memory.scope)).commit_memories(rows)
    later = Retrieval(lake, Shared(vectors), lambda: ASKED_AGAIN, config=config)
    again = [await _found(later, memory, question) for question in told.questions]
    asked = zip(told.questions, followed, alone, again, wrong, strict=True)
    return [
        Outcome(told.language, one, _place(one, led), _place(one, plain), _place(one, after), judged)
        for one, led, plain, after, judged in asked
    ]


def _turns(told: Conversation) -> list[Turn]:
    return [
        Turn(
            scope=scope_of(told.id),
            role="user",
            content=text,
            timestamp=TOLD + timedelta(minutes=number),
            turn_id=f"t{number}",
            session_id="told",
        )
        for number, text in enumerate(told.said)
    ]


async def _found(
    engine: Retrieval, memory: Memory, question: Question, before: Sequence[str] = ()
) -> list[MemoryEvent]:
    """The memories that a question finds, best first."""
    request = SearchRequest(
        scope=memory.scope,
        query=question.text,
        top_k=MAX_RESULTS,
        similarity_threshold=0.0,
        history=tuple(HistoryTurn(role="user", content=text) for text in before),
    )
    return [hit.item.row.event for hit in (await engine.search(request)).hits]


def _place(question: Question, events: Sequence[MemoryEvent]) -> int | None:
    return next((place for place, event in enumerate(events, 1) if question.is_answered_by(event.text)), None)


def _judged(
    memory: Memory, question: Question, helpful: Sequence[int], unhelpful: Sequence[int], moment: datetime
) -> Iterator[MemoryRow]:
    """What is remembered of feedback on a question's results, as the agents make it of a command."""
    told = Command(
        op="feedback", scope=memory.scope, query=question.text, helpful=tuple(helpful), unhelpful=tuple(unhelpful)
    )
    command, masked = MASKER.message(told.identified(moment))
    record = CommandRecord(
        record_id=command_record_id(memory.scope, command.command_id or "", 0),
        recorded_at=moment,
        source=TO_COMMANDS,
        command=command,
        extraction=Extraction(extractor=NO_RULES, masked=masked),
    )
    for memory_id in named(record, memory.known.memory):
        yield from memory.known.apply(change_by(record, memory_id, memory.known.memory, record.source.offset))


def conversations() -> list[Conversation]:
    """Every conversation of the data, in its order.

    Raises:
        ValueError: See ``conversations_of``.
    """
    return list(conversations_of(load_data("streams.bench", DATA)))


def conversations_of(data: dict[str, Any]) -> Iterator[Conversation]:
    """The conversations of one file.

    Raises:
        ValueError: A row has a key that is not known, an answer is not in one statement alone, or the same question
            has two answers.
    """
    for row in data["conversations"]:
        _require_keys(row, {"id", "language", "said", "talks"})
        asked = {(one.text, one.before): one for talk in row["talks"] for one in _questions(talk)}
        told = Conversation(row["id"], row["language"], tuple(row["said"]), tuple(asked.values()))
        for question in told.questions:
            if sum(question.is_answered_by(text) for text in told.said) != 1:
                raise ValueError(f"{told.id}: {question.finds} is not in one statement alone")
        if len({one.text for one in told.questions}) < len({(one.text, one.finds) for one in told.questions}):
            raise ValueError(f"{told.id}: a question has two answers")
        yield told


def _questions(talk: Sequence[dict[str, Any]]) -> Iterator[Question]:
    before: tuple[str, ...] = ()
    for row in talk:
        _require_keys(row, {"ask", "finds"})
        words = row["finds"] if isinstance(row["finds"], list) else [row["finds"]]
        yield Question(row["ask"], tuple(words), before)
        before += (row["ask"],)


def _require_keys(row: dict[str, Any], keys: set[str]) -> None:
    if set(row) != keys:
        raise ValueError(f"{row}: has to have {', '.join(sorted(keys))} and nothing else")
