"""English sentences of a known form: "my name is …", "… was upgraded to …".

Rule of this file: the forms are data (``english.yaml``); they are tried in order, before any grammar.
"""

import re
from dataclasses import dataclass

from streams.extract.claims import Claim
from streams.extract.english_grammar import has_verb, holds_clause
from streams.extract.english_nouns import noun_phrase, without_determiner
from streams.extract.english_words import DATA, VERBS

_PART = {"{s}": r"(?P<s>[^,;]{1,120}?)", "{v}": r"(?P<v>.{1,200}?)", "{old}": r".{1,80}?"}


def _compiled(pattern: str) -> re.Pattern[str]:
    for mark, group in _PART.items():
        pattern = pattern.replace(mark, group)
    return re.compile(pattern, re.IGNORECASE)


@dataclass(frozen=True)
class _Form:
    """A form of a whole sentence; it is tried only where one of its words is there."""

    pattern: re.Pattern[str]
    of_speaker: bool
    attribute: str
    words: frozenset[str]


_FORMS = tuple(
    _Form(
        _compiled(row["pattern"]),
        row.get("subject") == "user",
        row["attribute"],
        frozenset(row.get("words", ("i", "my", "me"))),
    )
    for row in DATA["forms"]
)
_ADJUNCT = re.compile(DATA["adjunct"], re.IGNORECASE)
_CHANGE = re.compile(DATA["change"], re.IGNORECASE)
_CHANGE_FORMS = tuple(_compiled(pattern) for pattern in DATA["change_forms"])


def by_form(text: str, speaker: str) -> Claim | None:
    """The claim of a sentence of a known form, or None.

    Args:
        text: A sentence without contractions and negation.
        speaker: Who "I" is.
    """
    words = set(text.casefold().split())
    for form in _FORMS:
        match = None if form.words.isdisjoint(words) else form.pattern.fullmatch(text)
        if match is None:
            continue
        value = _ADJUNCT.sub("", without_determiner(match["v"]))
        if form.of_speaker:
            return Claim(speaker, form.attribute, value)
        phrase = noun_phrase(match["s"], speaker)
        if phrase is not None and not has_verb(match["s"]):
            return Claim(phrase.whole, form.attribute, value)
    return None


def by_change(text: str, speaker: str) -> Claim | None:
    """What was changed, and to what; None where nothing was.

    Args:
        text: A sentence without contractions and negation.
        speaker: Who "I" is.
    """
    if _CHANGE.search(text) is None:
        return None
    for pattern in _CHANGE_FORMS:
        match = pattern.fullmatch(text)
        if match is not None and not match["s"].casefold().startswith("from "):
            purpose = match["v"].split()[0] in VERBS  # "set the level to see more"
            phrase = None if purpose or holds_clause(match["s"].split()) else noun_phrase(match["s"], speaker)
            if phrase is not None:
                return Claim(phrase.whole, "change", without_determiner(match["v"]))
    return None
