"""The English grammar: from a clause to a claim, by its first verb.

Rule of this file: general forms of clauses only; words are data. What fits none has no claim.
"""

from dataclasses import replace

from streams.extract.claims import Claim
from streams.extract.english_copula import read_copula
from streams.extract.english_nouns import NounPhrase, noun_phrase, without_determiner
from streams.extract.english_words import (
    ADVERBS,
    AUXILIARIES,
    CLAUSE_SUBJECTS,
    COPULAS,
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


def has_verb(text: str) -> bool:
    """Whether there is a copula or an auxiliary in a text."""
    words = [word.casefold() for word in text.split()]
    return any(word in COPULAS or word in AUXILIARIES for word in words)


def by_grammar(text: str, speaker: str) -> Claim | None:
    """The claim of a plain clause, or None.

    Args:
        text: A clause without contractions and negation.
        speaker: Who "I" is.
    """
    words = text.split()
    place = _verb_at(words) if words else None
    if place is None or place >= len(words):
        return None
    spoken = words[:1] if words[0].casefold() in PRONOUNS.keys() - DETERMINERS else words[:place]
    while len(spoken) > 1 and spoken[-1].casefold() in ADVERBS - ORDERING:
        spoken = spoken[:-1]
    if holds_clause(spoken) or all(word.casefold() in ADVERBS for word in spoken):
        return None
    phrase = noun_phrase(" ".join(spoken), speaker)
    if phrase is None:
        return None
    return _predicate(replace(phrase, told=" ".join(words[:place])), words[place:], speaker)


def holds_clause(words: list[str]) -> bool:
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
    return verbal(phrase, verb, rest, modal=modal, past=past)


def _copular(phrase: NounPhrase, verb: str, rest: list[str], speaker: str) -> Claim | None:
    if not rest:
        return None
    first = rest[0].casefold()
    past = verb in {"was", "were"}
    if first in PROGRESSIVES and len(rest) > 1:
        return verbal(phrase, PROGRESSIVES[first], rest[1:], modal="", past=past)
    return read_copula(phrase, rest, speaker, past=past)


def verbal(phrase: NounPhrase, verb: str, rest: list[str], *, modal: str, past: bool) -> Claim | None:
    """The claim of "<phrase> <verb> <rest>": prepositions and particles belong to the verb."""
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
