"""English noun phrases: whose, of what, and their heads.

Rule of this file: a phrase keeps all its qualifiers ("red kiln" is no "blue kiln"); only determiners go.
"""

import re
from dataclasses import dataclass

from streams.extract.claims import tidy
from streams.extract.english_words import (
    ATTRIBUTE_MODIFIERS,
    ATTRIBUTE_NOUNS,
    DETERMINERS,
    POSSESSIVES,
    PRONOUNS,
    singular,
)

_OWNER = re.compile(r"(?P<owner>\w.*?)(?:'s|\u2019s|s'|s\u2019)\s+(?P<thing>.+)")
_OF = re.compile(r"(?P<thing>.+?)\s+(?:of|for)\s+(?P<owner>.+)")
_SPELT = {"favorite": "favourite", "color": "colour"}


@dataclass(frozen=True)
class NounPhrase:
    """A noun phrase.

    Attributes:
        owner: Whose it is ("user", "ledger"), or None.
        thing: What it is ("dog", "database").
        definite: Whether it was told with "the", "my" or an owner rather than as a bare name.
        told: The phrase as told.
    """

    owner: str | None
    thing: str
    definite: bool = True
    told: str = ""

    @property
    def whole(self) -> str:
        """Both in one: "user's dog"."""
        return f"{self.owner}'s {self.thing}" if self.owner else self.thing

    @property
    def head(self) -> str:
        """The last noun, in the singular."""
        words = re.sub(r"\s+(?:in|on|at|to|from|with|behind|near|under)\s.*", "", self.thing).split()
        return singular(words[-1]) if words else ""

    @property
    def names_attribute(self) -> bool:
        """Whether it names what its owner has exactly one of."""
        words = self.thing.split()
        return self.head in ATTRIBUTE_NOUNS or any(word in ATTRIBUTE_MODIFIERS for word in words[:-1])


def noun_phrase(text: str, speaker: str) -> NounPhrase | None:
    """Read a noun phrase.

    Args:
        text: The phrase, as told.
        speaker: Who "I" is.

    Returns:
        None where there is nothing in it.
    """
    words = [_SPELT.get(word, word) for word in tidy(text).casefold().split()]
    if not words:
        return None
    if len(words) == 1 and words[0] in PRONOUNS:
        person = PRONOUNS[words[0]]
        return NounPhrase(None, speaker if person == "user" else person, definite=False)
    definite = words[0] in DETERMINERS
    while len(words) > 1 and words[0] in DETERMINERS:
        words = words[1:]
    if words[0] in POSSESSIVES and len(words) > 1:
        return _owned(speaker, words[1:], speaker)
    return _relation(" ".join(words), speaker, definite=definite)


def _relation(phrase: str, speaker: str, *, definite: bool) -> NounPhrase | None:
    owner = _OWNER.fullmatch(phrase)
    if owner:
        whose = noun_phrase(owner["owner"], speaker)
        return _owned(whose.whole, owner["thing"].split(), speaker) if whose else None
    of = _OF.fullmatch(phrase) if definite else None
    if of:
        whose = noun_phrase(of["owner"], speaker)
        return _owned(whose.whole, of["thing"].split(), speaker) if whose else None
    return NounPhrase(None, phrase, definite)


def _owned(owner: str, words: list[str], speaker: str) -> NounPhrase | None:
    thing = " ".join(words)
    deeper = _OWNER.fullmatch(thing)
    if deeper:
        return _owned(f"{owner}'s {deeper['owner']}", deeper["thing"].split(), speaker)
    return NounPhrase(owner, thing)


def without_determiner(text: str) -> str:
    """A value as told, without a determiner in front."""
    words = tidy(text).split()
    while len(words) > 1 and words[0].casefold() in {"the", "a", "an"}:
        words = words[1:]
    return " ".join(words)
