"""What a question asks for: a time, the latest, the first, and of whom."""
# ruff: noqa: RUF001 - full-width signs, as typed by an input method

from datetime import UTC, datetime

import pytest

from lakehouse.retrieval.asked import Asked, asked
from lakehouse.retrieval.names import known_names

NOW = datetime(2023, 9, 20, 12, tzinfo=UTC)
NAMES = known_names(["Caroline", "Anna", "staging database", "安娜", "Will", "Anna Berg"])
ASPECTS: list[tuple[str, set[str]]] = [
    ("When did Caroline move?", {"time", "past"}),
    ("Tell me when Anna moved", {"time"}),
    ("How long ago did I buy it?", {"time", "past"}),
    ("Caroline moved when?", {"time"}),
    ("Where does she live, and when did she move?", {"time", "past"}),
    ("What did I eat when I was in Rome?", {"past"}),
    ("What's my current job?", {"latest"}),
    ("What did I say last?", {"latest", "past"}),
    ("What is the most recent version?", {"latest"}),
    ("What is my last name?", set()),
    ("What did I do last week?", {"past"}),
    ("What was my first car?", {"first", "past"}),
    ("Where did I originally live?", {"first", "past"}),
    ("What is my first name?", set()),
    ("Wann hat Anna geheiratet?", {"time"}),
    ("Seit wann wohnt Anna hier?", {"time"}),
    ("Was ist mein aktueller Job?", {"latest"}),
    ("Wo wohnte Anna ursprünglich?", {"first"}),
    ("¿Cuándo se mudó Caroline?", {"time"}),
    ("cuando se mudó Caroline", {"time"}),
    ("¿Cuál es mi último trabajo?", {"latest"}),
    ("¿Dónde vivía al principio?", {"first"}),
    ("Quand est-ce que j'ai déménagé ?", {"time"}),
    ("Quelle est ma voiture actuelle ?", {"latest"}),
    ("Où habitais-je à l'origine ?", {"first"}),
    ("我什么时候搬家的？", {"time"}),
    ("安娜现在住在哪里？", {"latest"}),
    ("我最初住在哪里？", {"first"}),
    ("When did I first drive my latest car?", {"time", "first", "latest", "past"}),
]
OF_WHOM: list[tuple[str, tuple[str, ...]]] = [
    ("Where does caroline live?", ("Caroline",)),
    ("What is Caroline's job?", ("Caroline",)),
    ("Das Fahrrad von Anna", ("Anna",)),
    ("l'adresse d'Anna", ("Anna",)),
    ("安娜的工作是什么？", ("安娜",)),
    ("Is the Staging Database of Anna Berg up?", ("staging database", "Anna Berg")),
    ("What will Anna do?", ("Anna",)),
    ("What did Will do?", ("Will",)),
    ("Does Annabel sing?", ()),
    ("Where did I meet Anna?", ("Anna", "user")),
    ("What's mine?", ("user",)),
    ("Tell me when Anna moved", ("Anna",)),
    ("Kannst du mir sagen, wo Anna wohnt?", ("Anna",)),
    ("Wo ist mein Rad?", ("user",)),
    ("¿Dónde está mi coche?", ("user",)),
    ("Où est mon vélo ?", ("user",)),
    ("Qu'est-ce que j'ai dit ?", ("user",)),
    ("我住在哪里？", ("user",)),
    ("告诉我安娜住在哪里", ("安娜",)),
    ("¿Me gusta?", ("user",)),
]


@pytest.mark.parametrize(("query", "aspects"), ASPECTS)
def test_a_question_says_whether_it_asks_for_a_time_the_latest_or_the_first(query: str, aspects: set[str]) -> None:
    assert asked(query, now=NOW).aspects == aspects


@pytest.mark.parametrize(("query", "names"), OF_WHOM)
def test_a_question_says_of_whom_it_asks(query: str, names: tuple[str, ...]) -> None:
    assert asked(query, now=NOW, names=NAMES).names == names


def test_the_user_has_the_name_by_which_the_scope_knows_her() -> None:
    assert asked("Where do I live?", now=NOW, user="Dana").names == ("Dana",)
    assert asked("What did Anna tell me?", now=NOW, names=NAMES, user="Anna").names == ("Anna",)


def test_a_question_that_asks_for_nothing_else() -> None:
    assert asked("", now=NOW) == Asked(frozenset(), None, ())
