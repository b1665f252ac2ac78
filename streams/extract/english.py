"""The English grammar: from a sentence to a claim.

Rule of this file: general sentence forms only; words and whole-sentence forms are data. What fits no form has no claim.
"""

import re
from dataclasses import dataclass, replace

from schemas.facts import Polarity
from streams.extract.claims import MAX_CLAIM, Claim, bounded, tidy
from streams.extract.english_copula import read_copula
from streams.extract.english_nouns import NounPhrase, noun_phrase, without_determiner
from streams.extract.english_words import (
    ADVERBS,
    AUXILIARIES,
    CHANGES,
    CLAUSE_SUBJECTS,
    COPULAS,
    DATA,
    DETERMINERS,
    MODALS,
    ORDERING,
    PARTICLES,
    PASTS,
    POSSESSIVES,
    PREPOSITIONS,
    PROGRESSIVES,
    PRONOUNS,
    THIRD,
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
_NEGATION = re.compile(
    r"\b(?<!and )(?<!but )(?<!or )(?<!, )(?:not(?! only)|never|no longer)\b\s*|\b(?:any ?more|any longer)\b",
    re.IGNORECASE,
)
_NO_OBJECT = re.compile(r"(?<=\w )no (?=\w)", re.IGNORECASE)
_COLON = re.compile(r"^[^:]{1,120}[^\d\s:]:\s+(?=(?:I|we|my|our|the|it)\b)", re.IGNORECASE)
_BUT = re.compile(
    r",?\s+(?:but|because|since|although|though|while|whereas|so that|which|if|unless|when|whenever)\s.*", re.IGNORECASE
)
_FRONTED = re.compile(r"^(?:in|on|at|for|with|since|during|as of|after|before|by)\s[^,]{1,60},\s+", re.IGNORECASE)
_CLEFT_SUBJECT = re.compile(
    r"(?P<value>.+?) (?:is|are) (?:the (?P<noun>[\w -]{1,40}?)(?: that| which| who)?|what|where|who)"
    r" (?P<who>i|we) (?P<verb>[\w ]+?)",
    re.IGNORECASE,
)
_TOPIC = re.compile(
    r"(?P<value>[^,]{2,80}), (?P<clause>(?:i|we) .{2,80}?)(?: (?P<place>there|of it|in it|with it))?", re.IGNORECASE
)


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
    clause = _clause(sentence[:MAX_CLAIM])
    for read in (_by_form, _by_cleft, _by_change, _by_topic, _by_grammar):
        claim = read(clause.text, speaker)
        if claim is not None and claim.value:
            return bounded(replace(claim, polarity=clause.polarity))
    return None


def polarity_of(sentence: str) -> Polarity:
    """Whether an English sentence says that something is so or that it is not so."""
    return _clause(sentence[:MAX_CLAIM]).polarity


def _clause(sentence: str) -> _Clause:
    text = tidy(sentence.replace("\u2019", "'"))
    colon = _COLON.match(text)
    if colon:
        text = text[colon.end() :]
    for pattern, full in _CONTRACTIONS:
        text = pattern.sub(full, text)
    main = _BUT.sub("", text)
    negative = bool(_NEGATION.search(main)) or bool(_NO_OBJECT.search(main))
    text = _NO_OBJECT.sub("", _NEGATION.sub("", text)) if negative else text
    text = tidy(CHANGES.sub(" ", text))
    fronted = _FRONTED.match(text)
    return _Clause(text[fronted.end() :] if fronted else text, "negative" if negative else "affirmative")


_PART = {"{s}": r"(?P<s>[^,;]{1,120}?)", "{v}": r"(?P<v>.{1,200}?)", "{old}": r"(?P<old>.{1,80}?)"}


def _compiled(pattern: str) -> re.Pattern[str]:
    for mark, group in _PART.items():
        pattern = pattern.replace(mark, group)
    return re.compile(pattern, re.IGNORECASE)


_FORMS = tuple((_compiled(row["pattern"]), row.get("subject"), row["attribute"]) for row in DATA["forms"])
_CHANGE_FORMS = tuple(_compiled(pattern) for pattern in DATA["change_forms"])


def _by_form(text: str, speaker: str) -> Claim | None:
    for pattern, subject, attribute in _FORMS:
        match = pattern.fullmatch(text)
        if match is None:
            continue
        value = without_determiner(match["v"])
        if subject == "user":
            return Claim(speaker, attribute, value)
        phrase = noun_phrase(match["s"], speaker)
        if phrase is not None and not _has_verb(match["s"]):
            return Claim(phrase.whole, attribute, value)
    return None


def _by_change(text: str, speaker: str) -> Claim | None:
    for pattern in _CHANGE_FORMS:
        match = pattern.fullmatch(text)
        if match is not None and not match["s"].casefold().startswith("from "):
            phrase = noun_phrase(match["s"], speaker)
            if phrase is not None:
                return Claim(phrase.whole, "change", without_determiner(match["v"]))
    return None


def _by_cleft(text: str, speaker: str) -> Claim | None:
    """As in "The cello is the instrument I play", "Tabs are what I prefer": the clause behind is the claim."""
    match = _CLEFT_SUBJECT.fullmatch(text)
    if match is None:
        return None
    claim = _by_form(f"{match['who']} {match['verb']} {match['value']}", speaker)
    return claim or _by_grammar(f"{match['who']} {match['verb']} {match['value']}", speaker)


def _by_topic(text: str, speaker: str) -> Claim | None:
    """As in "The chess club, I am a member there": what stands in front is the value."""
    match = _TOPIC.fullmatch(text)
    if match is None or match["place"] is None or _has_verb(match["value"]):
        return None
    place, words = match["place"].casefold(), match["clause"].casefold().split()
    relation = place.removesuffix(" it")
    if place == "there":
        relation = "of" if words[1] in COPULAS and words[-2] in {"a", "an"} else "in"
    return _by_grammar(f"{match['clause']} {relation} {match['value']}", speaker)


def _has_verb(text: str) -> bool:
    words = [word.casefold() for word in text.split()]
    return any(word in COPULAS or word in AUXILIARIES for word in words)


def _by_grammar(text: str, speaker: str) -> Claim | None:
    words = text.split()
    place = _verb_at(words) if words else None
    if place is None or place >= len(words):
        return None
    spoken = words[:1] if words[0].casefold() in PRONOUNS.keys() - DETERMINERS else words[:place]
    while len(spoken) > 1 and spoken[-1].casefold() in ADVERBS - ORDERING:
        spoken = spoken[:-1]
    phrase = None if _holds_clause(spoken) else noun_phrase(" ".join(spoken), speaker)
    if phrase is None:
        return None
    return _predicate(replace(phrase, told=" ".join(words[:place])), words[place:], speaker)


def _holds_clause(words: list[str]) -> bool:
    """Whether a subject holds a clause of its own: "what I have", "the crate that is red"."""
    lower = [word.casefold() for word in words]
    pairs = zip(lower, ["", *lower], strict=False)
    return any(word in CLAUSE_SUBJECTS and before not in {"", "and"} for word, before in pairs) or lower[0] == "what"


def _verb_at(words: list[str]) -> int | None:
    """Where the main verb (or its first auxiliary) stands."""
    lower = [word.casefold().strip(".,;:!?()\"'") for word in words]
    start = 1
    while start < len(lower) and lower[start] in ADVERBS:
        start += 1
    if lower[0] in PRONOUNS and lower[0] not in {"this", "that"}:
        return start if start < len(lower) else None
    for place in range(1, len(lower)):
        word, before = lower[place], lower[place - 1]
        if before == "a" and words[place - 1] == "A" and place > 1:
            before = ""  # a name, no article
        follower = lower[place + 1] if place + 1 < len(lower) else ""
        if word in COPULAS or word in AUXILIARIES:
            return place
        if before in DETERMINERS or before in POSSESSIVES or before in PREPOSITIONS or follower in COPULAS:
            continue
        if word in THIRD or word in PASTS or (word in VERBS and before.endswith("s") and not before.endswith("'s")):
            return place
    return None


def _predicate(phrase: NounPhrase, words: list[str], speaker: str) -> Claim | None:
    """From the verb on: auxiliaries are folded into the attribute, then verb or copula is read."""
    modal, past, index = "", False, 0
    while index < len(words) - 1 and words[index].casefold() in AUXILIARIES | ADVERBS | {"been", "be"}:
        word = words[index].casefold()
        following = next((w.casefold() for w in words[index + 1 :] if w.casefold() not in ADVERBS), "")
        if word in {"has", "have", "had"}:
            if following not in PASTS and following != "been":
                break
            past = past or following != "been"
        past = past or word == "did"
        modal = word if word in MODALS else modal
        index += 1
    verb = words[index].casefold().strip(".,;:!?()\"'")
    rest = words[index + 1 :]
    while rest and rest[0].casefold() in ADVERBS and len(rest) > 1:
        rest = rest[1:]
    if verb in COPULAS and index == 0:
        return _copular(phrase, verb, rest, speaker)
    if index and words[index - 1].casefold() in {"be", "been"}:
        return read_copula(phrase, words[index:], speaker, past=False, modal=modal)
    return _verbal(phrase, verb, rest, modal=modal, past=past)


def _copular(phrase: NounPhrase, verb: str, rest: list[str], speaker: str) -> Claim | None:
    if not rest:
        return None
    first = rest[0].casefold()
    past = verb in {"was", "were"}
    if first in PROGRESSIVES and len(rest) > 1:
        return _verbal(phrase, PROGRESSIVES[first], rest[1:], modal="", past=past)
    return read_copula(phrase, rest, speaker, past=past)


def _verbal(phrase: NounPhrase, verb: str, rest: list[str], *, modal: str, past: bool) -> Claim | None:
    irregular_base = verb in VERBS
    lemma = THIRD.get(verb) or (verb if irregular_base else PASTS.get(verb)) or verb
    past = past or (verb in PASTS and not irregular_base)
    attribute = lemma
    while rest and (word := rest[0].casefold()) in PREPOSITIONS | PARTICLES and len(rest) > 1:
        attribute += f" {word}"
        rest = rest[1:]
    if not rest:
        rest, attribute = [lemma], "do"
    lead = "did" if past else modal or "to"
    return Claim(phrase.whole, f"{lead} {attribute}", without_determiner(" ".join(rest)))
