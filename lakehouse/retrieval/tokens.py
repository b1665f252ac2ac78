"""A question as words: which of them say what it is about, and which only hold it together.

Rule of this file: pure. It cuts and sorts words and resolves nothing; which words are little ones is data
(``words.yaml``), and is asked in the language that most of a text's little words are of.
"""

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from lakehouse.keywords import fold_text
from lakehouse.ruledata import load_data

MAX_READ: Final = 2_000
"""Characters of a text that are looked at; what is longer is searched, not understood."""
HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff"
_DATA: Final = load_data("lakehouse.retrieval", "words")
_TOKEN: Final = re.compile(f"[{HAN}]+|[^\\W{HAN}]+(?:['\u2019.+#/@:\\\\-]+[^\\W{HAN}]+)*[+#]{{0,2}}")
_IS_HAN: Final = re.compile(f"[{HAN}]")
_ELISION: Final = re.compile(r"(?:[ldnjsmct]|qu|jusqu|lorsqu)['\u2019](?=\w)", re.IGNORECASE)
_SUFFIX: Final = re.compile(r"['\u2019](?:s|m|re|ve|ll|d)$", re.IGNORECASE)
_INVERTED: Final = re.compile(rf"(?:-(?:t-)?(?:{'|'.join(_DATA['inverted'].split())}))+$", re.IGNORECASE)
_BREAK: Final = re.compile("[.!?,;:\n\u3002\uff0c\uff01\uff1f\u3001\u00bf\u00a1]")
_STOP: Final = re.compile("[.!?:\n\u3002\uff01\uff1f\u00bf\u00a1]")
_LITTLE: Final = {
    language: frozenset(map(fold_text, words.split()))
    for language, words in _DATA["little"].items()
    if language != "zh"
}
_HAN_LITTLE: Final = frozenset(_DATA["little"]["zh"].split())
_HAN_PIECES: Final = re.compile(f"({'|'.join(sorted(_HAN_LITTLE, key=lambda word: (-len(word), word)))})")


@dataclass(frozen=True, slots=True)
class Token:
    """A word where it stands.

    Attributes:
        text: As written.
        start: Where it begins in the text, in characters.
        end: Where it ends.
        key: Without case, accents and what hangs behind an apostrophe: "caroline" of "Caroline's".
        little: Whether it says nothing of what the text is about.
        initial: Whether a sentence begins with it.
        after_break: Whether a sentence or a clause begins with it.
    """

    text: str
    start: int
    end: int
    key: str
    little: bool
    initial: bool
    after_break: bool

    @property
    def word(self) -> str:
        """As written, without what hangs behind an apostrophe."""
        return _bare(self.text)

    @property
    def spoken(self) -> str:
        """Without case and what hangs behind an apostrophe, but with its accents: "él" is not "el"."""
        return self.word.casefold()

    @property
    def is_symbol(self) -> bool:
        """Whether it is a name that a machine gave: "asyncio.run", "NullPointerException", "redis7"."""
        word = self.word
        jointed = any(not letter.isalnum() and letter not in "-'\u2019" for letter in word)
        mixed = any(a.islower() and b.isupper() for a, b in itertools.pairwise(word))
        return jointed or mixed or (any(map(str.isdigit, word)) and any(map(str.isalpha, word)))

    @property
    def is_day(self) -> bool:
        """Whether it is the name of a day or a month, or a word for one."""
        return self.key in _CALENDAR

    @property
    def is_name(self) -> bool:
        """Whether it is written as a name: a capital inside a sentence, or a symbol; no day and no month."""
        capital = self.text[:1].isupper() and not self.initial
        return not self.little and not self.is_day and (capital or self.is_symbol)


@dataclass(frozen=True)
class Read:
    """A text as words.

    Attributes:
        text: The text, whole.
        tokens: Its words in order.
        language: ISO 639-1 of its little words, "und" where it has none.
    """

    text: str
    tokens: tuple[Token, ...]
    language: str

    @property
    def content(self) -> tuple[Token, ...]:
        """The words that say what the text is about."""
        return tuple(token for token in self.tokens if not token.little)

    @property
    def spoken(self) -> str:
        """The keys of its words with a blank around each, in which phrases are found."""
        return f" {' '.join(token.key for token in self.tokens)} "


@lru_cache(maxsize=128)
def read(text: str) -> Read:
    """A text as words, by its first 2,000 characters."""
    spans = list(_spans(text[:MAX_READ]))
    keys = [fold_text(_bare(text[start:end])) for start, end in spans]
    language = _language(keys)
    little = _LITTLE.get(language, frozenset())
    tokens: list[Token] = []
    before = 0
    for (start, end), key in zip(spans, keys, strict=True):
        gap, first = text[before:start], not tokens
        initial, breaks = first or _STOP.search(gap) is not None, first or _BREAK.search(gap) is not None
        is_little = key in little or key in _HAN_LITTLE
        tokens.append(Token(text[start:end], start, end, key, is_little, initial, breaks))
        before = end
    return Read(text, tuple(tokens), language)


@lru_cache(maxsize=8192)
def is_han(text: str) -> bool:
    """Whether a text has a sign of a script without spaces."""
    return _IS_HAN.search(text) is not None


def listed(name: str) -> frozenset[str]:
    """The words of a list of ``words.yaml``, to compare keys with."""
    return frozenset(map(fold_text, _DATA[name].split()))


def phrases(rows: Iterable[str]) -> frozenset[str]:
    """Phrases of data, apart by commas, as ``says`` finds them."""
    return frozenset(_phrase(told) for row in rows for told in row.split(",") if told.strip())


def spaced(words: str) -> frozenset[str]:
    """Words and phrases of data, apart by blanks, "_" for the blank in a phrase, as ``says`` finds them."""
    return frozenset(_phrase(told.replace("_", " ")) for told in words.split())


def says(text: Read, wanted: Iterable[str]) -> bool:
    """Whether a text holds one of the phrases, by whole words."""
    spoken = text.spoken
    return any((phrase in text.text) if is_han(phrase) else (f" {phrase} " in spoken) for phrase in wanted)


def _phrase(told: str) -> str:
    return told.strip() if is_han(told) else read(told).spoken.strip()


def _bare(word: str) -> str:
    return _SUFFIX.sub("", word).replace("\u2019", "'")


def _language(keys: list[str]) -> str:
    """The language that most of the words are little words of; of equal ones the first in the data."""
    votes = {language: sum(key in words for key in keys) for language, words in _LITTLE.items()}
    votes["zh"] = sum(is_han(key) for key in keys)
    best = max(votes, key=lambda language: votes[language])
    return best if votes[best] else "und"


def _spans(text: str) -> Iterable[tuple[int, int]]:
    for found in _TOKEN.finditer(text):
        start, end = found.span()
        if is_han(found.group()):
            yield from _pieces(found.group(), start)
            continue
        if (elision := _ELISION.match(text, start, end)) is not None:
            yield start, elision.end() - 1
            start = elision.end()
        if (inverted := _INVERTED.search(text[start:end])) is not None:
            yield start, start + inverted.start()
            at = start + inverted.start()
            yield from ((at + part.start(), at + part.end()) for part in re.finditer(r"[^-]+", inverted.group()))
            continue
        yield start, end


def _pieces(run: str, start: int) -> Iterable[tuple[int, int]]:
    """A run without spaces, cut at its little words."""
    for piece in _HAN_PIECES.split(run):
        if piece:
            yield start, start + len(piece)
        start += len(piece)


_CALENDAR: Final = listed("calendar")
