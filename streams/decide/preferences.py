"""What people like has changed, or is gone: told as an experience rather than as "I no longer like …".

Rule of this file: the cues are data, each with a weight; a preference is only ever met by a text that names what was
liked or disliked. Nothing is deleted on such a cue: the memory is replaced by what was said, marked as withdrawn.
"""

import re
from functools import lru_cache
from typing import Final, Literal

from schemas.facts import Fact
from streams.decide.overlap import stems_of
from streams.decide.types import Finding, Neighbour
from streams.decide.words import words_of
from streams.ruledata import load

Attitude = Literal["withdrawn", "changed"]
_DATA = load("decide", "preferences")
_CUES: Final = tuple(
    (float(row["weight"]), re.compile(rf"(?<!\w)(?:{'|'.join(row['patterns'])})", re.IGNORECASE))
    for row in _DATA["cues"]
)
_WITHDRAWN: Final = float(_DATA["withdrawn"])
_PREFERENCE: Final = re.compile(rf"(?<![^\W\u3400-\u9fff])(?:{''.join(_DATA['preference'].split())})", re.IGNORECASE)
MAX_READ: Final = 2_000
"""Characters of a text in which cues are looked for."""
MAX_ITEM: Final = 6
"""Stems of what is liked; what is longer is an opinion and no item."""
NAMED: Final = 0.6
"""Share of the stems of what is liked that must be named to say that it is withdrawn."""
MIN_ITEM: Final = 2
"""Stems of what is liked that must be named to say that it changed; all of them must be named then."""


@lru_cache(maxsize=4096)
def attitude_of(text: str, known: str = "") -> Attitude | None:
    """Whether a text says that a preference is withdrawn, that it changed, or neither.

    Args:
        text: What is said.
        known: What was said before; a cue that stands there too ("dislike") tells of no change.
    """
    weights: list[float] = []
    for weight, pattern in _CUES:
        weights += [weight] * len(_found(pattern, text) - _found(pattern, known))
    if any(weight > 0 for weight in weights) and sum(weights) >= _WITHDRAWN:
        return "withdrawn"
    if weights or words_of(text).changes:
        return "changed"
    return None


def _found(pattern: re.Pattern[str], text: str) -> set[str]:
    return {found.group().casefold() for found in pattern.finditer(text[:MAX_READ])}


def preference(fact: Fact, known: Neighbour) -> Finding | None:
    """The finding on a liking or disliking that the fact says has changed, or None."""
    item = _item(known)
    if not item or len(item) > MAX_ITEM or not _PREFERENCE.search(known.text) or not _PREFERENCE.search(fact.text):
        return None
    attitude = attitude_of(fact.text, known.text)
    named = len(item & set(stems_of(fact.text, fact.language))) / len(item)
    if attitude is None or named < NAMED:
        return None
    if attitude == "changed" and (named < 1 or len(item) < MIN_ITEM or not words_of(fact.text).changes):
        return None
    return Finding(known, "contradicts", 0.75, f"the preference {known.value or known.text!r} is {attitude}")


def _item(known: Neighbour) -> frozenset[str]:
    """Stems of what is liked or disliked: the claim's value, or what follows a label."""
    label, colon, told = known.text.partition(": ")
    value = told if colon and _PREFERENCE.search(label) else known.value if known.mood == "preference" else None
    return frozenset(stems_of(value, known.language)) if value else frozenset()
