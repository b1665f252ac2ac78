"""A statement told again in more or in other words, and one that itself says what it changes.

Rule of this file: no grammar of its own. A retelling holds most of the old words and loses no number, time, name or
negation; a reported change ("from 5 to 7") meets the memory that holds the old value of the same thing.
"""

import re
from functools import cache
from typing import Final

from lakehouse.stems import stem
from schemas.facts import Fact
from streams.decide.arity import Arity, arity_of
from streams.decide.overlap import is_time, lost_details, overlap, stems_of, time_phrases
from streams.decide.subjects import FIRST_PERSON, are_apart, same_subject, subject_words
from streams.decide.types import Finding, Neighbour
from streams.decide.words import EVER, NEVER, OFTEN, UNSPACED, label_of, words_of
from streams.wording.ended import ended
from streams.wording.reported import Reported, reported_change

RETOLD_OF_OLD: Final = 0.7
"""Share of the old words of content that a retelling holds at least; measured, see ``docs/quality.md``."""
RETOLD_SHARED: Final = 4
MAX_OWNER_WORDS: Final = 3
DENIED_SHARED: Final = 2
DENIED_SHARE: Final = 0.8
"""Share of the stems of a denial that are in what it denies."""
RETOLD_NEAR: Final = 0.7
"""Cosine from which the same words can be the same statement."""


def retold(fact: Fact, known: Neighbour) -> Finding | None:
    """The finding on a statement that says what is known in more or in other words, or None."""
    if fact.polarity != known.polarity or round(known.similarity, 4) < RETOLD_NEAR:
        return None
    if words_of(fact.text).negative != words_of(known.text).negative or are_apart(fact.subject, known.subject):
        return None
    if label_of(fact.text) != label_of(known.text):
        return None
    mine, theirs = _owner(fact.subject), _owner(known.subject)
    about = mine & theirs if mine and theirs else mine | theirs
    common = overlap(fact.text, known.text, fact.language, frozenset(about))
    details = lost_details(common, known.text, fact.language)
    when = _when(details, known.text)
    if when is None or common.swapped or common.shared < RETOLD_SHARED:
        return None
    share = common.shared / (common.shared + len(set(common.lost) - set(details)))
    if share < RETOLD_OF_OLD:
        return None
    reason = f"told again, with {round(100 * share)} % of what was known in it"
    text = f"{fact.text.rstrip(' .。')} ({when})" if when else None
    return Finding(known, "refines", round(0.5 + 0.4 * share, 2), reason, "similarity", text)


def reported(fact: Fact, known: Neighbour) -> Finding | None:
    """The finding on a memory whose value the fact says has changed, or None."""
    report = reported_change(fact.text, fact.language)
    if report is None or fact.polarity != known.polarity or not _may_be_changed_by(fact, known):
        return None
    old, theirs = set(stems_of(report.old, fact.language)), set(stems_of(known.text, fact.language))
    value = known.value if known.attribute is not None else known.text
    is_value = bool(old) and old <= set(stems_of(value or "", fact.language))
    if not old <= theirs or not (is_value or (old and _about(fact, report) & theirs)):
        return None
    reason = f"{report.old!r} became {fact.value or report.new!r}"
    return Finding(known, "contradicts", 0.95 if is_value else 0.85, reason)


def denied(fact: Fact, known: Neighbour) -> Finding | None:
    """The finding that one says "never" to what the other tells, or None.

    What is denied as a whole ("I have never written any tests") is told in part ("I wrote the tests of the parser").
    """
    mine, theirs = words_of(fact.text), words_of(known.text)
    if bool(NEVER & set(mine.all)) == bool(NEVER & set(theirs.all)) or mine.negative == theirs.negative:
        return None
    if fact.subject is not None and known.subject is not None and not same_subject(fact.subject, known.subject):
        return None
    never, told = (fact.text, known.text) if NEVER & set(mine.all) else (known.text, fact.text)
    said, other = set(stems_of(never, fact.language)) - EVER, set(stems_of(told, fact.language))
    if UNSPACED.search(told) and not other - said <= OFTEN:
        return None  # a sign more can make it somebody else
    shared = len(said & other)
    if shared < DENIED_SHARED or shared / len(said) < DENIED_SHARE:
        return None
    return Finding(known, "contradicts", 0.75, "what one tells the other says was never so")


def over(fact: Fact, known: Neighbour) -> Finding | None:
    """The finding on a memory of something that the fact says has ended, or None: "I drink tea", "I gave up tea"."""
    what = ended(fact.text, fact.language)
    if what is None or known.polarity == "negative" or arity_of(known.attribute or "did ") is Arity.EVENT:
        return None
    if fact.subject is not None and not same_subject(fact.subject, known.subject):
        return None
    if fact.subject is None and known.subject not in FIRST_PERSON:
        return None
    gone = _bare(what, fact.language)
    if not gone or gone not in (_bare(known.value or "", fact.language), _bare(known.attribute or "", "en")):
        return None
    return Finding(known, "contradicts", 0.8, f"{what!r} has ended")


def _bare(text: str, language: str) -> frozenset[str]:
    """The stems of a thing, without how often or when."""
    return frozenset(word for word in stems_of(text, language) if not is_time(word) and word not in _often(language))


@cache
def _often(language: str) -> frozenset[str]:
    return frozenset(stem(word, language) for word in OFTEN)


def _may_be_changed_by(fact: Fact, known: Neighbour) -> bool:
    """Whether what a fact says has changed can be what a memory is about.

    "We upgraded from X" names nobody, so anything with that value can be meant; "I moved from X" changes only where I
    live; "the limit went from X" can be the limit of the user.
    """
    mine = subject_words(fact.subject or "") - FIRST_PERSON
    theirs = subject_words(known.subject or "") - FIRST_PERSON
    if not mine and not theirs:
        return True
    if mine and theirs:
        return bool(mine & theirs)
    if mine:
        return not known.subject or mine <= subject_words(known.attribute or "")
    return not fact.subject or fact.attribute == "change" or theirs <= subject_words(fact.attribute or "")


def _about(fact: Fact, report: Reported) -> set[str]:
    """Stems of what changed, without whose it is and without the values."""
    said = {*stems_of(report.thing, fact.language), *stems_of(report.actor, fact.language)}
    return said - {part for word in _owner(fact.subject) for part in stems_of(word, fact.language)}


def _owner(subject: str | None) -> set[str]:
    """The words that say whose it is: of "ada's desk" only "ada", of a long subject nothing."""
    words = re.split(r"['\u2019]s?\s", subject or "", maxsplit=1)[0].split()
    return set(words) if len(words) <= MAX_OWNER_WORDS else set()


def _when(details: tuple[str, ...], old: str) -> str | None:
    """When it was, as the old statement tells it, where that is all the detail that is missing; None where more is."""
    if not details:
        return ""
    phrases = time_phrases(old)
    told = {word for phrase in phrases for word in words_of(phrase).all}
    return "; ".join(phrases) if phrases and told.issuperset(details) else None
