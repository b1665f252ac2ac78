"""What a question asks for beside what it is about: a time, the latest or the first, a stretch of time, somebody.

Rule of this file: pure. It tells what the words say and weighs nothing; the words are data (``asked.yaml``), those of
all languages are asked.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, get_args

from lakehouse.keywords import fold_text
from lakehouse.retrieval.items import USER
from lakehouse.retrieval.moments import Stretch, stretch_named
from lakehouse.retrieval.names import NOBODY, KnownNames
from lakehouse.retrieval.tokens import Read, is_han, listed, phrases, read, says
from lakehouse.ruledata import load_data

Aspect = Literal["time", "latest", "first", "past"]
_DATA: Final = load_data("lakehouse.retrieval", "asked")
_CUES: Final = {aspect: phrases(_DATA[aspect]) for aspect in get_args(Aspect) if aspect != "past"}
_PAST: Final = {language: phrases([row]) for language, row in _DATA["past"].items()}
_UNSPACED: Final = {aspect: tuple(filter(is_han, cues)) for aspect, cues in _CUES.items()}
_SPACED: Final = {aspect: tuple(f" {cue} " for cue in cues if not is_han(cue)) for aspect, cues in _CUES.items()}
_NOT: Final[Mapping[str, tuple[str, ...]]] = {
    aspect: tuple(sorted(phrases([row]), key=lambda phrase: (-len(phrase), phrase)))
    for aspect, row in _DATA["but_not"].items()
}
_FIRST_PERSON: Final = listed("first_person")
_JOINERS: Final = listed("joiners")
_ASKING: Final = frozenset(fold_text(word) for word in _DATA["asking"].split())


@dataclass(frozen=True)
class Asked:
    """What a question asks for.

    Attributes:
        aspects: "time": when something was; "latest": how it is now; "first": how it was at first;
            "past": how it was.
        during: The stretch of time that it names.
        names: The known names in it, each once, in order; the user's is last where the question says "I" or "my".
    """

    aspects: frozenset[Aspect]
    during: Stretch | None
    names: tuple[str, ...]


def asked(query: str, *, now: datetime, names: KnownNames = NOBODY, user: str = USER) -> Asked:
    """What a question asks for.

    Args:
        query: The question, as asked.
        now: When it is asked, with the zone in which "last week" is meant.
        names: Subjects and speakers that the scope knows.
        user: By which name the scope knows who asks.
    """
    told = read(query)
    aspects: set[Aspect] = {aspect for aspect in _CUES if _asks_for(told, aspect)}
    if says(told, _PAST.get(told.language, ())):
        aspects.add("past")
    named = dict.fromkeys(mention.name for mention in names.mentions(told))
    if _speaks_of_self(told):
        named.setdefault(user)
    return Asked(frozenset(aspects), stretch_named(query, now), tuple(named))


def _asks_for(text: Read, aspect: Aspect) -> bool:
    spoken, written = text.spoken, text.text
    for phrase in _NOT.get(aspect, ()):
        if phrase in spoken or phrase in written:
            spoken, written = spoken.replace(f" {phrase} ", " "), written.replace(phrase, " ")
    if any(cue in written for cue in _UNSPACED[aspect]):
        return True
    found = (cue.strip() for cue in _SPACED[aspect] if cue in spoken)
    return any(aspect != "time" or " " in cue or _asks_by(text, cue) for cue in found)


def _asks_by(text: Read, word: str) -> bool:
    """Whether a word asks, and does not join clauses: in "what did I eat when I was ill" it only joins."""
    about = False
    for token in text.tokens:
        if token.key == word and (not about or token.after_break or token is text.tokens[-1]):
            return True
        about = (about or not token.little) and token.key not in _JOINERS
    return False


def _speaks_of_self(text: Read) -> bool:
    """Whether somebody asks of herself; in "tell me" she only asks."""
    keys = ["", *(token.key for token in text.tokens), ""]
    return any(
        token.little and token.key in _FIRST_PERSON and _ASKING.isdisjoint((keys[place], keys[place + 2]))
        for place, token in enumerate(text.tokens)
    )
