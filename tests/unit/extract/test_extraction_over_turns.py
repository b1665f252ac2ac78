"""What a turn means by the one before it: answers, agreements, pronouns and corrections."""

from datetime import UTC, datetime, timedelta

import pytest

from schemas.conversation import Role, Scope, Turn
from schemas.facts import Extraction
from streams.extract import extract

START = datetime(2026, 1, 1, tzinfo=UTC)
Speech = tuple[Role, str]
Parts = tuple[str | None, str | None, str | None]

# What was asked, what was answered, subject, attribute and value of the fact.
ANSWERED: list[tuple[str, str, Parts]] = [
    ("Where do you live?", "In Lugo.", ("user", "home", "Lugo")),
    ("How old are you?", "34.", ("user", "age", "34")),
    ("What is your favourite soup?", "Borscht.", ("user", "favourite soup", "Borscht")),
    ("What is your goat called?", "Otto.", ("user's goat", "name", "Otto")),
    ("Why did the build break?", "Not the cache.", (None, None, None)),
]
# Turns that answer no question, and why they are skipped.
NO_ANSWERS = [
    ("What do you do?", "Where is it?", "question"),
    ("Which tea do you like?", "Thanks!", "greeting"),
    ("Where is the lathe?", "Yes.", "reaction"),
]
AGREED = [
    ("You could switch the parser to Zig.", "Yes, let's do that.", ("parser", "change", "Zig")),
    ("Du könntest den Parser auf Zig umstellen.", "Ja, mach das so.", (None, None, None)),
    ("Podrías cambiar el puerto a 9090.", "Sí, hazlo.", (None, None, None)),
]
# What was said before, what is said with a pronoun, and how it is kept.
PRONOUNS = [
    ("My goat is called Otto.", "It is brown.", "My goat is brown."),
    ("Ruta plays the harp.", "She lives in Bergen.", "Ruta lives in Bergen."),
    ("I sold the tractor to Ruta.", "It was green.", "The tractor was green."),
    ("Otto is the name of my goat.", "It is brown.", "My goat is brown."),
    ("I have two cats.", "They are grey.", "The two cats are grey."),
]
UNRESOLVED = [
    ("I bought a kayak.", "She is tall."),
    ("I met Ruta.", "She plays the harp."),
    ("I met Ruta at the lake.", "He plays the harp."),
]
UNNAMED = [
    ("Splendid!", "It is brown."),
    ("Knots, sheets, halyards everywhere and always.", "It is brown."),
    ("I like plums.", "It is brown."),
    ("I bought a kayak.", "They are grey."),
]
CORRECTED = [
    ("The ledger stores its data in MySQL.", "Sorry, it is MariaDB.", "Sorry, the ledger stores its data in MariaDB."),
    ("The port is 8080.", "Sorry, it is 9090.", "Sorry, the port is 9090."),
    ("The gate is green.", "Sorry, it is red.", "Sorry, the gate is red."),
    ("Our standup is at 9.", "Sorry, it is at 10.", "Sorry, our standup is at 10."),
    ("The crest of our club is a heron.", "No wait, an owl.", "No wait, the crest of our club is an owl."),
    ("The crest of our club is a heron.", "Sorry, the owl.", "Sorry, the crest of our club is the owl."),
    ("Das Wappen ist ein Reiher.", "Nein, warte, eine Eule.", "Nein, warte, Das Wappen ist eine Eule."),
    ("La reunión es el lunes.", "Perdón, quise decir el martes.", "Perdón, quise decir La reunión es el martes."),
    ("聚会在星期一。", "抱歉，我是说星期五。", "抱歉，我是说 聚会在星期五。"),  # noqa: RUF001 - Chinese commas
]
# Corrections of something that was not said before: they are kept as told.
UNMET = [
    ("The regatta is in March.", "Sorry, it is 14."),
    ("The gate is at the end of the long lane.", "Sorry, it is red."),
    ("Splendid sandwiches, all of them.", "Sorry, it is MariaDB."),
    ("The regatta is in March.", "Sorry, all those old boats and sheds everywhere."),
    ("The regatta is in March.", "Sorry, I meant that the whole of the club had been wrong."),
]
EMPTY_CORRECTIONS = ["Sorry, I was wrong.", "Sorry, I was wrong", "Sorry about that.", "I was mistaken."]


def said(*speeches: Speech | str) -> Extraction:
    """What the last of several speeches gives; one without a role is the user's."""
    told: list[Speech] = [("user", speech) if isinstance(speech, str) else speech for speech in speeches]
    turns = [
        Turn(
            turn_id=f"t{number}",
            scope=Scope(project_id="p", user_id="u"),
            session_id="s",
            role=role,
            content=content,
            timestamp=START + timedelta(minutes=number),
        )
        for number, (role, content) in enumerate(told)
    ]
    return extract(turns[-1], turns[:-1], record_id="r")


def code(text: str) -> str:
    return f"```python\n{text}\n```"


@pytest.mark.parametrize(("question", "answer", "parts"), ANSWERED, ids=[question for question, _, _ in ANSWERED])
def test_an_answer_tells_what_its_question_asked(question: str, answer: str, parts: Parts) -> None:
    (fact,) = said(("assistant", question), answer).facts

    assert fact.text == f"{question} {answer}"
    assert (fact.subject, fact.attribute, fact.value) == parts


def test_an_answer_of_another_kind_keeps_its_negation() -> None:
    assert said(("assistant", "Why did the build break?"), "Not the cache.").facts[0].polarity == "negative"


@pytest.mark.parametrize(("question", "answer", "reason"), NO_ANSWERS, ids=[answer for _, answer, _ in NO_ANSWERS])
def test_what_answers_nothing_is_skipped(question: str, answer: str, reason: str) -> None:
    extraction = said(("assistant", question), answer)

    assert extraction.facts == ()
    assert [reason in skip.reason for skip in extraction.skipped] == [True]


def test_a_whole_statement_after_a_question_stands_for_itself() -> None:
    assert [fact.text for fact in said(("assistant", "Do you like tea?"), "I live in Lugo.").facts] == [
        "I live in Lugo."
    ]


@pytest.mark.parametrize(("proposal", "agreement", "parts"), AGREED, ids=[agreement for _, agreement, _ in AGREED])
def test_what_was_agreed_to_is_a_decision(proposal: str, agreement: str, parts: Parts) -> None:
    (fact,) = said(("assistant", proposal), agreement).facts

    assert (fact.mood, fact.text) == ("decision", f"{proposal} {agreement}")
    assert (fact.subject, fact.attribute, fact.value) == parts


@pytest.mark.parametrize(("before", "now", "text"), PRONOUNS, ids=[now for _, now, _ in PRONOUNS])
def test_a_pronoun_is_told_by_what_it_stands_for(before: str, now: str, text: str) -> None:
    (fact,) = said(before, now).facts

    assert fact.text == text
    assert fact.source_turn_ids == ("t0", "t1")


@pytest.mark.parametrize(("before", "now"), UNRESOLVED, ids=[before for before, _ in UNRESOLVED])
def test_a_pronoun_that_nothing_fits_stays_as_told(before: str, now: str) -> None:
    (fact,) = said(before, now).facts

    assert fact.text == now
    assert fact.source_turn_ids == ("t1",)


@pytest.mark.parametrize(("before", "now"), UNNAMED, ids=[f"{before} {now}" for before, now in UNNAMED])
def test_what_speaks_of_nothing_that_was_named_is_skipped_with_that_reason(before: str, now: str) -> None:
    extraction = said(before, now)

    assert extraction.facts == ()
    assert ["not named" in skip.reason for skip in extraction.skipped] == [True]


@pytest.mark.parametrize(("before", "now", "text"), CORRECTED, ids=[now for _, now, _ in CORRECTED])
def test_a_bare_value_corrects_what_was_said_before(before: str, now: str, text: str) -> None:
    assert [fact.text for fact in said(before, now).facts] == [text]


@pytest.mark.parametrize(("before", "now"), UNMET, ids=[f"{before} {now}" for before, now in UNMET])
def test_a_correction_of_nothing_that_was_said_stays_as_told(before: str, now: str) -> None:
    assert [fact.text for fact in said(before, now).facts] == [now]


@pytest.mark.parametrize("correction", EMPTY_CORRECTIONS)
def test_a_correction_that_says_nothing_new_is_no_fact(correction: str) -> None:
    extraction = said("The gate is green.", correction)

    assert extraction.facts == ()
    assert len(extraction.skipped) == 1


def test_code_of_an_answer_is_joined_and_named() -> None:
    (fact,) = said(
        "How do I sort?", ("assistant", f"{code('def by_name(): ...')}\n\n{code('def by_age(): ...')}")
    ).facts

    assert fact.text == "How to sort: by_name"
    assert fact.code_pattern == "def by_name(): ...\n\ndef by_age(): ..."


def test_code_that_defines_no_name_is_told_by_its_question() -> None:
    (fact,) = said("How do I reset the gate?", ("assistant", code("x = 1"))).facts

    assert (fact.text, fact.code_pattern) == ("How to reset the gate", "x = 1")


def test_a_command_that_answers_is_told_with_its_explanation() -> None:
    (fact,) = said("How do I restart the worker?", ("assistant", "Run `systemctl restart worker` as root.")).facts

    assert fact.text == "How to restart the worker. Run `systemctl restart worker` as root."
    assert fact.metadata.has_command


def test_an_explanation_longer_than_a_fact_is_cut_at_a_sentence() -> None:
    rows = [f"Row number {number} is sorted in place by the key that stands beside it." for number in range(9)]

    extraction = said(
        "How do I sort?", ("assistant", f"Thanks for asking!\n\n{code('sorted(rows)')}\n\n{' '.join(rows)}")
    )

    assert extraction.facts[0].text == f"How to sort. {' '.join(rows[:6])}"
    assert [skip.text for skip in extraction.skipped if "beyond" in skip.reason] == rows[6:]


def test_code_of_the_assistant_that_nobody_asked_for_is_no_fact() -> None:
    extraction = said("I live in Lugo.", ("assistant", f"The import runs at night.\n\n{code('x = 1')}"))

    assert extraction.facts == ()
    assert [skip.reason for skip in extraction.skipped] == [
        "code without anything said about it",
        "statement of the assistant: kept only if the user agrees",
    ]


def test_code_that_the_user_introduces_is_told_by_its_introduction() -> None:
    (fact,) = said(f"The retry helper of the shop:\n\n{code('def backoff(n): ...')}").facts

    assert (fact.text, fact.code_pattern) == ("backoff. The retry helper of the shop", "def backoff(n): ...")


def test_code_that_says_nothing_by_itself_is_no_fact() -> None:
    extraction = said(code("x = 1"))

    assert extraction.facts == ()
    assert [skip.reason for skip in extraction.skipped] == ["code without anything said about it"]
