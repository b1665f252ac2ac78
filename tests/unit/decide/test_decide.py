"""Decisions: cosine finds candidates; values, polarity, subject and attribute give the verdict."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from schemas.facts import Fact, FactMetadata, Mood
from streams.decide import DecisionOptions, Neighbour, decide
from streams.decide.arity import Arity, arity_of
from streams.decide.values import Relation, relation

NOW = datetime(2026, 3, 1, tzinfo=UTC)
DELETING = DecisionOptions(enable_delete_operations=True)
Claim = tuple[str | None, str | None, str | None]
NONE: Claim = (None, None, None)


def fact(text: str, claim: Claim = NONE, *, negative: bool = False, mood: Mood = "assertion") -> Fact:
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
        polarity="negative" if negative else "affirmative",
        mood=mood,
        source_turn_ids=("t",),
        event_time=NOW,
        metadata=FactMetadata(has_code_block=False, has_command=False, length=len(text)),
    )


def known(text: str, similarity: float, claim: Claim = NONE, *, negative: bool = False, number: int = 1) -> Neighbour:
    subject, attribute, value = claim
    return Neighbour(
        id=number,
        text=text,
        similarity=similarity,
        event_time=NOW - timedelta(days=number),
        subject=subject,
        attribute=attribute,
        value=value,
        polarity="negative" if negative else "affirmative",
    )


# Old statement, new statement, their cosine, the operation.
PAIRS = [
    ("the same text", known("I play the cello.", 1.0), fact("I play the cello."), "NONE"),
    ("the same text but for case", known("i play the Cello", 0.99), fact("I play the cello."), "NONE"),
    (
        "another value of what one has one of",
        known("I live in Faro.", 0.7, ("user", "home", "Faro")),
        fact("I live in Braga now.", ("user", "home", "Braga")),
        "UPDATE",
    ),
    (
        "the same value in other words",
        known("My goat is called Otto.", 0.95, ("user's goat", "name", "Otto")),
        fact("Otto is the name of my goat.", ("user's goat", "name", "Otto")),
        "NONE",
    ),
    (
        "a value beside another",
        known("I like pears.", 0.86, ("user", "to like", "pears")),
        fact("I like plums.", ("user", "to like", "plums")),
        "ADD",
    ),
    (
        "negated",
        known("Deploys on Fridays are allowed.", 0.97, ("deploys on fridays", "is", "allowed")),
        fact("Deploys on Fridays are not allowed.", ("deploys on fridays", "is", "allowed"), negative=True),
        "UPDATE",
    ),
    (
        "two negative happenings",
        known("The heron was not seen in May.", 0.97, ("heron", "did seen in", "May"), negative=True),
        fact("The heron was not seen in July.", ("heron", "did seen in", "July"), negative=True),
        "ADD",
    ),
    (
        "an opposite in the value",
        known("The banner is on.", 0.95, ("banner", "is", "on")),
        fact("The banner is off.", ("banner", "is", "off")),
        "UPDATE",
    ),
    (
        "an opposite before the same",
        known("The backup runs before the import.", 0.96, ("backup", "to run", "before the import")),
        fact("The backup runs after the import.", ("backup", "to run", "after the import")),
        "UPDATE",
    ),
    (
        "an opposite attribute",
        known("I like pears.", 0.8, ("user", "to like", "pears")),
        fact("I hate pears.", ("user", "to hate", "pears")),
        "UPDATE",
    ),
    (
        "another number",
        known("The red kiln fires at 1060 degrees.", 0.98, ("red kiln", "to fire at", "1060 degrees")),
        fact("The red kiln fires at 1100 degrees.", ("red kiln", "to fire at", "1100 degrees")),
        "UPDATE",
    ),
    (
        "the same number of another thing",
        known("The large crate costs 12 euros.", 0.95, ("large crate", "price", "12 euros")),
        fact("The small crate costs 12 euros.", ("small crate", "price", "12 euros")),
        "ADD",
    ),
    (
        "a number in the subject",
        known("Crate 3 holds seeds.", 0.98, ("crate 3", "to hold", "seeds")),
        fact("Crate 4 holds seeds.", ("crate 4", "to hold", "seeds")),
        "ADD",
    ),
    (
        "a number as a word",
        known("The API times out after 30 seconds.", 0.83, ("api", "to time out", "after 30 seconds")),
        fact("API requests are cut off after thirty seconds.", ("api requests", "is cut off", "after thirty seconds")),
        "NONE",
    ),
    (
        "somebody else",
        known("Ilse is afraid of heights.", 0.88, ("ilse", "is afraid of", "heights")),
        fact("Ilse's nephew is afraid of heights.", ("ilse's nephew", "is afraid of", "heights")),
        "ADD",
    ),
    (
        "more detail",
        known("useEffect runs after every render", 0.85, ("useeffect", "to run", "after every render")),
        fact(
            "useEffect runs after every render by default, but you can control it",
            ("useeffect", "to run", "after every render by default, but you can control it"),
        ),
        "UPDATE",
    ),
    (
        "less detail",
        known("Jan works as a cook in Delft.", 0.9, ("jan", "job", "cook in Delft")),
        fact("Jan works as a cook.", ("jan", "job", "cook")),
        "NONE",
    ),
    (
        "another noun that begins alike",
        known("I like jazz clubs.", 0.85, ("user", "to like", "jazz clubs")),
        fact("I like jazz.", ("user", "to like", "jazz")),
        "ADD",
    ),
    (
        "a change of the version",
        known("The billing service runs on PostgreSQL 14.", 0.9, ("billing service", "to run on", "PostgreSQL 14")),
        fact("We upgraded the billing service to PostgreSQL 16.", ("billing service", "change", "PostgreSQL 16")),
        "UPDATE",
    ),
    (
        "sides of a preference turned",
        known("I prefer tea over coffee.", 0.98, ("user", "to prefer", "tea over coffee")),
        fact("I prefer coffee over tea.", ("user", "to prefer", "coffee over tea")),
        "UPDATE",
    ),
    (
        "sides of a preference in other words",
        known("I prefer tabs over spaces.", 0.9, ("user", "to prefer", "tabs over spaces")),
        fact("Tabs rather than spaces are what I prefer.", ("user", "to prefer", "Tabs rather than spaces")),
        "NONE",
    ),
    ("unread and negated", known("Das Tor ist frei.", 0.9), fact("Das Tor ist nicht frei.", negative=True), "UPDATE"),
    ("unread, other number", known("Kilo 3 zu Lima", 0.97), fact("Kilo 4 zu Lima"), "ADD"),
    ("unread, turned round", known("A depends on B", 0.98), fact("B depends on A"), "ADD"),
    (
        "one value of two attributes",
        known("I live in Graz.", 0.89, ("user", "home", "Graz")),
        fact("I work in Graz.", ("user", "to work in", "Graz")),
        "ADD",
    ),
    ("unlike and unread", known("The mast is tall.", 0.1), fact("Otters hold hands."), "ADD"),
]
RELATIONS = [
    ("30 seconds", "thirty seconds", Relation.EQUAL),
    ("14 March", "March 14", Relation.EQUAL),
    ("the third floor", "3rd floor", Relation.EQUAL),
    ("07:12", "7:12", Relation.EQUAL),
    ("twenty-one", "21", Relation.EQUAL),
    ("two hundred euros", "200 euros", Relation.EQUAL),
    ("1,000 units", "1000 units", Relation.EQUAL),
    ("14 March", "15 March", Relation.NUMBER),
    ("PostgreSQL 14", "PostgreSQL 16", Relation.NUMBER),
    ("March", "April", Relation.TIME),
    ("on", "off", Relation.OPPOSITE),
    ("eingeschaltet", "ausgeschaltet", Relation.OPPOSITE),
    ("MySQL", "MariaDB", Relation.NAME),
    ("notary in Ghent", "notary", Relation.MORE),
    ("notary", "notary in Ghent", Relation.LESS),
    ("a long walk to the old mill", "quiet evenings with my family at home", Relation.OTHER),
]
ARITIES = [
    ("name", Arity.ONE),
    ("favourite soup", Arity.ONE),
    ("sister", Arity.MANY),
    ("to like", Arity.MANY),
    ("is allergic to", Arity.MANY),
    ("is assigned to", Arity.ONE),
    ("to lean against", Arity.OPEN),
    ("did sell", Arity.EVENT),
]


@pytest.mark.parametrize(("neighbour", "new", "event"), [row[1:] for row in PAIRS], ids=[row[0] for row in PAIRS])
def test_a_pair_of_statements_has_its_operation(neighbour: Neighbour, new: Fact, event: str) -> None:
    decision = decide(new, [neighbour])

    assert decision.event == event
    assert decision.target == (None if event == "ADD" else neighbour.id)
    assert decision.text == (neighbour.text if event == "NONE" else new.text)
    assert 0 < decision.confidence <= 1
    assert decision.reasoning.endswith(".")


@pytest.mark.parametrize(("new", "old", "how"), RELATIONS, ids=[f"{new} / {old}" for new, old, _ in RELATIONS])
def test_values_are_compared_exactly(new: str, old: str, how: Relation) -> None:
    assert relation(new, old) is how


@pytest.mark.parametrize(("attribute", "arity"), ARITIES, ids=[attribute for attribute, _ in ARITIES])
def test_an_attribute_has_one_value_or_many(attribute: str, arity: Arity) -> None:
    assert arity_of(attribute) is arity


def test_the_first_memory_is_added_with_confidence() -> None:
    decision = decide(fact("I play the cello."), [])

    assert (decision.event, decision.target, decision.candidates) == ("ADD", None, ())
    assert decision.confidence >= 0.5
    assert decision.quality_source == "similarity"


def test_more_detail_is_named_in_the_reason() -> None:
    _, neighbour, new, _ = next(row for row in PAIRS if row[0] == "more detail")

    assert decide(new, [neighbour]).reasoning.startswith("Enhanced with: by default")


def test_a_fact_of_the_same_subject_and_attribute_is_a_candidate_at_any_similarity() -> None:
    neighbour = known("My home is Faro.", 0.01, ("user", "home", "Faro"))

    decision = decide(fact("I live in Braga.", ("user", "home", "Braga")), [neighbour])

    assert (decision.event, decision.quality_source) == ("UPDATE", "heuristic")
    assert decision.candidates == ((1, 0.01),)


def test_other_words_count_only_from_the_threshold_on() -> None:
    _, neighbour, new, _ = next(row for row in PAIRS if row[0] == "a number as a word")

    assert decide(new, [neighbour]).quality_source == "similarity"
    assert decide(new, [neighbour], DecisionOptions(similarity_threshold=0.9)).event == "ADD"


def test_likeness_is_compared_with_four_digits() -> None:
    _, neighbour, new, _ = next(row for row in PAIRS if row[0] == "a number as a word")

    nearly = replace(neighbour, similarity=0.79999999)

    assert decide(new, [nearly], DecisionOptions(similarity_threshold=0.8)).event == "NONE"


def test_agreement_wins_over_contradiction_and_only_one_memory_is_meant() -> None:
    neighbours = [
        known("I live in Faro.", 0.9, ("user", "home", "Faro"), number=1),
        known("I live in Braga.", 0.8, ("user", "home", "Braga"), number=2),
    ]

    decision = decide(fact("Braga is where I live.", ("user", "home", "Braga")), neighbours)

    assert (decision.event, decision.target) == ("NONE", 2)


def test_a_new_job_leaves_everything_else_alone() -> None:
    others = [
        known("My name is Odalys.", 0.5, ("user", "name", "Odalys"), number=1),
        known("I drive a van.", 0.45, ("user", "to drive", "van"), number=2),
        known("I work as a notary.", 0.4, ("user", "job", "notary"), number=3),
    ]

    decision = decide(fact("I work as a baker now.", ("user", "job", "baker")), others)

    assert (decision.event, decision.target) == ("UPDATE", 3)


def test_a_memory_of_the_caller_can_be_agreed_with_but_not_changed() -> None:
    theirs = known("I live in Faro.", 0.9, ("user", "home", "Faro"), number=-1)

    agreed = decide(fact("I live in Faro.", ("user", "home", "Faro")), [theirs])
    contradicted = decide(fact("I live in Braga.", ("user", "home", "Braga")), [theirs])

    assert (agreed.event, agreed.target) == ("NONE", -1)
    assert (contradicted.event, contradicted.target) == ("ADD", None)
    assert "caller" in contradicted.reasoning


def test_a_correction_replaces_where_a_statement_would_stand_beside() -> None:
    neighbour = known("The ledger uses MySQL.", 0.9, ("ledger", "to use", "MySQL"))
    claim = ("ledger", "to use", "MariaDB")

    assert decide(fact("The ledger uses MariaDB.", claim), [neighbour]).event == "ADD"
    assert decide(fact("Sorry, I was wrong: the ledger uses MariaDB.", claim), [neighbour]).event == "UPDATE"


def test_a_bare_correction_tells_the_old_sentence_with_the_new_value() -> None:
    neighbour = known("The ledger uses MySQL.", 0.4, ("ledger", "to use", "MySQL"))

    decision = decide(fact("Sorry, it is MariaDB.", ("it", "is", "MariaDB")), [neighbour])

    assert (decision.event, decision.target, decision.text) == ("UPDATE", 1, "The ledger uses MariaDB.")


FORGETTABLE = [
    known("My phone number is 555 0142.", 0.7, ("user", "phone number", "555 0142"), number=1),
    known("My flat is on the third floor.", 0.4, ("user's flat", "is on", "third floor"), number=2),
    known("My office is in room 12.", 0.3, ("user's office", "is in", "room 12"), number=3),
]


def test_forgetting_deletes_what_was_asked_and_nothing_else() -> None:
    request = fact("Please forget my phone number.", ("user", "phone number", None), mood="retraction")

    assert decide(request, FORGETTABLE, DELETING).target == 1
    assert decide(request, FORGETTABLE, DELETING).event == "DELETE"


def test_forgetting_by_the_words_of_a_question() -> None:
    request = fact("Please forget which room my office is in.", mood="retraction")

    assert decide(request, FORGETTABLE, DELETING).target == 3


def test_forgetting_what_is_not_known_changes_nothing() -> None:
    request = fact("Please forget the name of my parrot.", ("user's parrot", "name", None), mood="retraction")

    decision = decide(request, FORGETTABLE, DELETING)

    assert (decision.event, decision.target) == ("NONE", None)


def test_forgetting_a_value_that_is_no_longer_known_changes_nothing() -> None:
    request = fact("Forget that my phone number is 555 9999.", ("user", "phone number", "555 9999"), mood="retraction")

    assert decide(request, FORGETTABLE, DELETING).event == "NONE"


def test_forgetting_needs_leave_to_delete() -> None:
    request = fact("Please forget my phone number.", ("user", "phone number", None), mood="retraction")

    decision = decide(request, FORGETTABLE)

    assert (decision.event, decision.target) == ("NONE", 1)
    assert "not enabled" in decision.reasoning


def test_what_was_told_after_the_request_is_not_forgotten() -> None:
    later = replace(FORGETTABLE[0], event_time=NOW + timedelta(days=1))
    request = fact("Please forget my phone number.", ("user", "phone number", None), mood="retraction")

    assert decide(request, [later], DELETING).event == "NONE"


def test_a_memory_of_the_caller_is_never_deleted() -> None:
    theirs = replace(FORGETTABLE[0], id=-4)
    request = fact("Please forget my phone number.", ("user", "phone number", None), mood="retraction")

    assert decide(request, [theirs], DELETING).event == "NONE"
