"""How many values of an attribute hold at a time.

Rule of this file: the lists are data; what no list knows is OPEN, and then a value is replaced only where numbers,
times or the speaker say so.
"""

from dataclasses import dataclass
from enum import Enum

from streams.decide.words import DATA, words_of


class Arity(Enum):
    """How many values hold at a time."""

    ONE = "one"
    MANY = "many"
    OPEN = "open"
    EVENT = "event"


@dataclass(frozen=True)
class _List:
    """Attributes as a list of the data names them: whole, or by a beginning ("favourite*")."""

    whole: frozenset[str]
    beginnings: tuple[str, ...]

    def holds(self, attribute: str) -> bool:
        return attribute in self.whole or attribute.startswith(self.beginnings)


def _list(entries: list[str]) -> _List:
    beginnings = tuple(entry.removesuffix("*") for entry in entries if entry.endswith("*"))
    return _List(frozenset(entry for entry in entries if not entry.endswith("*")), beginnings)


_ONE, _MANY = _list(DATA["one"]), _list(DATA["many"])
_VERBAL = ("to ", "is ", "can ", "must ", "should ", "could ", "will ", "would ", "may ", "might ", "shall ")
_MANY_NOUNS = frozenset(DATA["many_nouns"])


def arity_of(attribute: str) -> Arity:
    """How many values of an attribute hold at a time."""
    if attribute.startswith("did "):
        return Arity.EVENT
    if _ONE.holds(attribute):
        return Arity.ONE
    if _MANY.holds(attribute):
        return Arity.MANY
    if attribute.startswith(_VERBAL):
        return Arity.OPEN
    first, _, last = attribute.partition(" ")
    if first in DATA["one_modifiers"] and last and not last.endswith("s"):
        return Arity.ONE
    words = words_of(attribute).all
    return Arity.MANY if words and (words[-1] in _MANY_NOUNS or attribute in _MANY_NOUNS) else Arity.ONE


def is_one_by(subject: str, attribute: str) -> bool:
    """Whether a subject tells of itself that there is one of it at a time: "my favourite colour is …"."""
    return attribute == "is" and any(word in DATA["one_modifiers"] for word in words_of(subject).all)


def is_replaceable(attribute: str) -> bool:
    """Whether a reported change of the thing can mean this attribute."""
    return attribute in DATA["replaceable"]
