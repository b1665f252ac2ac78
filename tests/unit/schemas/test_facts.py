"""Facts and the records they stand in."""

from pathlib import Path
from typing import Any

import pytest

from schemas.commands import CallMetadata, Command
from schemas.conversation import Turn
from schemas.errors import InvalidMessage
from schemas.facts import CommandRecord, Fact, TurnRecord
from schemas.memory import MemoryEvent

GOLDEN = Path(__file__).parents[2] / "data" / "golden"
TURN = TurnRecord.decode((GOLDEN / "turn-record.v1.json").read_bytes())
COMMAND = CommandRecord.decode((GOLDEN / "command-record.v1.json").read_bytes())
FACT = TURN.extraction.facts[0]


@pytest.mark.parametrize(
    ("text", "preview"),
    [("short", "short"), ("x" * 100, "x" * 100), ("x" * 101, "x" * 100 + "...")],
    ids=["short", "at-the-limit", "cut"],
)
def test_a_preview_is_the_first_hundred_characters(text: str, preview: str) -> None:
    assert Fact.model_validate(FACT.model_dump() | {"text": text}).preview == preview


def test_what_a_record_keeps_may_have_grown_beyond_what_may_be_sent() -> None:
    grown: dict[str, Any] = {"k": "[masked:password] " * 2000}
    turn = TURN.model_copy(update={"turn": TURN.turn.model_copy(update={"metadata": grown})})
    told = CallMetadata.model_construct(_fields_set=None, environment="staging", **grown)
    command = COMMAND.model_copy(update={"command": COMMAND.command.model_copy(update={"memory_metadata": told})})
    event = MemoryEvent.decode((GOLDEN / "memory-event.v1.json").read_bytes()).model_copy(update={"metadata": grown})

    assert TurnRecord.decode(turn.encode()) == turn
    assert CommandRecord.decode(command.encode()).encode() == command.encode()
    assert MemoryEvent.decode(event.encode()) == event
    for sent, kind in ((turn.turn, Turn), (command.command, Command)):
        with pytest.raises(InvalidMessage, match="etadata: has"):
            kind.decode(sent.encode())


def test_a_record_is_of_the_scope_of_what_came_in() -> None:
    assert TURN.scope == TURN.turn.scope
    assert COMMAND.scope == COMMAND.command.scope


def test_records_and_events_have_keys_of_their_own_so_that_compaction_drops_none() -> None:
    event = MemoryEvent.decode((GOLDEN / "memory-event.v1.json").read_bytes())

    assert event.key() == f"{event.scope.key}#{event.sequence}"
    assert TURN.key("ab12") == f"{TURN.record_id}#ab12"
