"""Our own golden conversations, as far as something in them changes: is the current value found first?

Rule of this file: a question is the statement that no longer holds, word for word, which is the hardest there is: by
closeness alone it finds itself. It is asked of memories alone, as a question is that says nothing else. What changes is
said in the golden conversations and nowhere else.
"""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Final

from schemas.conversation import Turn
from streams.bench.quality.golden import START, Case, all_cases, holds
from streams.bench.quality.memory import scope_of
from streams.bench.retrieval.cases import Change, Question, Unit

OF: Final = "golden"


def units_of(paths: tuple[Path, ...]) -> Iterator[Unit]:  # noqa: ARG001 - ours lie beside the code
    """One unit a change: the conversation until then."""
    for case in all_cases():
        for number, said in enumerate(case.turns):
            for expected in said.expect:
                if expected.events == ("UPDATE",) and expected.of:
                    yield from _unit(case, number, expected.of)


def _unit(case: Case, number: int, words: tuple[str, ...]) -> Iterator[Unit]:
    """The change that a turn tells; none where what it changes was said in no turn by itself."""
    name = f"{case.id}-{number}"
    turns = [
        Turn(
            scope=scope_of(name),
            role=said.role,
            content=said.text,
            timestamp=said.at or START + timedelta(minutes=place),
            turn_id=f"{name}-{place}",
            session_id=case.id,
        )
        for place, said in enumerate(case.turns[: number + 1])
    ]
    told = [turn for turn in turns[:-1] if turn.role == "user" and all(holds(word, turn.content) for word in words)]
    if told and turns[-1].timestamp >= told[-1].timestamp:
        newer, older = turns[-1].turn_id or "", [turn.turn_id or "" for turn in told]
        yield Unit(
            name,
            tuple(turns),
            (
                Question(
                    OF,
                    told[-1].content,
                    turns[-1].timestamp + timedelta(days=1),
                    case.language,
                    frozenset({newer}),
                    change=Change(frozenset(older), frozenset({newer})),
                ),
            ),
        )
