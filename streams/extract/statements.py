"""One sentence of a user, understood: facts, or reasons against them.

Rule of this file: each part of a sentence ends in a draft or in a skip; nothing falls through.
"""

import re
from dataclasses import replace
from typing import Final

from streams.extract import significance
from streams.extract.antecedents import bare_value, corrected, pronoun_of, stands_for_something, with_antecedent
from streams.extract.claims import Claim
from streams.extract.clauses import clauses_of
from streams.extract.drafts import Draft
from streams.extract.notes import Notes
from streams.extract.openers import Opened, opened
from streams.extract.parts import parts_of
from streams.extract.pronouns import leading_pronoun, told_in_full
from streams.extract.reading import is_phrase, read_claim
from streams.extract.stance import COMMENT, UNNAMED, is_comment, is_unnamed, speaks_of_self
from streams.ruledata import load

_FINAL = frozenset({significance.ORDER, significance.ECHO, significance.META, significance.GREETING})
_DATA = load("extract", "dialogue")
_INTRODUCES, _PEOPLES = (re.compile(_DATA[name], re.IGNORECASE) for name in ("introduces", "peoples"))
MAX_NAME: Final = 3
"""Words of a name."""
_SUBORDINATES: dict[str, str] = _DATA["subordinates"]
_PRONOUNS = frozenset({None, "it", "that", "this", "he", "she", "they"})


def read_sentence(notes: Notes, sentence: str) -> None:
    """Note what a sentence tells, part by part."""
    reason = significance.reason_against(sentence, notes.language)
    if reason in _FINAL:
        notes.skip(sentence, reason)
        return
    first = len(notes.drafts)
    for part in parts_of(sentence, notes.language):
        if part.reason is not None:
            notes.skip(part.text, part.reason)
        else:
            read_part(notes, part.text)
    if _INTRODUCES.match(sentence):
        notes.drafts[first:] = [_introduced(draft, notes.speaker) for draft in notes.drafts[first:]]


def _introduced(draft: Draft, speaker: str) -> Draft:
    """As in "hello, I'm Odalys": what speakers say they are behind a greeting is their name, if it looks like one."""
    claim = draft.claim
    words = (claim.value or "").split()
    named = 0 < len(words) <= MAX_NAME and all(not word[0].islower() for word in words)
    if (claim.subject, claim.attribute) != (speaker, "is") or not named or _PEOPLES.fullmatch(claim.value or ""):
        return draft
    return replace(draft, claim=replace(claim, attribute="name"))


def read_part(notes: Notes, sentence: str) -> None:
    """Note what a part of a sentence tells that stands by itself."""
    reason = significance.reason_against(sentence, notes.language)
    if reason in _FINAL:
        notes.skip(sentence, reason)
        return
    tail = significance.asked_on(sentence)
    if tail is not None and read_claim(opened(sentence[:tail]).text, notes.language, notes.speaker).is_read:
        notes.skip(sentence[tail:].lstrip(" ,"), significance.QUESTION)
        read_part(notes, sentence[:tail])
        return
    told = opened(sentence)
    if told.forget:
        _retraction(notes, sentence, told)
        return
    if told.text != sentence or reason is not None:
        reason = significance.reason_against(told.text, notes.language)
        if told.correction and reason in significance.THIN_REASONS:
            reason = None
    if reason is not None:
        notes.skip(sentence, reason)
    elif told.correction:
        _correction(notes, sentence, told)
    else:
        _clauses(notes, told.text, sentence)


def _needs_opener(sentence: str, told: str, language: str) -> bool:
    """Whether the opener has put the verb of what is told to its end: "denk daran, dass ich … esse"."""
    opener = sentence[: len(sentence) - len(told)].rstrip().casefold() if sentence.endswith(told) else ""
    return bool(opener) and opener[-4:].lstrip() == _SUBORDINATES.get(language)


def _clauses(notes: Notes, text: str, sentence: str) -> None:
    for clause in clauses_of(text, notes.language):
        thin = significance.reason_against(clause, notes.language)
        if thin == significance.ONLY_MASK:
            notes.skip(clause, thin)
        else:
            _statement(notes, clause, sentence)


def _statement(notes: Notes, text: str, sentence: str) -> None:
    claim = read_claim(text, notes.language, notes.speaker)
    if _adds_to_answer(notes, text, claim):
        answered = Draft(
            f"{notes.question} {text}", claim, notes.turn.role, notes.language, notes.drafts[0].sources, told=sentence
        )
        notes.keep(answered)
        return
    if not claim.is_read and significance.is_fragment(text, notes.language):
        notes.skip(sentence, significance.THIN)
        return
    sources: tuple[str, ...] = (notes.source,)
    english = notes.language in {"en", "und"}
    pronoun = pronoun_of(text) if english else leading_pronoun(text, notes.language)
    found = None
    if pronoun is not None and english:
        found = with_antecedent(pronoun, notes.before, notes.speaker)
    elif pronoun is not None:
        found = told_in_full(pronoun, notes.language, notes.before, notes.speaker)
    if found is not None:
        text, claim = found.text, found.claim
        sources = tuple(dict.fromkeys([found.source, notes.source]))
    resolved = pronoun is None or found is not None
    reason = _nothing_in(notes, text, claim)
    if reason is not None:
        notes.skip(sentence, reason)
        if reason == COMMENT and pronoun is None:
            notes.lose_thread()
        return
    mood = significance.mood_of(text, claim, notes.language)
    role, language = notes.turn.role, notes.language
    text = sentence if _needs_opener(sentence, text, language) else text
    notes.keep(Draft(text, claim, role, language, sources, mood, resolved=resolved, told=sentence))


def _adds_to_answer(notes: Notes, text: str, claim: Claim) -> bool:
    """Whether a phrase goes on with the answer to a question: "how is your health? … No chronic diseases."."""
    return (
        notes.question is not None
        and bool(notes.drafts)
        and not claim.is_read
        and not speaks_of_self(text, notes.language)
        and is_phrase(text)
    )


def _nothing_in(notes: Notes, text: str, claim: Claim) -> str | None:
    """Why a statement holds nothing to keep once its pronouns are resolved, or None."""
    if claim.subject in {notes.speaker, "we"} and claim.value is not None and stands_for_something(claim.value):
        return UNNAMED
    if is_unnamed(text, notes.language):
        return UNNAMED
    return COMMENT if notes.replies and is_comment(text, notes.language) else None


def _correction(notes: Notes, sentence: str, told: Opened) -> None:
    claim = read_claim(told.text, notes.language, notes.speaker)
    sources: tuple[str, ...] = (notes.source,)
    text = sentence
    if claim.subject in _PRONOUNS or not claim.is_read:
        found = corrected(told.text, notes.before, notes.speaker)
        if found is not None:
            lead = told.correction.rstrip()
            text, claim = f"{lead} {_lowered(found.text)}", found.claim
            sources = tuple(dict.fromkeys([found.source, notes.source]))
        elif (value := bare_value(told.text)) is not None:
            claim = Claim("it", "is", value, claim.polarity)
    same = [draft for draft in notes.drafts if draft.claim.is_read and _same_key(draft.claim, claim)]
    for draft in same:
        notes.drafts.remove(draft)
        notes.skip(draft.told or draft.text, significance.CORRECTED)
    if same and text == sentence:
        text = told.text
    mood = significance.mood_of(told.text, claim, notes.language)
    notes.keep(Draft(text, claim, notes.turn.role, notes.language, sources, mood, told=sentence))


def _lowered(text: str) -> str:
    first = text.split(maxsplit=1)[0] if text.split() else ""
    return text[0].lower() + text[1:] if first in {"The", "My", "Our", "A", "An", "This"} else text


def _same_key(one: Claim, other: Claim) -> bool:
    return one.subject == other.subject and one.attribute == other.attribute


def _retraction(notes: Notes, sentence: str, told: Opened) -> None:
    claim = significance.forgotten(told.text, notes.language, notes.speaker)
    notes.keep(Draft(sentence, claim, notes.turn.role, notes.language, (notes.source,), "retraction", told=sentence))
