"""What a turn means together with the one before it: answers to questions, and what was agreed to.

Rule of this file: a fact made of two turns names both as its sources.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from schemas.conversation import Turn
from streams.extract.antecedents import pronoun_of
from streams.extract.blocks import blocks_of
from streams.extract.claims import Claim, tidy
from streams.extract.cues import CUES, SPOKEN, spoken
from streams.extract.drafts import Draft
from streams.extract.language import language_of
from streams.extract.lowered import lowered
from streams.extract.openers import opened
from streams.extract.questions import (
    answer_of,
    asks_by_telling,
    attribute_asked,
    claim_of_answer,
    is_answerable,
    is_courtesy,
    takes_all_or_none,
    thing_asked,
)
from streams.extract.reading import read_claim, speaker_of
from streams.extract.sentences import sentences_of
from streams.extract.significance import THIN, is_question, mood_of, reason_against
from streams.extract.stance import is_light

MAX_ANSWER_WORDS = 12
MAX_AGREED = 3
"""Facts that one agreement can make."""
MAX_TOLD = 200
"""Characters before a question such as "which one?" that it is told with."""
LOOK_BACK = 4_000
"""Characters of an earlier turn that are read."""


def last_of_other(turn: Turn, context: Sequence[Turn]) -> Turn | None:
    """The turn just before, where somebody else said it."""
    if not context:
        return None
    before = context[-1]
    return before if (before.role, before.name) != (turn.role, turn.name) else None


def sentences_said(turn: Turn) -> tuple[tuple[str, str], ...]:
    """The sentences of a turn's prose, each with the language of the turn."""
    return _sentences_in(turn.content[:LOOK_BACK])


@lru_cache(maxsize=128)
def _sentences_in(content: str) -> tuple[tuple[str, str], ...]:
    prose = [block.text for block in blocks_of(content) if block.kind == "prose"]
    language = language_of(" ".join(prose))
    return tuple((sentence, language) for text in prose for sentence in sentences_of(text, language))


def question_of(turn: Turn) -> str | None:
    """The question of a turn; of several the one that says most, the last of equals. One of courtesy asks nothing."""
    asked = []
    told = ""
    for sentence, language in sentences_said(turn):
        question = opened(sentence).text
        if (is_question(sentence, language) or asks_by_telling(sentence)) and not is_courtesy(question):
            asked.append(f"{told} {question}".strip() if is_light(question, language) else question)
        told = f"{told} {sentence}"[-MAX_TOLD:]
    return max(reversed(asked), key=lambda sentence: len(sentence.split())) if asked else None


def answered(turn: Turn, before: Turn, question: str, sentence: str, language: str) -> Draft | None:
    """The fact of a short answer with its question, or None where it answers nothing or stands by itself.

    Args:
        turn: The turn that answers.
        before: The turn that asked.
        question: What it asked, as ``question_of`` gives it.
        sentence: The first sentence of the answer.
        language: Of the answer.
    """
    if len(sentence.split()) > MAX_ANSWER_WORDS or is_question(sentence, language):
        return None
    speaker, tongue = speaker_of(turn), _tongue(question, language)
    claim = read_claim(opened(sentence).text, language, speaker)
    attribute = attribute_asked(question, tongue)
    if claim.subject == speaker and claim.attribute in {"is", "is a"} and attribute is not None:
        return _draft(turn, before, sentence, text=sentence, claim=replace(claim, attribute=attribute), language=tongue)
    if claim.is_read and pronoun_of(sentence) is not None:
        thing = thing_asked(question, tongue, speaker)
        told = replace(claim, subject=thing)
    else:
        thing = "" if _answers(question, sentence, claim, tongue=tongue, language=language, speaker=speaker) else None
        told = claim_of_answer(question, sentence, tongue, speaker)
    if thing is None:
        return None
    return _draft(turn, before, sentence, text=f"{question} {sentence}", claim=told, language=tongue)


def _answers(question: str, sentence: str, claim: Claim, *, tongue: str, language: str, speaker: str) -> bool:
    """Whether a sentence needs its question to be understood."""
    answer = answer_of(sentence)
    if answer.says:
        stands = read_claim(answer.more, language, speaker).subject in {speaker, "we"}
        return is_answerable(question, tongue) and not stands
    if takes_all_or_none(question, sentence):
        return True
    if is_light(sentence, language):
        return False
    bare = claim.attribute == "to do" and claim.subject != speaker  # read into what is only a phrase: "3 May"
    reason = reason_against(sentence, language)
    return (bare or not claim.is_read) and reason in {None, THIN}


def _draft(turn: Turn, before: Turn, sentence: str, *, text: str, claim: Claim, language: str) -> Draft:
    return Draft(
        text=text,
        claim=claim,
        role=turn.role,
        language=language,
        sources=(before.identified().turn_id or "", turn.identified().turn_id or ""),
        mood="decision" if spoken("proposal", text, language) else mood_of(sentence, claim, language),
        told=sentence,
    )


def _tongue(question: str, language: str) -> str:
    """The language of a question and its answer: a short answer alone tells none."""
    asked = language_of(question)
    return asked if asked != "und" else language


_PIECES: Final = re.compile(r"[,.;!\u3002\uff0c\uff01]+")


def agrees(sentence: str) -> bool:
    """Whether a sentence is nothing but an agreement, thanks aside."""
    if CUES["accept"].is_all_of(sentence, spare=0):
        return True
    pieces = [piece for piece in _PIECES.split(sentence) if piece.strip()]
    accepts = [CUES["accept"].is_all_of(piece, spare=0) for piece in pieces]
    return any(accepts) and all(
        accepted or CUES["greeting"].is_all_of(piece, spare=0) for accepted, piece in zip(accepts, pieces, strict=True)
    )


def chosen(turn: Turn, before: Turn, sentence: str, language: str) -> Draft | None:
    """The decision of a sentence that takes one of the things put forward just before, or None."""
    if len(sentence.split()) > MAX_ANSWER_WORDS or not spoken("choice", sentence, language):
        return None
    proposals = [text for text, told_in in sentences_said(before) if _is(text, told_in, "proposal")]
    if not proposals:
        return None
    claim = read_claim(opened(sentence).text, language, speaker_of(turn))
    text = f"{proposals[-1]} {sentence}"
    return replace(_draft(turn, before, sentence, text=text, claim=claim, language=language), mood="decision")


def agreed(turn: Turn, before: Turn, sentence: str) -> list[Draft]:
    """The facts of an agreement: what was put forward, or what was reported to be done.

    Args:
        turn: The turn that agrees.
        before: The assistant's turn that it agrees to.
        sentence: The agreement.
    """
    said = sentences_said(before)
    results = [(text, language) for text, language in said if _is(text, language, "result")]
    proposals = [(text, language) for text, language in said if _is(text, language, "proposal")]
    sources = (before.identified().turn_id or "", turn.identified().turn_id or "")
    if results:
        return [
            Draft(text, _claim_of(text, language, "assistant"), "assistant", language, sources)
            for text, language in results[:MAX_AGREED]
        ]
    return [
        Draft(
            f"{text} {sentence}",
            _proposed(text, language, speaker_of(turn)),
            turn.role,
            language,
            sources,
            "decision",
            told=sentence,
        )
        for text, language in proposals[-1:]
    ]


def _is(text: str, language: str, cue: str) -> bool:
    return spoken(cue, opened(text).text, language) or spoken(cue, text, language)


def _claim_of(text: str, language: str, speaker: str) -> Claim:
    return read_claim(opened(text).text, language, speaker)


def _proposed(text: str, language: str, speaker: str) -> Claim:
    """The claim of a suggestion that was taken: "you could switch X to Y" means that X is switched to Y."""
    if language not in {"en", "und"}:
        return Claim()
    said = tidy(opened(text).text)
    proposal = SPOKEN["proposal"]["en"].match(lowered(said))
    core = tidy(said[proposal.end() :] if proposal else said)
    claim = read_claim(f"we {core}", "en", speaker)
    return claim if claim.attribute == "change" else Claim(polarity=claim.polarity)
