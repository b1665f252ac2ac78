"""What of a sentence is told, and what around it only reacts, asks or supposes.

Rule of this file: a part is cut off only where it says nothing by itself, and only if what is left stands by itself;
every word of the sentence is in a part. What cannot be cut is one part.
"""

import re
from dataclasses import dataclass
from typing import Final

from streams.extract import significance
from streams.extract.claims import tidy
from streams.extract.cues import spoken
from streams.extract.openers import opened
from streams.extract.reading import read_claim
from streams.extract.stance import WISH, speaks_of_self
from streams.ruledata import load

MAX_SENTENCE: Final = 400
"""Characters of a sentence that is looked into; a longer one is one part."""
MAX_HEADS: Final = 3
"""Reactions before a statement."""
MAX_HEAD: Final = 80
"""Characters of a reaction."""
MIN_WORDS: Final = 2
_FLAGS = re.IGNORECASE | re.DOTALL
_DATA = load("extract", "parts")


def _compiled(name: str) -> dict[str, re.Pattern[str]]:
    return {language: re.compile(pattern, _FLAGS) for language, pattern in _DATA[name].items()}


_HANGS_ON, _RUNS_ON, _TELLS_ON, _JOINTS, _HEAD_ENDS, _TRAILS, _LEANS, _RELATIVE, _GIVEN = map(
    _compiled,
    ("hangs_on", "runs_on", "tells_on", "joints", "head_ends", "trails", "leans", "relative", "given"),
)
_OWNED = re.compile(_DATA["owned"], _FLAGS)
_COMMA = re.compile(r"\s*[,;\uff0c]\s*|\s+-+\s+|\.{2,}\s*|[!.]\s+")
_ASKS = re.compile(r"[?\uff1f]\W*$")
_WORD = re.compile(r"\w+")
_EMPTY: Final = frozenset({significance.GREETING, significance.REACTION, WISH})


@dataclass(frozen=True)
class Part:
    """A part of a sentence.

    Attributes:
        text: As told.
        reason: Why it is no fact; None where it may be one.
    """

    text: str
    reason: str | None = None


def parts_of(sentence: str, language: str, *, answers: bool = False) -> list[Part]:
    """Take a sentence apart into what is told and what is not, in order.

    Args:
        sentence: One sentence.
        language: ISO 639-1; "und" is taken apart as English.
        answers: Whether it follows a question: then a single word can be told.
    """
    language = "en" if language == "und" else language
    told = opened(sentence)
    if len(sentence) > MAX_SENTENCE or "`" in sentence or told.correction or told.forget or told.remember:
        return [Part(sentence)]
    heads, core = _heads(told.text, language)
    core, tail = _question_behind(core, language, answers=answers)
    if tail is None:
        question, core = _question_before(core, language)
        heads += [question] if question else []
    middle = _suppositions(core, language)
    parts = [*heads, *middle, *([tail] if tail else [])]
    return parts if len(parts) > 1 else [Part(sentence)]


def stands(text: str, language: str, *, answers: bool = False) -> bool:
    """Whether a text says something by itself: of the speaker, or a claim."""
    words = _WORD.findall(text)
    leans = _LEANS.get(language)
    if leans is not None and leans.match(text.lstrip()):
        return False
    if language == "zh":
        return len(text) >= 3 and ("我" in text or read_claim(text, language).is_read)  # noqa: PLR2004 - signs
    if answers and 0 < len(words) <= 3:  # noqa: PLR2004 - words
        return True
    if len(words) <= MIN_WORDS:
        return False
    return speaks_of_self(text, language) or read_claim(text, language).is_read


def _heads(text: str, language: str) -> tuple[list[Part], str]:
    """Reactions and greetings before the first word that tells something."""
    heads: list[Part] = []
    ends = _HEAD_ENDS.get(language)
    while ends is not None and len(heads) < MAX_HEADS:
        for end in ends.finditer(text, 0, MAX_HEAD + 1):
            head, rest = text[: end.start()], text[end.end() :]
            if not head or spoken("hypothetical", head, language) or not _is_enough(rest, language):
                continue
            reason = significance.reason_against(head, language)
            if end.group().isspace() and (reason == WISH or (_OWNED.match(rest) and speaks_of_self(head, language))):
                continue  # "I wish | I had a boat", "I see | my work as play"
            if reason == WISH and _trails(rest, language):
                continue  # "I hope it grows, | making all of us richer"
            if reason in _EMPTY and not (_leans(head, language) and len(_WORD.findall(head)) == 1):
                heads.append(Part(head, reason))
                text = opened(rest).text
                break
        else:
            break
    return heads, text


def _trails(text: str, language: str) -> bool:
    """Whether a text tells only how what stands before it goes on."""
    trails = _TRAILS.get(language)
    return trails is not None and trails.match(text) is not None


def _is_enough(text: str, language: str) -> bool:
    return language == "zh" or len(_WORD.findall(text)) >= MIN_WORDS


def _question_behind(text: str, language: str, *, answers: bool) -> tuple[str, Part | None]:
    """A question that hangs on a statement, apart from it."""
    if not _ASKS.search(text):
        return text, None
    hangs_on, runs_on = _HANGS_ON.get(language), _RUNS_ON.get(language)
    cuts = []
    if hangs_on is not None:
        cuts = [(cut.start(), cut.end()) for cut in _COMMA.finditer(text) if hangs_on.match(text, cut.end())]
    if runs_on is not None:
        cuts += [(match.start(), match.start()) for match in runs_on.finditer(text)]
    cuts.sort()
    relative = _RELATIVE.get(language)
    for start, end in cuts:
        if relative is not None and (start, end) != cuts[-1] and relative.match(text, end):
            continue
        head = _without_reason_word(text[:start], language)
        if head is None and stands(text[:start], language, answers=answers):
            head = text[:start]
        if head is not None and not spoken("question", head, language):
            return head, Part(text[end:].strip(), significance.QUESTION)
    return text, None


def _without_reason_word(text: str, language: str) -> str | None:
    """A reason told by itself, "I moved to Ulm" of "since I moved to Ulm"; None where the text is no such thing."""
    given = _GIVEN[language].match(text) if language in _GIVEN else None
    told = text[given.end() :] if given is not None else ""
    if language != "zh" and len(_WORD.findall(told)) <= MIN_WORDS:
        return None
    takes_verb = given is not None and given.end() == 0  # the grammars read no verb at the end
    return told if takes_verb or read_claim(told, language).is_read else None


def _question_before(text: str, language: str) -> tuple[Part | None, str]:
    """A question on which a statement hangs, apart from it."""
    tells_on = _TELLS_ON.get(language)
    if tells_on is None or _ASKS.search(text) or not spoken("question", text, language):
        return None, text
    for cut in tells_on.finditer(text):
        rest = text[cut.end() :]
        if read_claim(rest, language).is_read:
            return Part(text[: cut.start()], significance.QUESTION), rest
    return None, text


def _suppositions(text: str, language: str) -> list[Part]:
    """What is so apart from what may be so; one part where nothing stands without the supposition."""
    joints = _JOINTS.get(language)
    if joints is None or not spoken("hypothetical", text, language):
        return [Part(text)]
    spans, place = [], 0
    for joint in joints.finditer(text):
        spans.append((place, joint.start(), joint.end()))
        place = joint.end()
    spans.append((place, len(text), len(text)))
    parts: list[tuple[int, int, bool]] = []
    for start, end, _ in spans:
        piece = text[start:end]
        if not piece.strip():
            continue
        supposed = spoken("hypothetical", piece, language)
        follows = bool(parts) and not supposed and not stands(piece, language)
        leaning = bool(parts) and parts[-1][2] and _leans(text[parts[-1][0] : parts[-1][1]], language)
        if parts and (follows or leaning or supposed == parts[-1][2]):
            parts[-1] = (parts[-1][0], end, parts[-1][2])
        else:
            parts.append((start, end, supposed or _leans(piece, language)))
    if not any(not supposed and stands(text[start:end], language) for start, end, supposed in parts):
        return [Part(text)]
    return [
        Part(text[start:end].strip(" ,"), significance.HYPOTHETICAL if supposed else None)
        for start, end, supposed in parts
        if tidy(text[start:end])
    ]


def _leans(text: str, language: str) -> bool:
    leans = _LEANS.get(language)
    return leans is not None and leans.match(text.lstrip()) is not None
