"""Words to find a text by: whatever stands in a text is found by what a person would type."""

import time
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lakehouse.keywords import MAX_TERM, coverage, fold_text, index_terms, query_terms

ANYTHING = st.text(st.characters(), max_size=60)
WORDS = st.text(st.characters(categories=["L", "N", "P", "S", "M"]), min_size=1, max_size=12)
HAN = "我每天早上喝绿茶"
FOUND: list[tuple[str, str]] = [
    (HAN, "绿茶"),
    (HAN, "茶"),
    (HAN, "早上喝"),
    ("не пью кофе", "кофе"),
    ("не пью кофе", "НЕ"),  # noqa: RUF001 - Cyrillic on purpose
    ("Ещё ёлка", "елка"),
    ("prefers C++ over node.js", "C++"),
    ("prefers C++ over node.js", "node.js"),
    ("prefers C++ over node.js", "node"),
    ("uses C# and F#", "c#"),
    ("does not eat fish", "not"),
    ("config/redis.yaml", "redis.yaml"),
    ("config/redis.yaml", "redis"),
    ("config/redis.yaml", "config/redis.yaml"),
    ("the Café Zürich", "cafe zurich"),
    ("the cafe", "CAFÉ"),
    ("Straße", "STRASSE"),
    ("o'neil's boat", "o'neil's"),
    ("o'neil's boat", "neil"),
    ("mail ann@example.org now", "example.org"),
    ("mail ann@example.org now", "ann@example.org."),
    ("my_snake_case", "snake"),
    ("fullwidth ＡＢＣ１２３", "abc123"),  # noqa: RUF001 - as typed by an input method
    ("ﬁle", "file"),
    ("ภาษาไทยง่าย", "ไทย"),
    ("서울에서 살아요", "서울"),
    ("東京タワー", "タワー"),
    ("version 2.0.1-rc1", "rc1"),
    ("x86_64", "x86_64"),
    ("İstanbul", "istanbul"),
    ("C:\\Users\\ann", "users"),
]
NOT_FOUND: list[tuple[str, str]] = [
    (HAN, "红茶"),
    ("does eat fish", "not"),
    ("java", "javascript"),
    ("Redis 7", "Redis 8"),
    ("C", "C++"),
]
LONG = ["a" * 50_000, "a+" * 50_000, "a/" * 50_000, "_" * 50_000, "茶" * 50_000, "a" + "+" * 100_000,
        "a" + "." * 50_000, "é" * 50_000, "a._" * 70_000, "'" * 50_000, "a " * 100_000,
        "\u0301" * 100_000]  # fmt: skip


@pytest.mark.parametrize(("text", "query"), FOUND)
def test_a_text_is_found_by_its_words(text: str, query: str) -> None:
    terms = query_terms(query)

    assert terms
    assert coverage(terms, frozenset(index_terms(text))) == 1.0


@pytest.mark.parametrize(("text", "query"), NOT_FOUND)
def test_a_text_is_not_found_whole_by_words_that_it_does_not_hold(text: str, query: str) -> None:
    assert coverage(query_terms(query), frozenset(index_terms(text))) < 3.0


@settings(max_examples=80, deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=4), st.integers(0, 3))
def test_every_term_of_a_word_that_stands_between_blanks_is_held_by_the_text(words: list[str], which: int) -> None:
    word = words[which % len(words)]

    assert set(query_terms(word)) <= set(index_terms(" ".join(words)))


@settings(max_examples=80, deadline=None)
@given(ANYTHING)
def test_a_text_is_found_whole_by_itself(text: str) -> None:
    assert set(query_terms(text)) <= set(index_terms(text))


@settings(max_examples=80, deadline=None)
@given(ANYTHING)
def test_case_does_not_matter(text: str) -> None:
    assert fold_text(text.casefold()) == fold_text(text)


@settings(max_examples=80, deadline=None)
@given(ANYTHING)
def test_the_way_a_character_is_composed_does_not_matter(text: str) -> None:
    assert fold_text(unicodedata.normalize("NFD", text)) == fold_text(unicodedata.normalize("NFC", text))


@settings(max_examples=200, deadline=None)
@given(ANYTHING)
@example("İ ẞ ﬃ ϓ ᾳ ㎢ ﷺ K")
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold_text(fold_text(text)) == fold_text(text)


@settings(max_examples=50, deadline=None)
@given(st.text(st.sampled_from("我每天早上喝绿茶红水在吃"), min_size=2, max_size=30), st.data())
def test_any_part_of_a_text_without_blanks_is_found(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))

    assert coverage(query_terms(text[start:end]), frozenset(index_terms(text))) == 1.0


@settings(max_examples=60, deadline=None)
@given(ANYTHING)
def test_terms_are_short_hold_no_blank_and_stand_once(text: str) -> None:
    for terms in (index_terms(text), query_terms(text)):
        assert len(set(terms)) == len(terms)
        assert all(0 < len(term) <= MAX_TERM and len(term.split()) == 1 for term in terms)


@pytest.mark.parametrize("text", LONG, ids=lambda text: f"{text[:3]!r}x{len(text)}")
def test_a_long_text_takes_time_in_proportion(text: str) -> None:
    started = time.process_time()
    index_terms(text)
    query_terms(text)

    assert time.process_time() - started < 10.0  # were it quadratic, it would be minutes


def test_nothing_is_found_by_nothing() -> None:
    assert coverage((), frozenset({"a"})) == 0.0
    assert query_terms("?! … \u200b") == ()


def test_coverage_is_the_share_of_the_questions_terms() -> None:
    assert coverage(("a", "b", "c", "d"), frozenset({"a", "c", "x"})) == 0.5
