"""Openers that say that something is not so correct what was known, in each language of the rules."""

from datetime import UTC, datetime

import pytest

from schemas.conversation import Scope, Turn
from schemas.facts import Fact
from streams.decide import Neighbour, decide
from streams.decide.words import corrects
from streams.extract import extract

NOW = datetime(2026, 3, 1, tzinfo=UTC)
OPENERS = {
    ("The ledger uses MySQL.", "the ledger uses MariaDB."): [
        "That's not right",
        "That\u2019s not true",
        "That isn't correct",
        "No, that is wrong",
        "You got that wrong",
        "You're mistaken",
        "Not true",
    ],
    ("Mein Hund heißt Ivo.", "mein Hund heißt Otto."): [
        "Das stimmt nicht",
        "Nein, das stimmt so nicht",
        "Das ist falsch",
        "Das ist nicht richtig",
        "Da irrst du dich",
    ],
    ("Mi perro se llama Ivo.", "mi perro se llama Otto."): [
        "No es así",
        "No, eso no es verdad",
        "Eso es falso",
        "Te equivocas",
    ],
    ("Mon chien s'appelle Ivo.", "mon chien s'appelle Otto."): [
        "Ce n'est pas ça",
        "Non, ce n'est pas vrai",
        "C'est faux",
        "Tu te trompes",
    ],
    ("我的狗叫小白。", "我的狗叫小黑。"): ["不对", "不是这样", "这不对", "你记错了"],
}
CASES = [
    (before, f"{opener}{'，' if before.endswith('。') else ', '}{now}")  # noqa: RUF001 - a Chinese comma
    for (before, now), openers in OPENERS.items()
    for opener in openers
]


def told(text: str) -> Fact:
    turn = Turn(turn_id="t", scope=Scope(project_id="p", user_id="u"), role="user", content=text, timestamp=NOW)
    (fact,) = extract(turn, (), record_id="r").facts
    return fact


def as_known(fact: Fact) -> Neighbour:
    return Neighbour(
        id=1,
        text=fact.text,
        similarity=0.9,
        event_time=NOW,
        subject=fact.subject,
        attribute=fact.attribute,
        value=fact.value,
        polarity=fact.polarity,
        language=fact.language,
    )


@pytest.mark.parametrize(("before", "now"), CASES, ids=[now for _, now in CASES])
def test_what_is_told_behind_such_an_opener_replaces_what_was_known(before: str, now: str) -> None:
    known, fact = told(before), told(now)

    assert corrects(fact.text)
    assert fact.subject == known.subject
    assert (decide(fact, [as_known(known)]).event, decide(fact, [as_known(known)]).target) == ("UPDATE", 1)


@pytest.mark.parametrize(
    "text", ["The right gate is green.", "Das Tor ist nicht offen.", "La puerta no es verde.", "我的狗不是白的。"]
)
def test_a_plain_statement_corrects_nothing(text: str) -> None:
    assert not corrects(text)
