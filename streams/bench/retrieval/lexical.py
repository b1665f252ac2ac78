"""BM25 over stems (Robertson and Walker; the constants that most libraries have), nothing else.

Rule of this file: a baseline, so nothing in it is ours to improve.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lakehouse.stems import stem

K1: Final = 1.5
B: Final = 0.75
_WORD = re.compile(r"\w+")


def stems_of(text: str) -> list[str]:
    """The stems of a text's words, read as English."""
    return [stem(word, "en") for word in _WORD.findall(text.casefold())]


class Bm25:
    """Texts by their words."""

    def __init__(self, texts: Sequence[str]) -> None:
        counts = [Counter(stems_of(text)) for text in texts]
        lengths = np.array([count.total() for count in counts], dtype=np.float64)
        self._damping = K1 * (1 - B + B * lengths / max(1.0, float(lengths.mean()) if len(texts) else 1.0))
        places: dict[str, list[int]] = {}
        for place, count in enumerate(counts):
            for word in count:
                places.setdefault(word, []).append(place)
        self._postings = {
            word: (np.array(found), np.array([counts[place][word] for place in found], dtype=np.float64))
            for word, found in places.items()
        }

    def scores(self, question: str) -> NDArray[np.float64]:
        """The score of each text; 0 where it holds no word of the question."""
        total = len(self._damping)
        found = np.zeros(total, dtype=np.float64)
        for word in set(stems_of(question)):
            if word not in self._postings:
                continue
            places, counts = self._postings[word]
            weight = np.log(1 + (total - len(places) + 0.5) / (len(places) + 0.5))
            found[places] += weight * counts * (K1 + 1) / (counts + self._damping[places])
        return found

    def rank(self, question: str) -> list[int]:
        """Places of the texts that hold a word of the question, best first; equal ones in their order."""
        scores = self.scores(question)
        return [int(place) for place in np.argsort(-scores, kind="stable") if scores[place] > 0]
