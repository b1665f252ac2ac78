"""What one memory says about a fact where plain claims end: words alone, changes, paraphrases, requests."""

from datetime import UTC, datetime, timedelta

import pytest

from schemas.facts import Fact, FactMetadata, Mood
from streams.decide import DecisionOptions, Neighbour, decide
from streams.decide.values import Relation, relation

NOW = datetime(2026, 3, 1, tzinfo=UTC)
Claim = tuple[str | None, str | None, str | None]
NONE: Claim = (None, None, None)
LIKE = 0.95
"""Cosine of two statements that differ in little."""


def fact(text: str, claim: Claim = NONE, mood: Mood = "assertion") -> Fact:
    subject, attribute, value = claim
    return Fact(
        fact_id="f",
        text=text,
        confidence=0.8,
        importance=5,
        role="user",
        subject=subject,
        attribute=attribute,
        value=value,
        mood=mood,
        source_turn_ids=("t",),
        event_time=NOW,
        metadata=FactMetadata(has_code_block=False, has_command=False, length=len(text)),
    )


def known(text: str, claim: Claim = NONE, similarity: float = LIKE, number: int = 1) -> Neighbour:
    subject, attribute, value = claim
    return Neighbour(
        id=number,
        text=text,
        similarity=similarity,
        event_time=NOW - timedelta(days=1),
        subject=subject,
        attribute=attribute,
        value=value,
    )


# What is known, what is said, the operation, and words of the reason.
VERDICTS = [
    ("the same words", known("Kilo drei zu Lima"), fact("The Kilo 3, zu Lima"), "NONE", "same words are known"),
    ("an opposite word", known("Tor drei offen"), fact("Tor drei geschlossen"), "UPDATE", "is the opposite of"),
    (
        "the words and more",
        known("Kilo 3 zu Lima"),
        fact("Kilo 3 zu Lima am Montag"),
        "UPDATE",
        "Enhanced with: am Mon",
    ),
    ("a part of the words", known("Kilo 3 zu Lima am Montag"), fact("Kilo 3 zu Lima"), "NONE", "says no more"),
    ("no words of content", known("That is it."), fact("It was so."), "ADD", "about something else"),
    (
        "a value that was not told",
        known("I love pears.", ("user", "to love", "pears")),
        fact("I like what I said.", ("user", "to like", None)),
        "ADD",
        "about something else",
    ),
    (
        "more, but something is lost",
        known("The lock is red with a sticker.", ("lock", "colour", "red")),
        fact("The lock is red and blue.", ("lock", "colour", "red and blue")),
        "UPDATE",
        "'red' became 'red and blue'",
    ),
    (
        "more, told in another order",
        known("Jan is a notary.", ("jan", "job", "notary")),
        fact("In Ghent Jan is a notary.", ("jan", "job", "notary in Ghent")),
        "UPDATE",
        "Enhanced with: In Ghent",
    ),
    (
        "a value that is only qualified",
        known("I like tea.", ("user", "to like", "tea")),
        fact("I like green tea.", ("user", "to like", "green tea")),
        "UPDATE",
        "Enhanced with: green",
    ),
    (
        "another happening",
        known("I sold my tractor.", ("user", "did sell", "my tractor")),
        fact("I sold my bike.", ("user", "did sell", "my bike")),
        "ADD",
        "another value beside it",
    ),
    (
        "another value where several may hold",
        known("The ladder leans against the shed.", ("ladder", "to lean against", "shed")),
        fact("The ladder leans against the barn.", ("ladder", "to lean against", "barn")),
        "ADD",
        "another value beside it",
    ),
    (
        "changed to what it is",
        known("The crane runs on Debian 13.", ("crane", "to run on", "Debian 13")),
        fact("We upgraded the crane to Debian 13.", ("crane", "change", "Debian 13")),
        "NONE",
        "'Debian 13' is known",
    ),
    (
        "changed in something else",
        known("The crane is yellow.", ("crane", "colour", "yellow")),
        fact("We upgraded the crane to Debian 13.", ("crane", "change", "Debian 13")),
        "ADD",
        "about something else",
    ),
    (
        "changed after something that happened",
        known("The crane was painted in 2019.", ("crane", "did paint in", "2019")),
        fact("The crane was changed to 2023.", ("crane", "change", "2023")),
        "ADD",
        "about something else",
    ),
    (
        "what has ended is somebody else's",
        known("My brother plays tennis.", ("user's brother", "to play", "tennis")),
        fact("I gave up tennis."),
        "ADD",
        "about something else",
    ),
    (
        "never, of something else",
        known("I ate a good pizza in Osaka.", ("user", "did eat", "good pizza in Osaka")),
        fact("I have never eaten raw sushi in Osaka.", ("user", "did eat", "raw sushi in Osaka")),
        "ADD",
        "about something else",
    ),
    (
        "the same value and another number in the sentence",
        known("Since 2019 the API times out after 30 seconds.", ("api", "to time out", "after 30 seconds")),
        fact("Since 2023 API calls are cut off after 30 seconds.", ("api calls", "is cut off", "after 30 seconds")),
        "ADD",
        "about something else",
    ),
]
BARE = [
    ("a value too long", "it is all of a very long story about boats", "all of a very long story about boats"),
    ("no value", "it is", None),
]
RELATIONS = [
    ("tea over coffee", "rye over wheat", Relation.OTHER),
    ("open to the public", "closed for public", Relation.OPPOSITE),
]
FORGOTTEN = [
    ("by what one has", ("user", "goat", None), "Please forget my goat.", LIKE, "DELETE"),
    ("of everything at once", NONE, "Please forget everything.", LIKE, "NONE"),
    ("of something unlike", NONE, "Please forget Otto.", 0.1, "NONE"),
]


@pytest.mark.parametrize(("old", "new", "event", "reason"), [row[1:] for row in VERDICTS], ids=[v[0] for v in VERDICTS])
def test_a_memory_has_its_say_about_a_fact(old: Neighbour, new: Fact, event: str, reason: str) -> None:
    decision = decide(new, [old])

    assert decision.event == event
    assert reason in decision.reasoning


@pytest.mark.parametrize(("told", "value"), [row[1:] for row in BARE], ids=[row[0] for row in BARE])
def test_a_bare_correction_without_a_short_value_corrects_nothing(told: str, value: str | None) -> None:
    ledger = known("The ledger uses MySQL.", ("ledger", "to use", "MySQL"), 0.4)

    assert decide(fact(f"Sorry, {told}.", ("it", "is", value)), [ledger]).event == "ADD"


def test_a_bare_correction_passes_over_values_of_another_kind() -> None:
    cellar = "cold cellar beneath the old bank of Turku"
    place = known(f"The ledger lies in the {cellar}.", ("ledger", "to lie in", cellar), 0.5, 2)
    ledger = known("The ledger uses MySQL.", ("ledger", "to use", "MySQL"), 0.4)

    decision = decide(fact("Sorry, it is MariaDB.", ("it", "is", "MariaDB")), [place, ledger])

    assert (decision.event, decision.target, decision.text) == ("UPDATE", 1, "The ledger uses MariaDB.")


@pytest.mark.parametrize(("new", "old", "how"), RELATIONS, ids=[f"{new} / {old}" for new, old, _ in RELATIONS])
def test_values_of_several_words_are_compared_side_by_side(new: str, old: str, how: Relation) -> None:
    assert relation(new, old) is how


@pytest.mark.parametrize(
    ("claim", "text", "similarity", "event"), [row[1:] for row in FORGOTTEN], ids=[row[0] for row in FORGOTTEN]
)
def test_a_request_to_forget_meets_what_it_names(claim: Claim, text: str, similarity: float, event: str) -> None:
    goat = known("My goat is called Otto.", ("user's goat", "name", "Otto"), similarity)

    decision = decide(fact(text, claim, "retraction"), [goat], DecisionOptions(enable_delete_operations=True))

    assert decision.event == event
