"""Claims of languages other than English, by tables of sentence forms (``forms.yaml``).

Rule of this file: it fills forms; it knows no language. What fits no form still has its polarity.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from streams.extract.claims import MAX_CLAIM, Claim, bounded, tidy
from streams.ruledata import load


@dataclass(frozen=True)
class _Form:
    pattern: re.Pattern[str]
    subject: str | None
    attribute: str


@dataclass(frozen=True)
class _Language:
    forms: tuple[_Form, ...]
    negation: re.Pattern[str]
    change: re.Pattern[str] | None
    articles: frozenset[str]
    mine: tuple[str, ...]
    spaced: bool


_PARTS = {
    "{s}": r"(?P<s>.{1,120}?)",
    "{v}": r"(?P<v>.{1,200}?)",
    "{v2}": r"(?P<v2>.{1,200}?)",
    "{n}": r"(?P<n>[^,;]{1,60}?)",
}


def _form(row: Mapping[str, str], mine: str) -> _Form:
    pattern = row["pattern"].replace("{mine}", f"(?P<mine>{mine})")
    for mark, group in _PARTS.items():
        pattern = pattern.replace(mark, group)
    return _Form(re.compile(pattern, re.IGNORECASE), row.get("subject"), row["attribute"])


def _language(spec: Mapping[str, Any], *, spaced: bool) -> _Language:
    edge = r"\b" if spaced else ""
    mine = "|".join(sorted(spec["mine"], key=len, reverse=True))
    negations = "|".join(f"{edge}(?:{word}){edge}" if "(?=" not in word else word for word in spec["negations"])
    changes = "|".join(f"{edge}{word}{edge}" for word in spec["changes"])
    return _Language(
        forms=tuple(_form(row, mine) for row in spec["forms"]),
        negation=re.compile(negations, re.IGNORECASE),
        change=re.compile(changes, re.IGNORECASE) if changes else None,
        articles=frozenset(spec["articles"]),
        mine=tuple(spec["mine"]),
        spaced=spaced,
    )


_UNSPACED = frozenset({"zh", "ja", "th"})
_DATA = load("extract", "forms")
_LANGUAGES = {name: _language(spec, spaced=name not in _UNSPACED) for name, spec in _DATA["languages"].items()}
LANGUAGES = tuple(_LANGUAGES)
"""ISO 639-1 codes of the languages that have forms."""
_ELSEWHERE = re.compile(r"\b(?:" + "|".join(_DATA["negations_elsewhere"]) + r")\b", re.IGNORECASE)


def read_by_forms(sentence: str, language: str, speaker: str) -> Claim:
    """The claim of a sentence; without a fitting form only its polarity is known.

    Args:
        sentence: One sentence.
        language: ISO 639-1, or "und".
        speaker: Who "I" is, as a subject.
    """
    spec = _LANGUAGES.get(language)
    text = tidy(sentence[:MAX_CLAIM].replace("\u2019", "'"))
    if spec is None:
        return Claim(polarity="negative" if _ELSEWHERE.search(text) else "affirmative")
    negative = bool(spec.negation.search(text))
    polarity: Literal["negative", "affirmative"] = "negative" if negative else "affirmative"
    plain = spec.negation.sub(" " if spec.spaced else "", text) if negative else text
    plain = tidy(spec.change.sub(" " if spec.spaced else "", plain)) if spec.change else tidy(plain)
    for form in spec.forms:
        match = form.pattern.fullmatch(plain)
        if match is not None:
            claim = _filled(form, match, spec, speaker)
            if claim is not None:
                return bounded(Claim(claim.subject, claim.attribute, claim.value, polarity))
    return Claim(polarity=polarity)


def _filled(form: _Form, match: re.Match[str], spec: _Language, speaker: str) -> Claim | None:
    parts = match.groupdict()
    value = _trimmed(parts.get("v") or parts.get("v2") or "", spec)
    noun = _trimmed(parts.get("n") or "", spec).casefold()
    if not value:
        return None
    if form.attribute == "noun":
        if not _is_short(value, spec):
            return None
        owner = speaker if parts.get("mine") else _subject(parts.get("s") or "", spec, speaker)
        if parts.get("mine") and not _names(value):
            return Claim(f"{speaker}'s {noun}", "is", value)
        return Claim(owner, noun, value) if owner and noun else None
    subject = speaker if form.subject == "user" else _subject(parts.get("s") or "", spec, speaker)
    return Claim(subject, form.attribute, value) if subject else None


def _is_short(value: str, spec: _Language) -> bool:
    return len(value.split()) <= 6 if spec.spaced else len(value) <= 20  # noqa: PLR2004 - words, characters


def _names(value: str) -> bool:
    """Whether a value looks like a name or a number; letters without case cannot tell and count as names."""
    first = value[0]
    return first.isdigit() or not first.islower()


def _subject(text: str, spec: _Language, speaker: str) -> str | None:
    phrase = _trimmed(text, spec).casefold()
    for mine in sorted(spec.mine, key=len, reverse=True):
        edge = f"{mine} " if spec.spaced else mine
        if phrase.startswith(edge) and len(phrase) > len(edge):
            return f"{speaker}'s {phrase[len(edge) :].strip()}"
    return phrase or None


def _trimmed(text: str, spec: _Language) -> str:
    words = tidy(text)
    for article in spec.articles:
        joined = article if article.endswith("'") else f"{article} "
        if words.casefold().startswith(joined) and len(words) > len(joined):
            return words[len(joined) :].strip()
    return words
