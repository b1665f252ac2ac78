"""One form for the inflections of a word: "inspires", "inspired" and "inspiring" are one.

Rule of this file: it only ever makes two forms of one word equal; what a word means is decided elsewhere. The stems are
Snowball's (snowballstem.org); a language it does not know keeps its words as they are.
"""

from functools import cache, lru_cache
from typing import Any, Final

from Stemmer import Stemmer

_ALGORITHMS: Final = {
    "ar": "arabic",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "tr": "turkish",
    "und": "english",
}
MIN_LETTERS: Final = 4
"""A shorter word has no ending that could be cut."""


@cache
def _stemmer(language: str) -> Any:
    algorithm = _ALGORITHMS.get(language)
    return None if algorithm is None else Stemmer(algorithm, 0)  # without its own cache, which threads could not share


@lru_cache(maxsize=32_768)
def stem(word: str, language: str) -> str:
    """The stem of a case-folded word.

    Args:
        word: One word; a number or an identifier is its own stem.
        language: ISO 639-1; "und" is read as English.
    """
    if len(word) < MIN_LETTERS or not word.isalpha():
        return word
    stemmer = _stemmer(language)
    return word if stemmer is None else str(stemmer.stemWord(word))
