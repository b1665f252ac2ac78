"""What a turn means together with the one before it: answers to questions, and what was agreed to.

Rule of this file: a fact made of two turns names both as its sources.
"""

import re
from collections.abc import Sequence

from schemas.conversation import Turn
from streams.extract.blocks import blocks_of
from streams.extract.claims import Claim, tidy
from streams.extract.cues import CUES, SPOKEN, spoken
from streams.extract.drafts import Draft
from streams.extract.english import polarity_of
from streams.extract.english_nouns import without_determiner
from streams.extract.language import language_of
from streams.extract.openers import opened
from streams.extract.reading import read_claim, speaker_of
from streams.extract.sentences import sentences_of
from streams.extract.significance import is_question
from streams.ruledata import load

MAX_ANSWER_WORDS = 12
MAX_AGREED = 3
"""Facts that one agreement can make."""
LOOK_BACK = 4_000
"""Characters of an earlier turn that are read."""
_DATA = load("extract", "dialogue")
_PATTERNS = {
    name: re.compile(_DATA[name], re.IGNORECASE)
    for name in ("yes", "no", "which", "what_is", "where_live", "how_old", "polar")
}
_POLAR_VERBS: dict[str, str] = _DATA["polar_verbs"]


def last_of_other(turn: Turn, context: Sequence[Turn]) -> Turn | None:
    """The turn just before, where somebody else said it."""
    if not context:
        return None
    before = context[-1]
    return before if (before.role, before.name) != (turn.role, turn.name) else None


def sentences_said(turn: Turn) -> list[tuple[str, str]]:
    """The sentences of a turn's prose, each with the language of the turn."""
    prose = [block.text for block in blocks_of(turn.content[:LOOK_BACK]) if block.kind == "prose"]
    language = language_of(" ".join(prose))
    return [(sentence, language) for text in prose for sentence in sentences_of(text, language)]


def question_of(turn: Turn) -> str | None:
    """The question of a turn; of several the one that says most, the last of equals."""
    asked = [sentence for sentence, language in sentences_said(turn) if is_question(sentence, language)]
    return opened(max(reversed(asked), key=lambda sentence: len(sentence.split()))).text if asked else None


def answered(turn: Turn, before: Turn, sentence: str, language: str) -> Draft | None:
    """The fact of a short answer with its question, or None where it answers nothing.

    Args:
        turn: The turn that answers.
        before: The turn that asked.
        sentence: Its first sentence.
        language: Of the answer.
    """
    if len(sentence.split()) > MAX_ANSWER_WORDS or is_question(sentence, language):
        return None
    question = question_of(before)
    if question is None:
        return None
    says_yes, says_no = bool(_PATTERNS["yes"].match(sentence)), bool(_PATTERNS["no"].match(sentence))
    speaker = speaker_of(turn)
    if not (says_yes or says_no) and (read_claim(sentence, language, speaker).is_read or not _carries(sentence)):
        return None
    claim = _answer_claim(question, sentence, speaker, negative=says_no)
    if says_yes or says_no:
        polar = _PATTERNS["polar"].match(question)
        if polar is None:
            return None
    return Draft(
        text=f"{question} {sentence}",
        claim=claim,
        role=turn.role,
        language=language if language != "und" else language_of(question),
        sources=(before.identified().turn_id or "", turn.identified().turn_id or ""),
        told=sentence,
    )


def _carries(sentence: str) -> bool:
    return not (CUES["greeting"].is_all_of(sentence, spare=0) or CUES["reaction"].is_all_of(sentence, spare=0))


def _answer_claim(question: str, answer: str, speaker: str, *, negative: bool) -> Claim:
    polar = _PATTERNS["polar"].match(question)
    if polar is not None:
        claim = read_claim(f"I {_POLAR_VERBS[polar['verb'].casefold()]} {polar['rest']}", "en", speaker)
        return Claim(claim.subject, claim.attribute, claim.value, "negative" if negative else claim.polarity)
    value = without_determiner(answer)
    if _PATTERNS["where_live"].match(question):
        return Claim(speaker, "home", re.sub(r"^in\s+", "", value, flags=re.IGNORECASE))
    if _PATTERNS["how_old"].match(question):
        return Claim(speaker, "age", value)
    for form in ("which", "what_is"):
        match = _PATTERNS[form].match(question)
        if match is not None:
            noun = tidy(match["noun"]).casefold()
            thing = noun.removesuffix(" called").removesuffix(" named")
            return Claim(speaker, noun, value) if thing == noun else Claim(f"{speaker}'s {thing}", "name", value)
    return Claim(polarity=polarity_of(answer))


def agrees(sentence: str) -> bool:
    """Whether a sentence is nothing but an agreement."""
    return CUES["accept"].is_all_of(sentence, spare=0)


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
    core = tidy(SPOKEN["proposal"]["en"].sub("", tidy(opened(text).text)))
    claim = read_claim(f"we {core}", "en", speaker)
    return claim if claim.attribute == "change" else Claim(polarity=claim.polarity)
