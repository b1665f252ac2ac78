"""What "it", "he" or "she" stands for, and what a bare value corrects, by the sentences just before.

Rule of this file: only the nearest sentence that has an answer is asked; where none has, the words stay as told.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from streams.extract.claims import Claim, tidy
from streams.extract.english_nouns import noun_phrase
from streams.extract.english_words import TIMES, is_name, is_number, singular
from streams.extract.reading import read_claim
from streams.ruledata import load

_DATA = load("extract", "dialogue")
_PATTERNS = {
    name: re.compile(_DATA[name], re.IGNORECASE | re.DOTALL)
    for name in ("pronoun", "expletive", "bare", "article", "name_end")
}
MAX_THING_WORDS = 5
"""Of a thing that a pronoun can stand for."""
MAX_VALUE_WORDS = 4
"""Of a correction that is only a value."""
_PERSONS = frozenset(_DATA["persons"])
_NOBODY = frozenset(_DATA["nobody"])
_BEINGS = frozenset(_DATA["beings"])
_ANAPHORA = frozenset(_DATA["anaphora"])
_ARTICLES = frozenset(_DATA["articles"])
_PERFECT: Final = (["been"], ["got"], ["become"])
"""Before these "it's" is "it has"."""
_PLURALS: Final = frozenset({"they", "they're", "their"})
LOOK_BACK: Final = 3
"""Sentences before, in which a pronoun's thing is looked for."""
_ENDINGS: dict[str, str] = _DATA["endings"]


@dataclass(frozen=True)
class Said:
    """A sentence that was said before, with its claim."""

    text: str
    claim: Claim
    language: str
    source: str


@dataclass(frozen=True)
class Resolved:
    """A sentence that stands by itself, and the turn that it needed for that."""

    text: str
    claim: Claim
    source: str


def pronoun_of(text: str) -> re.Match[str] | None:
    """The pronoun that stands for something and that an English sentence begins with; the rest is matched too."""
    return None if _PATTERNS["expletive"].match(text) else _PATTERNS["pronoun"].match(text)


def with_antecedent(pronoun: re.Match[str], before: Sequence[Said], speaker: str) -> Resolved | None:
    """The sentence with its leading pronoun replaced, or None where nothing fits.

    Args:
        pronoun: As ``pronoun_of`` gives it.
        before: What was said before, oldest first.
        speaker: Who "I" is.
    """
    word = pronoun["it"].casefold()
    persons = word in _PERSONS
    for said in reversed(before[-LOOK_BACK:]):
        name = _thing_told(said, speaker, persons=persons)
        if name is not None and _fits(name, persons=persons, plural=word in _PLURALS):
            ending = _ENDINGS.get(word, "")
            ending = " has" if ending == " is" and pronoun["rest"].split()[:1] in _PERFECT else ending
            ending = "'" if ending == "'s" and name.endswith("s") else ending
            replaced = f"{name[0].upper()}{name[1:]}{ending}{pronoun['rest']}"
            return Resolved(replaced, read_claim(replaced, said.language, speaker), said.source)
    return None


def stands_for_something(value: str) -> bool:
    """Whether a value is nothing but words that stand for something said elsewhere."""
    return all(word.strip(".,!?").casefold() in _ANAPHORA for word in value.split())


def _fits(name: str, *, persons: bool, plural: bool) -> bool:
    """Whether a pronoun can stand for a thing: he and she for beings, they for several, it for one that is none."""
    head = _PATTERNS["name_end"].split(name, maxsplit=1)[0].split()
    last = head[-1].strip(".,;:!?").casefold() if head else ""
    several = singular(last) != last or " and " in name or any(is_number(word) for word in head[:2])
    if plural:
        return several
    being = bool(_BEINGS & {word.casefold() for word in head}) or any(is_name(word) for word in head[-1:])
    return being and not several if persons else not several


def _thing_told(said: Said, speaker: str, *, persons: bool) -> str | None:
    """The words by which a sentence told of the thing: its subject, or what its speaker did something with."""
    claim = said.claim
    if claim.subject is None or claim.value is None:
        return None
    if claim.subject not in {speaker, *_NOBODY}:
        owner, _, thing = claim.subject.partition("'s ")
        own = f"my {thing}" if owner == speaker and thing else None
        return _subject_told(said.text, claim.subject, speaker) or own
    of_speaker = claim.subject in {speaker, "we"}
    return None if persons and of_speaker and not is_name(claim.value) else _object_told(said.text, claim.value)


def _object_told(sentence: str, value: str) -> str | None:
    """The value of a claim as the name of a thing, without what was done with it."""
    start = sentence.find(value)
    thing = _PATTERNS["name_end"].split(value, maxsplit=1)[0]
    if start <= 0 or not thing or len(thing.split()) > MAX_THING_WORDS:
        return None
    if is_number(thing.split()[0]):
        return f"the {thing}"
    article = _PATTERNS["article"].search(sentence[:start])
    if article is None:
        return None
    kept = "the " if article.group().strip().casefold() in {"a", "an", "the"} else article.group()
    return kept + thing


def _subject_told(sentence: str, subject: str, speaker: str) -> str | None:
    words = sentence.split()
    for count in range(1, min(len(words), 12)):
        phrase = noun_phrase(" ".join(words[:count]), speaker)
        if phrase is not None and phrase.whole == subject:
            return tidy(" ".join(words[:count]))
    return None


def corrected(text: str, before: Sequence[Said], speaker: str) -> Resolved | None:
    """What "it is MariaDB" corrects: the nearest sentence with a value of the same kind, told with the new value.

    Args:
        text: What is left of a correction without its opener.
        before: What was said before, oldest first.
        speaker: Who "I" is.
    """
    value = bare_value(text)
    if value is None:
        return None
    kind = _kind(value)
    for said in reversed(before):
        old = _last_of_kind(said, kind)
        if old is not None and tidy(old).casefold() != value.casefold():
            head, _, tail = said.text.rpartition(old)
            value = _without_repeat(value, head)
            head = _without_article(head, value)
            told = f"{head}{value}{tail}"
            return Resolved(told, read_claim(told, said.language, speaker), said.source)
    return None


def bare_value(text: str) -> str | None:
    """The value of a correction that names no subject: "it is MariaDB", "Tuesday"; None where it says more."""
    bare = _PATTERNS["bare"].match(text)
    value = tidy(text[bare.end() :] if bare else text)
    if not value or (bare is None and len(value.split()) > MAX_VALUE_WORDS):
        return None
    return value


def _without_repeat(value: str, head: str) -> str:
    """The value without a preposition that stands before it already: "it is at 10" corrects "at 9"."""
    first, _, rest = value.partition(" ")
    before = head.split()[-1:] or [""]
    return rest if rest and first.casefold() == before[0].casefold() else value


def _without_article(head: str, value: str) -> str:
    """What stands before a value, without an article of its own where the value has one: "a badger", "an otter"."""
    last = head.split()[-1:] or [""]
    own = value.split(maxsplit=1)[0].casefold() in _ARTICLES and last[0].casefold() in _ARTICLES
    return head[: head.rindex(last[0])] if own else head


def _kind(text: str) -> str:
    words = text.casefold().split()
    if any(word.strip(".,") in TIMES for word in words):
        return "time"
    if any(is_number(word) for word in text.split()):
        return "number"
    return "name" if any(is_name(word) for word in text.split()) else "word"


def _last_of_kind(said: Said, kind: str) -> str | None:
    if said.claim.value is None or said.claim.value not in said.text:
        return None
    value = said.claim.value
    if kind == "word" or _kind(value) == kind == "number":
        return value if len(value.split()) <= 3 else None  # noqa: PLR2004 - words
    fitting = [word for word in value.split() if _kind(word) == kind]
    return tidy(fitting[-1]) if fitting else None
