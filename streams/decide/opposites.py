"""Opposites: pairs of words of which only one can hold.

Rule of this file: the pairs are data; two texts are opposed only where they differ in such a pair and in nothing else.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from streams.decide.words import DATA


def _pairs() -> dict[str, set[str]]:
    opposed: dict[str, set[str]] = {}
    for line in DATA["opposites"]:
        left, right = (
            {form for word in side.split("|") for form in _inflected(word.strip())} for side in line.split("/")
        )
        for word in left:
            opposed.setdefault(word, set()).update(right)
        for word in right:
            opposed.setdefault(word, set()).update(left)
    return opposed


def _inflected(word: str) -> Iterator[str]:
    yield word
    for ending, others in DATA["inflections"].items():
        if word.endswith(ending):
            yield from (word.removesuffix(ending) + other for other in others)


_OPPOSED: Final = _pairs()
_PHRASES: Final = tuple(tuple(word.split()) for word in _OPPOSED if " " in word)


def are_opposites(one: str, other: str) -> bool:
    """Whether two words are opposed."""
    return other in _OPPOSED.get(one, ())


def opposed(new: Sequence[str], old: Sequence[str]) -> tuple[str, str] | None:
    """The pair (new, old) in which two word lists differ, where they differ in one opposed pair only."""
    new, old = _joined(new), _joined(old)
    if len(new) != len(old):
        return None
    different = [(one, other) for one, other in zip(new, old, strict=True) if one != other]
    if len(different) == 1 and are_opposites(*different[0]):
        return different[0]
    return None


def _joined(words: Sequence[str]) -> Sequence[str]:
    """Words in order, each phrase that has an opposite as one."""
    for phrase in _PHRASES:
        for place in range(len(words) - len(phrase) + 1):
            if tuple(words[place : place + len(phrase)]) == phrase:
                words = [*words[:place], " ".join(phrase), *words[place + len(phrase) :]]
    return words
