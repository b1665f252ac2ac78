"""Words to find a text by: one way to cut stored and asked texts alike.

Rule of this file: pure. No stop words and no stemming ("not" is a word), accents and case aside, identifiers whole and
in parts ("config/redis.yaml" is found by "redis.yaml" and by "redis"), scripts without spaces by pairs of letters.
The recipe is versioned: tables written with another one must be written again.
"""

import re
import unicodedata

RECIPE = "k1"
MAX_TERM = 100
"""Characters of the longest term that is kept whole; longer ones are cut."""

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_THAI_LAO, _BURMESE, _KHMER, _KANA = "\u0e00-\u0eff", "\u1000-\u109f", "\u1780-\u17ff", "\u3040-\u30ff"
_HANGUL = "\uac00-\ud7af"  # has spaces, but its endings cling to the words
_SPACELESS = _THAI_LAO + _BURMESE + _KHMER + _KANA + _HAN + _HANGUL
_RUN = re.compile(f"[{_SPACELESS}]+|[^\\W{_SPACELESS}]+(?:['\u2019.+#/@:_\\\\-]+[^\\W{_SPACELESS}]+)*[+#]{{0,3}}")
_IS_SPACELESS = re.compile(f"[{_SPACELESS}]")


def fold_text(text: str) -> str:
    """The text without case, accents and compatibility forms."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFKC", "".join(c for c in plain if not unicodedata.combining(c))).casefold()


def index_terms(text: str) -> tuple[str, ...]:
    """All terms that a stored text is found by, each once, in the order they stand."""
    terms: dict[str, None] = {}
    for run in _RUN.findall(fold_text(text)):
        if _IS_SPACELESS.match(run):
            terms.update(dict.fromkeys(run))
            terms.update((run[i : i + 2], None) for i in range(len(run) - 1))
        else:
            terms.update((part[:MAX_TERM], None) for part in _parts(run))
    return tuple(terms)


def query_terms(text: str) -> tuple[str, ...]:
    """The terms of a question, each once: a text holds them all when it holds every one in ``index_terms``."""
    terms: dict[str, None] = {}
    for run in _RUN.findall(fold_text(text)):
        if _IS_SPACELESS.match(run):
            terms.update((run[i : i + 2], None) for i in range(max(1, len(run) - 1)))
        else:
            terms[run[:MAX_TERM]] = None
    return tuple(terms)


def coverage(query: tuple[str, ...], stored: frozenset[str]) -> float:
    """Share of a question's terms that a text holds, 0 … 1; 0 for a question without terms."""
    return sum(term in stored for term in query) / len(query) if query else 0.0


def _parts(word: str) -> list[str]:
    """The word whole, its parts between slashes, and their parts between other joints."""
    found = [word]
    for piece in re.split(r"[/\\@:]+", word):
        found.append(piece)
        found.extend(re.split(r"['\u2019._-]+", piece))
        found.extend(re.split(r"['\u2019.+#_-]+", piece))
    return [part for part in found if len(part) > 1 or part == word]
