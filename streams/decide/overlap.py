"""How much of what one statement says the other says too, by the stems of its words of content.

Rule of this file: it counts words; whether a shared word means the same is for the findings to judge. The words of the
subject count for nothing: everything about one person shares them.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from lakehouse.stems import stem
from schemas.facts import Fact
from streams.decide.types import Neighbour
from streams.decide.words import DATA, TIMES, is_identifier, is_number, words_of

MAX_PARTS: Final = 3
"""Parts of a joined word ("job_title", "first-person") that are words of their own."""
_TIME_STEMS: Final = TIMES | {word[:3] for word in TIMES} | {stem(word, "en") for word in TIMES}
_TIME_WORDS: Final = "|".join(sorted((re.escape(word) for word in TIMES), key=len, reverse=True))
_TIME: Final = rf"(?:{_TIME_WORDS}|(?:{'|'.join(DATA['short_times'])})\.?)"
_OPENING: Final = "\"'\u201c\u2018\u201e("
_NUMBER: Final = r"\d{1,4}(?:st|nd|rd|th)?(?::\d\d)?"
_WHEN: Final = re.compile(
    rf"\b(?:(?:{'|'.join(DATA['before_times'])})\s+)?"
    rf"(?:{_NUMBER}[\s,.]+(?:(?:of|de)\s+)?)*{_TIME}(?!\w)(?:[\s,]+(?:(?:of|de)\s+)?(?:{_NUMBER}|{_TIME})(?!\w))*",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Overlap:
    """What two statements share.

    Attributes:
        shared: Number of different stems in both.
        of_new: Share of the new statement's stems that are in the old one, 0 … 1.
        of_old: Share of the old statement's stems that are in the new one, 0 … 1.
        lost: Stems of the old statement that the new one has not, in order.
        swapped: Whether a single word stands in the place of another: "red lamp", "blue lamp".
    """

    shared: int
    of_new: float
    of_old: float
    lost: tuple[str, ...]
    swapped: bool


@lru_cache(maxsize=8192)
def stems_of(text: str, language: str) -> tuple[str, ...]:
    """The stems of a text's words of content, in order."""
    return tuple(stem(part, language) for word in words_of(text).content for part in _parts(word))


@lru_cache(maxsize=8192)
def stem_set(text: str, language: str) -> frozenset[str]:
    """The different stems of a text's words of content."""
    return frozenset(stems_of(text, language))


@lru_cache(maxsize=8192)
def overlap(new: str, old: str, language: str, about: frozenset[str] = frozenset()) -> Overlap:
    """What two statements share.

    Args:
        new: The new statement.
        old: The known one.
        language: ISO 639-1 of the new one.
        about: Words of whom both speak, which are left out.
    """
    left_out = {stem(word, language) for word in about}
    mine = [word for word in stems_of(new, language) if word not in left_out]
    theirs = [word for word in stems_of(old, language) if word not in left_out]
    fresh, known = set(mine), set(theirs)
    both = fresh & known
    return Overlap(
        shared=len(both),
        of_new=len(both) / len(fresh) if fresh else 0.0,
        of_old=len(both) / len(known) if known else 0.0,
        lost=tuple(word for word in dict.fromkeys(theirs) if word not in fresh),
        swapped=_swapped(mine, theirs),
    )


def relevance(fact: Fact, known: Neighbour) -> float:
    """How likely it is that a fact is about what a memory says, 0 … 3; it orders candidates and decides nothing."""
    common = overlap(fact.text, known.text, fact.language)
    return round(known.similarity + common.of_old + common.of_new, 4)


def lost_details(common: Overlap, old: str, language: str) -> tuple[str, ...]:
    """Those of the lost words that no retelling may lose: numbers, times, identifiers and names."""
    names = _names_of(old, language)
    return tuple(
        word for word in common.lost if is_number(word) or is_time(word) or is_identifier(word) or word in names
    )


def is_time(word: str) -> bool:
    """Whether a stem or word names a month, a weekday or a time of the day or the year."""
    return word in _TIME_STEMS


def time_phrases(old: str) -> tuple[str, ...]:
    """Where a statement says when: each run of times and numbers that holds a time, with the preposition before it."""
    return tuple(found.group().strip(" ,") for found in _WHEN.finditer(old))


def _parts(word: str) -> list[str]:
    parts = word.replace("_", "-").split("-")
    return parts if 1 < len(parts) <= MAX_PARTS and all(part.isalpha() for part in parts) else [word]


@lru_cache(maxsize=8192)
def _names_of(text: str, language: str) -> frozenset[str]:
    """The stems of what is written with a capital inside of a sentence."""
    capital = (token for token in text.split()[1:] if token.lstrip(_OPENING)[:1].isupper())
    return frozenset(word for token in capital for word in stems_of(token, language))


def _swapped(new: list[str], old: list[str]) -> bool:
    """Whether one word stands in for another between the same neighbours."""
    fresh, known = set(new), set(old)
    following = {(before, after): word for before, word, after in zip(["", *old], old, [*old[1:], ""], strict=False)}
    for before, word, after in zip(["", *new], new, [*new[1:], ""], strict=False):
        other = following.get((before, after))
        if other is not None and other != word and word not in known and other not in fresh:
            return True
    return False
