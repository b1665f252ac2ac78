"""The recipe of the text to embed, and what is blank."""

import pytest

from lakehouse.embedding.text import MAX_CHARS, embedding_text
from schemas.conversation import is_blank

MADE = [
    pytest.param("I like tea.", "I like tea.", id="plain text is left alone"),
    pytest.param("  I \t like\n\ntea. ", "I like tea.", id="whitespace is collapsed and trimmed"),
    pytest.param("a\u00a0b\u3000c\u2028d", "a b c d", id="whitespace of any script is whitespace"),
    pytest.param("cafe\u0301", "caf\u00e9", id="NFC"),
    pytest.param("Tea TEA tea", "Tea TEA tea", id="case is kept"),
    pytest.param("#tag @name [x]", "#tag @name [x]", id="nothing is added or taken out"),
    pytest.param("a\ud800b", "a\ufffdb", id="half a pair is replaced"),
    pytest.param("\ud83d\ude42", "🙂", id="two halves are one"),
    pytest.param("", "", id="empty"),
    pytest.param(" \n", "", id="only whitespace"),
    pytest.param("x" * (MAX_CHARS + 5), "x" * MAX_CHARS, id="bounded"),
]

BLANK = [
    "",
    " ",
    "\n\t",
    "\u200b",
    "\u00a0",
    "\u200b\u200d \ufeff",
    "\u0301",
    "\x00",
    "\ufffd",
    "\ufe0f",
    "\ue000",
    "\u3164",
]
NOT_BLANK = ["a", "?", "42", "🙂", "€", " . ", "我", "a\u0301", "\u200bx"]


@pytest.mark.parametrize(("given", "made"), MADE)
def test_the_recipe_makes(given: str, made: str) -> None:
    assert embedding_text(given) == made


@pytest.mark.parametrize("text", BLANK, ids=ascii)
def test_a_text_without_anything_to_read_is_blank(text: str) -> None:
    assert is_blank(text)
    assert is_blank(embedding_text(text))


@pytest.mark.parametrize("text", NOT_BLANK, ids=ascii)
def test_a_text_with_anything_to_read_is_not_blank(text: str) -> None:
    assert not is_blank(text)
    assert not is_blank(embedding_text(text))
