"""What holds for any text: nothing is lost, nothing hangs on chance."""

import re
from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.conversation import Scope, Turn, is_blank
from schemas.facts import Fact, FactMetadata
from streams.decide import DecisionOptions, Neighbour, decide
from streams.extract import extract
from streams.extract.sentences import sentences_of

NOW = datetime(2026, 1, 1, tzinfo=UTC)
OPENERS = ["I", "My goat", "The red kiln", "Ruta", "We", "Crate 3", "Die Fähre", "El puente"]
VERBS = ["like", "is", "listens on", "costs", "was seen in", "holds", "ist", "no es", "is not", "prefers"]
OBJECTS = ["plums", "port 8080", "12 euros", "May", "MariaDB", "nine metres", "called Otto", "the old mill", "off"]
SENTENCES = st.builds(
    lambda opener, verb, thing, end: f"{opener} {verb} {thing}{end}",
    st.sampled_from(OPENERS),
    st.sampled_from(VERBS),
    st.sampled_from(OBJECTS),
    st.sampled_from([".", "!", "?"]),
)
NASTY = [
    "password is",
    "eyJ",
    "-----BEGIN PRIVATE KEY-----",
    "sk-",
    "://a:b@c",
    "[masked:",
    "4111 1111 1111 1111",
    "Bearer ",
]
TEXTS = st.one_of(st.text(max_size=200), st.lists(st.one_of(st.sampled_from(NASTY), st.text(max_size=20))).map("".join))


def turn(content: str) -> Turn:
    return Turn(turn_id="t", scope=Scope(project_id="p", user_id="u"), role="user", content=content, timestamp=NOW)


def fact_of(text: str) -> Fact:
    facts = extract(turn(text), (), record_id="r").facts
    if facts:
        return facts[0]
    metadata = FactMetadata(has_code_block=False, has_command=False, length=len(text))
    return Fact(
        fact_id="f",
        text=text,
        confidence=0.5,
        importance=5,
        role="user",
        source_turn_ids=(),
        event_time=NOW,
        metadata=metadata,
    )


def neighbour_of(text: str, number: int, similarity: float) -> Neighbour:
    fact = fact_of(text)
    return Neighbour(
        id=number,
        text=fact.text,
        similarity=similarity,
        event_time=NOW,
        subject=fact.subject,
        attribute=fact.attribute,
        value=fact.value,
        polarity=fact.polarity,
    )


NEIGHBOURS = st.lists(st.tuples(SENTENCES, st.floats(0, 1)), max_size=6).map(
    lambda rows: [neighbour_of(text, number - 2 or 9, similarity) for number, (text, similarity) in enumerate(rows)]
)


@given(TEXTS.filter(lambda text: not is_blank(text)))
def test_any_text_is_extracted_without_a_fault_and_always_alike(text: str) -> None:
    spoken = turn(text.encode(errors="replace").decode())

    assert extract(spoken, (), record_id="r") == extract(spoken, (), record_id="r")


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=300))
def test_sentences_hold_every_letter_of_the_text(text: str) -> None:
    letters = [letter for letter in text if letter.isalpha()]
    kept = [letter for sentence in sentences_of(text, "en") for letter in sentence if letter.isalpha()]

    assert kept == letters


@settings(deadline=None)
@given(st.lists(SENTENCES, min_size=1, max_size=6))
def test_each_sentence_of_a_message_is_in_a_fact_or_in_a_skip(sentences: list[str]) -> None:
    extraction = extract(turn(" ".join(sentences)), (), record_id="r")

    told = " ".join([*(fact.text for fact in extraction.facts), *(skip.text for skip in extraction.skipped)])
    for sentence in sentences:
        for word in re.findall(r"\w+", sentence):
            assert word.casefold() in told.casefold()


@given(SENTENCES, NEIGHBOURS, st.booleans())
def test_a_decision_has_a_neighbour_as_its_target_or_none(text: str, neighbours: list[Neighbour], delete: bool) -> None:
    decision = decide(fact_of(text), neighbours, DecisionOptions(enable_delete_operations=delete))

    assert decision.target is None or decision.target in {known.id for known in neighbours}
    assert decision.event != "ADD" or decision.target is None
    assert decision.event not in {"UPDATE", "DELETE"} or (decision.target or 0) > 0
    assert 0 <= decision.confidence <= 1


@given(SENTENCES, NEIGHBOURS)
def test_a_decision_does_not_hang_on_the_order_of_the_neighbours(text: str, neighbours: list[Neighbour]) -> None:
    assert decide(fact_of(text), neighbours) == decide(fact_of(text), neighbours[::-1])


@given(SENTENCES, st.floats(0, 1))
def test_the_same_text_is_always_known(text: str, similarity: float) -> None:
    fact = fact_of(text)
    known = neighbour_of(text, 1, similarity)

    assert decide(fact, [known]).event == "NONE"
    assert decide(fact, [known]).target == 1


@given(SENTENCES, NEIGHBOURS)
def test_what_is_stored_has_every_number_that_was_told(text: str, neighbours: list[Neighbour]) -> None:
    fact = fact_of(text)
    decision = decide(fact, neighbours)

    if decision.event in {"ADD", "UPDATE"}:
        assert re.findall(r"\d+", fact.text) == re.findall(r"\d+", decision.text)
