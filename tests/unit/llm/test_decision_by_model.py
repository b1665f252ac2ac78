"""What becomes of a model's verdict beside that of the rules."""

from datetime import UTC, datetime
from typing import Any

import pytest

from schemas.answers import ModelAnswer
from schemas.conversation import Scope, Turn
from schemas.facts import Fact
from streams.decide import Decision, DecisionOptions, Neighbour, decide
from streams.extract import extract
from streams.llm.decision import Case, case_of, decide_recorded, settled
from streams.llm.shapes import AnswerInvalid, ToldDecision, recorded_decision

NOW = datetime(2026, 3, 14, tzinfo=UTC)
OPTIONS = DecisionOptions(enable_delete_operations=True)


def fact(text: str) -> Fact:
    turn = Turn(turn_id="t", scope=Scope(project_id="p", user_id="u"), role="user", content=text, timestamp=NOW)
    return extract(turn, (), record_id="r").facts[0]


def unread(text: str) -> Fact:
    return fact("I live in Lyon.").model_copy(update={"text": text, "subject": None, "attribute": None, "value": None})


def known(text: str, number: int = 1, similarity: float = 0.9, *, read: bool = True) -> Neighbour:
    told = fact(text)
    claim = {"subject": told.subject, "attribute": told.attribute, "value": told.value} if read else {}
    return Neighbour(number, text, similarity, NOW, polarity=told.polarity, language=told.language, **claim)  # type: ignore[arg-type]


def case(new: Fact, *memories: Neighbour, options: DecisionOptions = OPTIONS) -> Case | None:
    return case_of(new, memories, options, decide(new, memories, options))


def told(case: Case, event: Any, target: int | None = None, reasoning: str = "So it is.") -> ModelAnswer:
    verdict = ToldDecision(reasoning=reasoning, event=event, target=target, confidence=0.99)
    return ModelAnswer(model="m", prompt=case.prompt, answer=recorded_decision(verdict))


def settle(new: Fact, *memories: Neighbour, event: str, target: int | None = None) -> tuple[Decision, Decision]:
    """The rules' decision, and the one with the model's verdict."""
    found = case(new, *memories)
    assert found is not None
    return found.rule, settled(found, told(found, event, target))


def added(new: Fact, memory: Neighbour) -> Case:
    """A case in which the rules found nothing about a memory that is alike."""
    rule = Decision("ADD", None, new.text, 0.5, "Alike.", "similarity", ((memory.id, memory.similarity),))
    return Case(new, rule, (memory,), OPTIONS.similarity_threshold)


GATED = [
    ("nothing is known", fact("I live in Lyon."), []),
    ("nothing is alike", fact("I live in Lyon."), [known("The kiln is red.", similarity=0.1)]),
    ("the same text", fact("I live in Lyon."), [known("i live in lyon", similarity=1.0)]),
    ("a request to forget", fact("Please forget my phone number."), [known("My phone number is 5.", similarity=0.9)]),
]


@pytest.mark.parametrize(("new", "memories"), [row[1:] for row in GATED], ids=[row[0] for row in GATED])
def test_a_model_is_not_asked_where_the_rules_need_none(new: Fact, memories: list[Neighbour]) -> None:
    assert case(new, *memories) is None
    assert decide_recorded(new, memories, OPTIONS, ModelAnswer(model="m", prompt="p")) == decide(new, memories, OPTIONS)


def test_the_model_sees_what_is_alike_and_what_is_of_the_same_claim_and_no_more_than_allowed() -> None:
    far, near = known("I live in Porto.", 1, 0.2), known("The kiln is blue.", 2, 0.85)
    others = [known(f"The kiln number {number} is grey.", number, 0.81) for number in range(3, 12)]

    found = case(fact("I live in Lyon."), far, near, *others)

    assert found is not None
    assert found.shown[0].id == 1
    assert len(found.shown) == OPTIONS.max_similar_results
    assert len(found.question.schema["properties"]["targetId"]["enum"]) == 1 + OPTIONS.max_similar_results


def test_where_both_agree_the_rules_text_stands_and_doubt_is_less() -> None:
    rule, found = settle(fact("I live in Lyon."), known("I live in Porto."), event="UPDATE", target=0)

    assert (found.event, found.target, found.text, found.quality_source) == ("UPDATE", 1, "I live in Lyon.", "llm")
    assert rule.confidence < found.confidence < 0.99
    assert (found.reasoning, found.candidates) == (f'{rule.reasoning} The model agrees: "So it is."', ((1, 0.9),))


@pytest.mark.parametrize(("event", "target"), [("ADD", None), ("NONE", 0)])
def test_where_the_rules_are_sure_another_verdict_changes_nothing_but_is_told(event: str, target: int | None) -> None:
    rule, found = settle(fact("I live in Lyon."), known("I live in Porto."), event=event, target=target)

    assert (
        (found.event, found.target, found.text)
        == (rule.event, rule.target, rule.text)
        == ("UPDATE", 1, "I live in Lyon.")
    )
    assert found.quality_source == "heuristic"
    assert found.confidence < rule.confidence
    assert f"The model proposed {event}" in found.reasoning


def test_a_delete_that_nobody_asked_for_is_refused_and_marked() -> None:
    rule, found = settle(fact("I live in Lyon."), known("I live in Porto."), event="DELETE", target=0)

    assert found.model is not None
    assert found.model.degraded == "llm: delete not asked for"
    assert (found.event, found.reasoning, found.quality_source) == (rule.event, rule.reasoning, "heuristic")


ALLOWED: list[tuple[str, Fact, Neighbour, str]] = [
    ("unread and alike", unread("deploys go east now"), known("Deploys go to the west.", read=False), "UPDATE"),
    (
        "all of it and more",
        unread("pump drawings live upstairs, cabinet two"),
        known("pump drawings live upstairs", read=False),
        "UPDATE",
    ),
    (
        "the same in another order",
        unread("green tea suits me"),
        known("What suits me is green tea.", read=False),
        "NONE",
    ),
    ("one value in other words", fact("I reside in Lyon."), known("I live in Lyon.", similarity=0.95), "NONE"),
]


@pytest.mark.parametrize(("new", "memory", "event"), [row[1:] for row in ALLOWED], ids=[row[0] for row in ALLOWED])
def test_where_the_rules_only_add_the_model_may_see_more(new: Fact, memory: Neighbour, event: str) -> None:
    shown = added(new, memory)

    found = settled(shown, told(shown, event, 0))

    assert (found.event, found.target, found.quality_source) == (event, 1, "llm")
    assert found.text == (new.text if event == "UPDATE" else memory.text)
    assert 0 < found.confidence < 0.9


REFUSED: list[tuple[str, Fact, Neighbour, str, str]] = [
    (
        "a number",
        unread("the north pump runs at 40 bar"),
        known("The north pump runs at 30 bar.", read=False),
        "NONE",
        "number",
    ),
    ("a name", unread("the rota is with Petra"), known("The rota is with Jonas.", read=False), "NONE", "name"),
    ("a negation", unread("the pump is not loud"), known("The pump is loud and old.", read=False), "NONE", "negative"),
    (
        "another word",
        unread("the big crate is full"),
        known("The small crate is full.", read=False),
        "NONE",
        "some of it",
    ),
    ("another thing", fact("The big crate is full."), known("The small crate is full."), "NONE", "something else"),
    ("a verb", fact("I work in Lyon."), known("I live in Lyon.", similarity=0.85), "NONE", "some of it"),
    ("another subject", unread("die katze heißt Ada"), known("Der Hund heißt Ada.", read=False), "UPDATE", "alike"),
    ("a value", fact("I like plums."), known("I like pears."), "NONE", "some of it"),
    ("one of many", fact("I like plums."), known("I like pears."), "UPDATE", "both can be so"),
    ("another thing", fact("The north kiln is red."), known("The south kiln is blue."), "UPDATE", "something else"),
    ("another property", fact("My goat is allergic to plums."), known("My goat lives in Lyon."), "UPDATE", "property"),
    ("not alike", unread("deploys go east"), known("Deploys go west.", similarity=0.5, read=False), "UPDATE", "alike"),
]


@pytest.mark.parametrize(
    ("new", "memory", "event", "why"), [row[1:] for row in REFUSED], ids=[f"{row[3]} {row[0]}" for row in REFUSED]
)
def test_a_verdict_that_would_lose_something_is_not_followed(
    new: Fact, memory: Neighbour, event: str, why: str
) -> None:
    shown = added(new, memory)

    found = settled(shown, told(shown, event, 0))

    assert (found.event, found.text, found.quality_source) == ("ADD", new.text, "similarity")
    assert why in found.reasoning


def test_what_is_taken_for_known_and_says_more_is_the_fuller_text() -> None:
    new, memory = unread("green tea suits me best"), known("Green tea suits me.", read=False)
    shown = added(new, memory)

    found = settled(shown, told(shown, "NONE", 0))

    assert (found.event, found.target, found.text) == ("UPDATE", 1, new.text)


def test_two_names_of_one_thing_may_be_one() -> None:
    new, memory = fact("My goat's name is Ada."), known("My goat is called Berta.")
    shown = added(new, memory)

    assert settled(shown, told(shown, "UPDATE", 0)).event == "UPDATE"


def test_one_that_takes_back_one_of_many_may_replace_it() -> None:
    new, memory = fact("I don't like pears."), known("I like pears.")
    shown = added(new, memory)

    assert settled(shown, told(shown, "UPDATE", 0)).event == "UPDATE"


def test_what_only_the_caller_holds_can_agree_and_cannot_be_changed() -> None:
    theirs = known("Deploys go to the west.", -1, read=False)

    east, west = added(unread("deploys go east now"), theirs), added(unread("deploys go to west"), theirs)

    update = settled(east, told(east, "UPDATE", 0))
    none = settled(west, told(west, "NONE", 0))

    assert (update.event, update.target) == ("ADD", None)
    assert (none.event, none.target, none.text) == ("NONE", -1, theirs.text)


def test_without_an_answer_the_rules_decide_and_say_why_no_model_did() -> None:
    found = case(fact("I live in Lyon."), known("I live in Porto."))
    assert found is not None
    silent = ModelAnswer(model="m", prompt=found.prompt, degraded="llm: timeout")

    decision = settled(found, silent)

    assert decision.model == silent
    assert decision == settled(found, silent)
    assert (decision.event, decision.quality_source) == (found.rule.event, found.rule.quality_source)


def test_a_recorded_answer_gives_the_same_decision_again_and_only_to_the_same_question() -> None:
    new, memories = fact("I live in Lyon."), [known("I live in Porto.")]
    found = case(new, *memories)
    assert found is not None
    answer = told(found, "UPDATE", 0)

    again = decide_recorded(new, memories, OPTIONS, answer)
    other = decide_recorded(new, [*memories, known("The kiln is red.", 2)], OPTIONS, answer)

    assert again == settled(found, answer)
    assert other.model is not None
    assert (other.model.degraded, other.model.answer) == ("llm: no recorded answer", None)
    assert decide_recorded(new, memories, OPTIONS, None) == found.rule


def test_a_record_that_names_what_is_not_there_is_refused() -> None:
    found = case(fact("I live in Lyon."), known("I live in Porto."))
    assert found is not None

    with pytest.raises(AnswerInvalid):
        settled(found, told(found, "UPDATE", 5))


def test_a_reasoning_is_quoted_or_left_out() -> None:
    found = case(fact("I live in Lyon."), known("I live in Porto."))
    assert found is not None

    assert "The model agrees" not in settled(found, told(found, "UPDATE", 0, reasoning="")).reasoning
