"""Opposites: pairs of words of which only one can hold.

Rule of this file: the pairs are data; two texts are opposed only where they differ in such a pair and in nothing else.
"""

from collections.abc import Sequence

from streams.decide.words import DATA


def _pairs() -> dict[str, set[str]]:
    opposed: dict[str, set[str]] = {}
    for line in DATA["opposites"]:
        left, right = ({word.strip() for word in side.split("|")} for side in line.split("/"))
        for word in left:
            opposed.setdefault(word, set()).update(right)
        for word in right:
            opposed.setdefault(word, set()).update(left)
    return opposed


_OPPOSED = _pairs()


def are_opposites(one: str, other: str) -> bool:
    """Whether two words are opposed."""
    return other in _OPPOSED.get(one, ())


def opposed(new: Sequence[str], old: Sequence[str]) -> tuple[str, str] | None:
    """The pair (new, old) in which two word lists differ, where they differ in one opposed pair only."""
    if len(new) != len(old):
        return None
    different = [(one, other) for one, other in zip(new, old, strict=True) if one != other]
    if len(different) == 1 and are_opposites(*different[0]):
        return different[0]
    return None
