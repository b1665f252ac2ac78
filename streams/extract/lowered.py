"""Text in small letters, of the same length, for patterns that are written in small letters.

Rule of this file: a pattern that knows no case is tried several times faster than one that disregards it, and what it
matches is a key of the table it was made of, letter by letter; what it finds is cut from the text as told.
"""

DOTTED = "\u0130"
"""The only capital letter whose small one is longer, by a mark of its own."""
APOSTROPHE = "\u2019"
"""As typesetters spell it; patterns have the plain one."""


def lowered(text: str) -> str:
    """A text in small letters and with plain apostrophes, each at the place of its own."""
    return text.lower() if text.isascii() else text.replace(DOTTED, "i").replace(APOSTROPHE, "'").lower()
