"""Two wordings of one statement: the same things are named, and the words between them say the same.

Rule of this file: it only ever finds agreement, and only where nothing is named on one side alone: no number, name or
negation, and no word that a group of synonyms (``synonyms.yaml``) does not hold.
"""

from functools import lru_cache
from typing import Final

from lakehouse.stems import stem
from schemas.facts import Fact
from streams.decide.overlap import stems_of
from streams.decide.types import Finding, Neighbour
from streams.decide.values import compares
from streams.decide.words import UNSPACED, UNSPACED_NEGATIONS, corrects, label_of, words_of
from streams.ruledata import load

NEAR: Final = 0.6
"""Cosine from which two texts can be two wordings of one statement."""
MIN_PREFIX: Final = 5
"""Letters in which two stems of one family agree: "allergi", "allerg"."""
_DATA = load("decide", "synonyms")


def _stems(words: str) -> set[str]:
    return {stem(word, language) for word in words.split() for language in ("en", "de", "es", "fr")} | set(
        words.split()
    )


_NEUTRAL: Final = frozenset(_stems(_DATA["neutral"]))
_COPULAS: Final = frozenset(_DATA["copulas"].split())
_TURNABLE: Final = ("is", "name", "identity")
"""Attributes of a copula, whose sides can change places: "Rex is the name of my dog"."""
_KINDS: Final = {kind: tuple(_DATA[kind]) for kind in ("copular", "free", "ordered")}
_GROUPS: Final = {
    word: f"{kind} {number}"
    for kind, groups in _KINDS.items()
    for number, words in enumerate(groups)
    for word in sorted(_stems(words))
}
_UNSPACED: Final = sorted((word for word in (*_GROUPS, *_NEUTRAL) if UNSPACED.search(word)), key=len, reverse=True)
"""Words of scripts without spaces, which no tokens hold, the longest first."""


@lru_cache(maxsize=8192)
def _said(text: str, language: str) -> tuple[tuple[str, ...], frozenset[str]]:
    """The things a text names, in order, and the groups of its other words."""
    groups: set[str] = set()
    if UNSPACED.search(text):
        for word in _UNSPACED:
            if word in text:
                text = text.replace(word, " ")
                groups.update({_GROUPS[word]} if word in _GROUPS else ())
    stems = [word for word in stems_of(text, language) if word not in _NEUTRAL]
    groups.update(_GROUPS[word] for word in stems if word in _GROUPS)
    return tuple(word for word in stems if word not in _GROUPS), frozenset(groups)


def paraphrase(fact: Fact, known: Neighbour) -> Finding | None:
    """The finding that both say the same in other words, or None."""
    if round(known.similarity, 4) < NEAR or fact.polarity != known.polarity or corrects(fact.text):
        return None
    fresh, old = words_of(fact.text), words_of(known.text)
    # In a script without spaces signs of negation stand inside of words, too; there the polarity alone tells.
    unspaced = UNSPACED.search(fact.text) is not None
    if fresh.negative != old.negative and not unspaced:
        return None
    if fresh.numbers != old.numbers or label_of(fact.text) != label_of(known.text):
        return None
    (mine, groups), (theirs, other_groups) = _said(fact.text, fact.language), _said(known.text, fact.language)
    if unspaced and fact.polarity == "negative":
        mine, theirs = (tuple(word for word in words if word not in UNSPACED_NEGATIONS) for words in (mine, theirs))
    if not mine or not _same_things(mine, theirs) or not _same_groups(fact, known, groups, other_groups):
        return None
    if not _order_is_free(fact, known, mine, theirs, groups | other_groups):
        return None
    reason = f"told in other words (similarity {known.similarity:.2f})"
    return Finding(known, "agrees", round(known.similarity * 0.95, 4), reason, "similarity")


def _same_things(mine: tuple[str, ...], theirs: tuple[str, ...]) -> bool:
    return all(_is_among(word, theirs) for word in mine) and all(_is_among(word, mine) for word in theirs)


def _is_among(word: str, words: tuple[str, ...]) -> bool:
    return word in words or any(
        min(len(word), len(other)) >= MIN_PREFIX and (word.startswith(other) or other.startswith(word))
        for other in words
    )


def _same_groups(fact: Fact, known: Neighbour, groups: frozenset[str], other_groups: frozenset[str]) -> bool:
    """Whether the other words say the same: those of one group, or a bare copula in place of them."""
    different = groups ^ other_groups
    if not different:
        return True
    bare = fact.text if different <= other_groups else known.text
    is_bare = different <= groups or different <= other_groups
    return is_bare and not _COPULAS.isdisjoint(words_of(bare).all) and all(g.startswith("copular") for g in different)


def _is_turned(mine: tuple[str, ...], theirs: tuple[str, ...]) -> bool:
    """Whether one is the other turned about its middle: "the staging database, Redis 7", "Redis 7, the staging …"."""
    return len(mine) == len(theirs) and any(mine == theirs[at:] + theirs[:at] for at in range(1, len(theirs)))


def _order_is_free(
    fact: Fact, known: Neighbour, mine: tuple[str, ...], theirs: tuple[str, ...], groups: frozenset[str]
) -> bool:
    """Whether the order cannot have turned the sense: it is the same, there is one thing, or a copula was turned."""
    if mine == theirs or len(set(mine)) == 1:
        return True
    if compares(fact.text) or compares(known.text) or not _is_turned(mine, theirs):
        return False
    if groups and not any(group.startswith("ordered") for group in groups):
        return True
    return any((attribute or "").startswith(_TURNABLE) for attribute in (fact.attribute, known.attribute))
