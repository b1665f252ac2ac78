"""Texts as words that can be compared: one spelling for a number and for a plural, signs of unspaced scripts apart.

Rule of this file: it loses no number, name or negation; what it drops is named in ``words.yaml``.
"""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import cached_property, lru_cache
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
SPECIFIERS = frozenset(DATA["specifiers"])
NEVER = frozenset(DATA["never"])
EVER = frozenset(DATA["ever"])
OFTEN = frozenset(DATA["often"])
GENERIC_HEADS = frozenset(DATA["generic_heads"])
_NUMBER_WORDS = {word: int(number) for number, words in DATA["numbers"].items() for word in words}
_ORDINALS = {word: int(number) for word, number in DATA["ordinals"].items()}
UNSPACED: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""A letter of a script in which words are not set apart."""


def _unspaced_words() -> str:
    """The words of several signs that the data names, as a pattern, the longest first."""
    opposites = (word.strip() for line in DATA["opposites"] for word in re.split(r"[|/]", line))
    named = (*opposites, *DATA["changes"], *DATA["times"], *DATA["negations"])
    words = {word for word in named if len(word) > 1 and UNSPACED.search(word)}
    return "|".join(sorted(words, key=lambda word: (-len(word), word)))


_TOKEN = re.compile(
    rf"{_unspaced_words()}|"
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
    r"|\d+(?:[.,:/]\d+)*(?:st|nd|rd|th)?(?![\w-])|[^\W_]+(?:[-_./:@+#&'][^\W_]+)*(?:\+\+|#)?"
)
_CONTRACTIONS = tuple(
    (re.compile(pattern), full)
    for pattern, full in (
        (r"\bcan't\b|\bcannot\b", "can not"),
        (r"(\w)n't\b", r"\1 not"),
        (r"(\w)'m\b", r"\1 am"),
        (r"(\w)'(?:re|ve|ll|d)\b", r"\1"),
    )
)
_CANNOT = "cannot"
_NO_MORE = re.compile("|".join(DATA["no_more"]))
_ELISION = re.compile(r"\b([ldnjsmct]|qu)'(?=\w)")
_DIGIT = re.compile(r"\d")
_HALVES = re.compile(r"\b(\d{1,2})(?::(\d\d))?\s*([ap])\.?m\b\.?")
_OCLOCK = re.compile(r"\b(\d{1,2})(?:\s*uhr\b(?:\s*(\d\d)\b)?|\s*o'clock\b|h(\d\d)\b)")
_DIAN = re.compile(r"(上午|早上|凌晨|中午|下午|晚上|傍晚)?\s*(\d{1,2})\s*[点點時](?:(\d\d)分?)?")
_NOON: Final = 12
_PARTS: Final = {"half": 30, "quarter": 15}
_QUARTERS = re.compile(
    rf"\b(?P<part>half|a quarter|quarter) (?P<side>past|to) (?P<hour>\d{{1,2}}|{'|'.join(_NUMBER_WORDS)})\b"
)
_EDGE = re.compile(r"(?<=\d)(?=[\u3040-\u30ff\u3400-\u9fff])|(?<=[\u3040-\u30ff\u3400-\u9fff])(?=\d)")
"""Between a digit and a sign of a script without spaces, which are two words."""
_ENDING = re.compile(r"(?:st|nd|rd|th)$")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")
_EARLY = re.compile(r"0\d(?::\d\d)+")
_WORD = re.compile(r"\w+")
_LABEL = re.compile(r"[^:.!?\n]{2,100}[^\W\d_]:(?=\s)")
_MULTIPLES: Final = frozenset({100, 1000})
"""They multiply the number before them: "two hundred"."""
MAX_CHARACTERS: Final = 4_000
"""Of a text that are compared."""
_PHRASES = tuple(" ".join(phrase.split()) for phrase in DATA["change_phrases"])
_EMPTY = STOP | NEGATIONS | CHANGES
"""Words that carry no content."""
_CORRECTING = tuple(" ".join(_WORD.findall(phrase)) for phrase in DATA["correction_phrases"])
_CORRECTS = re.compile("|".join(re.escape(f" {phrase} ") for phrase in _CORRECTING))
_CORRECTS_UNSPACED = tuple(phrase for phrase in _CORRECTING if UNSPACED.search(phrase))
MAX_OPENING: Final = 120
"""Characters of a text whose first words are looked at."""
MAX_OPENING_WORDS: Final = 40
"""Characters of those words in which a correction stands."""


@dataclass(frozen=True)
class Words:
    """A text as words.

    Attributes:
        all: Every word in order, numbers in digits, negations and words of change included.
        content: Those that carry content, in order: no stop words, negations or words of change.
    """

    all: tuple[str, ...]
    content: tuple[str, ...]

    @cached_property
    def plain(self) -> tuple[str, ...]:
        """Every word in order but negations and words of change."""
        return tuple(word for word in self.all if word not in NEGATIONS and word not in CHANGES)

    @cached_property
    def numbers(self) -> Counter[str]:
        """The numbers, each as often as it occurs."""
        return Counter(word for word in self.content if is_number(word))

    @property
    def negative(self) -> bool:
        """Whether a negation is among the words."""
        return not NEGATIONS.isdisjoint(self.all)

    @cached_property
    def changes(self) -> bool:
        """Whether it is said to hold from now on."""
        spoken = " ".join(self.all)
        return not CHANGES.isdisjoint(self.all) or any(phrase in spoken for phrase in _PHRASES)


@lru_cache(maxsize=8192)
def words_of(text: str) -> Words:
    """A text as words."""
    folded = unicodedata.normalize("NFKC", text[:MAX_CHARACTERS]).casefold().replace("\u2019", "'")
    if "'" in folded or _CANNOT in folded:
        for pattern, full in _CONTRACTIONS:
            folded = pattern.sub(full, folded)
    folded = _english_clock(_NO_MORE.sub(_no_more, folded))
    if _DIGIT.search(folded):
        folded = _EDGE.sub(" ", _clock(folded))
    if "'" in folded:
        folded = _ELISION.sub(r"\1 ", folded)
    spelt = tuple(map(_spelling, _numbers_joined(_TOKEN.findall(folded))))
    content = tuple(word for word in spelt if word not in _EMPTY)
    return Words(spelt, content)


def _no_more(told: re.Match[str]) -> str:
    """One spelling for "nicht mehr" and for "ne … plus", which stands around its verb."""
    return f"not anymore {told[told.lastindex] if told.lastindex else ''}"


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


def _english_clock(text: str) -> str:
    """The hour in digits: "half past seven", "a quarter to eight"."""

    def told(at: re.Match[str]) -> str:
        hour = int(_NUMBER_WORDS.get(at["hour"], at["hour"]))
        minute = _PARTS[at["part"].split()[-1]]
        return _time(hour - 1, str(60 - minute)) if at["side"] == "to" else _time(hour, str(minute))

    return _QUARTERS.sub(told, text) if any(part in text for part in _PARTS) else text


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


@lru_cache(maxsize=8192)
def corrects(text: str) -> bool:
    """Whether a text begins by correcting what was said before."""
    opening = " ".join(_WORD.findall(text[:MAX_OPENING].casefold()))
    return _CORRECTS.search(f" {opening} ", 0, MAX_OPENING_WORDS) is not None or opening.startswith(_CORRECTS_UNSPACED)


def _spelling(token: str) -> str:
    if token in _ORDINALS:
        return str(_ORDINALS[token])
    if token[0].isdigit():
        return _number(token)
    token = token.removesuffix("'s")
    if len(token) > 3 and token.endswith("s") and not token.endswith(("ss", "us", "is", "as", "os")):  # noqa: PLR2004
        return token[:-1]
    return token


def _number(token: str) -> str:
    bare = _ENDING.sub("", token)
    if _THOUSANDS.fullmatch(bare):
        bare = bare.replace(",", "")
    if _EARLY.fullmatch(bare):
        return bare[1:]
    if bare.isdecimal() and len(bare) < 3:  # noqa: PLR2004 - "07" is 7, "0142" is a phone number
        return str(int(bare))
    return bare.removesuffix(".0")


def _numbers_joined(tokens: list[str]) -> list[str]:
    """Number words in digits, those of one number as one: "twenty-one", "two hundred and five", "三千五百"."""
    if _NUMBER_WORDS.keys().isdisjoint(" ".join(tokens).replace("-", " ").split()):
        return tokens
    joined: list[str] = []
    run: list[int] = []
    for token in [*tokens, ""]:
        values = [_NUMBER_WORDS[part] for part in token.split("-") if part in _NUMBER_WORDS]
        if token and len(values) == token.count("-") + 1:
            run.extend(values)
            continue
        if run and run[-1] in _MULTIPLES and token == "and":  # noqa: S105 - a word
            continue
        joined.extend(str(number) for number in _numbers_of(run))
        run = []
        if token:
            joined.append(token)
    return joined


def _numbers_of(run: list[int]) -> list[int]:
    """The numbers that a run of number words says."""
    if not any(number in _MULTIPLES for number in run):
        tens_and_ones = len(run) == 2 and run[0] in range(20, 100, 10) and run[1] < 10  # noqa: PLR2004 - tens and ones
        return [sum(run)] if tens_and_ones else run
    total, current = 0, 0
    for number in run:
        current = max(current, 1) * number if number in _MULTIPLES else current + number
        if number == max(_MULTIPLES):
            total, current = total + current, 0
    return [total + current]
