"""Messages taken apart: quotations, echoes, code, sentences, openers, and words that only begin like a cue."""

from datetime import UTC, datetime
from typing import Literal

import pytest

from schemas.commands import Command
from schemas.conversation import Scope
from streams.extract import extract_interaction
from streams.extract.blocks import blocks_of, without_outer_quotes
from streams.extract.cues import CUES
from streams.extract.openers import opened
from streams.extract.reading import read_claim
from streams.extract.sentences import sentences_of
from streams.extract.significance import forgotten, mood_of, reason_against
from streams.ruledata import load

QUOTED = [
    ('"The gate is red."', "The gate is red."),
    ('"He said "yes"\nand left"', 'He said "yes"\nand left'),
    ('"Yes" and "no"', '"Yes" and "no"'),
    ('"One"\nand "two" and "three"', '"One"\nand "two" and "three"'),
    ("“He said “yes”\nand left”", "He said “yes”\nand left"),
    ("“Yes”\nand “no”", "“Yes”\nand “no”"),
    ('The gate is "red"', 'The gate is "red"'),
]
BLOCKS = [
    ("def f(x):\n    y = x\n    return y", [("code", "def f(x):\n    y = x\n    return y")]),
    (
        "def f(x):\n    y = x\n    return y\nThe gate is red.",
        [("code", "def f(x):\n    y = x\n    return y"), ("prose", "The gate is red.")],
    ),
    (
        "KNOWLEDGE CONTEXT:\n- one\n\n- another\n\nThe gate is red.",
        [("echo", "KNOWLEDGE CONTEXT:\n- one\n\n- another"), ("prose", "The gate is red.")],
    ),
    ("KNOWLEDGE CONTEXT:\n- one\n\n", [("echo", "KNOWLEDGE CONTEXT:\n- one")]),
    (
        "for name in names:\n    if name:\n        print(name)\n    with all others\n\nThe gate is red.",
        [
            ("code", "for name in names:\n    if name:\n        print(name)\n    with all others"),
            ("prose", "The gate is red."),
        ],
    ),
]
SENTENCES = [
    ("The gate is red.\n\n:-)\n\nIt is\nopen!\n\n!!", ["The gate is red. :-)", "It is open!!!"]),
    ("The gate is red; the shed is open.", ["The gate is red", "the shed is open."]),
    ("The gate is red; it is open.", ["The gate is red; it is open."]),
    ("It matters to me. I won't give up.", ["It matters to me.", "I won't give up."]),
    ('He said: "Go." "', ['He said: "Go." "']),
]
OPENED = [
    ("Yes, well, so, also, my goat is called Otto.", "my goat is called Otto.", False),
    ("電話番号を忘れてください", "電話番号", True),
    ("Please forget my phone number.", "my phone number.", True),
]
BEGIN_ALIKE = ["Hilda", "Okra grows", "Hidden valley"]
REASONS = [
    ("[score: 0.92] User has a boat", "text that came out of a memory"),
    ("Is it open?", "question"),
    ("The gate is red.", None),
]


@pytest.mark.parametrize(("text", "inner"), QUOTED, ids=[repr(text) for text, _ in QUOTED])
def test_quotation_marks_round_the_whole_are_taken_off(text: str, inner: str) -> None:
    assert without_outer_quotes(text) == inner


@pytest.mark.parametrize(("text", "blocks"), BLOCKS, ids=[repr(text[-24:]) for text, _ in BLOCKS])
def test_a_message_is_taken_apart(text: str, blocks: list[tuple[str, str]]) -> None:
    assert [(block.kind, block.text.strip()) for block in blocks_of(text)] == blocks


@pytest.mark.parametrize(("text", "sentences"), SENTENCES, ids=[text for text, _ in SENTENCES])
def test_prose_is_cut_into_sentences(text: str, sentences: list[str]) -> None:
    assert sentences_of(text, "en") == sentences


@pytest.mark.parametrize(("sentence", "left", "forget"), OPENED, ids=[sentence for sentence, _, _ in OPENED])
def test_openers_are_taken_off(sentence: str, left: str, forget: bool) -> None:
    assert (opened(sentence).text, opened(sentence).forget) == (left, forget)


@pytest.mark.parametrize("text", BEGIN_ALIKE)
def test_a_word_that_only_begins_like_a_greeting_or_reaction_is_none(text: str) -> None:
    assert not CUES["greeting"].found(text)
    assert not CUES["reaction"].found(text)


@pytest.mark.parametrize(("sentence", "reason"), REASONS, ids=[sentence for sentence, _ in REASONS])
def test_a_sentence_is_kept_unless_there_is_a_reason_against_it(sentence: str, reason: str | None) -> None:
    assert reason_against(sentence, "en") == reason


def test_a_plan_is_told_from_an_assertion() -> None:
    sentence = "I will visit Faro."

    assert mood_of(sentence, read_claim(sentence)) == "plan"
    assert mood_of("I visit Faro.", read_claim("I visit Faro.")) == "assertion"


def test_a_question_that_shall_be_forgotten_names_no_attribute() -> None:
    assert not forgotten("which room my office is in", "en", "user").is_read
    assert forgotten("where I live", "en", "user").attribute == "home"


def test_speeches_beyond_what_is_read_of_a_command_are_told() -> None:
    command = Command(
        op="extract_and_operate",
        scope=Scope(project_id="p", user_id="u"),
        interaction="\n".join(f"User: Crate {number} holds seeds." for number in range(501)),
    )

    extraction = extract_interaction(command, record_id="r", recorded_at=datetime(2026, 1, 1, tzinfo=UTC))

    assert [skip.text for skip in extraction.skipped if "500 speeches" in skip.reason] == ["Crate 500 holds seeds."]


@pytest.mark.parametrize(("room", "name"), [("extract", "code"), ("decide", "words")])
def test_data_of_another_version_than_the_code_is_refused(room: Literal["extract", "decide"], name: str) -> None:
    with pytest.raises(ValueError, match="version 2 is needed, found 1"):
        load(room, name, version="2")
