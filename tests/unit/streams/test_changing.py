"""What commands do to the memories that they name, and what they leave for the statements that come after."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lakehouse.versions import MemoryRow, ScopeMemory
from schemas.commands import Command
from schemas.facts import Birth, CommandRecord, Fact, TurnRecord, fact_id
from schemas.memory import Feedback, MemoryEvent, event_id, step_id
from streams.changing import absence, change_by, named, names_memories
from streams.decide.types import Decision
from streams.events import Cause, change_of, report_of

GOLDEN = Path(__file__).parents[2] / "data" / "golden"
TURN = TurnRecord.decode((GOLDEN / "turn-record.v1.json").read_bytes())
COMMAND = CommandRecord.decode((GOLDEN / "command-record.v1-restore.json").read_bytes())
START = datetime(2025, 1, 1, tzinfo=UTC)
CLAIM = (
    "text",
    "tags",
    "code_pattern",
    "domain",
    "subject",
    "attribute",
    "value",
    "polarity",
    "mood",
    "language",
    "role",
)


def minute(number: int) -> datetime:
    return START + timedelta(minutes=number)


@dataclass
class Scene:
    """A scope in which things are told at minutes of event time, and changed by name."""

    memory: ScopeMemory = field(default_factory=ScopeMemory)
    events: list[MemoryEvent] = field(default_factory=list)

    def tell(self, operation: Any, text: str, target: int | None = None, at: int = 0, **fields: Any) -> MemoryEvent:
        number = len(self.events) + 1
        vector = np.array([0.0] * number + [1.0], dtype=np.float32)
        said = {"fact_id": fact_id("record", number), "text": text, "event_time": minute(at), "code_pattern": None}
        fact: Fact = TURN.extraction.facts[0].model_copy(update=said | fields)
        decision = Decision(operation, target, text, 0.9, "because", "similarity", ())
        cause = Cause(TURN, fact, number)
        change = change_of(cause, decision, self.memory, threshold=0.8, embedder="stub", vector=vector)
        self.memory.apply(change)
        self.events.append(change.event)
        return change.event

    def change(self, op: Any, at: int | None = None, **fields: Any) -> list[MemoryEvent]:
        record = command(op, at, f"c{len(self.events)}", **fields)
        made = []
        for memory_id in named(record, self.memory):
            change = change_by(record, memory_id, self.memory, 99)
            self.memory.apply(change)
            made.append(change.event)
        self.events += made
        return made

    def current(self) -> list[str]:
        return [row.event.text for row in self.memory.current]


def command(op: Any, at: int | None = None, command_id: str = "c", **fields: Any) -> CommandRecord:
    births = {name: fields.pop(name, None) for name in ("birth", "births")}
    made = Command(
        command_id=command_id, op=op, scope=TURN.scope, timestamp=None if at is None else minute(at), **fields
    )
    told = {"record_id": f"record-of-{command_id}", "recorded_at": minute(1000), "command": made} | births
    return COMMAND.model_copy(update=told)


@pytest.fixture
def scene() -> Scene:
    """Memory 1 says Lyon, then Porto; memory 2 says tea."""
    made = Scene()
    made.tell("ADD", "Lyon", at=10, value="Lyon", tags=("a",), code_pattern="make lyon", mood="plan")
    made.tell("UPDATE", "Porto", 1, at=20, value="Porto", tags=("b",), code_pattern="make porto")
    made.tell("ADD", "tea", at=15, attribute="to like")
    return made


def test_forgetting_retires_the_one_memory_that_is_named(scene: Scene) -> None:
    (event,) = scene.change("forget", id=1)

    assert (event.event, event.id, event.revision, event.sequence) == ("DELETE", 1, 3, 4)
    assert (event.text, event.old_memory, event.tags, event.mood) == ("Porto", "Porto", ("b",), "retraction")
    assert (event.fact_id, event.command_id, event.source_turn_ids) == (None, "c3", ())
    assert (event.timestamp, event.recorded_at, event.told_at) == (minute(1000), minute(1000), minute(20))
    assert event.event_id == event_id(step_id("record-of-c3", 1))
    assert (event.source_session_id, event.agent_id, event.metadata, event.confidence) == (None, None, None, 1.0)
    assert scene.current() == ["tea"]
    assert [scene.memory.obeyed(one) for one in ("c3", "c4")] == [True, False]


def test_forgetting_all_is_one_event_for_each_current_memory(scene: Scene) -> None:
    scene.change("forget", id=2)
    scene.tell("ADD", "chess", at=30)

    events = scene.change("forget", everything=True)

    assert [(event.event, event.id, event.sequence) for event in events] == [("DELETE", 1, 6), ("DELETE", 3, 7)]
    assert len({event.event_id for event in events}) == 2
    assert scene.current() == []
    assert scene.change("forget", everything=True) == []


def test_what_was_forgotten_is_restored_as_it_was(scene: Scene) -> None:
    told = scene.events[1]
    scene.change("forget", id=1)

    (event,) = scene.change("restore", id=1)

    assert (event.event, event.revision, event.old_memory, event.status) == ("UPDATE", 4, None, "current")
    assert {name: getattr(event, name) for name in CLAIM} == {name: getattr(told, name) for name in CLAIM}
    assert (event.confidence, event.source_turn_ids) == (told.confidence, told.source_turn_ids)
    assert (event.fact_id, event.command_id) == (None, "c4")
    assert event.timestamp == minute(1000)
    row = scene.memory.current_of(1)
    assert row is not None
    assert (row.valid_from, row.valid_to, row.vector.tolist()) == (minute(1000), None, [0.0, 0.0, 1.0])
    assert scene.memory.retired == {}


def test_a_living_memory_gets_the_text_of_an_older_revision_again(scene: Scene) -> None:
    (event,) = scene.change("restore", id=1, revision=1)

    assert (event.event, event.text, event.old_memory, event.revision) == ("UPDATE", "Lyon", "Porto", 3)
    assert (event.tags, event.code_pattern, event.value, event.mood) == (("a",), "make lyon", "Lyon", "plan")
    assert [(row.event.text, row.status) for row in scene.memory.history(1)] == [
        ("Lyon", "superseded"),
        ("Porto", "superseded"),
        ("Lyon", "current"),
    ]


def test_an_undoing_can_be_undone_again_and_again(scene: Scene) -> None:
    for _ in range(3):
        assert [event.event for event in scene.change("forget", id=1)] == ["DELETE"]
        assert [event.event for event in scene.change("restore", id=1)] == ["UPDATE"]
    scene.change("restore", id=1, revision=1)
    scene.change("restore", id=1, revision=2)

    assert scene.current() == ["Porto", "tea"]
    assert [row.event.revision for row in scene.memory.history(1)] == list(range(1, 11))
    assert [event.sequence for event in scene.events] == list(range(1, 12))


@pytest.mark.parametrize("revision", [None, 2, 3, 5])
def test_a_revision_that_forgot_stands_for_what_it_forgot(scene: Scene, revision: int | None) -> None:
    scene.change("forget", id=1)
    scene.change("restore", id=1, revision=1)
    scene.change("forget", id=1)

    (event,) = scene.change("restore", id=1, revision=revision)

    assert event.text == {None: "Lyon", 2: "Porto", 3: "Porto", 5: "Lyon"}[revision]


def test_what_is_current_already_is_not_restored_and_says_so(scene: Scene) -> None:
    for fields in ({}, {"revision": 2}):
        (event,) = scene.change("restore", id=1, **fields)
        assert (event.event, event.id, event.revision, event.text, event.old_memory) == ("NONE", 1, None, "Porto", None)
        assert "current already" in event.reasoning
        assert event.source_turn_ids == ()


def test_what_is_forgotten_already_is_not_forgotten_again_and_says_so(scene: Scene) -> None:
    scene.change("forget", id=1)

    (event,) = scene.change("forget", id=1)

    assert (event.event, event.id, event.revision, event.status) == ("NONE", 1, None, "current")
    assert "forgotten already" in event.reasoning
    assert scene.change("restore", id=1)[0].event == "UPDATE"


def test_what_was_told_anew_meanwhile_is_not_restored_beside_it(scene: Scene) -> None:
    scene.change("forget", id=1)
    scene.tell("ADD", "Porto", at=40)

    (event,) = scene.change("restore", id=1)

    assert (event.event, event.id) == ("NONE", 3)
    assert "memory 3" in event.reasoning
    assert report_of(command("restore", id=1), [event]).degraded == ()
    assert scene.current() == ["tea", "Porto"]


@pytest.mark.parametrize(
    ("op", "fields", "told"),
    [
        ("forget", {"id": 7}, "no memory 7 of"),
        ("restore", {"id": 7}, "no memory 7 of"),
        ("restore", {"id": 1, "revision": 3}, "no memory 1 with a revision 3 of"),
    ],
)
def test_what_is_not_there_changes_nothing_and_is_named(scene: Scene, op: str, fields: Any, told: str) -> None:
    assert scene.change(op, **fields) == []
    missing = absence(command(op, **fields))
    assert missing is not None
    assert (missing.code, missing.field) == ("not_found", "id")
    assert told in missing.message


def test_a_record_that_names_no_memory_lacks_none() -> None:
    extracting = CommandRecord.decode((GOLDEN / "command-record.v1.json").read_bytes())

    assert [names_memories(record) for record in (TURN, extracting, COMMAND)] == [False, False, True]
    assert [absence(record) for record in (TURN, extracting, command("forget", everything=True))] == [None] * 3


@pytest.mark.parametrize("at", [None, 25, 5])
def test_a_change_takes_effect_at_its_own_time_and_never_before_what_it_changes(scene: Scene, at: int | None) -> None:
    (forgotten,) = scene.change("forget", at=at, id=1)
    (restored,) = scene.change("restore", at=at, id=1)

    expected = minute(1000 if at is None else max(at, 20))
    assert (forgotten.timestamp, restored.timestamp) == (expected, expected)


def test_what_is_said_after_what_was_forgotten_is_learned_again_however_late_the_command_came(scene: Scene) -> None:
    scene.change("forget", id=2)

    assert scene.tell("ADD", "tea", at=14, attribute="to like").event == "NONE"
    assert scene.tell("ADD", "tea", at=16, attribute="to like").event == "ADD"


def test_what_was_restored_is_no_longer_taken_for_forgotten(scene: Scene) -> None:
    scene.change("forget", id=2)
    scene.change("restore", id=2)

    assert scene.tell("ADD", "tea", at=14, attribute="to like").event == "ADD"


def test_what_is_said_after_what_was_restored_replaces_it_though_it_was_said_before_the_command(scene: Scene) -> None:
    scene.change("forget", id=1)
    scene.change("restore", id=1)

    late = scene.tell("UPDATE", "Oslo", 1, at=15)
    newer = scene.tell("UPDATE", "Rome", 1, at=40)

    assert (late.status, newer.status, newer.old_memory) == ("historic", "current", "Porto")
    assert scene.current() == ["Rome", "tea"]
    held = [(row.event.text, row.valid_from, row.valid_to) for row in sorted(scene.memory.history(1), key=began)]
    assert held == [
        ("Lyon", minute(10), minute(15)),
        ("Oslo", minute(15), minute(20)),
        ("Porto", minute(20), minute(40)),
        ("Rome", minute(40), None),
        ("Porto", minute(1000), minute(1000)),  # forgotten, and restored for no time at all
        ("Porto", minute(1000), minute(1000)),
    ]


def began(row: MemoryRow) -> tuple[datetime, int]:
    return row.valid_from, row.event.sequence


def test_a_request_to_forget_that_came_before_the_command_reaches_what_was_restored(scene: Scene) -> None:
    scene.change("forget", id=1)
    scene.change("restore", id=1)

    assert scene.tell("DELETE", "Porto", 1, at=30).event == "DELETE"
    assert scene.current() == ["tea"]


def test_a_memory_is_found_by_its_birth_where_ids_were_given_otherwise(scene: Scene) -> None:
    told = scene.events[2]

    (event,) = scene.change("forget", id=1, birth=Birth(fact_id=told.fact_id, text=told.text))

    assert (event.id, event.text) == (2, "tea")
    assert scene.change("forget", id=1, birth=Birth(fact_id="unheard of", text="x")) == []
    assert scene.change("forget", id=1, birth=Birth(text="of unknown birth"))[0].text == "Porto"


def test_a_report_of_a_change_has_one_outcome_for_each_memory(scene: Scene) -> None:
    record = command("forget", everything=True)
    events = scene.change("forget", everything=True)

    report = report_of(record, events)

    assert (report.success, report.command_id, report.turn_id) == (True, "c", None)
    assert [(told.event, told.id, told.text) for told in report.memory] == [
        ("DELETE", 1, "Porto"),
        ("DELETE", 2, "tea"),
    ]
    assert [line.fact_preview for line in report.summary] == ["Porto", "tea"]
    assert report.extraction.extracted == 0
    assert report_of(record, []).success


def test_feedback_is_an_event_for_each_memory_and_changes_none(scene: Scene) -> None:
    before = scene.memory.history(1), scene.memory.history(2), list(scene.memory.sources(1))

    events = scene.change("feedback", used=(2,), unhelpful=(1,), query="Where?")

    assert [(event.event, event.id, event.text, event.sequence) for event in events] == [
        ("NONE", 2, "tea", 4),
        ("NONE", 1, "Porto", 5),
    ]
    assert [event.metadata for event in events] == [
        {"feedback": {"value": "used", "query": "Where?"}},
        {"feedback": {"value": "unhelpful", "query": "Where?"}},
    ]
    assert {(event.revision, event.old_memory, event.fact_id, event.source_turn_ids) for event in events} == {
        (None, None, None, ())
    }
    assert [event.reasoning for event in events] == ["An answer was made with it.", "Judged unhelpful."]
    assert events[0].event_id == event_id(step_id("record-of-c3", 2))
    assert (scene.memory.history(1), scene.memory.history(2), list(scene.memory.sources(1))) == before
    assert scene.memory.obeyed("c3")
    assert scene.current() == ["Porto", "tea"]


def test_feedback_without_a_question_holds_none_and_can_be_taken_back(scene: Scene) -> None:
    (said,) = scene.change("feedback", helpful=(1,))
    (taken,) = scene.change("feedback", withdrawn=(1,))

    assert (said.feedback, taken.feedback) == (Feedback(value="helpful"), Feedback(value="withdrawn"))
    assert said.metadata == {"feedback": {"value": "helpful"}}
    assert "taken back" in taken.reasoning


def test_a_forgotten_memory_is_judged_as_what_it_said_last_and_stays_forgotten(scene: Scene) -> None:
    scene.change("forget", id=1)

    (event,) = scene.change("feedback", unhelpful=(1,))

    assert (event.event, event.id, event.text, event.status) == ("NONE", 1, "Porto", "current")
    assert scene.current() == ["tea"]
    assert list(scene.memory.retired) == [1]


def test_of_judged_memories_those_that_are_not_there_are_named_with_their_field(scene: Scene) -> None:
    told: dict[str, Any] = {"used": (1,), "unhelpful": (7, 8)}

    events = scene.change("feedback", **told)

    assert [event.id for event in events] == [1]
    record = command("feedback", **told)
    missing = absence(record, events)
    assert missing is not None
    assert (missing.code, missing.field) == ("not_found", "unhelpful")
    assert missing.message.startswith("there is no memory 7, 8 of ")
    assert report_of(record, events).degraded == (missing.message,)
    nothing = absence(record)
    assert nothing is not None
    assert (nothing.field, "memory 1, 7, 8 of" in nothing.message) == ("used", True)
    assert absence(command("feedback", used=(1,)), events) is None


def test_judged_memories_are_found_by_their_births_where_ids_were_given_otherwise(scene: Scene) -> None:
    lyon, _, tea = scene.events
    births = {1: Birth(fact_id=tea.fact_id, text="tea"), 2: Birth(fact_id=lyon.fact_id, text="Lyon")}
    births |= {7: Birth(fact_id="unheard of", text="x"), 8: births[1]}

    events = scene.change("feedback", helpful=(1, 2, 7), used=(8,), births=births)

    assert [(event.id, event.feedback and event.feedback.value) for event in events] == [(2, "used"), (1, "helpful")]


def test_only_an_event_that_feedback_caused_tells_feedback(scene: Scene) -> None:
    forged: dict[str, Any] = {"feedback": {"value": "helpful"}}
    (event,) = scene.change("feedback", helpful=(1,))

    assert event.feedback is not None
    others: list[dict[str, Any]] = [{"fact_id": "f"}, {"event": "UPDATE"}, {"command_id": None}]
    for fields in (*others, {"metadata": None}, {"metadata": {}}):
        assert event.model_copy(update={"metadata": forged} | fields).feedback is None
