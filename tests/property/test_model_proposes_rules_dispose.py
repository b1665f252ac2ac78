"""What holds for any answer of a model: nothing is lost, nothing invented, and a recorded answer is read as it was."""

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.answers import ModelAnswer
from schemas.conversation import Scope, Turn
from schemas.facts import Fact
from streams.decide import DecisionOptions, Neighbour, decide
from streams.decide.words import words_of
from streams.extract import extract
from streams.llm.breaker import Breaker, BreakerPolicy
from streams.llm.decision import case_of, decide_recorded, settled
from streams.llm.extraction import inquiry_of, material_of, understood
from streams.llm.parsing import values_in
from streams.llm.shapes import (
    AnswerInvalid,
    ToldDecision,
    decision_in,
    facts_in,
    recalled_decision,
    recalled_facts,
    recorded_decision,
    recorded_facts,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SECRET = "hush-hush"
OPENERS = ["I", "My goat", "The red kiln", "Ruta", "We", "Crate 3", "Die Fähre", "El puente"]
VERBS = ["like", "is", "listens on", "costs", "was seen in", "holds", "ist", "no es", "is not", "prefers"]
OBJECTS = ["plums", "port 8080", "12 euros", "May", "MariaDB", "nine metres", "called Ada", "the old mill", "off"]
SENTENCES = st.builds(
    lambda opener, verb, thing: f"{opener} {verb} {thing}.",
    st.sampled_from(OPENERS),
    st.sampled_from(VERBS),
    st.sampled_from(OBJECTS),
)
LEAKS = st.sampled_from(["The zeppelin Ottokar is moored at pier 61.", "I like walruses.", f"It is {SECRET}.", "  x "])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FACTS = st.lists(
    st.one_of(SENTENCES, LEAKS, st.text(alphabet=st.characters(codec="utf-8"), min_size=1, max_size=40)), max_size=6
)
VERDICTS = st.fixed_dictionaries(
    {
        "event": st.sampled_from(["ADD", "update", "NONE", "DELETE"]),
        "targetId": st.one_of(st.none(), st.integers(-1, 6)),
    },
    optional={"reasoning": st.text(max_size=30), "confidence": JSON},
)


def turn(content: str) -> Turn:
    return Turn(turn_id="t", scope=Scope(project_id="p", user_id="u"), role="user", content=content, timestamp=NOW)


def hidden(text: str) -> str:
    return text.replace(SECRET, "[masked:key]")


def fact_of(text: str) -> Fact:
    found = extract(turn(text), (), record_id="r").facts
    return found[0] if found else extract(turn("I live in Lyon."), (), record_id="r").facts[0]


@given(st.text(max_size=300))
def test_any_text_of_a_model_is_read_without_a_fault(text: str) -> None:
    for value in values_in(text).values:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()


@given(JSON, st.sampled_from(["{}", "```json\n{}\n```", "Well: {} so.", "<think>[1]</think>{}", "\ufeff{}\n\n"]))
def test_a_value_is_found_in_whatever_stands_around_it(value: Any, around: str) -> None:
    wrapped = {"value": value}

    assert values_in(around.replace("{}", json.dumps(wrapped))).values[:1] == (wrapped,)


@given(st.fixed_dictionaries({"facts": JSON}) | JSON)
def test_any_json_is_facts_or_refused_and_what_is_recorded_is_read_as_it_was(value: Any) -> None:
    try:
        facts = facts_in(value, hidden)
    except AnswerInvalid:
        return
    assert recalled_facts(recorded_facts(facts)) == facts


@given(VERDICTS | JSON, st.integers(1, 5))
def test_any_json_is_a_verdict_on_what_was_shown_or_refused(value: Any, candidates: int) -> None:
    try:
        told = decision_in(value, candidates, hidden)
    except AnswerInvalid:
        return
    assert (told.target is None) == (told.event == "ADD")
    assert told.target is None or 0 <= told.target < candidates
    assert recalled_decision(recorded_decision(told), candidates) == told


@settings(deadline=None)
@given(st.lists(SENTENCES, min_size=1, max_size=4), FACTS, st.booleans())
def test_with_any_answer_each_sentence_is_in_a_fact_or_in_a_skip_and_no_fact_was_not_said(
    sentences: Sequence[str], facts: Sequence[str], failed: bool
) -> None:
    said = " ".join(sentences)
    spoken = turn(said)
    material = material_of(spoken, (), "r")
    told = ModelAnswer(
        model="m",
        prompt=inquiry_of(material).prompt,
        answer=recorded_facts(facts_in([text for text in facts if text.strip()], hidden)),
        degraded="llm: cut off" if failed else None,
    )

    found = understood(material, told, extract(spoken, (), record_id="r"))

    kept = " ".join([*(fact.text for fact in found.facts), *(skip.text for skip in found.skipped)]).casefold()
    for word in re.findall(r"\w+", said):
        assert word.casefold() in kept
    there = set(words_of(said).all)
    for fact in found.facts:
        figures = {word for word in words_of(fact.text).all if any(sign.isdigit() for sign in word)}
        assert figures <= there
        assert SECRET not in fact.text
    recorded = ModelAnswer.model_validate_json(told.model_dump_json(by_alias=True), by_alias=True, by_name=False)
    assert understood(material, recorded, extract(spoken, (), record_id="r")) == found


@settings(deadline=None)
@given(SENTENCES, st.lists(st.tuples(SENTENCES, st.floats(0, 1)), min_size=1, max_size=6), VERDICTS, st.booleans())
def test_no_verdict_deletes_or_names_what_was_not_shown_and_its_record_decides_alike(
    text: str, rows: Sequence[tuple[str, float]], value: dict[str, Any], deletes: bool
) -> None:
    new, options = fact_of(text), DecisionOptions(enable_delete_operations=deletes)
    memories = [_neighbour(told, number - 2 or 9, near) for number, (told, near) in enumerate(rows)]
    rule = decide(new, memories, options)
    case = case_of(new, memories, options, rule)
    if case is None:
        assert decide_recorded(new, memories, options, ModelAnswer(model="m", prompt="p")) == rule
        return
    try:
        verdict: ToldDecision | None = decision_in(value, len(case.shown), hidden)
    except AnswerInvalid:
        verdict = None
    answer = ModelAnswer(
        model="m", prompt=case.prompt, answer=recorded_decision(verdict) if verdict else None, degraded=None
    )

    found = settled(case, answer)

    assert found.event != "DELETE"
    assert found.target is None or found.target in {one.id for one in memories}
    assert (found.target is None) == (found.event == "ADD")
    assert found.event != "UPDATE" or (found.target or 0) > 0
    assert 0 <= found.confidence <= 1
    if found.event in {"ADD", "UPDATE"} and found.quality_source == "llm" and found.event != rule.event:
        assert found.text == new.text
    assert decide_recorded(new, memories, options, answer) == found


def _neighbour(text: str, number: int, similarity: float) -> Neighbour:
    told = fact_of(text)
    return Neighbour(
        number,
        text,
        similarity,
        NOW,
        subject=told.subject,
        attribute=told.attribute,
        value=told.value,
        polarity=told.polarity,
    )


@given(st.integers(1, 4), st.lists(st.tuples(st.sampled_from(["ask", "wait"]), st.booleans()), max_size=40))
def test_a_breaker_never_shuts_for_ever_and_never_lets_failures_run(
    failures: int, steps: Sequence[tuple[str, bool]]
) -> None:
    breaker, now, in_a_row = Breaker(BreakerPolicy(failures, 10)), 0.0, 0
    for what, ends_well in steps:
        if what == "wait":
            now += 10
        elif breaker.admits(now):
            assert in_a_row < failures or now > 0
            in_a_row = 0 if ends_well else in_a_row + 1
            breaker.succeeded() if ends_well else breaker.failed(now)
        else:
            assert in_a_row >= failures
    assert breaker.admits(now + 10)
