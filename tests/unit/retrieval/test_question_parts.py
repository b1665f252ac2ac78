"""The questions that one question is made of."""
# ruff: noqa: RUF001 - full-width signs, as typed by an input method

import pytest

from lakehouse.retrieval.names import NOBODY, known_names
from lakehouse.retrieval.parts import parts_of

PARTS: list[tuple[str, tuple[str, ...]]] = [
    ("What is my job and where do I live?", ("What is my job", "where do I live?")),
    ("What is my job? Where do I live?", ("What is my job", "Where do I live?")),
    ("Where is Anna and since when does she work?", ("Where is Anna", "since when does she work? (Anna)")),
    (
        "What is my job, where do I live and what do I drive, and when did I move?",
        ("What is my job, where do I live", "what do I drive", "when did I move?"),
    ),
    (
        "What is my job and where do I live and what do I drive and who sings?",
        ("What is my job", "where do I live", "what do I drive and who sings?"),
    ),
    ("What do both Caroline and Melanie like?", ("What do Caroline like?", "What do Melanie like?")),
    ("Redis vs Valkey: which is faster?", ("Redis: which is faster?", "Valkey: which is faster?")),
    ("Is the old api vs the new api faster?", ("Is the old api faster?", "Is the new api faster?")),
    (
        "What is the difference between the old api and the new api in speed?",
        ("What is the old api in speed?", "What is the new api in speed?"),
    ),
    ("Wo wohnt Anna und seit wann arbeitet sie dort?", ("Wo wohnt Anna", "seit wann arbeitet sie dort? (Anna)")),
    ("Was ist der Unterschied zwischen Redis und Valkey?", ("Was ist Redis?", "Was ist Valkey?")),
    ("¿Qué es Redis y dónde está instalado?", ("¿Qué es Redis", "dónde está instalado?")),
    ("¿Cuál es la diferencia entre Redis y Valkey?", ("¿Cuál es Redis?", "¿Cuál es Valkey?")),
    ("Qui est Anna et où habite-t-elle ?", ("Qui est Anna", "où habite-t-elle ? (Anna)")),
    ("Quelle est la différence entre Redis et Valkey ?", ("Quelle est Redis ?", "Quelle est Valkey ?")),
    ("我的工作是什么，我住在哪里？", ("我的工作是什么", "我住在哪里")),
    ("Redis和Valkey的区别是什么？", ("Redis的区别是什么？", "Valkey的区别是什么？")),
]
WHOLE = [
    "", "When did I buy the car and the bike?", "Where is it and why?", "Tell me about Redis and Valkey",
    "When Dave was a child, what did he do?", "How many days are there between my trip and my exam?",
    "What did I do between August and November 2023?", "How many days lie between when I came and when I left?",
    "vs Redis", "Redis vs", "Redis vs Redis", "What do both like?", "both of Anna", "both Anna and",
    "both the and Anna", "Who and what is it?", "the vs Redis", "我住在哪里？", "我住在上海，很好", "a, vs b" * 400,
    "What is it both and so on?", "compare Redis", "between red green blue black white grey and pink",
]  # fmt: skip


@pytest.mark.parametrize(("query", "parts"), PARTS)
def test_a_question_is_taken_apart_where_each_part_says_what_it_is_about(query: str, parts: tuple[str, ...]) -> None:
    assert parts_of(query, NOBODY) == parts


@pytest.mark.parametrize("query", WHOLE, ids=lambda query: query[:40])
def test_one_question_stays_whole(query: str) -> None:
    assert parts_of(query, NOBODY) == ()


def test_a_pronoun_in_a_later_part_stands_for_a_name_that_is_known() -> None:
    names = known_names(["安娜", "caroline"])

    assert parts_of("Who is caroline and where does she live?", names)[1] == "where does she live? (caroline)"
