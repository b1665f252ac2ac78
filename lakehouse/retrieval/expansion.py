"""A question in more words: synonyms and the parts of symbols as further terms, two-part questions as their parts.

Rule of this file: pure. The question's own words stay and weigh most; what joins them is bounded, comes from data
(``synonyms.yaml``, ``parts.yaml``), and depends on the question alone. Each kind can be left out.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from lakehouse.keywords import fold_text, query_terms
from lakehouse.retrieval.names import NOBODY, KnownNames
from lakehouse.retrieval.parts import parts_of
from lakehouse.retrieval.tokens import Read, Token, is_han, read
from lakehouse.ruledata import load_data

SYNONYM: Final = 0.2
SYMBOL_PART: Final = 0.5
"""Weights of further terms; a term of the question itself weighs 1."""
MAX_GROUPS: Final = 5
"""Words of a question that are told in others, too."""
MAX_TERMS: Final = 40
MAX_PARTS_OF_SYMBOL: Final = 8
_LONGEST_PHRASE: Final = 4
_PIECE: Final = re.compile(r"\d+(?:\.\d+)*|[^\W\d_]+")
_HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_VERSION: Final = re.compile(r"v?(\d+(?:\.\d+)+)(?:[-+.]?[a-z]+[\d.]*)?", re.IGNORECASE)


@dataclass(frozen=True)
class Expanded:
    """A question in more words.

    Attributes:
        text: The question, as it was.
        terms: Further terms, each with its weight, above 0 and below 1; none is a term of the question.
        parts: The questions that it is made of, 2 or 3, or none where it is one.
    """

    text: str
    terms: Mapping[str, float]
    parts: tuple[str, ...]


def expand(
    query: str,
    *,
    names: KnownNames = NOBODY,
    synonyms: bool = True,
    decomposition: bool = True,
    symbols: bool = True,
) -> Expanded:
    """A question in more words.

    Args:
        query: As it is searched for.
        names: What the scope knows by name, for pronouns from one part to the next.
        synonyms: Whether words that ask for the same join.
        decomposition: Whether it is taken apart.
        symbols: Whether the words in symbols join.

    Returns:
        At most 40 terms and 3 parts. A caller who stems counts a term once, with its highest weight.
    """
    told = read(query)
    terms: dict[str, float] = {}
    if symbols:
        terms.update((part, SYMBOL_PART) for token in told.tokens if token.is_symbol for part in _split(token))
    if synonyms:
        terms = {**dict.fromkeys(_synonyms(told), SYNONYM), **terms}
    own = {*query_terms(query), *(token.key for token in told.tokens)}
    heaviest = sorted(terms.items(), key=lambda term: -term[1])
    kept = dict([(term, weight) for term, weight in heaviest if term not in own][:MAX_TERMS])
    return Expanded(query, kept, parts_of(query, names) if decomposition else ())


def _split(token: Token) -> Sequence[str]:
    """The words in a symbol: "asyncio", "run" of "asyncio.run"; of a version only its number."""
    version = _VERSION.fullmatch(token.word)
    if version is not None:
        return (version[1],)
    pieces = (piece for run in _PIECE.findall(token.word) for piece in _HUMP.split(run))
    found = dict.fromkeys(fold_text(piece) for piece in pieces if len(piece) > 1)
    return tuple(found)[:MAX_PARTS_OF_SYMBOL]


def _synonyms(query: Read) -> Iterator[str]:
    """The words of the groups that a question has words of, group by group."""
    groups: dict[tuple[str, ...], None] = {}
    for phrase in _phrases(query):
        rows = [_ROWS[language] for language in (query.language, *_ROWS) if language in _ROWS]
        group = next((row[phrase] for row in rows if phrase in row), None)
        if group is not None:
            groups.setdefault(group)
    for group in list(groups)[:MAX_GROUPS]:
        yield from group


def _phrases(query: Read) -> Iterator[str]:
    """What a question says, by one word and by several, in order, the longer first."""
    keys = [token.key for token in query.tokens]
    for place, token in enumerate(query.tokens):
        if is_han(token.text):
            yield token.text
            yield from (word for word in _UNSPACED if len(word) > 1 and word in token.text)
            continue
        for count in range(_LONGEST_PHRASE, 1, -1):
            yield " ".join(keys[place : place + count])
        if not token.little:
            yield token.key


def _rows(lines: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """What a group is found by → the words of it that are added."""
    rows: dict[str, tuple[str, ...]] = {}
    for line in lines:
        heads, _, others = line.partition("|")
        group = tuple(map(fold_text, heads.split()))
        rows.update((" ".join(_keys(word)), group) for word in (*heads.split(), *others.split()))
    return rows


def _keys(word: str) -> list[str]:
    """A word of data as the keys of its words."""
    return [word] if is_han(word) else [token.key for token in read(word.replace("_", " ")).tokens]


_ROWS: Final = {
    language: _rows(lines) for language, lines in load_data("lakehouse.retrieval", "synonyms")["groups"].items()
}
_UNSPACED: Final = tuple(word for rows in _ROWS.values() for word in rows if is_han(word))
