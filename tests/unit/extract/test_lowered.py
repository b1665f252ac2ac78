"""Small letters, each at the place of its own."""

import sys

import pytest

from streams.extract.lowered import lowered


def test_every_letter_keeps_its_place() -> None:
    letters = [chr(code) for code in range(sys.maxunicode + 1)]

    assert [letter for letter in letters if len(lowered(letter)) != 1] == []


@pytest.mark.parametrize(
    ("text", "small"),
    [("THİS Week", "this week"), ("That\u2019S it", "that's it"), ("Gr\u00d6\u00dfe", "gr\u00f6\u00dfe")],
)
def test_letters_are_small_and_apostrophes_plain(text: str, small: str) -> None:
    assert lowered(text) == small
