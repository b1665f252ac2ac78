"""What an answer must look like, and what is made of one that looks a little different."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from streams.llm.shapes import (
    MAX_TAGS,
    READ_FACTS,
    READ_TEXT,
    RECORDED_FACTS,
    AnswerInvalid,
    ToldDecision,
    ToldFact,
    decision_in,
    decision_schema,
    extraction_schema,
    facts_in,
    recalled_decision,
    recalled_facts,
    recorded_decision,
    recorded_facts,
)

SCHEMAS = [extraction_schema(1, 0), extraction_schema(7, 3), decision_schema(1), decision_schema(20)]
KEY = "secret-of-the-house"


def hidden(text: str) -> str:
    return text.replace(KEY, "[masked:key]")


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        if "type" in schema:
            yield schema
        for inner in schema.values():
            yield from objects(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from objects(inner)


@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_schema_keeps_to_the_strict_subset_and_bounds_everything(schema: dict[str, Any]) -> None:
    Draft202012Validator.check_schema(schema)
    for part in objects(schema):
        if part["type"] == "object":
            assert (part["additionalProperties"], part["required"]) == (False, list(part["properties"]))
        if part["type"] == "array":
            assert part["maxItems"]
        if part["type"] == "string":
            assert "maxLength" in part or "enum" in part


def test_a_decision_can_only_name_what_is_shown_and_reasons_before_it_judges() -> None:
    schema = decision_schema(3)

    assert schema["properties"]["targetId"]["enum"] == [None, 0, 1, 2]
    assert list(schema["properties"]) == ["reasoning", "event", "targetId", "confidence"]
    assert "DELETE" not in schema["properties"]["event"]["enum"]


def test_an_extraction_can_only_name_turns_and_code_that_are_there() -> None:
    fact = extraction_schema(2, 1)["properties"]["facts"]["items"]["properties"]

    assert fact["turn"]["enum"] == [0, 1]
    assert fact["code_pattern"]["enum"] == [None, "[code 1]"]


FACTS: list[tuple[str, Any, list[ToldFact]]] = [
    ("none", {"facts": []}, []),
    ("a bare array", [{"text": "a"}], [ToldFact(text="a")]),
    ("strings", {"facts": ["a", "b"]}, [ToldFact(text="a"), ToldFact(text="b")]),
    ("another key", {"facts": [{"fact": "a"}]}, [ToldFact(text="a")]),
    (
        "all there is",
        {"facts": [{"text": " a\n b ", "tags": ["x", 1], "source": "user", "turn": 2, "code_pattern": "[code 1]"}]},
        [ToldFact(text="a b", tags=("x",), source="user", turn=2, code_pattern="[code 1]")],
    ),
    (
        "nonsense beside it",
        {"facts": [{"text": "a", "tags": "x", "source": "system", "turn": True, "code_pattern": " ", "more": 1}]},
        [ToldFact(text="a")],
    ),
    ("a turn below zero", {"facts": [{"text": "a", "turn": -1, "code_pattern": 3}]}, [ToldFact(text="a")]),
]


@pytest.mark.parametrize(("value", "facts"), [row[1:] for row in FACTS], ids=[row[0] for row in FACTS])
def test_facts_are_normalised_where_that_is_unambiguous(value: Any, facts: list[ToldFact]) -> None:
    assert list(facts_in(value, hidden)) == facts


@pytest.mark.parametrize(
    "value",
    [
        {},
        "a",
        {"facts": None},
        {"facts": {"text": "a"}},
        {"facts": [1]},
        {"facts": [{}]},
        {"facts": [["a"]]},
        {"facts": [{"text": " "}]},
        {"facts": [{"text": 1}]},
        {"type": "object", "properties": {"facts": {"type": "array"}}},
    ],
)
def test_facts_that_are_none_are_refused_as_a_whole(value: Any) -> None:
    with pytest.raises(AnswerInvalid):
        facts_in(value, hidden)


def test_facts_are_masked_and_bounded() -> None:
    told = {"text": f"my key is {KEY}", "tags": [KEY] * 50, "code_pattern": f"use {KEY}"}

    (fact,) = facts_in({"facts": [told]}, hidden)

    assert KEY not in fact.model_dump_json()
    assert "[masked:key]" in fact.text
    assert len(fact.tags) == MAX_TAGS
    assert len(facts_in([{"text": "a" * 9999}] * 999, hidden)) == READ_FACTS
    assert (
        len(facts_in(["a" * 9999], hidden)[0].text) == READ_TEXT + 1
    )  # one more, so that it can be told from a whole one


GOOD = {"reasoning": "r", "event": "UPDATE", "targetId": 1, "confidence": 0.5}


@pytest.mark.parametrize(
    ("change", "decision"),
    [
        ({}, ToldDecision(reasoning="r", event="UPDATE", target=1, confidence=0.5)),
        ({"event": " none "}, ToldDecision(reasoning="r", event="NONE", target=1, confidence=0.5)),
        ({"event": "add", "targetId": None}, ToldDecision(reasoning="r", event="ADD", confidence=0.5)),
        ({"event": "DELETE"}, ToldDecision(reasoning="r", event="DELETE", target=1, confidence=0.5)),
        ({"reasoning": 1, "confidence": 7}, ToldDecision(event="UPDATE", target=1)),
        ({"reasoning": None, "confidence": True}, ToldDecision(event="UPDATE", target=1)),
    ],
)
def test_a_verdict_is_read(change: dict[str, Any], decision: ToldDecision) -> None:
    assert decision_in(GOOD | change, 2, hidden) == decision


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ([], "object"),
        (GOOD | {"event": "MERGE"}, '"event"'),
        (GOOD | {"event": 1}, '"event"'),
        (GOOD | {"targetId": 2}, "0 … 1"),
        (GOOD | {"targetId": -1}, "0 … 1"),
        (GOOD | {"targetId": "1"}, "number"),
        (GOOD | {"targetId": 1.0}, "number"),
        (GOOD | {"targetId": False}, "number"),
        (GOOD | {"targetId": None}, "UPDATE"),
        (GOOD | {"event": "ADD"}, "ADD"),
    ],
)
def test_a_verdict_that_makes_no_sense_is_refused_and_says_why(value: Any, told: str) -> None:
    with pytest.raises(AnswerInvalid, match=re.escape(told)):
        decision_in(value, 2, hidden)


def test_a_reasoning_is_masked_and_bounded() -> None:
    told = decision_in(GOOD | {"reasoning": f"{KEY} " + "x" * 9999}, 2, hidden)

    assert told.reasoning.startswith("[masked:key] x")
    assert len(told.reasoning) == 300


def test_what_is_recorded_is_read_again_as_it_was() -> None:
    facts = (
        facts_in({"facts": [{"text": f"ü {number}", "tags": ["t"], "turn": 1} for number in range(READ_FACTS)]}, hidden)
        * 8
    )
    decision = decision_in(GOOD, 2, hidden)

    assert recalled_facts(recorded_facts(facts)) == facts
    assert len(facts) == RECORDED_FACTS
    assert recalled_decision(recorded_decision(decision), 2) == decision
    assert json.loads(recorded_decision(decision)) == GOOD


@pytest.mark.parametrize("answer", ["", "{", "[1]", "null"])
def test_a_record_of_somebody_else_is_refused(answer: str) -> None:
    with pytest.raises(AnswerInvalid):
        recalled_facts(answer)
    with pytest.raises(AnswerInvalid):
        recalled_decision(answer, 2)
