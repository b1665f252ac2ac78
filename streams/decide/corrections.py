"""Corrections that say only the new value: "sorry, it is MariaDB".

Rule of this file: the value takes the place of one of the same kind in the memory that is most alike; where there is
none, nothing is corrected.
"""

import re
from collections.abc import Sequence

from schemas.facts import Fact
from streams.decide.types import Decision, DecisionOptions, Neighbour
from streams.decide.values import Relation, relation
from streams.decide.words import corrects, words_of

FLOOR = 0.15
"""Cosine below which a memory is not what was corrected."""
MAX_WORDS = 6
_PRONOUNS = frozenset(
    {"it", "that", "this", "he", "she", "they", "es", "er", "sie", "das", "eso", "esto", "il", "elle", "ce"}
)


def bare_correction(fact: Fact, ranked: Sequence[Neighbour], options: DecisionOptions) -> Decision | None:
    """The decision on a correction without a subject, or None where the fact is no such thing.

    Args:
        fact: The new fact.
        ranked: Known memories, most alike first.
        options: How many are considered.
    """
    if not corrects(fact.text) or (fact.subject is not None and fact.subject not in _PRONOUNS):
        return None
    value = fact.value or ""
    if not value or len(words_of(value).all) > MAX_WORDS:
        return None
    for known in ranked[: options.max_similar_results]:
        if (
            known.id < 0
            or known.value is None
            or round(known.similarity, 4) < FLOOR
            or known.event_time > fact.event_time
        ):
            continue
        how = relation(value, known.value)
        if how in {Relation.NAME, Relation.NUMBER, Relation.TIME, Relation.OPPOSITE} and known.value in known.text:
            text = re.sub(re.escape(known.value), lambda _: value, known.text, count=1)
            considered = tuple((near.id, round(near.similarity, 4)) for near in ranked[: options.max_similar_results])
            reason = f"Corrected: {known.value!r} is {value!r}."
            return Decision("UPDATE", known.id, text, 0.6, reason, "heuristic", considered)
    return None
