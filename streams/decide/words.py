"""Texts as words that can be compared: one spelling for a number and for a plural, signs of unspaced scripts apart.

Rule of this file: it loses no number, name or negation; what it drops is named in ``words.yaml``.
"""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from streams.ruledata import load

DATA = load("decide", "words")
NEGATIONS = frozenset(DATA["negations"])
CHANGES = frozenset(DATA["changes"])
STOP = frozenset(DATA["stop"])
FORGET = frozenset(DATA["forget"])
TIMES = frozenset(DATA["times"])
RENEWED = frozenset(DATA["renewed"])
UNSPACED_NEGATIONS = frozenset(DATA["unspaced_negations"])
NEVER = frozenset(DATA["never"])
OFTEN = frozenset(DATA["often"])
GENERIC_HEADS = frozenset(DATA["generic_heads"])
_NUMBER_WORDS = {word: int(number) for number, words in DATA["numbers"].items() for word in words}
_ORDINALS = {word: int(number) for word, number in DATA["ordinals"].items()}
_TOKEN = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
    r"|\d+(?:[.,:/]\d+)*(?:st|nd|rd|th)?(?![\w-])|[^\W_]+(?:[-_./:@+#&'][^\W_]+)*(?:\+\+|#)?"
)
UNSPACED: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""A letter of a script in which words are not set apart."""
_HALVES = re.compile(r"\b(\d{1,2})(?::(\d\d))?\s*([ap])\.?m\b\.?")
_OCLOCK = re.compile(r"\b(\d{1,2})(?:\s*uhr\b(?:\s*(\d\d)\b)?|\s*o'clock\b|h(\d\d)\b)")
_DIAN = re.compile(r"(上午|早上|凌晨|中午|下午|晚上|傍晚)?\s*(\d{1,2})\s*[点點時](?:(\d\d)分?)?")
_NOON: Final = 12
_LABEL = re.compile(r"[^:.!?\n]{2,100}[^\W\d_]:(?=\s)")
_MULTIPLES: Final = frozenset({"100", "1000"})
_SMALL: Final = 100
"""Only a number below this multiplies the word behind it: "two hundred"."""
MAX_CHARACTERS: Final = 4_000
"""Of a text that are compared."""
_PHRASES = tuple(tuple(phrase.split()) for phrase in DATA["change_phrases"])
_CORRECTIONS = tuple(sorted(DATA["correction_phrases"], key=len, reverse=True))


@dataclass(frozen=True)
class Words:
    """A text as words.

    Attributes:
        all: Every word in order, numbers in digits, negations and words of change included.
        content: Those that carry content, in order: no stop words, negations or words of change.
    """

    all: tuple[str, ...]
    content: tuple[str, ...]

    @property
    def plain(self) -> tuple[str, ...]:
        """Every word in order but negations and words of change."""
        return tuple(word for word in self.all if word not in NEGATIONS and word not in CHANGES)

    @property
    def numbers(self) -> Counter[str]:
        """The numbers, each as often as it occurs."""
        return Counter(word for word in self.content if is_number(word))

    @property
    def negative(self) -> bool:
        """Whether a negation is among the words."""
        return any(word in NEGATIONS for word in self.all)

    @property
    def changes(self) -> bool:
        """Whether it is said to hold from now on."""
        spoken = " ".join(self.all)
        return any(word in CHANGES for word in self.all) or any(" ".join(phrase) in spoken for phrase in _PHRASES)


@lru_cache(maxsize=8192)
def words_of(text: str) -> Words:
    """A text as words."""
    folded = unicodedata.normalize("NFKC", text[:MAX_CHARACTERS]).casefold().replace("\u2019", "'")
    folded = re.sub(r"\bcan't\b|\bcannot\b", "can not", folded)
    folded = re.sub(r"(\w)n't\b", r"\1 not", folded)
    folded = re.sub(r"(\w)'(?:m|re|ve|ll|d)\b", r"\1", folded)
    folded = _clock(folded)
    folded = re.sub(r"\b([ldnjsm]|qu)'(?=\w)", r"\1 ", folded)
    tokens = [_spelling(token) for token in _TOKEN.findall(folded)]
    spelt = tuple(_joined_numbers(tokens))
    content = tuple(word for word in spelt if word not in STOP and word not in NEGATIONS and word not in CHANGES)
    return Words(spelt, content)


def _clock(text: str) -> str:
    """Times of the day in one spelling: "6 pm", "18 Uhr" and "下午6点" are "18:00"."""
    text = _HALVES.sub(lambda at: _time(int(at[1]) % _NOON + (_NOON if at[3] == "p" else 0), at[2]), text)
    text = _OCLOCK.sub(lambda at: _time(int(at[1]), at[2] or at[3]), text)
    return _DIAN.sub(
        lambda at: _time(
            int(at[2]) + (_NOON if at[1] in {"下午", "晚上", "傍晚"} and int(at[2]) < _NOON else 0), at[3]
        ),
        text,
    )


def _time(hour: int, minute: str | None) -> str:
    return f" {hour}:{minute or '00'} "


def label_of(text: str) -> str:
    """What stands before the colon of a "label: value" line, case-folded; empty where there is none."""
    found = _LABEL.match(text)
    return found.group().rstrip(": ").casefold() if found else ""


def is_number(word: str) -> bool:
    """Whether a word is a number, a time or a version."""
    return word[:1].isdigit() and all(part.isdigit() for part in re.split(r"[.,:/-]", word))


def is_identifier(word: str) -> bool:
    """Whether a word holds digits or signs besides letters: a name that a machine gave."""
    return not is_number(word) and (any(sign.isdigit() for sign in word) or bool(re.search(r"\w[-_./:@]\w", word)))


def corrects(text: str) -> bool:
    """Whether a text begins by correcting what was said before."""
    opening = " ".join(re.findall(r"\w+", text[:120].casefold()))
    spaced = f" {opening} "
    return any(
        spaced.startswith(f" {phrase} ")
        or f" {phrase} " in spaced[:40]
        or (not phrase.isascii() and opening.startswith(phrase))
        for phrase in _CORRECTIONS
    )


def _spelling(token: str) -> str:
    if token in _NUMBER_WORDS:
        return str(_NUMBER_WORDS[token])
    if token in _ORDINALS:
        return str(_ORDINALS[token])
    if token[0].isdigit():
        return _number(token)
    token = token.removesuffix("'s")
    if len(token) > 3 and token.endswith("s") and not token.endswith(("ss", "us", "is", "as", "os")):  # noqa: PLR2004
        return token[:-1]
    return token


def _number(token: str) -> str:
    bare = re.sub(r"(?:st|nd|rd|th)$", "", token)
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+", bare):
        bare = bare.replace(",", "")
    if re.fullmatch(r"0\d(?::\d\d)+", bare):
        return bare[1:]
    if bare.isdigit() and len(bare) < 3:  # noqa: PLR2004 - "07" is 7, "0142" is a phone number
        return str(int(bare))
    return bare.removesuffix(".0")


def _joined_numbers(tokens: list[str]) -> list[str]:
    """As in "twenty-one" and "two hundred" as one number each."""
    joined: list[str] = []
    for token in tokens:
        parts = token.split("-")
        if len(parts) == 2 and all(part in _NUMBER_WORDS for part in parts):  # noqa: PLR2004 - tens and ones
            joined.append(str(sum(_NUMBER_WORDS[part] for part in parts)))
        elif joined and token in _MULTIPLES and joined[-1].isdigit() and int(joined[-1]) < _SMALL:
            joined[-1] = str(int(joined[-1]) * int(token))
        else:
            joined.append(token)
    return joined
