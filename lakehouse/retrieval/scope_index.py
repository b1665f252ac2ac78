"""All that may answer in one scope, kept in memory: exact cosines and words over all of it.

Rule of this file: pure. It holds what it was given and nothing else; an item that is replaced leaves its place empty,
and when half of the places are empty they are closed up.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np

from lakehouse.retrieval.items import Item
from lakehouse.retrieval.moments import Stretch
from lakehouse.retrieval.names import KnownNames, known_names
from lakehouse.retrieval.words import WordIndex
from lakehouse.similarity import DIGITS

ROOM: Final = 16
"""Places that an index begins with."""


class ScopeIndex:
    """Items by place, from 0, with their vectors and words. Arrays that it gives have one number a place."""

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._outdated: dict[str, set[str]] = {}
        self._clear()

    def _clear(self) -> None:
        self._matrix = np.zeros((ROOM, self._dimension), dtype=np.float32)
        self._items: list[Item | None] = []
        self._places: dict[str, int] = {}
        self._words = WordIndex()
        self._names: Counter[str] = Counter()
        self._unsaid: Counter[str] = Counter()
        self._known: KnownNames | None = None
        self._silent: KnownNames | None = None
        self._changed()

    def _changed(self) -> None:
        self._beside: tuple[Any, Any] | None = None
        self._marks: tuple[Any, Any] | None = None
        self._alive: Any | None = None
        self._times: Any | None = None
        self._came: Any | None = None

    def __len__(self) -> int:
        return len(self._places)

    @property
    def names(self) -> KnownNames:
        """Everybody whom an item is about or by."""
        if self._known is None:
            self._known = known_names(name for name, count in self._names.items() if count)
        return self._known

    @property
    def speakers(self) -> KnownNames:
        """Those whose items mostly do not say the name. A question is closer to them without it."""
        if self._silent is None:
            self._silent = known_names(name for name, count in self._unsaid.items() if 2 * count > self._names[name])
        return self._silent

    def items(self) -> Iterable[tuple[int, Item]]:
        """Every item with its place."""
        return ((place, item) for place, item in enumerate(self._items) if item is not None)

    def item(self, place: int) -> Item:
        """The item at a place that holds one."""
        found = self._items[place]
        assert found is not None, place
        return found

    def vectors(self, places: Any) -> Any:
        """The unit vectors of the items at these places, one a row."""
        return self._matrix[places]

    def put(self, item: Item, vector: Any) -> None:
        """Take in an item; one with the same key is replaced."""
        self.drop(item.key)
        place = len(self._items)
        if place == len(self._matrix):
            self._matrix = np.concatenate([self._matrix, np.zeros_like(self._matrix)])
        self._matrix[place] = vector
        self._items.append(item)
        self._places[item.key] = place
        self._words.add(item.terms, item.language)
        self._count(item, 1)
        self._changed()

    def outdate(self, memory_id: str, turns: Iterable[str]) -> None:
        """Note that these turns told what a memory said before."""
        self._outdated.setdefault(memory_id, set()).update(turns)

    def outdated(self, memory_id: str) -> Iterable[str]:
        """Turns that told what a memory said before."""
        return self._outdated.get(memory_id, ())

    def drop(self, key: str) -> None:
        """Let go of an item; one that is not here is none of its business."""
        place = self._places.pop(key, None)
        if place is None:
            return
        item = self.item(place)
        self._count(item, -1)
        self._words.leave(item.language)
        self._items[place] = None
        self._changed()
        if len(self._items) > ROOM and 2 * len(self._places) < len(self._items):
            self._close_up()

    def _close_up(self) -> None:
        kept = [(item, self._matrix[place].copy()) for place, item in self.items()]
        self._clear()
        for item, vector in kept:
            self.put(item, vector)

    def _count(self, item: Item, by: int) -> None:
        if item.who is None:
            return
        self._names[item.who] += by
        if self._names[item.who] == max(0, by):  # it is the first of its name, or was the last
            self._known = None
        if item.leaves_out_who:
            self._unsaid[item.who] += by
        self._silent = None

    def beside(self) -> tuple[Any, Any]:
        """Place of the item said before each item in its session, and of the one after; -1 where there is none."""
        if self._beside is None:
            before, after = np.full(len(self._items), -1), np.full(len(self._items), -1)
            said = sorted(
                (item.session_id, item.place, place) for place, item in self.items() if item.session_id is not None
            )
            for (one, _, first), (other, _, second) in pairwise(said):
                if one == other:
                    before[second], after[first] = first, second
            self._beside = before, after
        return self._beside

    def alive(self) -> Any:
        """Which places hold an item."""
        if self._alive is None:
            self._alive = np.fromiter((item is not None for item in self._items), dtype=bool, count=len(self._items))
        return self._alive

    def marks(self) -> tuple[Any, Any]:
        """Whether each item told something, and of how many terms it is."""
        if self._marks is None:
            told = np.array([item is not None and item.told for item in self._items], dtype=np.float64)
            length = np.array([0 if item is None else len(item.terms) for item in self._items], dtype=np.float64)
            self._marks = told, length
        return self._marks

    def times(self) -> Any:
        """Event time of each item, in seconds."""
        if self._times is None:
            told = (0.0 if item is None else item.at.timestamp() for item in self._items)
            self._times = np.fromiter(told, dtype=np.float64, count=len(self._items))
        return self._times

    def came(self) -> Any:
        """Order in which the items came in, wherever they are kept."""
        if self._came is None:
            told = (-1 if item is None else item.place for item in self._items)
            self._came = np.fromiter(told, dtype=np.int64, count=len(self._items))
        return self._came

    def within(self, stretch: Stretch) -> Any:
        """Whether each item is of a stretch of time."""
        at = self.times()
        since = -math.inf if stretch.since is None else stretch.since.timestamp()
        until = math.inf if stretch.until is None else stretch.until.timestamp()
        return ((at >= since) & (at < until)).astype(np.float64)

    def named(self, names: frozenset[str]) -> Any:
        """Whether each item is about or by one of these without saying so: where it says so, its words tell."""
        count = len(self._items)
        if names.isdisjoint(self._unsaid):
            return np.zeros(count)
        found = (item is not None and item.leaves_out_who and item.who in names for item in self._items)
        return np.fromiter(found, dtype=np.float64, count=count)

    def similarities(self, vectors: Sequence[Any]) -> Any:
        """The greatest cosine of each item to any of these unit vectors, 0 … 1, rounded; 0 where there is none.

        Products are made row by row, so that a cosine does not depend on how many others stand beside it.
        """
        found = np.zeros(len(self._items), dtype=np.float64)
        for vector in vectors:
            products = np.einsum("ij,j->i", self._matrix[: len(self._items)], np.asarray(vector, dtype=np.float32))
            found = np.maximum(found, products.astype(np.float64))
        return np.round(np.clip(found, 0.0, 1.0), DIGITS)

    def coverage(self, terms: Sequence[str]) -> Any:
        """Share of these terms that each text holds; see ``WordIndex``."""
        return self._words.coverage(terms)

    def held(self, terms: Sequence[str]) -> Any:
        """How many of these terms each text holds in some form."""
        return self._words.held(terms)

    def word_scores(self, terms: Mapping[str, float]) -> Any:
        """BM25 of each text; see ``WordIndex``."""
        return self._words.scores(terms, self.alive())

    def most_words(self, terms: Mapping[str, float]) -> float:
        """What a text could score by these words; see ``WordIndex``."""
        return self._words.most(terms, self.alive())
