"""BM25 over a scope's stems, in every language that the scope's texts are in."""

import numpy as np
import pytest

from tests.unit.retrieval.by_hand import index_of


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
    assert index_of([]).scores({"tea": 1.0}, np.zeros(0, dtype=bool)).tolist() == []
