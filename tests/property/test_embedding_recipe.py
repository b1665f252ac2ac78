"""What holds of the recipe for every text."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from lakehouse.embedding.text import embedding_text
from schemas.conversation import is_blank

TEXTS = st.text(st.characters(exclude_categories=()))  # surrogates and unassigned ones too


@given(TEXTS)
def test_the_recipe_twice_is_the_recipe_once(text: str) -> None:
    once = embedding_text(text)

    assert embedding_text(once) == once


@given(TEXTS)
def test_the_made_text_is_encodable_normal_and_trimmed(text: str) -> None:
    made = embedding_text(text)

    made.encode("utf-8")
    assert unicodedata.is_normalized("NFC", made)
    assert made == " ".join(made.split())


@given(st.text())
def test_blank_before_the_recipe_is_blank_after_it(text: str) -> None:
    assert is_blank(embedding_text(text)) == is_blank(text)


@given(st.text(st.characters(categories=["L"]), min_size=1), st.text("\u0020\u0009\u000a\u00a0", min_size=1))
def test_whitespace_around_makes_no_difference(word: str, space: str) -> None:
    assert embedding_text(space + word + space) == embedding_text(word)
