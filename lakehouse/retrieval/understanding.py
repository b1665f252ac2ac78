"""A question as what is searched for: told in full, in more words, in parts, and what it asks for.

Rule of this file: pure. It puts together what the others tell, each only where its switch is on; with all of them off a
question is searched for as it is asked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from lakehouse.retrieval.asked import Asked, asked
from lakehouse.retrieval.expansion import expand
from lakehouse.retrieval.history import Resolved, resolved
from lakehouse.retrieval.items import USER
from lakehouse.retrieval.names import NOBODY, KnownNames, without_names
from schemas.retrieval import HistoryTurn


@dataclass(frozen=True)
class Switches:
    """What is done with a question before it is searched for."""

    history: bool = True
    time: bool = True
    synonyms: bool = True
    decomposition: bool = True
    symbols: bool = True
    nameless: bool = True
    """Whether a text is embedded without the speakers' names."""


EVERYTHING: Final = Switches()


@dataclass(frozen=True)
class Wanted:
    """One text to search for: by its words, and by the vector of ``embedded``."""

    text: str
    embedded: str


@dataclass(frozen=True)
class Understood:
    """A question as what is searched for.

    Attributes:
        whole: The question, told in full.
        parts: The questions that it is made of, 2 or 3, or none where it is one.
        terms: Further terms of the whole with their weights, above 0 and below 1.
        asked: What it asks for.
        resolved: What the conversation before added to it.
    """

    whole: Wanted
    parts: tuple[Wanted, ...]
    terms: Mapping[str, float]
    asked: Asked
    resolved: Resolved


def understand(
    query: str,
    *,
    now: datetime,
    history: Sequence[HistoryTurn] = (),
    names: KnownNames = NOBODY,
    speakers: KnownNames = NOBODY,
    user: str = USER,
    switches: Switches = EVERYTHING,
) -> Understood:
    """A question as what is searched for.

    Args:
        query: As asked.
        now: When it is asked, with the zone in which "last week" is meant.
        history: The turns before it, newest last.
        names: Subjects and speakers that the scope knows.
        speakers: Those of them whose names are no part of the texts that were embedded.
        user: By which name the scope knows who asks.
        switches: What is done with it.
    """
    full = resolved(query, history if switches.history else (), names=names)
    told = expand(
        full.text,
        names=names,
        synonyms=switches.synonyms,
        decomposition=switches.decomposition,
        symbols=switches.symbols,
    )
    whole, *parts = (
        Wanted(text, without_names(text, speakers) if switches.nameless else text) for text in (full.text, *told.parts)
    )
    wants = asked(full.own, now=now, names=names, user=user)
    named = wants.names if full.text == full.own else asked(full.text, now=now, names=names, user=user).names
    wants = replace(wants, names=named) if switches.time else Asked(frozenset(), None, named)
    return Understood(whole, tuple(parts), told.terms, wants, full)
