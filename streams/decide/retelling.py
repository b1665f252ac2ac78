"""A statement told again in more or in other words, and one that itself says what it changes.

Rule of this file: no grammar. A retelling holds most of the old words and loses no number, time, name or negation; a
reported change ("from 5 to 7") meets the memory that holds the old value, or else the one about the same thing.
"""

import re
from typing import Final

from schemas.facts import Fact
from streams.decide.overlap import lost_details, overlap, stems_of, time_phrases
from streams.decide.subjects import subject_words
from streams.decide.types import Finding, Neighbour
from streams.decide.words import label_of, words_of
from streams.wording.reported import Reported, reported_change

RETOLD_OF_OLD: Final = 0.7
"""Share of the old words of content that a retelling holds at least; measured, see ``docs/quality.md``."""
RETOLD_SHARED: Final = 4
MAX_OWNER_WORDS: Final = 3
RETOLD_NEAR: Final = 0.7
"""Cosine from which the same words can be the same statement."""


def retold(fact: Fact, known: Neighbour) -> Finding | None:
    """The finding on a statement that says what is known in more or in other words, or None."""
    if fact.polarity != known.polarity or round(known.similarity, 4) < RETOLD_NEAR:
        return None
    if words_of(fact.text).negative != words_of(known.text).negative or _owners_differ(fact, known):
        return None
    if label_of(fact.text) != label_of(known.text):
        return None
    common = overlap(fact.text, known.text, fact.language, frozenset(_owner(fact.subject) | _owner(known.subject)))
    details = lost_details(common, known.text)
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
    if report is None or fact.polarity != known.polarity or _owners_differ(fact, known):
        return None
    old, theirs = set(stems_of(report.old, fact.language)), set(stems_of(known.text, fact.language))
    is_value = bool(old) and old <= set(stems_of(known.value or "", fact.language))
    if not old <= theirs or not (is_value or (old and _about(fact, report) & theirs)):
        return None
    return Finding(known, "contradicts", 0.95 if is_value else 0.85, f"{report.old!r} became {report.new!r}")


def _about(fact: Fact, report: Reported) -> set[str]:
    """Stems of what changed, without whose it is and without the values."""
    said = {*stems_of(report.thing, fact.language), *stems_of(report.actor, fact.language)}
    return said - {stem for word in _owner(fact.subject) for stem in stems_of(word, fact.language)}


def _owners_differ(fact: Fact, known: Neighbour) -> bool:
    """Whether both speak of different persons or things: neither subject holds a word of the other."""
    if not fact.subject or not known.subject:
        return False
    mine, theirs = subject_words(fact.subject), subject_words(known.subject)
    return bool(mine) and bool(theirs) and not mine & theirs


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
