"""Whatever is told, in whatever order: each thing said is current, in the history of what replaced it, or has a reason.

The likeness of two texts is the share of their words, so that a history needs no model.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from lakehouse.versions import MemoryRow, ScopeMemory
from schemas.conversation import Scope, Turn
from schemas.facts import Extraction, Fact, Source, TurnRecord
from schemas.memory import MemoryEvent
from streams.decide import Decision, DecisionOptions, decide
from streams.events import causes_of, change_of, neighbour_of
from streams.extract import extract
from streams.extract.sentences import sentences_of

START = datetime(2026, 1, 1, tzinfo=UTC)
SCOPE = Scope(project_id="p", user_id="u")
SUBJECTS = ["I", "My brother Otto", "The red kiln", "Our limit", "Meine Katze", "Mi jefe", "我"]
SAID = [
    "{s} moved from {a} to {b}.",
    "{s} is no longer {a}, it's {b} now.",
    "{s} is {b} instead of {a}.",
    "{s} likes {a} and {b}.",
    "{s} gave up {a}.",
    "{s} works at {a} since {b}.",
    "{s} is not {a}.",
    "{s} went from {a} to {b} in May.",
    "{s} has lost interest in {a}, and prefers {b}.",
    "{s} finished the long report on {a} for the {b} meeting with great care, as everybody had hoped.",
    "{s} finished the long report on {a} for the {b} meeting.",
    "Actually, {s} is {b}.",
    "{s} ist {a}.",
    "{s} ya no es {a}, ahora es {b}.",
    "{s}喜欢{a}。",
    "Please forget {a}.",
    "Status of {s}: {a}",
]
VALUES = ["Norbank", "14 March", "8080", "plums", "v2.1", "green", "Lucía", "three", "老王", "tea"]
TOLD = st.builds(
    lambda form, subject, one, other: form.format(s=subject, a=one, b=other),
    st.sampled_from(SAID),
    st.sampled_from(SUBJECTS),
    st.sampled_from(VALUES),
    st.sampled_from(VALUES),
)
TURNS = st.lists(st.tuples(st.lists(TOLD, min_size=1, max_size=3).map(" ".join), st.integers(-3, 40)), max_size=12)


@dataclass
class History:
    """One scope in the making, turn by turn."""

    memory: ScopeMemory = field(default_factory=ScopeMemory)
    events: list[tuple[Fact, MemoryEvent]] = field(default_factory=list)
    rows: dict[str, MemoryRow] = field(default_factory=dict)

    def tell(self, text: str, number: int, day: int) -> Extraction:
        """One turn, told on a day that may lie before those of earlier turns."""
        turn = Turn(turn_id=f"t{number}", scope=SCOPE, role="user", content=text, timestamp=START + timedelta(days=day))
        found = extract(turn, (), record_id=f"r{number}")
        source = Source(topic="turns", partition=0, offset=number)
        record = TurnRecord(record_id=f"r{number}", recorded_at=START, source=source, turn=turn, extraction=found)
        for cause in causes_of(record, number):
            decision = self._decide(cause.fact)
            change = change_of(cause, decision, self.memory, threshold=0.8, embedder="words", vector=(0.0,))
            for row in self.memory.apply(change):
                self.rows[row.event.event_id] = row
            self.events.append((cause.fact, change.event))
        return found

    def _decide(self, fact: Fact) -> Decision:
        neighbours = [neighbour_of(row, likeness(fact.text, row.event.text)) for row in self.memory.current]
        return decide(fact, neighbours, DecisionOptions(enable_delete_operations=True))


def likeness(one: str, other: str) -> float:
    mine, theirs = set(re.findall(r"\w+", one.casefold())), set(re.findall(r"\w+", other.casefold()))
    return round(len(mine & theirs) / len(mine | theirs), 4) if mine | theirs else 0.0


def details(text: str) -> Iterator[str]:
    yield from (value for value in VALUES if value in text)


def of_history(turns: list[tuple[str, int]]) -> History:
    history = History()
    for number, (text, day) in enumerate(turns):
        history.tell(text, number, day)
    return history


@given(TURNS)
@settings(max_examples=60, deadline=None)
def test_each_fact_is_current_or_in_history_or_has_a_reason(turns: list[tuple[str, int]]) -> None:
    history = of_history(turns)

    kept = [row.event.text for row in history.rows.values() if row.status != "none"]
    for fact, event in history.events:
        assert event.reasoning
        if event.event in {"ADD", "UPDATE"}:
            assert fact.text.rstrip(" .\u3002") in event.text or "Corrected" in event.reasoning
            assert any(event.text == text for text in kept)
        if event.event == "DELETE":
            assert fact.mood == "retraction"


@given(TURNS)
@settings(max_examples=60, deadline=None)
def test_what_is_replaced_stays_readable_with_what_replaced_it(turns: list[tuple[str, int]]) -> None:
    history = of_history(turns)

    for _, event in history.events:
        if event.event in {"UPDATE", "DELETE"} and event.status == "current":
            versions = history.memory.history(event.id)
            assert any(row.event.text == event.old_memory and row.superseded_at is not None for row in versions)


@given(TURNS)
@settings(max_examples=60, deadline=None)
def test_agreement_only_with_what_holds_the_same_details(turns: list[tuple[str, int]]) -> None:
    history = History()
    for number, (text, day) in enumerate(turns):
        before = len(history.events)
        history.tell(text, number, day)
        for fact, event in history.events[before:]:
            if event.event == "NONE" and event.id and fact.mood != "retraction" and "Known already" in event.reasoning:
                assert not set(details(fact.value or "")) - set(details(event.text)), (fact.text, event.text)


@given(TURNS)
@settings(max_examples=40, deadline=None)
def test_each_sentence_is_a_fact_or_a_skip(turns: list[tuple[str, int]]) -> None:
    for number, (text, day) in enumerate(turns):
        found = History().tell(text, number, day)

        told = " ".join([*(fact.text for fact in found.facts), *(skip.text for skip in found.skipped)])
        for sentence in sentences_of(text, "en"):
            for detail in details(sentence):
                assert detail in told
