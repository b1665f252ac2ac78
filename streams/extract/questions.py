"""What a question asks, and what a short answer to it claims.

Rule of this file: questions are told by their form (``questions.yaml``); what fits none claims nothing, and the answer
is kept in its own words with the question's.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from streams.extract.claims import Claim, tidy
from streams.extract.english import polarity_of
from streams.extract.english_nouns import noun_phrase, without_determiner
from streams.extract.reading import read_claim
from streams.ruledata import load

MAX_INSTEAD = 5
"""Words of what is told instead: "no, in Faro"."""
_FLAGS = re.IGNORECASE | re.DOTALL
_DATA = load("extract", "questions")
_PATTERNS = {
    name: re.compile(_DATA[name], _FLAGS)
    for name in ("yes", "no", "both", "neither", "or", "any", "courtesy", "tells_me", "thing")
}


@dataclass(frozen=True)
class _Asked:
    pattern: re.Pattern[str]
    attribute: str | None
    strip: re.Pattern[str] | None
    counts: bool


@dataclass(frozen=True)
class _Polar:
    pattern: re.Pattern[str]
    statement: str


def _asked(row: Mapping[str, str]) -> _Asked:
    strip = row.get("strip")
    return _Asked(
        re.compile(row["pattern"], _FLAGS),
        row.get("attribute"),
        re.compile(strip, _FLAGS) if strip else None,
        counts="counts" in row,
    )


_ASKED = {language: tuple(map(_asked, rows)) for language, rows in _DATA["asked"].items()}
_POLAR = {
    language: tuple(_Polar(re.compile(row["pattern"], _FLAGS), row["statement"]) for row in rows)
    for language, rows in _DATA["polar"].items()
}
LANGUAGES = tuple(_ASKED)
"""ISO 639-1 codes of the languages whose questions are understood."""


@dataclass(frozen=True)
class Answer:
    """A short answer.

    Attributes:
        says: "yes", "no" or "" where it is neither.
        more: What stands behind the yes or no, or the whole.
    """

    says: str
    more: str


def answer_of(text: str) -> Answer:
    """Take a short answer apart."""
    for says in ("yes", "no"):
        match = _PATTERNS[says].match(text)
        if match is not None:
            return Answer(says, tidy(text[match.end() :]))
    return Answer("", tidy(text))


def is_courtesy(question: str) -> bool:
    """Whether a question only asks how somebody is."""
    return _PATTERNS["courtesy"].match(question) is not None and len(question.split()) <= 12  # noqa: PLR2004 - words


def asks_by_telling(sentence: str) -> bool:
    """As in "please tell me your name"."""
    return _PATTERNS["tells_me"].match(sentence) is not None


def attribute_asked(question: str, language: str) -> str | None:
    """The attribute of the answerer that a question asks, where it is one with a name of its own."""
    row = next((row for row in _ASKED.get(language, ()) if row.pattern.match(question)), None)
    return row.attribute if row is not None and row.pattern.groups == 0 else None


def thing_asked(question: str, language: str, speaker: str) -> str | None:
    """What a question is about, by which a pronoun in the answer is told: "where is your key" is the user's key."""
    match = _PATTERNS["thing"].search(question)
    if match is None or language not in _ASKED:
        return None
    phrase = noun_phrase(match["thing"].replace("your ", "my "), speaker)
    return phrase.whole if phrase is not None else None


def is_answerable(question: str, language: str) -> bool:
    """Whether a yes or no answers a question."""
    return _statement(question, language) is not None


def takes_all_or_none(question: str, answer: str) -> bool:
    """Whether an answer takes all or none of what the question names."""
    return bool(
        _PATTERNS["or"].search(question) and (_PATTERNS["both"].match(answer) or _PATTERNS["neither"].match(answer))
    )


def claim_of_answer(question: str, text: str, language: str, speaker: str) -> Claim:
    """What a short answer claims.

    Args:
        question: The question, its openers taken off.
        text: The answer.
        language: ISO 639-1 of the question.
        speaker: Who answers.
    """
    for row in _ASKED.get(language, ()):
        match = row.pattern.match(question)
        claim = _named(row, match, text, speaker) if match is not None else None
        if claim is not None:
            return claim
    statement = _statement(question, language)
    if statement is None:
        return Claim(polarity=polarity_of(text))
    return _of_statement(read_claim(statement, language, speaker), question, text)


def _statement(question: str, language: str) -> str | None:
    """What a yes to the question states."""
    for row in _POLAR.get(language, ()):
        match = row.pattern.match(question)
        if match is not None:
            return row.statement.format_map({name: tidy(part or "") for name, part in match.groupdict().items()})
    return None


def _named(row: _Asked, match: re.Match[str], text: str, speaker: str) -> Claim | None:
    groups = match.groupdict()
    value = tidy(text)
    stripped = row.strip.match(value) if row.strip is not None else None
    value = without_determiner(value[stripped.end() :] if stripped is not None else value)
    if not value:
        return None
    noun = tidy(groups.get("noun") or "").casefold()
    if row.counts:
        count, _, more = value.partition(",")
        return Claim(speaker, row.attribute, f"{count} {noun}{',' if more else ''}{more}")
    if groups.get("s"):
        phrase = noun_phrase(groups["s"].replace("your ", "my "), speaker)
        return Claim(phrase.whole, row.attribute or noun, value) if phrase is not None else None
    if row.attribute is not None:
        return Claim(speaker, row.attribute, value)
    thing = noun.removesuffix(" called").removesuffix(" named")
    return Claim(speaker, noun, value) if thing == noun else Claim(f"{speaker}'s {thing}", "name", value)


def _of_statement(claim: Claim, question: str, text: str) -> Claim:
    """The statement of a question, confirmed, denied, or with what the answer names instead."""
    answer = answer_of(text)
    value = claim.value or ""
    alternatives = _PATTERNS["or"].search(question) is not None
    if alternatives and _PATTERNS["neither"].match(text):
        return replace(claim, polarity="negative")
    if alternatives and _PATTERNS["both"].match(text):
        return replace(claim, value=_PATTERNS["or"].sub(" + ", value))
    more = answer.more if len(answer.more.split()) <= MAX_INSTEAD else ""
    named = bool(more) and not read_claim(more).is_read
    if _PATTERNS["any"].fullmatch(value) and named and answer.says != "no":
        return replace(claim, value=without_determiner(more))
    if alternatives and named and not answer.says:
        return replace(claim, value=without_determiner(more))
    if answer.says == "no" and named and claim.is_read:
        relation = (claim.attribute or "").rsplit(" ", maxsplit=1)[-1]
        first, _, rest = more.partition(" ")
        if first.casefold() == relation and rest:
            return replace(claim, value=without_determiner(rest), polarity="affirmative")
    return replace(claim, polarity="negative" if answer.says == "no" else claim.polarity)
