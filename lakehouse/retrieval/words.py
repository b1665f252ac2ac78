"""How well a scope's texts match the words of a question: BM25 over stems, and which terms a text holds whole.

Rule of this file: pure. Texts come as the terms they are found by (``keywords.index_terms``); a word is matched by its
stem in the language of the text, so a question is stemmed in each language that the scope's texts are in. Statistics
are those of the scope alone: how rare a word is elsewhere is nobody's business here.
"""

import math
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from lakehouse.stems import stem

SATURATION: Final = 1.2
LENGTH_SHARE: Final = 0.75
"""BM25's k1 and b, as Robertson and Zaragoza give them ("The Probabilistic Relevance Framework", 2009)."""


class WordIndex:
    """The terms of texts that are known by their place, from 0."""

    def __init__(self) -> None:
        self._whole: dict[str, array[int]] = {}
        self._stems: dict[str, array[int]] = {}
        self._lengths: array[float] = array("d")
        self._languages: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, terms: Sequence[str], language: str) -> None:
        """Take in the next text by its terms, each once."""
        place = len(self._lengths)
        self._languages[language] += 1
        for term in terms:
            self._whole.setdefault(term, array("q")).append(place)
        stems = dict.fromkeys(stem(term, language) for term in terms)
        for found in stems:
            self._stems.setdefault(found, array("q")).append(place)
        self._lengths.append(len(stems))

    def leave(self, language: str) -> None:
        """One of the texts in a language counts no more; its place stays."""
        self._languages[language] -= 1

    def coverage(self, terms: Sequence[str]) -> Any:
        """Share of these terms that each text holds whole, 0 … 1, by place; 0 for a question without terms."""
        held = np.zeros(len(self), dtype=np.float64)
        for term in terms:
            if term in self._whole:
                held[np.array(self._whole[term])] += 1.0
        return held / max(1, len(terms))

    def held(self, terms: Sequence[str]) -> Any:
        """How many of these terms each text holds in some form, by place."""
        count = np.zeros(len(self), dtype=np.float64)
        for term in terms:
            count[self._holding(term)] += 1.0
        return count

    def scores(self, terms: Mapping[str, float], alive: Any) -> Any:
        """BM25 of each text, by place.

        Args:
            terms: Of the question, each with its weight, 0 … 1.
            alive: Which places hold a text still; the others count in no statistic.
        """
        total = np.zeros(len(self), dtype=np.float64)
        count = int(alive.sum())
        if not count:
            return total
        lengths = np.array(self._lengths)
        weight = 1.0 + SATURATION * (1.0 - LENGTH_SHARE + LENGTH_SHARE * lengths / (lengths[alive].mean() or 1.0))
        for term, share in terms.items():
            places = self._holding(term, alive)
            total[places] += share * _rarity(count, len(places)) * (SATURATION + 1.0) / weight[places]
        return total

    def most(self, terms: Mapping[str, float], alive: Any) -> float:
        """What a very short text that holds every one of these terms would score; see ``scores``."""
        count = int(alive.sum())
        rarities = (share * _rarity(count, len(self._holding(term, alive))) for term, share in terms.items())
        return math.fsum(rarities) * (SATURATION + 1.0) / (1.0 + SATURATION * (1.0 - LENGTH_SHARE))

    def _holding(self, term: str, alive: Any | None = None) -> Any:
        """Places of the texts that hold a form of the term; of those alone that are there, where that is told."""
        stems = dict.fromkeys(stem(term, language) for language, count in self._languages.items() if count)
        found = [np.array(self._stems[form]) for form in stems if form in self._stems]
        places = found[0] if len(found) == 1 else np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *found]))
        return places if alive is None else places[alive[places]]


def _rarity(texts: int, holding: int) -> float:
    """BM25's inverse document frequency."""
    return math.log(1.0 + (texts - holding + 0.5) / (holding + 0.5))
