"""Long chats with an assistant in which something told before was changed or contradicted: is that recognised.

Rule of this file: of each pair the two messages are told with the user's messages around them, in the order of the
chat; everything is decided on and folded in as in the product. Recognised is a change of a memory that the earlier
message (or what became of it) left, decided on a fact of the later one.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from schemas.conversation import is_blank
from streams.bench.figures import Figure
from streams.bench.quality.baselines import CIPHER_THRESHOLD
from streams.bench.quality.memory import Memory, Weighed
from streams.bench.quality.run import TURNS, Run
from streams.bench.quality.scores import mean, share
from streams.decide.words import words_of

AROUND: Final = 2
"""User messages told before and after each of a pair."""
START = datetime(2026, 1, 1, tzinfo=UTC)
_PLAN_MARK = re.compile(r"\s*->->\s*[\d,\s.N/A-]*$")
ABILITIES: Final = {
    "update": ("knowledge_update", "original_info", "updated_info"),
    "contradiction": ("contradiction_resolution", "first_statement", "second_statement"),
}


@dataclass(frozen=True)
class Pair:
    """What was said before, what was said after, and what holds now.

    Attributes:
        earlier: Message ids.
        later: Message ids.
        answer: What gold answers to a question about it; blank where it says nothing of a value.
    """

    earlier: frozenset[int]
    later: frozenset[int]
    question: str
    answer: str


@dataclass
class Judged:
    """All pairs of one chat and ability.

    Attributes:
        recognised: Whether the later message changed what the earlier one left.
        alike: Whether a fact of the later message is alike enough to one of the earlier by cosine alone.
        current: Whether the numbers of the answer stand in one current memory.
    """

    recognised: list[bool] = field(default_factory=list)
    alike: list[bool] = field(default_factory=list)
    current: list[bool] = field(default_factory=list)


async def measure(run: Run, paths: tuple[Path, ...]) -> list[Figure]:
    """Shares of pairs, a cosine threshold beside."""
    figures = []
    chats = [path for path in paths if run.judges(f"{path.parent.name}/{path.name}")][: run.limit]
    for name, (ability, before, after) in ABILITIES.items():
        judged = []
        for path in chats:
            messages = messages_of(json.loads((path / "chat.json").read_text(encoding="utf-8")))
            questions = json.loads((path / "probing_questions.json").read_text(encoding="utf-8"))
            one = Judged()
            for pair in pairs_of(questions.get(ability, ()), before, after):
                await _judge(run, name, one, messages, pair)
            judged.append(one)
        by_cosine = mean(yes for one in judged for yes in one.alike)
        figures += share(f"beam_{name}_recognised", [one.recognised for one in judged], by_cosine)
        figures += share(f"beam_{name}_current", [one.current for one in judged])
    return figures


def messages_of(batches: Sequence[dict[str, Any]]) -> dict[int, tuple[str, str]]:
    """Role and text of each message that says anything, by id; the plan's marks at its end are taken off."""
    found: dict[int, tuple[str, str]] = {}
    for message in leaves([batch["turns"] for batch in batches]):
        content = _PLAN_MARK.sub("", message["content"])
        if not is_blank(content):
            found[int(message["id"])] = (message["role"], content)
    return found


def leaves(nested: Any) -> Iterator[dict[str, Any]]:
    """The messages of lists of lists, in order."""
    if isinstance(nested, dict):
        yield nested
        return
    for one in nested:
        yield from leaves(one)


def pairs_of(questions: Sequence[dict[str, Any]], before: str, after: str) -> Iterator[Pair]:
    """The pairs of a list of questions; those that name no two different messages are no pairs."""
    for question in questions:
        told = question.get("source_chat_ids")
        if not isinstance(told, dict) or before not in told or after not in told:
            continue
        one, other = frozenset(map(int, _ids(told[before]))), frozenset(map(int, _ids(told[after])))
        if not one or not other or one & other:
            continue
        earlier, later = (one, other) if min(one) < min(other) else (other, one)
        yield Pair(earlier, later, question["question"], str(question.get("answer") or ""))


def _ids(told: Any) -> Sequence[Any]:
    return told if isinstance(told, list) else [told]


async def _judge(run: Run, name: str, judged: Judged, messages: dict[int, tuple[str, str]], pair: Pair) -> None:
    memory = Memory(run.vectors, run.mind, TURNS)
    left: set[int] = set()
    changes: list[Weighed] = []
    alike = 0.0
    for number in _told(messages, pair):
        role, text = messages[number]
        at = START + timedelta(minutes=number)
        record = await memory.hear(text, at, role="user" if role == "user" else "assistant")
        for weighed, event in await memory.tell(record):
            if number in pair.earlier and event.id:
                left.add(event.id)
            if number in pair.later:
                near = [one.similarity for one in weighed.neighbours if one.id in left]
                alike = max(alike, *near) if near else alike
                if event.event in {"UPDATE", "DELETE"} and event.id in left:
                    changes.append(weighed)
    judged.recognised.append(bool(changes))
    judged.alike.append(alike >= CIPHER_THRESHOLD)
    numbers = words_of(pair.answer).numbers
    if numbers:
        judged.current.append(any(numbers <= words_of(one.text).numbers for one in memory.current))
    if not changes:
        run.note(f"beam_{name}_recognised", _case(messages, pair, alike))


def _told(messages: dict[int, tuple[str, str]], pair: Pair) -> list[int]:
    """Ids of the messages that are told, in order: the pair, and the user's around each of it."""
    users = sorted(number for number, (role, _) in messages.items() if role == "user")
    told = {number for number in pair.earlier | pair.later if number in messages}
    for number in pair.earlier | pair.later:
        place = sum(user < number for user in users)
        told.update(users[max(0, place - AROUND) : place + AROUND + 1])
    return sorted(told)


def _case(messages: dict[int, tuple[str, str]], pair: Pair, alike: float) -> str:
    told = [f"{pair.question} -> {pair.answer} (nearest {alike:.2f})"]
    told += [
        f"    before {number}: {messages[number][1][:400]}" for number in sorted(pair.earlier) if number in messages
    ]
    told += [f"    after {number}: {messages[number][1][:400]}" for number in sorted(pair.later) if number in messages]
    return "\n".join(told)
