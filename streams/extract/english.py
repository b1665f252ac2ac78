"""English: from a sentence to a claim.

Rule of this file: it brings a sentence into its plain order (no contraction, no negation, no "I think"), then tries
forms and grammar; words and forms are data. What fits none has no claim.
"""

import re
from dataclasses import dataclass, replace

from schemas.facts import Polarity
from streams.extract.claims import MAX_CLAIM, Claim, bounded, tidy
from streams.extract.english_copula import read_copula
from streams.extract.english_forms import by_change, by_form
from streams.extract.english_grammar import by_grammar, has_verb, holds_clause, verbal
from streams.extract.english_nouns import noun_phrase
from streams.extract.english_words import (
    ADVERBS,
    CHANGES,
    COPULAS,
    DATA,
    DETERMINERS,
    MODALS,
    PARTICLES,
    PASTS,
    POSSESSIVES,
    PREPOSITIONS,
    PROGRESSIVES,
    RETURNED,
    VERBS,
)

_CONTRACTIONS = tuple(
    (re.compile(pattern, re.IGNORECASE), full)
    for pattern, full in (
        (r"\bcan't\b|\bcannot\b", "can not"),
        (r"\bwon't\b", "will not"),
        (r"\b(\w+)n't\b", r"\1 not"),
        (r"\bi'm\b", "I am"),
        (r"\b(\w+)'re\b", r"\1 are"),
        (r"\b(\w+)'ve\b", r"\1 have"),
        (r"\b(\w+)'ll\b", r"\1 will"),
        (r"\b(it|that|this|he|she|there|here|what|who)'s\b", r"\1 is"),
    )
)
_CANNOT = "cannot"
_NEGATION = re.compile(
    r"\b(?<!and )(?<!but )(?<!or )(?<!, )(?:not(?! only)|never|no longer)\b\s*|\b(?:any ?more|any longer)\b",
    re.IGNORECASE,
)
_NO_OBJECT = re.compile(r"(?:^|(?<=\w ))no (?=\w)", re.IGNORECASE)
_COLON = re.compile(r"^[^:]{1,120}[^\d\s:]:\s+(?=(?:I|we|my|our|the|it)\b)", re.IGNORECASE)
_BUT = re.compile(
    r",?\s+(?:but|because|since|although|though|while|whereas|so that|which|if|unless|when|whenever)\s.*",
    re.IGNORECASE,
)
_ELIDED = re.compile(DATA["elided"], re.IGNORECASE)
_HEDGE = re.compile(DATA["hedge"], re.IGNORECASE)
_FRONTED = re.compile(
    r"^(?:(?:in|on|at|for|with|since|during|as of|after|before|by|according to|due to|because of|thanks to|from|as"
    r"|among|besides|apart from)\s[^,]{1,60}|\w+ly|overall|today|yesterday|nowadays|sometimes|often|in general"
    r"|one time),\s+"
    rf"|^(?:since|as of|from|starting)\s(?:(?:last|this|next|early|late)\s)?(?:{'|'.join(DATA['times'])})\s+"
    r"(?=(?:my|our|the|i|we)\s)",
    re.IGNORECASE,
)
_CLEFT_SUBJECT = re.compile(
    r"(?P<value>.+?) (?:is|are) (?:the (?P<noun>[\w -]{1,40}?)(?: that| which| who)?|what|where|who)"
    r" (?P<who>i|we) (?P<verb>[\w ]+?)",
    re.IGNORECASE,
)
_TOPIC = re.compile(
    r"(?P<value>[^,]{2,80}), (?P<clause>(?:i|we) .{2,80}?)(?: (?P<place>there|of it|in it|with it))?", re.IGNORECASE
)
_VERBAL = ("to ", "did ", "is", *(f"{word} " for word in sorted(MODALS)))
_RESULT, _OWNER = (re.compile(DATA[name], re.IGNORECASE) for name in ("result", "owner"))


@dataclass(frozen=True)
class _Clause:
    """A sentence without what does not change its claim: contractions, negation (kept as a sign), adverbs of change."""

    text: str
    polarity: Polarity


def read_english(sentence: str, speaker: str) -> Claim | None:
    """The claim of an English sentence, or None where no form fits.

    Args:
        sentence: One sentence.
        speaker: Who "I" is, as a subject.
    """
    result = _by_result(sentence[:MAX_CLAIM], speaker)
    if result is not None:
        return result
    clause = _clause(sentence[:MAX_CLAIM])
    for read in (_by_report, _by_habit, by_form, _by_cleft, by_change, _by_label, _by_topic, _by_ellipsis, by_grammar):
        claim = read(clause.text, speaker)
        if claim is not None and claim.value:
            return bounded(replace(claim, polarity=clause.polarity))
    return None


def _by_result(sentence: str, speaker: str) -> Claim | None:
    """As in "Ada got promoted, so her title is lead": what something has by what happened is the claim."""
    match = _RESULT.fullmatch(tidy(sentence))
    cause = read_english(match["cause"], speaker) if match is not None else None
    if match is None or cause is None or not cause.is_event or cause.subject is None:
        return None
    claim = read_english(_OWNER.sub(f"{cause.subject}'s", match["result"]), speaker)
    attribute = (claim.attribute or "") if claim is not None else ""
    return None if attribute.startswith(_VERBAL) else claim


def polarity_of(sentence: str) -> Polarity:
    """Whether an English sentence says that something is so or that it is not so."""
    return _clause(sentence[:MAX_CLAIM]).polarity


def _clause(sentence: str) -> _Clause:
    text = tidy(sentence.replace("\u2019", "'"))
    colon = _COLON.match(text)
    if colon:
        text = text[colon.end() :]
    text = _ELIDED.sub(r"I \g<0>", text)
    if "'" in text or _CANNOT in text.casefold():
        for pattern, full in _CONTRACTIONS:
            text = pattern.sub(full, text)
    main = _BUT.sub("", text)
    negative = bool(_NEGATION.search(main)) or bool(_NO_OBJECT.search(main))
    text = _NO_OBJECT.sub("", _NEGATION.sub("", main)) + text[len(main) :] if negative else text
    text = tidy(CHANGES.sub(" ", text))
    text = RETURNED.sub(lambda verb: f"{verb[1] or verb[2]} ", text)
    text = _HEDGE.sub("", text)
    fronted = _FRONTED.match(text)
    return _Clause(text[fronted.end() :] if fronted else text, "negative" if negative else "affirmative")


_REPORT, _OWN_REPORT, _HABIT = (re.compile(DATA[name], re.IGNORECASE) for name in ("report", "own_report", "habit"))
_OF_OTHERS = re.compile(r"(?:he|she|they|i)\b", re.IGNORECASE)
_ELLIPTIC = frozenset(DATA["elliptic"])
_LABEL = re.compile(r"(?P<label>[^\W\d][\w '-]{1,30}):\s+(?P<value>\S.{0,100})")
_LABELS: dict[str, str] = DATA["labels"]
_SAYING = frozenset({"said", "told", "asked", "thought", "wrote"})
_HAVING = frozenset({"has", "have", "had"})


def _by_report(text: str, speaker: str) -> Claim | None:
    """As in "my sister says she hates olives": the claim is hers; of what she says of others, only that she says it."""
    own = _OWN_REPORT.fullmatch(text)
    if own is not None:
        return _read(own["told"] or own["heard"], speaker)
    match = _REPORT.fullmatch(text)
    phrase = noun_phrase(match["s"], speaker) if match is not None and _names_somebody(match["s"]) else None
    if match is None or phrase is None or phrase.whole == speaker:
        return None
    told = match["told"]
    pronoun = _OF_OTHERS.match(told)
    quotes = match["quote"] is not None
    if pronoun is not None and (pronoun.group().casefold() != "i" or quotes):
        claim = _read(f"I{told[pronoun.end() :]}" if quotes else told, phrase.whole)
        return replace(claim, subject=phrase.whole) if claim is not None else None
    return Claim(phrase.whole, "to say", told)


def _by_label(text: str, speaker: str) -> Claim | None:
    """As in "name: Ruta", "deadline: 3 May": of oneself, or of what has one of it."""
    match = _LABEL.fullmatch(text)
    if match is None:
        return None
    label, value = match["label"].casefold(), match["value"]
    if label in _LABELS:
        return Claim(speaker, _LABELS[label], value)
    phrase = noun_phrase(label, speaker)
    return Claim(phrase.thing, "identity", value) if phrase is not None and phrase.names_attribute else None


def _names_somebody(text: str) -> bool:
    """Whether a text is a noun phrase: "my sister", but not "I finished the" before "report"."""
    words = text.split()
    return (
        not has_verb(text) and not holds_clause(words) and words[-1].casefold() not in DETERMINERS | POSSESSIVES.keys()
    )


def _by_habit(text: str, speaker: str) -> Claim | None:
    """As in "I used to live in Faro": it was so, whatever is so now."""
    match = _HABIT.fullmatch(text)
    phrase = noun_phrase(match["s"], speaker) if match is not None and not has_verb(match["s"]) else None
    if match is None or phrase is None:
        return None
    words = match["rest"].split()
    if words[0].casefold() == "be" and len(words) > 1:
        return read_copula(phrase, words[1:], speaker, past=True, modal="did")
    return verbal(phrase, words[0].casefold(), words[1:], modal="", past=True)


def _by_ellipsis(text: str, speaker: str) -> Claim | None:
    """As in "just got back from Faro", "love old maps", "working as a ferryman": the speaker is left out."""
    words = text.split()
    while len(words) > 1 and words[0].casefold() in ADVERBS:
        words = words[1:]
    first = words[0].casefold() if words else ""
    later = {word.casefold().strip(".,;:!?") for word in words[1:]}
    if len(words) < 2 or first in _SAYING or later & (COPULAS | MODALS | _HAVING):  # noqa: PLR2004 - words
        return None
    if first in PROGRESSIVES:
        return _read(f"I am {' '.join(words)}", speaker)
    elliptic = first in _ELLIPTIC or (
        first in PASTS
        and first not in VERBS
        and words[1].casefold() in PREPOSITIONS | PARTICLES | DETERMINERS | POSSESSIVES.keys()
    )
    return _read(f"I {' '.join(words)}", speaker) if elliptic else None


def _read(text: str, speaker: str) -> Claim | None:
    return next((claim for read in (_by_habit, by_form, by_grammar) if (claim := read(text, speaker))), None)


def _by_cleft(text: str, speaker: str) -> Claim | None:
    """As in "The cello is the instrument I play", "Tabs are what I prefer": the clause behind is the claim."""
    match = _CLEFT_SUBJECT.fullmatch(text)
    if match is None:
        return None
    claim = by_form(f"{match['who']} {match['verb']} {match['value']}", speaker)
    return claim or by_grammar(f"{match['who']} {match['verb']} {match['value']}", speaker)


def _by_topic(text: str, speaker: str) -> Claim | None:
    """As in "The chess club, I am a member there": what stands in front is the value."""
    match = _TOPIC.fullmatch(text)
    if match is None or match["place"] is None or has_verb(match["value"]):
        return None
    place, words = match["place"].casefold(), match["clause"].casefold().split()
    relation = place.removesuffix(" it")
    if place == "there":
        relation = "of" if words[1] in COPULAS and words[-2] in {"a", "an"} else "in"
    return by_grammar(f"{match['clause']} {relation} {match['value']}", speaker)
