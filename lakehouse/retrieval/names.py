"""Who and what a question names, of those that a scope knows, and the question without its speakers' names.

Rule of this file: pure. A name is found by whole words without regard to case and accents; a vector of a text with a
name in it is first of all a vector of the name, so what is embedded does without.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from lakehouse.keywords import fold_text
from lakehouse.retrieval.tokens import Read, Token, is_han, listed, read
from lakehouse.ruledata import load_data

_DATA: Final = load_data("lakehouse.retrieval", "asked")
_OF: Final = frozenset(map(fold_text, _DATA["of"].split()))
_JOINERS: Final = listed("joiners")
_OWNS: Final = re.compile("|".join(map(re.escape, _DATA["possessive"].split())))
_EMPTY: Final = re.compile(r"\s*\(\s*\)")
_BLANKS: Final = re.compile(r"\s+")
_BLANK_BEFORE: Final = re.compile(r"\s+(?=[?!.,;:\uff1f\uff01\u3002\uff0c])")


@dataclass(frozen=True)
class Mention:
    """A name where it stands in a text, from ``start`` to before ``end``, in characters."""

    name: str
    start: int
    end: int


@dataclass(frozen=True)
class KnownNames:
    """The names that a scope knows, ready to be found; make it with ``known_names``.

    Attributes:
        spaced: First word → the names that begin with it, each with its words, the longest first.
        unspaced: Names in a script without spaces, the longest first.
    """

    spaced: Mapping[str, tuple[tuple[tuple[str, ...], str], ...]]
    unspaced: tuple[str, ...]

    def mentions(self, text: Read) -> tuple[Mention, ...]:
        """Where a text names them, in order; of names that overlap the one that begins first, then the longest."""
        found = sorted((*self._spaced(text), *self._unspaced(text.text)), key=lambda told: (told.start, -told.end))
        kept: list[Mention] = []
        for mention in found:
            if not kept or mention.start >= kept[-1].end:
                kept.append(mention)
        return tuple(kept)

    def _spaced(self, text: Read) -> Iterator[Mention]:
        for place, token in enumerate(text.tokens):
            for words, name in self.spaced.get(token.key, ()):
                told = text.tokens[place : place + len(words)]
                if tuple(word.key for word in told) == words and not _only_little(told):
                    yield Mention(name, told[0].start, told[-1].end)
                    break

    def _unspaced(self, text: str) -> Iterator[Mention]:
        for name in self.unspaced:
            yield from (Mention(name, at.start(), at.end()) for at in re.finditer(re.escape(name), text))


def known_names(names: Iterable[str]) -> KnownNames:
    """Make names ready to be found: subjects of facts, names of speakers. Those without a word are passed over."""
    spaced: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    unspaced: set[str] = set()
    for name in sorted(set(names)):
        words = _words_of(name)
        if is_han(name):
            unspaced.add(name)
        elif words:
            spaced.setdefault(words[0], []).append((words, name))
    longest = {first: tuple(sorted(rows, key=lambda row: -len(row[0]))) for first, rows in spaced.items()}
    return KnownNames(longest, tuple(sorted(unspaced, key=lambda name: (-len(name), name))))


@lru_cache(maxsize=65_536)
def _words_of(name: str) -> tuple[str, ...]:
    return tuple(token.key for token in read(name).tokens)


NOBODY: Final = known_names(())


def together(known: Iterable[KnownNames]) -> KnownNames:
    """The names of several."""
    first, *others = [*known] or [NOBODY]
    if not any(other.spaced or other.unspaced for other in others):
        return first
    spaced = (name for one in (first, *others) for rows in one.spaced.values() for _, name in rows)
    return known_names((*spaced, *(name for one in (first, *others) for name in one.unspaced)))


def without_names(text: str, names: KnownNames) -> str:
    """A text without these names, what makes them own, and what bound them to the words before.

    Args:
        text: A question, or anything else to embed.
        names: The speakers; a name that the text cannot do without must not be among them.

    Returns:
        The text itself where it names nobody, or where nothing is left that says what it is about.
    """
    told = read(text)
    mentions = names.mentions(told)
    if not mentions:
        return text
    left, at = "", 0
    for number, mention in enumerate(mentions):
        start = _bound(told, mention, mentions[number - 1].end if number else -1)
        left += text[at:start] + " "
        owns = _OWNS.match(text, mention.end)
        at = owns.end() if owns is not None else mention.end
    left = _BLANK_BEFORE.sub("", _BLANKS.sub(" ", _EMPTY.sub("", left + text[at:]))).strip()
    return left if read(left).content else text


def _bound(text: Read, mention: Mention, last_end: int) -> int:
    """Where what goes with a name begins: "of" before it, or "and" between it and the name before."""
    before = [token for token in text.tokens if last_end <= token.start < mention.start]
    if not before:
        return mention.start
    joined = last_end >= 0 and len(before) == 1 and before[0].key in _JOINERS
    return before[-1].start if joined or before[-1].key in _OF else mention.start


def _only_little(told: tuple[Token, ...]) -> bool:
    """Whether they are the little words they look like, and no names: "will", "may"."""
    return all(token.little and token.text.islower() for token in told)
