"""Whether a sentence is worth remembering, by taking away what is not.

Rule of this file: everything said is a fact unless there is a reason against it, and the reason is told.
"""

import re
from typing import Final

from schemas.facts import Mood
from streams.extract.claims import Claim, tidy
from streams.extract.cues import CHATTER, CUES, spoken
from streams.extract.english_nouns import noun_phrase
from streams.extract.forms import owned
from streams.extract.reading import read_claim
from streams.extract.remembered import remembered
from streams.extract.stance import (
    is_light,
    stance_against,
    tells_plan,
    tells_preference,
    tells_restraint,
    without_vocative,
)
from streams.ruledata import load

MIN_LETTERS: Final = 3
MAX_FRAGMENT: Final = 3
"""Words of a heading."""
MAX_PHRASE: Final = 8
"""Words of a phrase that names what shall be forgotten."""
_MASK = re.compile(r"\[masked:\w+\]")
_WORD = re.compile(r"\w+")
_IDEOGRAPH = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_QUESTION_MARK = re.compile(r"[?\uff1f؟][\s\"'”»)\]!\uff01]*$")
_INTRODUCTION = re.compile(r"[:\uff1a]\s*$")
_DATA = load("extract", "importance")
_PREFERENCES = frozenset(_DATA["preference"])
_PREFERENCE_WORDS: tuple[str, ...] = tuple(_DATA["preference_words"])
_PLANS = frozenset(_DATA["plan"])
_DIALOGUE = load("extract", "dialogue")
_HOW_TO, _ASKED, _ASKED_ON, _INTERROGATIVE = (
    re.compile(_DIALOGUE[name], re.IGNORECASE | re.DOTALL) for name in ("how_to", "asked", "asked_on", "interrogative")
)
_ATTRIBUTES_ASKED = tuple(
    (re.compile(row["pattern"], re.IGNORECASE), row["attribute"]) for row in _DIALOGUE["attributes_asked"]
)

GREETING: Final = "greeting or thanks"
QUESTION: Final = "question"
REQUEST: Final = "request to the assistant"
HYPOTHETICAL: Final = "hypothetical: it may not be so"
META: Final = "talk about the conversation itself"
REACTION: Final = "reaction without content of its own"
ORDER: Final = "order to the memory or the system: not a fact"
ECHO: Final = "text that came out of a memory"
QUOTE: Final = "quoted text of somebody else"
THIN: Final = "too little content"
ONLY_MASK: Final = "nothing but a masked secret"
INTRODUCTION: Final = "introduces what follows"
REPEATED: Final = "said before in the same message"
CORRECTED: Final = "corrected in the same message"
SUGGESTION: Final = "suggestion of the assistant: kept only if it is taken"
UNCONFIRMED: Final = "statement of the assistant: kept only if the user agrees"
ROLE: Final = "text of the {role} role: nobody's words"
CUT: Final = "beyond the {limit} characters of a message that are read"
CODE: Final = "code without anything said about it"
TOO_MANY: Final = "more facts than one message may hold"
THIN_REASONS: Final = frozenset({THIN, REACTION})
"""Reasons that do not hold against a correction: "sorry, it is MariaDB" says enough."""
_CUES_AGAINST: Final = (
    ("injection", ORDER),
    ("echo", ECHO),
    ("meta", META),
    ("greeting", GREETING),
    ("verdict", REACTION),
)


@remembered
def reason_against(sentence: str, language: str) -> str | None:  # noqa: PLR0911 - a ladder of reasons
    """Why a sentence is no fact, or None.

    Args:
        sentence: One sentence, its openers taken off.
        language: ISO 639-1, or "und".
    """
    empty = _emptiness_of(sentence) or _thin(sentence)
    if empty:
        return empty
    if is_question(sentence, language):
        return QUESTION
    if spoken("request", sentence, language) and not spoken("standing", sentence, language):
        return REQUEST
    if spoken("hypothetical", sentence, language):
        return HYPOTHETICAL
    stance = stance_against(sentence, language)
    if stance:
        return stance
    if is_light(sentence, language):
        return THIN
    return INTRODUCTION if _INTRODUCTION.search(sentence) else None


def _emptiness_of(sentence: str) -> str | None:
    """What a sentence does instead of telling something, or None."""
    chats = CUES["chatter"].begins(sentence)
    for cue, reason in _CUES_AGAINST:
        if (chats or cue not in CHATTER) and CUES[cue].found(sentence):
            return reason
    bare = without_vocative(sentence)
    if bare != sentence and CUES["verdict"].found(bare):
        return REACTION
    if _corrects_nothing(sentence):
        return META
    if not chats:
        return None
    if CUES["wellbeing"].is_all_of(sentence, spare=0):
        return GREETING
    return REACTION if CUES["chatter"].is_all_of(sentence, strict=True) else None


def _corrects_nothing(sentence: str) -> bool:
    """Whether a sentence says that something was wrong and not what is right: "Sorry, I was wrong."."""
    told = f"{sentence.rstrip(' .!?,')}."
    opening = CUES["correction"].opens(told)
    return opening is not None and not tidy(told[opening.end() :])


def is_question(sentence: str, language: str) -> bool:
    """Whether a sentence asks."""
    return bool(_QUESTION_MARK.search(sentence)) or spoken("question", sentence, language)


def asked_on(sentence: str) -> int | None:
    """Where a question or request begins that hangs on a statement; None where none does."""
    match = _ASKED_ON.search(sentence)
    return match.start() if match is not None and match.start() else None


def is_fragment(sentence: str, language: str) -> bool:
    """Whether an English text that no grammar could read is a heading or an item rather than a statement."""
    words = _WORD.findall(sentence)
    if language not in {"en", "und"} or len(words) > MAX_FRAGMENT or _IDEOGRAPH.search(sentence):
        return False
    return (
        sentence.isascii()
        and not (len(words) == MAX_FRAGMENT and _HOW_TO.match(sentence))
        and not any(letter.isdigit() or letter == "`" for letter in sentence)
    )


def _thin(sentence: str) -> str | None:
    bare = _MASK.sub("", sentence)
    words = _WORD.findall(bare)
    if bare != sentence and len(words) < 4:  # noqa: PLR2004 - "the key is" says nothing
        return ONLY_MASK
    letters = sum(len(word) for word in words)
    if letters < MIN_LETTERS or (len(words) < 2 and len(_IDEOGRAPH.findall(bare)) < 4):  # noqa: PLR2004 - words, signs
        return THIN
    return None


def forgotten(text: str, language: str, speaker: str) -> Claim:
    """What a request to forget speaks of: an attribute of somebody, without a value; or a whole claim.

    Args:
        text: What follows "please forget".
        language: ISO 639-1, or "und".
        speaker: Who "I" is.
    """
    for pattern, attribute in _ATTRIBUTES_ASKED:
        if pattern.match(text):
            return Claim(speaker, attribute)
    asked = tidy(_ASKED.sub("", text))
    if _INTERROGATIVE.match(asked):
        return Claim()
    claim = read_claim(asked, language, speaker)
    if claim.is_read:
        return claim
    if language not in {"en", "und"}:
        return owned(asked, language, speaker)
    phrase = noun_phrase(asked, speaker) if len(asked.split()) <= MAX_PHRASE else None
    return Claim(phrase.owner, phrase.thing) if phrase is not None and phrase.owner else Claim()


def mood_of(sentence: str, claim: Claim, language: str = "en") -> Mood:
    """What the speaker does by saying it.

    Args:
        sentence: As told, without its openers.
        claim: As it was read.
        language: ISO 639-1, or "und".
    """
    attribute = claim.attribute or ""
    if attribute in _PREFERENCES or any(word in attribute for word in _PREFERENCE_WORDS):
        return "preference"
    if tells_restraint(sentence, language):
        return "preference"
    if attribute in _PLANS or attribute.startswith("will ") or tells_plan(sentence, language):
        return "plan"
    if tells_preference(sentence, language):
        return "preference"
    if _HOW_TO.match(sentence):
        return "instruction"
    return "assertion"
