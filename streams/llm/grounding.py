"""Whether a fact that a model tells is in what was said: its words, its numbers, its sense, its language.

Rule of this file: deterministic, and strict where it costs little: what is refused here the rules have read for
themselves. Words of the other side count only where it asks: what an assistant states or suggests is nobody's fact.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from streams.decide.subjects import same_subject, subject_words
from streams.decide.words import words_of
from streams.extract import significance
from streams.extract.claims import Claim
from streams.extract.clauses import clauses_of
from streams.extract.dates import resolve_dates
from streams.extract.language import UNKNOWN, language_of
from streams.extract.reading import read_claim, speaker_of
from streams.llm.transcript import Spoken
from streams.ruledata import load

SHARE: Final = 0.5
"""Of a fact's words of content more than this must have been said."""
VALUE_SHARE: Final = 0.75
"""Of the words of its value, where it has one, so many: "I live in Lyon" is not said by "I live in Porto"."""
OWN_SHARE: Final = 0.4
"""Of them that must have been said in the turn itself; context may lend the rest."""
VERBATIM: Final = 0.9
"""Share from which a fact is in the speaker's own words, whatever language it seems to be in."""
NOT_SAID: Final = "the model told it, but nobody said it"
SAID_BEFORE: Final = "the model told it again: it was read where it was said"
TRANSLATED: Final = "the model told it in another language than it was said in"
TURNED: Final = "the model told it the other way round"
OF_ANOTHER: Final = "the model told it of somebody or something else"
LONG: Final = "the model told it at greater length than one fact has"

_DATA = load("llm", "grounding")
_NAME = re.compile(r"(?<=[\w,] )[^\W\d_a-zß-öø-ÿ][\w-]+")
_SPEAKER, _FIRST_PERSON, _PRONOUNS = (frozenset(_DATA[name]) for name in ("speaker", "first_person", "pronouns"))
_ADVERSATIVES = {
    language: re.compile(rf"[\s,;:]+(?:{'|'.join(map(re.escape, words))})\s+", re.IGNORECASE)
    for language, words in _DATA["adversatives"].items()
} | {
    language: re.compile(rf"[,\uff0c]?(?:{'|'.join(map(re.escape, signs))})[,\uff0c]?")
    for language, signs in _DATA["adversative_signs"].items()
}


@dataclass(frozen=True)
class Ground:
    """Where a fact was said.

    Attributes:
        spoken: The turn.
        share: Of its words of content that were said there or in what it answers, 0 … 1.
        lender: An earlier turn that lent words; None where the turn has them all.
    """

    spoken: Spoken
    share: float
    lender: Spoken | None = None


def content_of(text: str, speaker: str = "") -> tuple[str, ...]:
    """A text's words of content, without those that stand for the speaker."""
    own = set(words_of(speaker).all)
    return tuple(word for word in words_of(text).content if word not in _SPEAKER and word not in own)


def ground_of(text: str, told_turn: int | None, spoken: Sequence[Spoken], first_new: int) -> Ground | str:
    """Find where a fact was said, or the reason why it is refused.

    Args:
        text: The fact, as the model tells it.
        told_turn: Number of the turn that the model names.
        spoken: The conversation.
        first_new: Number of the first turn that is no context.
    """
    own = [one for one in spoken if one.number >= first_new and one.turn.role == "user" and one.sentences]
    ranked = sorted(own, key=lambda one: (-_share(text, one, [one.text]), one.number != told_turn, -one.number))
    if not ranked:
        return NOT_SAID
    found = ranked[0]
    lenders = [one for one in spoken if one.number < found.number and _lent(one, found)]
    said = [found.text, *(_lent(one, found) for one in lenders)]
    own_share, share = _share(text, found, [found.text]), _share(text, found, said)
    if _is_borrowed(text, found, said, spoken):
        return significance.UNCONFIRMED
    if share <= SHARE or own_share < OWN_SHARE:
        return NOT_SAID
    if any(_share(text, found, [one.text]) > own_share for one in lenders):
        return SAID_BEFORE
    lender = _lender(text, found, lenders) if share > own_share else None
    refused = _refused(text, found, share)
    return refused if refused is not None else Ground(found, share, lender)


def _is_borrowed(text: str, found: Spoken, said: Sequence[str], spoken: Sequence[Spoken]) -> bool:
    """Whether a word of a fact was not said by the speaker but stated by somebody else."""
    theirs = [one.text for one in spoken if (one.turn.role, one.turn.name) != (found.turn.role, found.turn.name)]
    missing = set(content_of(text, found.turn.name or "")) - _words(said)
    return bool(missing & _words(theirs))


def _words(said: Sequence[str]) -> set[str]:
    return {word for part in said for word in words_of(part).all}


def _share(text: str, found: Spoken, said: Sequence[str]) -> float:
    """Share of a fact's words of content that are in what was said; 0 for a fact that has none."""
    wanted = content_of(text, found.turn.name or "")
    there = _words(said)
    return sum(word in there for word in wanted) / len(wanted) if wanted else 0.0


def _lent(one: Spoken, to: Spoken) -> str:
    """What of an earlier turn may lend words to a later one: all of the same speaker's, the questions of others."""
    if (one.turn.role, one.turn.name) == (to.turn.role, to.turn.name):
        return one.text
    return " ".join(sentence for sentence in one.sentences if significance.is_question(sentence, one.language))


def _lender(text: str, found: Spoken, lenders: Sequence[Spoken]) -> Spoken | None:
    """The turn that lends most of the words that the fact's own turn has not; of equals the last."""
    missing = set(content_of(text, found.turn.name or "")) - set(words_of(found.text).all)
    ranked = sorted(lenders, key=lambda one: (len(missing & set(words_of(_lent(one, found)).all)), one.number))
    return ranked[-1] if ranked and missing & set(words_of(_lent(ranked[-1], found)).all) else None


def _refused(text: str, found: Spoken, share: float) -> str | None:
    """Why a fact whose words were said is refused all the same."""
    language = language_of(text)
    if share < VERBATIM and UNKNOWN not in {language, found.language} and language != found.language:
        return TRANSLATED
    reason = significance.reason_against(text, language)
    if reason is not None:
        return reason
    claim = read_claim(text, language, speaker_of(found.turn))
    if not _says_what(text, claim, found):
        return NOT_SAID
    alike = [clause for clause in _closest(text, found) if words_of(clause).negative == words_of(text).negative]
    if not alike:
        return TURNED
    return None if any(_is_of_the_same(text, claim, clause, found) for clause in alike) else OF_ANOTHER


def _says_what(text: str, claim: Claim, found: Spoken) -> bool:
    """Whether the turn itself says a fact's value, figures and names; only of whom it speaks may another turn say."""
    there, value = _said_with_dates(found), words_of(claim.value or "").content
    about = subject_words(claim.subject) if claim.subject is not None else frozenset()
    return not details_of(text) - there - about and sum(word in there for word in value) >= VALUE_SHARE * len(value)


def _is_of_the_same(text: str, claim: Claim, clause: str, found: Spoken) -> bool:
    """Whether a clause speaks of what a fact speaks of, or of "it", so that context must say of what."""
    if claim.subject is None:
        return True
    speaker = speaker_of(found.turn)
    said = read_claim(clause, found.language, speaker)
    words = _parts_of(clause)
    if same_subject(claim.subject, said.subject) or words & _PRONOUNS:
        return True
    if claim.subject == speaker:
        says_i = bool(_parts_of(text) & (_FIRST_PERSON | _SPEAKER))  # and not only "my"
        return not says_i or (said.subject is None and bool(words & _FIRST_PERSON))
    return subject_words(claim.subject) - subject_words(speaker) <= words


def _parts_of(text: str) -> set[str]:
    """The words of a text, of contractions their first."""
    return {word.split("'")[0] for word in words_of(text).all}


def details_of(text: str) -> set[str]:
    """Words that no paraphrase may lose: figures, and names, which have a capital and do not open a sentence."""
    return _figures(text) | {word for name in _NAME.findall(text) for word in words_of(name).all}


def _figures(text: str) -> set[str]:
    """Words with a digit in them: numbers, times, versions, identifiers."""
    return {word for word in words_of(text).all if any(sign.isdigit() for sign in word)}


def _said_with_dates(source: Spoken) -> set[str]:
    """The words of a turn, with the dates that its relative ones resolve to."""
    return _words([source.text, resolve_dates(source.text, source.turn.timestamp, source.language)])


def _closest(text: str, found: Spoken) -> list[str]:
    """The clauses of a turn that say most of a fact."""
    wanted = set(content_of(text, found.turn.name or ""))
    clauses = list(_clauses(found))
    shares = [len(wanted & set(words_of(clause).all)) for clause in clauses]
    best = max(shares, default=0)
    return [clause for clause, share in zip(clauses, shares, strict=True) if share == best]


def _clauses(found: Spoken) -> Iterator[str]:
    between = _ADVERSATIVES.get(found.language, _ADVERSATIVES["en"])
    for sentence in found.sentences:
        for part in filter(str.strip, between.split(sentence)):
            yield from clauses_of(part, found.language)
