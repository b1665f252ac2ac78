"""Claims of languages other than English, by tables of sentence forms (``forms.yaml``).

Rule of this file: it fills forms; it knows no language. What fits no form still has its polarity.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final, Literal

from streams.extract.claims import MAX_CLAIM, Claim, bounded, tidy
from streams.extract.stance import speaks_of_self
from streams.ruledata import load


@dataclass(frozen=True)
class _Form:
    pattern: re.Pattern[str]
    subject: str | None
    attribute: str


@dataclass(frozen=True)
class _Language:
    forms: tuple[_Form, ...]
    verbal: tuple[_Form, ...]
    """Forms of any verb: they are tried last."""
    negation: re.Pattern[str]
    change: re.Pattern[str] | None
    filler: re.Pattern[str] | None
    openings: tuple[tuple[re.Pattern[str], str], ...]
    turns: tuple[tuple[re.Pattern[str], str], ...]
    articles: frozenset[str]
    mine: tuple[str, ...]
    speaker: tuple[str, ...]
    """Words for "I"."""
    spaced: bool


_VERB = "{p}"
MAX_OWNED: Final = 3
"""Words of a noun that names what is the speaker's."""
_PARTS = {
    "{s}": r"(?P<s>.{1,120}?)",
    "{v}": r"(?P<v>.{1,200}?)",
    "{v2}": r"(?P<v2>.{1,200}?)",
    "{v3}": r"(?P<v3>.{1,200}?)",
    "{np}": r"(?P<s>(?:{articles}) [^,;]{1,60}?|(?!(?:{articles})\b)[\w-]{2,})",
    "{s2}": r"(?P<s2>.{1,120}?)",
    "{n}": r"(?P<n>[^,;]{1,60}?)",
}


def _form(row: Mapping[str, str], mine: str, articles: str) -> _Form:
    pattern = row["pattern"].replace("{mine}", f"(?P<mine>{mine})")
    for mark, group in _PARTS.items():
        pattern = pattern.replace(mark, group).replace("{articles}", articles)
    return _Form(re.compile(pattern, re.IGNORECASE), row.get("subject"), row["attribute"])


def _replacements(rows: Sequence[Mapping[str, str]]) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(row["pattern"], re.IGNORECASE), row["to"]) for row in rows)


def _language(spec: Mapping[str, Any], *, spaced: bool) -> _Language:
    edge = r"\b" if spaced else ""
    mine = "|".join(sorted(spec["mine"], key=len, reverse=True))
    negations = "|".join(f"{edge}(?:{word}){edge}" if "(?=" not in word else word for word in spec["negations"])
    changes, fillers = (
        "|".join(f"{edge}{word}{edge}" for word in spec.get(name, ())) for name in ("changes", "fillers")
    )
    articles = "|".join([*spec["articles"], mine])
    return _Language(
        forms=tuple(_form(row, mine, articles) for row in spec["forms"] if _VERB not in row["attribute"]),
        verbal=tuple(_form(row, mine, articles) for row in spec["forms"] if _VERB in row["attribute"]),
        negation=re.compile(negations, re.IGNORECASE),
        change=re.compile(changes, re.IGNORECASE) if changes else None,
        filler=re.compile(fillers, re.IGNORECASE) if fillers else None,
        openings=_replacements(spec.get("openings", ())),
        turns=_replacements(spec.get("turns", ())),
        articles=frozenset(spec["articles"]),
        mine=tuple(spec["mine"]),
        speaker=tuple(spec["i"]),
        spaced=spaced,
    )


_UNSPACED = frozenset({"zh", "ja", "th"})
_DATA = load("extract", "forms")
_LANGUAGES = {name: _language(spec, spaced=name not in _UNSPACED) for name, spec in _DATA["languages"].items()}
LANGUAGES = tuple(_LANGUAGES)
"""ISO 639-1 codes of the languages that have forms."""
_TELL_SUBJECTS = frozenset(_DATA["tell_subjects"])
_HAS_ONE = re.compile(_DATA["has_one"])
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
    of_speaker = language not in _TELL_SUBJECTS or speaks_of_self(text, language)
    orders = _orders(_without(spec.negation, text, spec) if negative else text, spec)
    for forms, told in product((spec.forms, spec.verbal), orders):
        for form in forms:
            if form.subject == "user" and not of_speaker:
                continue
            match = form.pattern.fullmatch(told)
            claim = _filled(form, match, spec, speaker) if match is not None else None
            if claim is not None:
                return bounded(Claim(claim.subject, claim.attribute, claim.value, polarity))
    return Claim(polarity=polarity)


def _orders(text: str, spec: _Language) -> tuple[str, ...]:
    """A sentence without what opens it, as it is told, and in its usual order without words that say nothing.

    None of them has words of change.
    """
    opened = _ordered(spec.openings, text)
    bare = _ordered(spec.turns, _ordered(spec.openings, _without(spec.filler, text, spec)))
    return tuple(dict.fromkeys(_without(spec.change, told, spec) for told in (opened, text, bare)))


def _ordered(rows: tuple[tuple[re.Pattern[str], str], ...], text: str) -> str:
    for pattern, order in rows:
        text = pattern.sub(order, text)
    return text


def _without(words: re.Pattern[str] | None, text: str, spec: _Language) -> str:
    return text if words is None else tidy(words.sub(" " if spec.spaced else "", text))


def owned(text: str, language: str, speaker: str) -> Claim:
    """As in "meine Adresse": an attribute of the speaker, without a value; no claim where it is anything else.

    Args:
        text: A phrase.
        language: ISO 639-1.
        speaker: Who "I" is.
    """
    spec = _LANGUAGES.get(language)
    phrase = tidy(text).casefold()
    for mine in sorted(spec.mine, key=len, reverse=True) if spec is not None else ():
        head = f"{mine} " if spec is not None and spec.spaced else mine
        noun = phrase.removeprefix(head).strip()
        if noun and noun != phrase and len(noun.split()) <= MAX_OWNED:
            return Claim(speaker, noun)
    return Claim()


def _filled(form: _Form, match: re.Match[str], spec: _Language, speaker: str) -> Claim | None:
    parts = match.groupdict()
    value = _trimmed(parts.get("v") or parts.get("v2") or parts.get("v3") or "", spec)
    noun = _trimmed(parts.get("n") or "", spec).casefold()
    if not value:
        return None
    if form.attribute == "noun":
        if not _is_short(value, spec):
            return None
        owner = speaker if parts.get("mine") else _subject(parts.get("s") or "", spec, speaker)
        if parts.get("mine") and not _names(value) and _HAS_ONE.search(noun) is None:
            return Claim(f"{speaker}'s {noun}", "is", value)
        return Claim(owner, noun, value) if owner and noun else None
    told = {"user": speaker, "we": "we"}
    subject = told.get(form.subject or "") or _subject(parts.get("s") or parts.get("s2") or "", spec, speaker)
    attribute = form.attribute.replace(_VERB, (parts.get("p") or "").casefold())
    if attribute == "favourite":
        attribute = f"favourite {noun}"
    return Claim(subject, attribute, value) if subject else None


def _is_short(value: str, spec: _Language) -> bool:
    return len(value.split()) <= 6 if spec.spaced else len(value) <= 20  # noqa: PLR2004 - words, characters


def _names(value: str) -> bool:
    """Whether a value looks like a name or a number; letters without case cannot tell and count as names."""
    first = value[0]
    return first.isdigit() or not first.islower()


def _subject(text: str, spec: _Language, speaker: str) -> str | None:
    phrase = _trimmed(text, spec).casefold()
    if any(phrase.endswith(word) for word in spec.speaker) and any(
        phrase == word or not spec.spaced or phrase.endswith((f" {word}", f",{word}")) for word in spec.speaker
    ):
        return None
    if phrase in spec.mine or phrase in spec.articles:
        return None  # cut in the middle of a noun phrase
    for mine in sorted(spec.mine, key=len, reverse=True):
        edge = f"{mine} " if spec.spaced else mine
        if phrase.startswith(edge) and len(phrase) > len(edge):
            return f"{speaker}'s {phrase[len(edge) :].strip()}"
    return phrase or None


def _trimmed(text: str, spec: _Language) -> str:
    words = tidy(text)
    first, _, rest = words.partition(" ")
    if rest and first.casefold() in spec.articles:
        return rest
    mark = words.find("'") + 1
    return words[mark:].strip() if mark and words[:mark].casefold() in spec.articles and len(words) > mark else words
