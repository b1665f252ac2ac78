"""Commands: what each operation needs, and which options are out of range."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from schemas.commands import MAX_JUDGED_QUERY, Command, memory_cited, texts_of
from schemas.errors import InvalidMessage
from schemas.message import KEPT
from schemas.retrieval import MAX_QUERY_CHARACTERS

SCOPE = {"projectId": "shop", "userId": "ann"}
NOW = datetime(2026, 3, 2, tzinfo=UTC)
COMMAND: dict[str, Any] = {"op": "extract_and_operate", "scope": SCOPE, "interaction": "I play the cello."}
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"scope": None}, "scope"),
    ({"interaction": None}, "interaction"),
    ({"interaction": "  "}, "interaction"),
    ({"interaction": []}, "interaction"),
    ({"interaction": ["", "\u200b"]}, "interaction"),
    ({"interaction": 7}, "interaction"),
    ({"op": "obey"}, "op"),
    ({"op": "maintain"}, "scope"),
    ({"options": {"similarityThreshold": 1.01}}, "options.similarityThreshold"),
    ({"options": {"similarityThreshold": -0.01}}, "options.similarityThreshold"),
    ({"options": {"similarityThreshold": "high"}}, "options.similarityThreshold"),
    ({"options": {"maxSimilarResults": 0}}, "options.maxSimilarResults"),
    ({"options": {"maxSimilarResults": 21}}, "options.maxSimilarResults"),
    ({"options": {"useLLM": True}}, "options.useLLM"),
    ({"options": {"enableDeleteOperations": "perhaps"}}, "options.enableDeleteOperations"),
    ({"existingMemories": [{"id": "1", "text": "a"}, {"id": "", "text": "b"}]}, "existingMemories.1.id"),
    ({"existingMemories": [{"id": "1", "text": ""}]}, "existingMemories.0.text"),
    ({"existingMemories": [{"id": "1", "text": "x" * 20_001}]}, "existingMemories.0.text"),
    ({"existingMemories": [{"id": "1", "text": "a", "metadata": {"k": "v" * 20_000}}]}, "existingMemories.0.metadata"),
    ({"context": {"sessionId": ""}}, "context.sessionId"),
    ({"context": {"conversationTopic": "x" * 1025}}, "context.conversationTopic"),
    ({"context": {"mood": "good"}}, "context.mood"),
    ({"memoryMetadata": {"environment": "x" * 257}}, "memoryMetadata.environment"),
    ({"memoryMetadata": {"ticket": "x" * 20_000}}, "memoryMetadata"),
    ({"timestamp": "2025-01-02T03:04:05"}, "timestamp"),
    ({"timestamp": "0001-01-01T00:00:00+14:00"}, "timestamp"),
    ({"commandId": ""}, "commandId"),
    ({"id": 3}, "id"),
    ({"all": True}, "all"),
    ({"revision": 1}, "revision"),
    ({"target": 3}, "target"),
]


@pytest.mark.parametrize(("change", "field"), WRONG, ids=lambda value: value if isinstance(value, str) else "")
def test_a_wrong_command_is_refused_with_the_wire_name_of_its_field(change: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidMessage) as refused:
        Command.decode(json.dumps(COMMAND | change))

    assert refused.value.field is not None
    assert refused.value.field.startswith(field)
    assert str(refused.value).startswith(field)


def test_options_have_the_defaults_of_the_service_they_follow() -> None:
    options = Command.decode(json.dumps(COMMAND)).options

    assert options.to_wire() == {
        "similarityThreshold": 0.8,
        "maxSimilarResults": 5,
        "useLLMDecisions": False,
        "enableDeleteOperations": False,
    }


def test_maintenance_needs_no_scope_and_no_text() -> None:
    command = Command.decode(b'{"op": "maintain"}')

    assert command.scope is None


def test_an_interaction_is_one_text_or_several() -> None:
    assert texts_of("a") == ("a",)
    assert texts_of(("a", "b")) == ("a", "b")
    assert Command.decode(json.dumps(COMMAND | {"interaction": ["", "b"]})).interaction == ("", "b")


def test_fields_of_the_callers_own_are_kept_beside_each_memory() -> None:
    told = {"environment": "staging", "team": {"name": "checkout", "size": 4}}

    command = Command.decode(json.dumps(COMMAND | {"memoryMetadata": told}))

    assert command.memory_metadata is not None
    assert command.memory_metadata.to_wire() == told


def test_half_a_surrogate_pair_is_refused_however_the_command_is_made() -> None:
    for change in ({"interaction": "a\ud800"}, {"interaction": ["b", "\udc00"]}, {"memoryMetadata": {"k": "\ud800"}}):
        field = next(iter(change))
        with pytest.raises(InvalidMessage, match=field):
            Command.decode(json.dumps(COMMAND | change))
        with pytest.raises(InvalidMessage, match=field):
            Command.from_wire(COMMAND | change)


def test_a_command_keeps_its_id_or_gets_one_of_all_it_says() -> None:
    mine = Command.decode(json.dumps(COMMAND | {"commandId": "c1"}))
    nameless = [Command.decode(json.dumps(COMMAND)).identified(NOW) for _ in range(2)]
    other = Command.decode(json.dumps(COMMAND | {"options": {"maxSimilarResults": 4}})).identified(NOW)
    later = Command.decode(json.dumps(COMMAND)).identified(NOW + timedelta(seconds=1))

    assert mine.identified(NOW) is mine
    assert nameless[0] == nameless[1]
    assert nameless[0].command_id not in (None, other.command_id, later.command_id)


@pytest.mark.parametrize(
    "memories", [[{"id": "a", "text": " "}], [{"id": str(number), "text": "x"} for number in range(101)]]
)
def test_blank_or_too_many_existing_memories_are_refused(memories: list[dict[str, str]]) -> None:
    with pytest.raises(InvalidMessage, match="existingMemories"):
        Command.decode(json.dumps(COMMAND | {"existingMemories": memories}))


FORGET: dict[str, Any] = {"op": "forget", "scope": SCOPE}
RESTORE: dict[str, Any] = {"op": "restore", "scope": SCOPE}
FEEDBACK: dict[str, Any] = {"op": "feedback", "scope": SCOPE}
WRONG_CHANGES: list[tuple[dict[str, Any], str, str]] = [
    (FORGET, "id", "needs the id of a memory, or all: true"),
    (FORGET | {"id": 1, "all": True}, "all", "not both"),
    (FORGET | {"all": False}, "all", "must be true"),
    (FORGET | {"all": 1}, "all", "boolean"),
    (FORGET | {"all": "true"}, "all", "boolean"),
    (FORGET | {"id": "1"}, "id", "integer"),
    (FORGET | {"id": True}, "id", "integer"),
    (FORGET | {"id": 1.5}, "id", "integer"),
    (FORGET | {"id": 0}, "id", "greater"),
    (FORGET | {"id": -1}, "id", "greater"),
    (FORGET | {"id": 2**53}, "id", "less"),
    (FORGET | {"id": 1, "revision": 1}, "revision", "forget has none"),
    (FORGET | {"id": 1, "interaction": "x"}, "interaction", "forget has none"),
    (FORGET | {"id": 1, "options": {"maxSimilarResults": 7}}, "options", "forget has none"),
    ({"op": "forget", "id": 1}, "scope", "forget needs one"),
    (RESTORE, "id", "restore needs the id"),
    (RESTORE | {"all": True}, "all", "restore has none"),
    (RESTORE | {"id": 1, "revision": 0}, "revision", "greater"),
    (RESTORE | {"id": 1, "revision": "2"}, "revision", "integer"),
    (RESTORE | {"revision": 1}, "id", "restore needs the id"),
    ({"op": "restore", "id": 1}, "scope", "restore needs one"),
    ({"op": "maintain", "id": 1}, "id", "maintain has none"),
    (FORGET | {"id": 1, "used": [1]}, "used", "forget has none"),
    (RESTORE | {"id": 1, "query": "x"}, "query", "restore has none"),
    ({"op": "feedback", "helpful": [1]}, "scope", "feedback needs one"),
    (FEEDBACK, "helpful", "needs the id of a memory, in one of used, helpful, unhelpful, withdrawn"),
    (FEEDBACK | {"used": [], "query": "x"}, "helpful", "needs the id of a memory"),
    (FEEDBACK | {"id": 1}, "id", "feedback has none"),
    (FEEDBACK | {"helpful": 1}, "helpful", "tuple"),
    (FEEDBACK | {"helpful": [1, 0]}, "helpful.1", "greater"),
    (FEEDBACK | {"helpful": [True]}, "helpful.0", "integer"),
    (FEEDBACK | {"helpful": [1.5]}, "helpful.0", "integer"),
    (FEEDBACK | {"used": ["turn-1"]}, "used.0", "episodes and external documents are not judged"),
    (FEEDBACK | {"used": ["0"]}, "used.0", "must be the id of a memory"),
    (FEEDBACK | {"used": ["-1"]}, "used.0", "must be the id of a memory"),
    (FEEDBACK | {"used": list(range(1, 102))}, "used", "at most 100"),
    (FEEDBACK | {"used": list(range(1, 100)), "helpful": [1, 100, 101]}, "helpful", "at most 100 memories"),
    (FEEDBACK | {"helpful": [1, 2], "unhelpful": [3, 2]}, "unhelpful", "memory 2 is told as helpful already"),
    (FEEDBACK | {"helpful": [1], "withdrawn": [1]}, "withdrawn", "told as helpful already"),
    (FEEDBACK | {"used": [1], "withdrawn": ["1"]}, "withdrawn", "told as used already"),
    (FEEDBACK | {"helpful": [1], "query": " "}, "query", "must hold some text, or be left out"),
    (FEEDBACK | {"helpful": [1], "query": "x" * 10_001}, "query", "at most 10000"),
    (FEEDBACK | {"helpful": [1], "query": 7}, "query", "string"),
    (FEEDBACK | {"liked": [1]}, "liked", "not permitted"),
]


@pytest.mark.parametrize(("told", "field", "reason"), WRONG_CHANGES)
def test_a_change_by_name_that_is_not_clear_is_refused_and_says_why(
    told: dict[str, Any], field: str, reason: str
) -> None:
    with pytest.raises(InvalidMessage, match=reason) as refused:
        Command.decode(json.dumps(told))

    assert refused.value.field == field


@pytest.mark.parametrize(
    "told",
    [
        FORGET | {"id": 1},
        FORGET | {"all": True},
        RESTORE | {"id": 2, "revision": 1},
        FEEDBACK | {"used": [1], "helpful": [2, 3], "unhelpful": [4], "withdrawn": [5], "query": "Who?"},
        FEEDBACK | {"withdrawn": list(range(1, 101))},
    ],
)
def test_a_change_by_name_is_read_as_it_is_written(told: dict[str, Any]) -> None:
    command = Command.decode(json.dumps(told))

    assert Command.decode(command.encode()) == command
    assert command.to_wire().items() >= told.items()


def test_what_was_taken_in_once_is_read_though_it_would_be_refused_today() -> None:
    told = {"op": "maintain", "interaction": "x"}

    assert Command.model_validate(told, context=KEPT).interaction == "x"
    with pytest.raises(InvalidMessage):
        Command.from_wire(told)


def test_feedback_names_memories_as_citations_do_and_a_judgement_says_more_than_use() -> None:
    told = FEEDBACK | {"used": ["12", 3, "7", 3], "helpful": ["3"], "unhelpful": [7, 9]}

    command = Command.decode(json.dumps(told))

    assert command.judgements == {12: "used", 3: "helpful", 7: "unhelpful", 9: "unhelpful"}
    assert (command.to_wire()["used"], command.to_wire()["helpful"]) == ([12, 3, 7, 3], [3])
    assert Command.decode(json.dumps(FORGET | {"id": 1})).judgements == {}


@pytest.mark.parametrize(
    "told", ["0", "007", "1.0", "-1", "+1", " 1", "1_0", "", "\u0661", "turn-1", str(2**53), "9" * 5000]
)
def test_what_is_no_memorys_id_is_not_taken_for_one(told: str) -> None:
    assert memory_cited(told) is None
    assert [memory_cited(str(number)) for number in (1, 10, 2**53 - 1)] == [1, 10, 2**53 - 1]


def test_a_question_that_could_be_asked_can_be_judged() -> None:
    assert MAX_JUDGED_QUERY == MAX_QUERY_CHARACTERS
