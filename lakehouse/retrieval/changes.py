"""Whether a text says that something is no more as it was, or how far it has come.

Rule of this file: pure. The words are data (``words.yaml``) and found by their stems, phrases as they stand.
"""

from typing import Final

from lakehouse.keywords import fold_text
from lakehouse.retrieval.tokens import is_han, read, says, spaced
from lakehouse.ruledata import load_data
from lakehouse.stems import stem

_DATA: Final[dict[str, str]] = load_data("lakehouse.retrieval", "words")["changes"]
_STEMS: Final = {
    language: frozenset(stem(fold_text(word), language) for word in words.split() if "_" not in word)
    for language, words in _DATA.items()
}
_PHRASES: Final = {
    language: frozenset(phrase for phrase in spaced(words) if " " in phrase or is_han(phrase))
    for language, words in _DATA.items()
}


def tells_change(text: str, language: str) -> bool:
    """Whether a text tells a change.

    Args:
        text: One statement.
        language: ISO 639-1; "und" is read as English, and a language without words of its own tells none.
    """
    told, known = read(text), "en" if language == "und" else language
    stems = {stem(token.key, known) for token in told.tokens}
    return (
        says(told, _PHRASES["zh"])  # whatever the language: its signs mean nothing else
        or says(told, _PHRASES.get(known, ()))
        or not stems.isdisjoint(_STEMS.get(known, ()))
    )
