"""Text in small letters, of the same length, for patterns that are written in small letters.

Rule of this file: a pattern that knows no case is tried several times faster than one that disregards it; what such a
pattern finds is cut from the text as told.
"""

DOTTED = "\u0130"
"""The only capital letter whose small one is longer, by a mark of its own."""


def lowered(text: str) -> str:
    """A text in small letters, each at the place of its own."""
    return text.replace(DOTTED, "i").lower()
