"""Known names in a question, and the question without them."""
# ruff: noqa: RUF001 - full-width signs, as typed by an input method

import pytest

from lakehouse.retrieval.names import NOBODY, Mention, known_names, without_names
from lakehouse.retrieval.tokens import read

SPEAKERS = known_names(["Caroline", "Melanie", "Anna", "Anna Berg", "D'Angelo", "安娜", "?!"])
WITHOUT: list[tuple[str, str]] = [
    ("When did Caroline move to Porto?", "When did move to Porto?"),
    ("What is Caroline's job?", "What is job?"),
    ("What is CAROLINE\u2019s job?", "What is job?"),
    ("the boys' bike, Melanie' bike", "the boys' bike, bike"),
    ("What do Caroline and Melanie like to eat?", "What do like to eat?"),
    ("Was it Caroline or maybe later Melanie who sang?", "Was it or maybe later who sang?"),
    ("Das Fahrrad von Anna", "Das Fahrrad"),
    ("l'adresse d'Anna", "l'adresse"),
    ("la bici de Anna Berg", "la bici"),
    ("安娜的工作是什么？", "工作是什么？"),
    ("Who is Caroline?", "Who is Caroline?"),
    ("Caroline", "Caroline"),
    ("Where is D'Angelo's bike?", "Where is bike?"),
    ("Where is the bike?", "Where is the bike?"),
    ("Is Annabel here now?", "Is Annabel here now?"),
    ("Caroline: bike?", ": bike?"),
]


@pytest.mark.parametrize(("text", "left"), WITHOUT)
def test_a_text_without_the_names_of_its_speakers(text: str, left: str) -> None:
    assert without_names(text, SPEAKERS) == left


def test_nobody_is_named_where_nobody_is_known() -> None:
    assert without_names("Where is  Caroline?", NOBODY) == "Where is  Caroline?"


def test_the_longest_of_names_that_begin_alike_is_found() -> None:
    assert SPEAKERS.mentions(read("Anna Berg and Anna")) == (Mention("Anna Berg", 0, 9), Mention("Anna", 14, 18))


def test_of_names_that_overlap_the_first_is_found() -> None:
    names = known_names(["red bike", "bike shop", "北京", "京都"])

    assert [found.name for found in names.mentions(read("the red bike shop 北京都"))] == ["red bike", "北京"]
