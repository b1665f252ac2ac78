"""Where in a text a rule has to look: only where one of its hints occurs.

Rule of this file: it finds places, in time linear in the text; what is a secret is decided elsewhere.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise

from streams.masking.checks import MARKED, NEEDS_MARK
from streams.masking.rules import Hints, SecretRule

AFTER = 300
"""Characters behind a hint within which a match ends, where it may begin before the hint."""
SHORT = 256
"""A match that is no secret may hide another that begins within it; one longer than this is not read again."""
Span = tuple[int, int]
Pair = tuple[str, str]


class Sight:
    """A text with what was found out about it; rules that have the same hints share the search for them."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._places: dict[Hints, list[int]] = {}
        self._present: dict[Hints, list[str]] = {}

    @cached_property
    def lower(self) -> str:
        """The text in small letters, each at the place where it stood."""
        small = self.text.lower()
        if len(small) == len(self.text):
            return small
        return "".join(one.lower() if len(one.lower()) == 1 else one for one in self.text)

    @cached_property
    def marked(self) -> bool:
        """Whether there is anything that a password which can be told from a word must have."""
        return MARKED.search(self.text) is not None

    def may_hold(self, rule: SecretRule) -> bool:
        """Whether what every match of a rule holds is there at all."""
        return (not rule.hints.texts or bool(self._hints(rule.hints))) and (rule.check not in NEEDS_MARK or self.marked)

    def _hints(self, hints: Hints) -> list[str]:
        """Those hints that occur."""
        found = self._present.get(hints)
        if found is None:
            where = self.lower if hints.folded else self.text
            found = self._present[hints] = [hint for hint in hints.texts if hint in where]
        return found

    def spans(self, rule: SecretRule, secret_in: Callable[[re.Match[str]], Span]) -> Iterator[Span]:
        """Where secrets of a rule are, in order and apart from each other.

        Args:
            rule: What to look for.
            secret_in: Which part of a match is the secret; an empty one where it is none.
        """
        look = rule.pattern.match if rule.begins == 0 else rule.pattern.search
        free = 0
        for begin, end in self._windows(rule):
            place = max(begin, free)
            if rule.begins == 0 and place > begin:
                continue
            while place < end and (match := look(self.text, place, end)) is not None:
                start, stop = secret_in(match)
                if start < stop:
                    yield start, stop
                is_long = match.end() - match.start() > SHORT
                place = free = stop if start < stop else match.end() if is_long else match.start() + 1
                if rule.begins == 0:
                    break

    def _windows(self, rule: SecretRule) -> Iterator[Span]:
        """The parts of the text in which matches of a rule lie, in order."""
        if rule.begins is None:
            yield 0, len(self.text)
        elif rule.begins == 0:
            yield from ((place, len(self.text)) for place in self._places_of(rule))
        else:
            yield from self._near(rule)

    def _near(self, rule: SecretRule) -> Iterator[Span]:
        start = end = 0
        for place in self._places_of(rule):
            before = max(0, place - (rule.begins or 0))
            if before > end:
                yield start, end
                start = before
            end = min(len(self.text), place + AFTER)
        yield start, end

    def _places_of(self, rule: SecretRule) -> list[int]:
        hints = rule.hints
        if hints not in self._places:
            where = self.lower if hints.folded else self.text
            self._places[hints] = sorted({place for hint in self._hints(hints) for place in _occurrences(hint, where)})
        return self._places[hints]


def _occurrences(hint: str, text: str) -> Iterator[int]:
    place = text.find(hint)
    while place >= 0:
        yield place
        place = text.find(hint, place + len(hint))


class Index:
    """Rules by how their hints begin: of some hundred, few can find anything in an ordinary text."""

    def __init__(self, rules: Sequence[SecretRule]) -> None:
        self._always = [place for place, rule in enumerate(rules) if rule.hints.openings is None]
        self._plain: dict[Pair, list[int]] = {}
        self._folded: dict[Pair, list[int]] = {}
        for place, rule in enumerate(rules):
            by_opening = self._folded if rule.hints.folded else self._plain
            for opening in rule.hints.openings or ():
                by_opening.setdefault(opening, []).append(place)

    def candidates(self, seen: Sight) -> list[int]:
        """Places of the rules that may find something in a text, in order."""
        found = set(self._always)
        for by_opening, text in ((self._plain, seen.text), (self._folded, seen.lower)):
            for pair in by_opening.keys() & set(pairwise(text)):
                found.update(by_opening[pair])
        return sorted(found)
