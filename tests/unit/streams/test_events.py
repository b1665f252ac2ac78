"""From decisions to events: what each operation tells, whichever order statements come in, and what is reported."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lakehouse.versions import MemoryRow, ScopeMemory
from schemas.commands import ExistingMemory
from schemas.facts import CommandRecord, Fact, TurnRecord, fact_id
from schemas.memory import MemoryEvent, TurnReport, event_id
from streams.decide.types import Decision
from streams.events import Cause, causes_of, change_of, neighbour_of, report_of

GOLDEN = Path(__file__).parents[2] / "data" / "golden"
TURN = TurnRecord.decode((GOLDEN / "turn-record.v1.json").read_bytes())
COMMAND = CommandRecord.decode((GOLDEN / "command-record.v1.json").read_bytes())
START = datetime(2025, 1, 1, tzinfo=UTC)
VECTOR = np.array([1.0, 0.0], dtype=np.float32)


@dataclass
class Scene:
    """A scope that facts arrive in, one a minute of recording time."""

    memory: ScopeMemory = field(default_factory=ScopeMemory)
    events: list[MemoryEvent] = field(default_factory=list)

    def decide(
        self, operation: Any, text: str, target: int | None = None, minute: int = 0, record: Any = TURN, **fields: Any
    ) -> MemoryEvent:
        """Carry out a decision about a fact that says ``text`` (or ``said``) at a minute of event time."""
        number = len(self.events) + 1
        said = {
            "fact_id": fact_id("record", number),
            "text": fields.pop("said", text),
            "event_time": START + timedelta(minutes=minute),
        }
        decision = Decision(operation, target, text, 0.9, "because", "heuristic", ((3, 0.5), (-1, 0.4), (1, 0.3)))
        change = change_of(
            Cause(record, fact_of(said | fields), 40 + number),
            decision,
            self.memory,
            threshold=0.8,
            embedder="stub",
            vector=VECTOR,
        )
        self.memory.apply(change)
        self.events.append(change.event)
        return change.event


def fact_of(fields: dict[str, Any]) -> Fact:
    return TURN.extraction.facts[0].model_copy(update=fields)


def test_ids_and_revisions_count_from_one() -> None:
    scene = Scene()
    scene.decide("ADD", "a")
    scene.decide("ADD", "b")
    scene.decide("UPDATE", "a2", 1)
    scene.decide("NONE", "a2", 1)
    scene.decide("NONE", "what?")
    scene.decide("DELETE", "b", 2)
    scene.decide("ADD", "c")

    assert [(event.sequence, event.event, event.id, event.revision) for event in scene.events] == [
        (1, "ADD", 1, 1),
        (2, "ADD", 2, 1),
        (3, "UPDATE", 1, 2),
        (4, "NONE", 1, None),
        (5, "NONE", 0, None),
        (6, "DELETE", 2, 2),
        (7, "ADD", 3, 1),
    ]
    assert [event.event_id for event in scene.events] == [event_id(fact_id("record", number)) for number in range(1, 8)]


def test_an_update_and_a_deletion_hold_the_text_before() -> None:
    scene = Scene()
    scene.decide("ADD", "vim")
    update = scene.decide("UPDATE", "helix", 1)
    deletion = scene.decide("DELETE", "helix", 1, said="forget my editor")

    assert (update.text, update.old_memory) == ("helix", "vim")
    assert (deletion.text, deletion.old_memory) == ("helix", "helix")
    assert scene.memory.current_of(1) is None


def test_an_addition_and_a_none_hold_no_text_before() -> None:
    scene = Scene()

    assert scene.decide("ADD", "a").old_memory is None
    none = scene.decide("NONE", "a", 1, said="a again")
    assert (none.old_memory, none.text, none.id) == (None, "a", 1)


def test_a_statement_that_is_older_than_what_is_known_joins_the_history() -> None:
    scene = Scene()
    scene.decide("ADD", "Paris", minute=10)
    scene.decide("UPDATE", "Rome", 1, minute=30)

    late = scene.decide("UPDATE", "Oslo", 1, minute=20)

    assert (late.status, late.event, late.old_memory, late.revision) == ("historic", "UPDATE", "Paris", 3)
    current = scene.memory.current_of(1)
    assert current is not None
    assert current.event.text == "Rome"


def test_a_statement_older_than_all_has_no_text_before() -> None:
    scene = Scene()
    scene.decide("ADD", "Paris", minute=10)

    late = scene.decide("UPDATE", "Oslo", 1, minute=5)

    assert (late.status, late.old_memory) == ("historic", None)


def test_a_late_statement_follows_what_held_just_before_it_though_that_came_late_too() -> None:
    scene = Scene()
    scene.decide("ADD", "Paris", minute=10)
    scene.decide("UPDATE", "Rome", 1, minute=30)
    scene.decide("UPDATE", "Oslo", 1, minute=20)

    assert scene.decide("UPDATE", "Bonn", 1, minute=25).old_memory == "Oslo"
    assert scene.decide("UPDATE", "Lima", 1, minute=15).old_memory == "Paris"


def test_of_two_statements_at_one_moment_the_later_record_counts() -> None:
    scene = Scene()
    scene.decide("ADD", "Paris", minute=10)

    assert scene.decide("UPDATE", "Rome", 1, minute=10).status == "current"
    assert [row.event.text for row in scene.memory.current] == ["Rome"]


def test_a_wish_to_forget_what_was_said_later_changes_nothing_and_says_why() -> None:
    scene = Scene()
    scene.decide("ADD", "Paris", minute=10)

    late = scene.decide("DELETE", "Paris", 1, minute=5, said="forget where I live")

    assert (late.event, late.id, late.text, late.revision) == ("NONE", 1, "Paris", None)
    assert "it stays" in late.reasoning
    assert [row.event.text for row in scene.memory.current] == ["Paris"]


def test_a_none_names_what_it_agrees_with_only_while_that_is_known() -> None:
    scene = Scene()
    scene.decide("ADD", "a")
    scene.decide("DELETE", "a", 1)

    assert scene.decide("NONE", "a", 1).id == 0
    assert scene.decide("NONE", "a", -1).id == 0


@pytest.mark.parametrize(
    ("operation", "text", "tags"),
    [
        ("UPDATE", "new", ("new", "both")),
        ("UPDATE", "old and new", ("old", "both", "new")),
        ("NONE", "old", ("old", "both")),
        ("DELETE", "old", ("old", "both")),
    ],
)
def test_tags_follow_the_text_that_lives_on(operation: str, text: str, tags: tuple[str, ...]) -> None:
    scene = Scene()
    scene.decide("ADD", "old", tags=("old", "both"))

    assert scene.decide(operation, text, 1, said="new", tags=("new", "both")).tags == tags


def test_domain_and_code_live_on_where_the_fact_has_none() -> None:
    scene = Scene()
    scene.decide("ADD", "a", domain="web", code_pattern="make")
    update = scene.decide("UPDATE", "b", 1, domain=None, code_pattern=None)
    other = scene.decide("UPDATE", "c", 1, domain="ops", code_pattern="just")
    alone = scene.decide("ADD", "d", domain=None, code_pattern=None)

    assert (update.domain, update.code_pattern) == ("web", "make")
    assert (other.domain, other.code_pattern) == ("ops", "just")
    assert (alone.domain, alone.code_pattern) == (None, None)


def test_an_event_tells_what_it_was_decided_on_and_where_it_comes_from() -> None:
    event = Scene().decide("ADD", "a", minute=3)

    assert [(known.id, known.similarity) for known in event.decision.candidates] == [(3, 0.5), (1, 0.3)]
    assert (event.decision.threshold, event.embedder, event.confidence) == (0.8, "stub", 0.9)
    assert (event.timestamp, event.recorded_at) == (START + timedelta(minutes=3), TURN.recorded_at)
    assert (event.source_session_id, event.agent_id, event.command_id) == (
        TURN.turn.session_id,
        TURN.turn.agent_id,
        None,
    )
    assert event.metadata == TURN.turn.metadata


def test_what_a_command_told_comes_from_the_command() -> None:
    event = Scene().decide("ADD", "a", record=COMMAND)
    bare = COMMAND.command.model_copy(update={"context": None, "memory_metadata": None})
    plain = Scene().decide("ADD", "a", record=COMMAND.model_copy(update={"command": bare}))

    assert (event.command_id, event.source_session_id) == ("import-42", "2025-03-02-review")
    assert event.metadata == {
        "projectId": "checkout",
        "userId": "ann@example.org",
        "environment": "staging",
        "reviewer": "bo",
    }
    assert (plain.source_session_id, plain.metadata) == (None, None)


def test_memories_that_the_caller_told_of_are_candidates_with_negative_ids() -> None:
    told = (ExistingMemory(id="x", text="The session store is Memcached."), ExistingMemory(id="y", text="other"))
    command = COMMAND.command.model_copy(update={"existing_memories": told})
    (cause, *_) = causes_of(COMMAND.model_copy(update={"command": command}), 1)
    vectors = {told[0].text: np.array([0.6, 0.8]), told[1].text: np.array([-1.0, 0.0])}

    neighbours = list(cause.told_neighbours(VECTOR, vectors))

    assert cause.texts == [COMMAND.extraction.facts[0].text, told[0].text, told[1].text]
    assert [(one.id, one.text, one.similarity) for one in neighbours] == [
        (-1, told[0].text, 0.6),
        (-2, "other", 0.0),
    ]
    assert [one.texts for one in causes_of(TURN, 1)] == [[fact.text] for fact in TURN.extraction.facts]


FORGOTTEN: list[tuple[str, dict[str, Any], int, str]] = [
    ("my number is 5", {}, 5, "NONE"),
    ("in other words: 5", {"attribute": "to like", "value": "five"}, 5, "NONE"),
    ("I like tea", {"attribute": "to like", "value": "tea"}, 5, "ADD"),
    ("it is room 12", {"subject": "office", "attribute": "to like", "value": "five"}, 5, "ADD"),
    ("who knows", {"subject": None, "attribute": None}, 5, "ADD"),
    ("my number is 5", {}, 11, "ADD"),
]


@pytest.mark.parametrize(("text", "claim", "minute", "event"), FORGOTTEN)
def test_what_was_forgotten_later_is_not_told_anew_by_a_late_turn(
    text: str, claim: dict[str, Any], minute: int, event: str
) -> None:
    scene = Scene()
    scene.decide("ADD", "my number is 5", minute=0, attribute="to like", value="five")
    scene.decide("DELETE", "my number is 5", 1, minute=10)

    late = scene.decide("ADD", text, minute=minute, **claim)

    assert (late.event, late.id) == (event, 2 if event == "ADD" else 1)
    assert ("forgotten" in late.reasoning) == (event == "NONE")


def test_of_a_claim_of_which_one_value_holds_an_older_value_is_forgotten_too() -> None:
    scene = Scene()
    scene.decide("ADD", "my number is 5", minute=0, attribute="phone number", value="5")
    scene.decide("DELETE", "my number is 5", 1, minute=10)

    assert scene.decide("ADD", "my number is 4", minute=5, attribute="phone number", value="4").event == "NONE"


def test_a_known_memory_is_shown_to_a_decision_as_it_is_now() -> None:
    scene = Scene()
    scene.decide("ADD", "a", minute=4)
    row: MemoryRow | None = scene.memory.current_of(1)
    assert row is not None

    shown = neighbour_of(row, 0.75)

    assert (shown.id, shown.text, shown.similarity, shown.event_time) == (1, "a", 0.75, START + timedelta(minutes=4))
    assert (shown.subject, shown.attribute, shown.value) == (row.event.subject, row.event.attribute, row.event.value)
    assert neighbour_of(replace(row, event=row.event.model_copy(update={"revision": None})), 0.1).revision == 1


def test_a_report_has_one_outcome_for_each_fact_in_order() -> None:
    scene = Scene()
    facts = tuple(fact_of({"fact_id": fact_id("record", number), "text": "x" * 79 + "é" * 20}) for number in (1, 2))
    record = TURN.model_copy(update={"extraction": TURN.extraction.model_copy(update={"facts": facts})})
    events = [scene.decide("ADD", "x" * 99), scene.decide("NONE", "x" * 99, 1)]

    report = report_of(record, events)

    assert TurnReport.decode(report.encode()) == report
    assert (report.success, report.turn_id, report.command_id) == (True, TURN.turn.turn_id, None)
    assert (report.extraction.extracted, report.extraction.skipped) == (2, 1)
    assert report.extraction.masked == {"email": 1}
    assert [told.event for told in report.memory] == ["ADD", "NONE"]
    assert [(line.action, line.target_id, line.fact_preview) for line in report.summary] == [
        ("ADD", 1, "x" * 79 + "é"),
        ("NONE", 1, "x" * 79 + "é"),
    ]
    assert report.timestamp == TURN.recorded_at


def test_a_report_that_lacks_an_outcome_is_no_success() -> None:
    report = report_of(COMMAND, [])

    assert (report.success, report.turn_id, report.command_id) == (False, None, "import-42")


def test_a_report_previews_an_event_without_its_fact_by_its_text() -> None:
    event = Scene().decide("ADD", "y" * 90).model_copy(update={"fact_id": None})

    assert report_of(TURN, [event]).summary[0].fact_preview == "y" * 80
