"""BM25 over a scope's stems: the figures of the textbook, in every language that the scope's texts are in."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakehouse.retrieval.words import WordIndex
from lakehouse.stems import stem

WORDS = ["walk", "walks", "walked", "walking", "cats", "cat", "redis7", "the", "de"]
LANGUAGES = ["en", "de", "fr", "und", "xx"]
TEXTS = st.lists(st.tuples(st.lists(st.sampled_from(WORDS), unique=True), st.sampled_from(LANGUAGES)), max_size=8)
QUESTIONS = st.dictionaries(st.sampled_from(WORDS), st.sampled_from([0.0, 0.25, 1.0]), max_size=4)


def index_of(texts: list[tuple[list[str], str]]) -> WordIndex:
    index = WordIndex()
    for terms, language in texts:
        index.add(terms, language)
    return index


def textbook(texts: list[tuple[list[str], str]], question: dict[str, float], alive: list[bool]) -> list[float]:
    """BM25 with k1 1.2 and b 0.75 as it is written, one text and one word at a time."""
    stems = [{stem(term, language) for term in terms} for terms, language in texts]
    there = [one for one, is_alive in zip(stems, alive, strict=True) if is_alive]
    languages = {language for _, language in texts}
    found = []
    for own, is_alive in zip(stems, alive, strict=True):
        total = 0.0
        for term, weight in question.items():
            forms = {stem(term, language) for language in languages}
            holding = sum(bool(forms & one) for one in there)
            if is_alive and forms & own:
                idf = math.log(1 + (len(there) - holding + 0.5) / (holding + 0.5))
                mean = sum(map(len, there)) / len(there)
                total += weight * idf * 2.2 / (1 + 1.2 * (1 - 0.75 + 0.75 * len(own) / mean))
        found.append(total)
    return found


@settings(max_examples=150, deadline=None)
@given(TEXTS, QUESTIONS, st.data())
def test_scores_are_those_of_the_textbook(
    texts: list[tuple[list[str], str]], question: dict[str, float], data: Any
) -> None:
    alive = data.draw(st.lists(st.booleans(), min_size=len(texts), max_size=len(texts)))

    found = index_of(texts).scores(question, np.array(alive, dtype=bool))

    assert found.tolist() == pytest.approx(textbook(texts, question, alive))


def test_a_rare_word_counts_more_than_a_common_one_and_a_short_text_more_than_a_long() -> None:
    texts = [(["tea", "green"], "en"), (["tea", "black"], "en"), (["tea", "oolong", "hot", "cheap"], "en")]
    alive = np.ones(3, dtype=bool)

    rare, common = (index_of(texts).scores({word: 1.0}, alive) for word in ("green", "tea"))

    assert rare[0] > common[0] > common[2] > 0
    assert common[0] == common[1]
    assert list(rare[1:]) == [0.0, 0.0]


@pytest.mark.parametrize(
    ("language", "stored", "asked"),
    [
        ("en", "inspired", "inspires"),
        ("de", "häusern", "hauses"),
        ("es", "caminando", "caminar"),
        ("fr", "habitée", "habiter"),
        ("ru", "кошками", "кошка"),
        ("xx", "walks", "walks"),
        ("en", "redis7", "redis7"),
    ],
)
def test_a_word_is_found_by_another_form_in_the_language_of_the_text(language: str, stored: str, asked: str) -> None:
    index = index_of([([stored, "other"], language), (["else"], language)])

    assert index.held((asked,)).tolist() == [1.0, 0.0]
    assert index.scores({asked: 1.0}, np.ones(2, dtype=bool))[0] > 0
    assert index.coverage((asked,)).tolist() == [float(stored == asked), 0.0]


def test_forms_of_a_language_that_is_no_longer_there_match_nothing() -> None:
    index = index_of([(["chats"], "fr"), (["chat"], "xx")])
    both = index.held(("chats",)).tolist()

    index.leave("fr")

    assert both == [1.0, 1.0]
    assert index.held(("chats",))[1] == 0.0


def test_coverage_is_the_share_of_whole_words() -> None:
    index = index_of([(["red", "bike"], "en"), (["red"], "en"), (["bikes"], "en")])

    assert index.coverage(("red", "bike")).tolist() == [1.0, 0.5, 0.0]
    assert index.held(("red", "bike", "cars")).tolist() == [2.0, 1.0, 1.0]
    assert index.coverage(()).tolist() == [0.0] * 3
    assert len(index) == 3


def test_texts_without_a_word_score_nothing() -> None:
    index = index_of([([], "und"), ([], "und")])

    assert index.scores({"tea": 1.0}, np.ones(2, dtype=bool)).tolist() == [0.0, 0.0]
    assert index.scores({"tea": 1.0}, np.zeros(2, dtype=bool)).tolist() == [0.0, 0.0]
    assert WordIndex().scores({"tea": 1.0}, np.zeros(0, dtype=bool)).tolist() == []
