"""Which memory a request to forget means.

Rule of this file: only a memory whose content is what was asked to be forgotten, above a floor, never one that was told
after the request, and only where deleting is allowed. At most one.
"""

from collections.abc import Sequence

from schemas.facts import Fact
from streams.decide.subjects import same_subject, subject_words
from streams.decide.types import Decision, DecisionOptions, Neighbour
from streams.decide.values import Relation, relation
from streams.decide.words import FORGET, words_of

FLOOR = 0.2
"""Cosine below which a memory is not meant, unless its subject and attribute are those of the request."""


def forget(fact: Fact, neighbours: Sequence[Neighbour], options: DecisionOptions) -> Decision:
    """Decide a request to forget.

    Args:
        fact: The request, of mood "retraction".
        neighbours: Known memories.
        options: Whether deleting is allowed.
    """
    considered = tuple((known.id, round(known.similarity, 4)) for known in neighbours[: options.max_similar_results])
    ranked = sorted(
        ((_match(fact, known), round(known.similarity, 4), known.event_time, -known.id, known) for known in neighbours),
        key=lambda row: row[:4],
        reverse=True,
    )
    if not ranked or ranked[0][0] <= 0:
        reason = "Nothing known is what was asked to be forgotten."
        return Decision("NONE", None, fact.text, 0.8, reason, "heuristic", considered)
    match, _, _, _, known = ranked[0]
    against = _reason_against(fact, known, options)
    if against is not None:
        return Decision("NONE", known.id, known.text, 0.8, against, "heuristic", considered)
    reason = f"Asked to forget: {fact.text}"
    return Decision("DELETE", known.id, known.text, match, reason, "heuristic", considered)


def _reason_against(fact: Fact, known: Neighbour, options: DecisionOptions) -> str | None:
    """Why the memory that was meant is not deleted, or None."""
    if known.id < 0:
        return "Only told by the caller: there is nothing of ours to forget."
    if known.event_time > fact.event_time:
        return "It was told again after it was asked to be forgotten."
    return None if options.enable_delete_operations else "Asked to forget it, but deleting is not enabled."


def _match(fact: Fact, known: Neighbour) -> float:
    """How surely a memory is meant: 0 where it is not."""
    if fact.attribute and fact.subject and known.attribute and known.subject:
        if same_subject(fact.subject, known.subject) and fact.attribute == known.attribute:
            if fact.value is None or known.value is None:
                return 0.95
            return 0.95 if relation(fact.value, known.value) in {Relation.EQUAL, Relation.LESS} else 0.0
        if fact.value is None and subject_words(f"{fact.subject} {fact.attribute}") == subject_words(known.subject):
            return 0.85
    asked = [word for word in words_of(fact.text).content if word not in FORGET]
    if not asked or round(known.similarity, 4) < FLOOR:
        return 0.0
    there = set(words_of(known.text).all)
    return 0.75 if all(word in there for word in asked) else 0.0
