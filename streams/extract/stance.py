"""Whom a sentence is about and how it is meant: the speaker, the other side, nobody; liked, planned, wished.

Rule of this file: it asks the words of the sentence's language (``stance.yaml``); where a language has none for a
question, the answer is no. What a figure, a name or a word of the trade anchors is never taken for small talk.
"""

import re
from typing import Final

from streams.extract.lowered import lowered
from streams.extract.vocabulary import is_of_a_trade
from streams.ruledata import load

WISH: Final = "wish for somebody: nothing that is so"
OTHER_SIDE: Final = "about the other side of the conversation"
OPINION: Final = "general opinion about nothing in particular"
COMMENT: Final = "comment on what the other side said"
UNNAMED: Final = "speaks of something that was not named"

_DATA = load("extract", "stance")
_SPOKEN = {
    name: {language: re.compile(pattern, re.DOTALL) for language, pattern in patterns.items()}
    for name, patterns in _DATA.items()
    if name not in {"version", "light"}
}
_FIGURE_OR_SIGN = re.compile(r"\d|`|://|\w[._/@]\w|\w-\d")
_CAPITAL = re.compile(r"(?<=[\w,] )[A-ZÀ-ÖØ-ÞА-Я]\w+")
_SELF_NAMED = re.compile(r"\bI\b|\bI'")
_CAPITALISES_NOUNS: Final = frozenset({"de"})
_UNSPACED: Final = frozenset({"zh", "ja", "th"})
_LIGHT = {language: frozenset(words.split()) for language, words in _DATA["light"].items()}
_LIGHT["zh"] = frozenset("".join(_LIGHT["zh"]))
_WORDS = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_OBJECTS = re.compile(r"\b(?:me|us|mir|mich|dir|moi)\b", re.IGNORECASE)
"""The speaker as one to whom the other side does something: that is still about the other side."""
_LATIN = re.compile(r"[A-Za-z]{2,}")


_VOCATIVE = re.compile(
    r",\s*[A-ZÄÖÜÉ][\w'-]{1,20}(?=\s*[!.?]*\s*$)|^(?:[A-Za-z]{1,9},?\s+)?[A-ZÄÖÜÉ][\w'-]{1,20}(?=[,!]\s)"
)


def without_vocative(text: str) -> str:
    """A sentence without the name of whom it is said to: "that looks great, Nate!"."""
    bare = _VOCATIVE.sub("", text) if "," in text or "!" in text else text
    return bare.lstrip(" ,!") or text


def _pattern(name: str, language: str, text: str) -> re.Pattern[str] | None:
    return _SPOKEN[name].get(_tongue(language, text))


def _tongue(language: str, text: str) -> str:
    """The language whose words are asked: a text of none is read as English where it has English letters only."""
    return "en" if language == "und" and text.isascii() else language


def _says(name: str, text: str, language: str) -> bool:
    pattern = _pattern(name, language, text)
    return pattern is not None and pattern.search(lowered(text)) is not None


def speaks_of_self(text: str, language: str) -> bool:
    """Whether the speaker is in a text; where the language has no words for it, that cannot be excluded."""
    text = text.replace("\u2019", "'")
    return _tongue(language, text) not in _SPOKEN["self"] or _says("self", text, language)


def is_anchored(text: str, language: str) -> bool:
    """Whether something particular is in a text: a figure, an address, a name in its middle, a word of a trade."""
    if _FIGURE_OR_SIGN.search(text):
        return True
    if language in _UNSPACED:
        return _LATIN.search(text) is not None or _says("particular", text, language)
    named = _CAPITAL.search(_SELF_NAMED.sub("", text)) is not None and language not in _CAPITALISES_NOUNS
    return named or _says("particular", text, language) or is_of_a_trade(text)


def stance_against(sentence: str, language: str) -> str | None:
    """Why a sentence that is neither about the speaker nor about anything particular is no fact, or None.

    Args:
        sentence: One sentence, its openers taken off.
        language: ISO 639-1, or "und".
    """
    text = without_vocative(sentence.replace("\u2019", "'"))
    for name, reason in (("wish", WISH), ("other_side", OTHER_SIDE), ("opinion", OPINION)):
        pattern = _pattern(name, language, text)
        match = pattern.search(lowered(text)) if pattern is not None else None
        if match is None or (name == "other_side" and _says("how_one_does", text, language)):
            continue
        behind = text if name == "opinion" else text[match.end() :]
        if speaks_of_self(_OBJECTS.sub("", behind) if name == "other_side" else behind, language):
            continue
        return None if name != "wish" and is_anchored(text, language) else reason
    return None


def is_unnamed(sentence: str, language: str) -> bool:
    """Whether a sentence is about something that only its context could tell, and holds nothing else to keep."""
    text = without_vocative(sentence.replace("\u2019", "'"))
    match = _pattern("unnamed", language, text)
    found = match.search(lowered(text)) if match is not None else None
    return found is not None and not speaks_of_self(text[found.end() :], language) and not is_anchored(text, language)


def is_comment(sentence: str, language: str) -> bool:
    """Whether a sentence in reply to the other side only comments on what was said there."""
    text = without_vocative(sentence.replace("\u2019", "'"))
    definite = _pattern("definite", language, text)
    if definite is None or is_anchored(text, language):
        return False
    if _says("everybody", text, language):
        return True
    if speaks_of_self(text, language):
        return False
    return definite.match(lowered(text)) is None or _says("praise", text, language)


def tells_preference(sentence: str, language: str) -> bool:
    """Whether it is told what somebody likes, avoids or will have done."""
    return _says("preference", sentence.replace("\u2019", "'"), language)


def tells_restraint(sentence: str, language: str) -> bool:
    """Whether it is told what somebody keeps from, as a duty or not."""
    return _says("restraint", sentence.replace("\u2019", "'"), language)


def tells_plan(sentence: str, language: str) -> bool:
    """Whether it is told what the speaker means or wishes to do."""
    return _says("plan", sentence.replace("\u2019", "'"), language)


def is_light(text: str, language: str) -> bool:
    """Whether a text holds no word that carries something by itself."""
    light = _LIGHT.get(_tongue(language, text))
    if light is None:
        return False
    words = text if language in _UNSPACED else _WORDS.findall(text.casefold().replace("\u2019", "'"))
    return all(word in light for word in words if word.isalnum() or "'" in word)
