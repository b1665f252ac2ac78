"""Whether two statements speak of the same thing.

Rule of this file: qualifiers count ("crate 3" is not "crate 4", "Ilse's nephew" not "Ilse"); only a noun that adds
nothing ("the ledger service") may be missing on one side.
"""

from functools import lru_cache
from typing import Final

from streams.decide.words import GENERIC_HEADS, RENEWED, words_of

MAX_SUBJECT: Final = 4
"""Words of a subject that was surely read rightly."""
FIRST_PERSON: Final = frozenset({"user", "we"})


@lru_cache(maxsize=4096)
def subject_words(subject: str) -> frozenset[str]:
    """A subject as words, without generic heads and "new" unless there is nothing else."""
    words = [word for word in words_of(subject.replace("'s ", " ")).all if word not in {"of", "the"}]
    heads = [word for word in words if word not in GENERIC_HEADS and word not in RENEWED]
    return frozenset(heads or words)


def same_attribute(one: str, other: str) -> bool:
    """Whether two attributes are one: "boss" is "new boss"."""
    return one == other or (
        subject_words(one) == subject_words(other) and bool(RENEWED & set(f"{one} {other}".split()))
    )


def same_subject(one: str | None, other: str | None) -> bool:
    """Whether two subjects are the same thing by their words."""
    if one is None or other is None:
        return False
    return one == other or subject_words(one) == subject_words(other)


def are_apart(one: str | None, other: str | None) -> bool:
    """Whether each is about something that the other is not: "the backup job", "the cleanup job".

    A subject of many words was rarely read rightly, and sets nothing apart.
    """
    mine, theirs = subject_words(one or ""), subject_words(other or "")
    if max(len(mine), len(theirs)) > MAX_SUBJECT:
        return False
    return bool(mine - theirs) and bool(theirs - mine)


def same_thing(subject: str, attribute: str, other_subject: str, other_attribute: str) -> bool:
    """Whether two statements speak of one thing though they cut it differently.

    "the dog of the user" and "the name of the user's dog": what one subject has more must be the other's attribute.
    """
    mine, theirs = subject_words(subject), subject_words(other_subject)
    return (mine - theirs) <= subject_words(other_attribute) and (theirs - mine) <= subject_words(attribute)
