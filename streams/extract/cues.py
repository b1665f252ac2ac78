"""Cue phrases by what they do; the phrases are data (``cues.yaml``).

Rule of this file: it matches; what follows from a match is decided where it is asked for.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from streams.extract.lowered import lowered
from streams.ruledata import load

MAX_WHOLE: Final = 400
"""Characters of a sentence that can be nothing but phrases."""
_OPENING_MARKS = " \t\"'“”„«(¡"
_EDGE = r"[\s,.!?¡¿;:…~\-\u2013—'\"()。\uff01\uff1f\uff0c、\uff1a\uff1b]*"


def _any(patterns: Sequence[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.DOTALL) if patterns else None


def _whole(patterns: Sequence[str]) -> re.Pattern[str] | None:
    if not patterns:
        return None
    phrase = "|".join(f"(?:{pattern})" for pattern in patterns)
    return re.compile(rf"{_EDGE}(?:{phrase})(?:{_EDGE}(?:{phrase})){{0,5}}(?P<rest>.*)", re.DOTALL)


@dataclass(frozen=True)
class Cue:
    """One family of phrases."""

    start: re.Pattern[str] | None = None
    anywhere: re.Pattern[str] | None = None
    whole: re.Pattern[str] | None = None

    def opens(self, text: str) -> re.Match[str] | None:
        """The phrase at the beginning, in small letters."""
        return self.start.match(lowered(text)) if self.start else None

    def found(self, text: str) -> bool:
        """Whether the phrase stands where it must: at the beginning, anywhere, or as the whole."""
        small = lowered(text)
        return bool(
            (self.start and self.start.match(small.lstrip(_OPENING_MARKS)))
            or (self.anywhere and self.anywhere.search(small))
            or self.is_all_of(small)
        )

    def within(self, text: str) -> re.Match[str] | None:
        """The phrase that may stand anywhere, in small letters."""
        return self.anywhere.search(lowered(text)) if self.anywhere else None

    def begins(self, text: str) -> bool:
        """Whether a phrase that can be the whole is at the beginning; a text without one is none of them."""
        return self.whole is not None and len(text) <= MAX_WHOLE and self.whole.match(lowered(text)) is not None

    def is_all_of(self, text: str, *, spare: int = 1, strict: bool = False) -> bool:
        """Whether the text is such phrases, punctuation and at most ``spare`` more words (a name, an "all").

        Args:
            text: One sentence.
            spare: How many more words there may be; a number is never spare.
            strict: More words must stand behind punctuation: "yes, Anna", but not "no alcohol".
        """
        match = self.whole.match(lowered(text)) if self.whole and len(text) <= MAX_WHOLE else None
        if match is None:
            return False
        rest = match["rest"].strip()
        if strict and rest and rest[0].isalnum():
            return False
        if match["rest"][:1].isalnum() and text[match.start("rest") - 1].isalnum():
            return False
        return len(_WORD.findall(rest)) <= spare and not any(letter.isdigit() for letter in rest)


_WORD = re.compile(r"\w+")


def _cue(spec: Mapping[str, list[str]]) -> Cue:
    return Cue(
        start=_any(spec.get("start", [])),
        anywhere=_any(spec.get("anywhere", [])),
        whole=_whole(spec.get("whole", [])),
    )


_FAMILIES = (
    "greeting",
    "wellbeing",
    "reaction",
    "verdict",
    "meta",
    "injection",
    "forget",
    "remember",
    "lead_in",
    "correction",
    "echo",
)
_BY_LANGUAGE = ("hypothetical", "question", "request", "standing", "proposal", "choice", "result")

_DATA = load("extract", "cues")
CHATTER: Final = ("greeting", "wellbeing", "reaction")
"""Families that consist of whole sentences only."""
_DATA["chatter"] = {"whole": [line for name in CHATTER for line in _DATA[name]["whole"]]}
"""All at once: "sounds good, thank you"."""
CUES: dict[str, Cue] = {name: _cue(_DATA[name]) for name in (*_FAMILIES, "accept", "chatter")}
SPOKEN: dict[str, dict[str, re.Pattern[str]]] = {
    name: {language: re.compile(pattern, re.DOTALL) for language, pattern in _DATA[name].items()}
    for name in _BY_LANGUAGE
}


def spoken(name: str, text: str, language: str) -> bool:
    """Whether a cue of that language is in the text; where the language has none or is unknown, English is tried."""
    patterns = SPOKEN[name]
    return bool(patterns.get(language, patterns["en"]).search(lowered(text).lstrip(_OPENING_MARKS)))
