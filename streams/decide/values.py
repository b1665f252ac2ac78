"""How a new value stands to an old one of the same attribute.

Rule of this file: values are compared exactly, as words, numbers, times and names; nothing here knows of likeness.
"""

from collections import Counter
from enum import Enum
from functools import lru_cache

from streams.decide.opposites import opposed
from streams.decide.words import DATA, SPECIFIERS, STOP, TIMES, Words, is_identifier, is_number, words_of

MAX_REORDERED = 4
"""Words of a value whose order does not matter ("14 March", "March 14")."""
YEAR = 4
"""Digits of a number that may be a year."""


class Relation(Enum):
    """How a new value stands to an old one."""

    EQUAL = "equal"
    MORE = "says all the old one says and more"
    LESS = "says nothing that the old one does not say"
    OPPOSITE = "is its opposite"
    NUMBER = "is the same with another number"
    TIME = "is another time"
    NAME = "is another name"
    OTHER = "is something else"


_ELLIPTIC = frozenset(DATA["elliptic"])
_COMPARATORS = sorted((tuple(phrase.split()) for phrase in DATA["comparators"]), key=len, reverse=True)


@lru_cache(maxsize=8192)
def relation(new: str, old: str) -> Relation:  # noqa: PLR0911 - a ladder of tests
    """How ``new`` stands to ``old``."""
    fresh, known = words_of(new), words_of(old)
    sides, other_sides = _sides(fresh.all), _sides(known.all)
    if sides and other_sides:
        if sides == other_sides:
            return Relation.EQUAL
        if sides == other_sides[::-1]:
            return Relation.OPPOSITE
    if fresh.plain == known.plain:
        return Relation.EQUAL
    if opposed(fresh.plain, known.plain):
        return Relation.OPPOSITE
    mine, theirs = fresh.content or fresh.plain, known.content or known.plain
    if mine == theirs or (len(mine) <= MAX_REORDERED and sorted(mine) == sorted(theirs)):
        return Relation.EQUAL
    if opposed(mine, theirs):
        return Relation.OPPOSITE
    if _holds(mine, theirs):
        return Relation.MORE
    if _holds(theirs, mine):
        return Relation.LESS
    elliptic = _is_elliptic(fresh, known) or _is_elliptic(known, fresh)
    return Relation.NUMBER if elliptic else _changed(mine, theirs)


def compares(text: str) -> bool:
    """Whether a text sets one thing against another: "tabs over spaces"."""
    return _sides(words_of(text).all) is not None


def _sides(words: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """What stands on both sides of a comparison: ("tab",), ("space",)."""
    for comparator in _COMPARATORS:
        size = len(comparator)
        for place in range(1, len(words) - size):
            if words[place : place + size] == comparator:
                return words[:place], words[place + size :]
    return None


def _holds(longer: tuple[str, ...], shorter: tuple[str, ...]) -> bool:
    """Whether all words of the shorter stand in the longer, in the same order."""
    rest = iter(longer)
    return bool(shorter) and len(shorter) < len(longer) and all(word in rest for word in shorter)


def _is_elliptic(short: Words, full: Words) -> bool:
    """Whether of one value only another number is told, and the other tells of what: "the 35", "floor 34".

    A number ahead of its thing counts it: "3 goats" is no goat of that number.
    """
    if len(short.content) != 1 or len(full.numbers) != 1 or len(full.content) > MAX_REORDERED:
        return False
    number = short.content[0]
    if not is_number(number) or is_number(full.content[0]) or number in full.numbers:
        return False
    before = short.all[: short.all.index(number)]
    return before[-1] in _ELLIPTIC if before else len(number) < YEAR


def _changed(new: tuple[str, ...], old: tuple[str, ...]) -> Relation:
    fresh, known = Counter(new), Counter(old)
    added, gone = list((fresh - known).elements()), list((known - fresh).elements())
    changed = [*added, *gone]
    if added and gone and all(is_number(word) or word in TIMES for word in changed):
        times = any(word in TIMES or ":" in word for word in changed)
        return Relation.TIME if times else Relation.NUMBER
    if len(added) == len(gone) == 1 and all(is_identifier(word) for word in changed):
        return Relation.NAME
    if len(added) <= 2 and len(gone) <= 2 and len(fresh & known) == 0 and len(new) <= 4 and len(old) <= 4:  # noqa: PLR2004 - words
        return Relation.NAME
    return Relation.OTHER


def loses_nothing(new: str, old: str) -> bool:
    """Whether every number, identifier and negation of the old text is in the new one, and each word of content."""
    fresh, known = words_of(new), words_of(old)
    return not (Counter(known.content) - Counter(fresh.content)) and known.negative == fresh.negative


def qualifies(one: str, other: str) -> bool:
    """Whether the longer of two values only qualifies the shorter: "van", "green van"; "notary", "notary in Ghent".

    "Jazz clubs" does not qualify "jazz": its last noun is another.
    """
    longer, shorter = sorted((words_of(one).all, words_of(other).all), key=len, reverse=True)
    if longer[-len(shorter) :] == shorter:
        return True
    following = longer[len(shorter)] if longer[: len(shorter)] == shorter and len(longer) > len(shorter) else ""
    return following in STOP or following in SPECIFIERS


def is_quantity(value: str) -> bool:
    """Whether a value's first word is a number: so much of something, rather than something with a number."""
    words: Words = words_of(value)
    return bool(words.content) and is_number(words.content[0])
