"""The questions that one question is made of: "What is X and where is Y?", "both A and B", "X vs Y".

Rule of this file: pure. A question is cut only where each part says what it is about; a pronoun in a later part is told
by the first, as in a conversation. How languages join and compare is data (``parts.yaml``).
"""

import re
from collections.abc import Sequence
from typing import Final

from lakehouse.keywords import fold_text
from lakehouse.retrieval.history import resolved
from lakehouse.retrieval.names import KnownNames
from lakehouse.retrieval.tokens import MAX_READ, Read, Token, listed, read, spaced
from lakehouse.ruledata import load_data
from schemas.retrieval import HistoryTurn

MAX_PARTS: Final = 3
_MAX_THING: Final = 4
"""Words of one of two things."""
_LEAD: Final = 3
"""Words within which a question must begin to ask."""
_LONGEST_PHRASE: Final = 4
_DATA: Final = load_data("lakehouse.retrieval", "parts")
_INTERROGATIVES, _JOINERS, _PREPOSITIONS, _DETERMINERS = (
    listed(name) for name in ("interrogatives", "joiners", "prepositions", "determiners")
)
_PAIRS, _JOINS, _VERSUS = (spaced(_DATA[name]) for name in ("pairs", "joins", "versus"))
_UNSPACED: Final = re.compile(_DATA["unspaced"])
_UNITS: Final = frozenset(
    fold_text(word) for row in load_data("lakehouse.retrieval", "moments")["units"].values() for word in row.split()
)
_CLAUSES: Final = re.compile("[\uff0c,\uff1b;\uff1f?]")
_EDGES: Final = " \t\n,;\uff0c\u3001"


def parts_of(query: str, names: KnownNames) -> tuple[str, ...]:
    """The questions that a question is made of, 2 or 3; none where it is one, or longer than is read."""
    if len(query) > MAX_READ:
        return ()
    told = read(query)
    parts = _questions(told, names) or _clauses(told) or _compared(told) or _unspaced(query)
    distinct = tuple(dict.fromkeys(parts))
    return distinct if len(distinct) > 1 else ()


def _questions(query: Read, names: KnownNames) -> Sequence[str]:
    """Several questions in one: each asks by a word of its own and says what it is about."""
    tokens = query.tokens
    if not any(_asks(token) for token in tokens[:_LEAD]):
        return ()
    first = 0
    cuts: list[tuple[int, int]] = []
    for place in range(1, len(tokens)):
        begins = _begin(tokens, place)
        if begins is None or len(cuts) + 1 == MAX_PARTS:
            continue
        if any(_says_at(tokens, at, _PAIRS) for at in range(first, begins)):
            continue
        if _says_something(tokens[first:begins]) and _says_something(tokens[place:]):
            cuts.append((tokens[begins - 1].end, tokens[begins + (tokens[begins].key in _JOINERS)].start))
            first = place
    if not cuts:
        return ()
    starts, ends = (0, *(start for _, start in cuts)), (*(end for end, _ in cuts), len(query.text))
    parts = [query.text[start:end].strip(_EDGES) for start, end in zip(starts, ends, strict=True)]
    lead = [HistoryTurn(role="user", content=parts[0])]
    return [parts[0], *(resolved(part, lead, names=names).text for part in parts[1:])]


def _clauses(query: Read) -> Sequence[str]:
    """Several questions where a word that asks stands anywhere in its clause: each clause that asks is one."""
    if query.language != "zh":
        return ()
    clauses = [read(clause.strip()) for clause in _CLAUSES.split(query.text) if clause.strip()]
    asking = [told.text for told in clauses if told.content and any(map(_asks, told.tokens))]
    return asking if 1 < len(asking) == len(clauses) <= MAX_PARTS else ()


def _begin(tokens: Sequence[Token], place: int) -> int | None:
    """Where a question begins that asks by the word at a place: at its joiner, its preposition, or itself."""
    if not _asks(tokens[place]):
        return None
    begin = place
    if begin > 1 and tokens[begin - 1].key in _PREPOSITIONS and not tokens[begin].after_break:
        begin -= 1
    if begin > 1 and tokens[begin - 1].key in _JOINERS:
        return begin - 1
    return begin if tokens[begin].initial else None


def _asks(token: Token) -> bool:
    return token.little and token.key in _INTERROGATIVES


def _says_something(tokens: Sequence[Token]) -> bool:
    return any(not token.little for token in tokens)


def _compared(query: Read) -> Sequence[str]:
    """Two things of which the same is asked: each by itself in place of both. How long it is between them is one."""
    tokens = query.tokens
    for place in range(len(tokens)):
        if (count := _says_at(tokens, place, _VERSUS)) and place:
            first = _thing_before(tokens, place)
            return _each(query, first[0].start, first, _thing_after(tokens, place + count, first)) if first else ()
        if count := _says_at(tokens, place, _PAIRS):
            if any(token.key in _UNITS for token in tokens[:place]):
                return ()
            joined = _joined(tokens, place + count)
            if joined is not None:
                article = place > 0 and tokens[place - 1].key in _DETERMINERS
                return _each(query, tokens[place - article].start, *joined)
    return ()


def _each(query: Read, start: int, first: Sequence[Token], second: Sequence[Token]) -> Sequence[str]:
    if not second:
        return ()
    text, tail = query.text, query.text[second[-1].end :]
    things = (text[thing[0].start : thing[-1].end] for thing in (first, second))
    return [f"{text[:start]}{thing}{tail}".strip(_EDGES) for thing in things]


def _joined(tokens: Sequence[Token], place: int) -> tuple[Sequence[Token], Sequence[Token]] | None:
    """The things before and behind a word that joins them; two moments are a stretch of time."""
    for at in range(place + 1, min(place + 1 + _MAX_THING, len(tokens))):
        count = _says_at(tokens, at, _JOINS)
        if any(token.is_day or token.key.isdigit() for token in tokens[place:at]):
            return None
        if count and _says_something(tokens[place:at]):
            return tokens[place:at], _thing_after(tokens, at + count, tokens[place:at])
    return None


def _thing_after(tokens: Sequence[Token], place: int, other: Sequence[Token]) -> Sequence[Token]:
    """The thing that begins at a place: its article, and a name or as many words as the other thing has."""
    start = place
    most = _MAX_THING if place < len(tokens) and tokens[place].is_name else sum(not token.little for token in other)
    while place < len(tokens) and tokens[place].little and place < start + 2:
        place += 1
    end = place
    while end < len(tokens) and end < place + most and _belongs(tokens[end], tokens[place]):
        end += 1
        if end < len(tokens) and tokens[end].after_break:
            break
    return tokens[start:end] if end > place else ()


def _thing_before(tokens: Sequence[Token], place: int) -> Sequence[Token]:
    """The thing that ends before a place."""
    start = place
    while start and start > place - _MAX_THING and _belongs(tokens[start - 1], tokens[place - 1]):
        start -= 1
        if tokens[start].after_break:
            break
    article = 0 < start < place and tokens[start - 1].key in _DETERMINERS
    return tokens[start - article : place]


def _belongs(token: Token, head: Token) -> bool:
    """Whether a word is of one thing with another: names with names, other words with words that are no little ones."""
    return not token.little and (token.is_name or not head.is_name)


def _says_at(tokens: Sequence[Token], place: int, wanted: frozenset[str]) -> int:
    """How many words of a phrase that begins at a place; 0 where none does."""
    keys = [token.key for token in tokens[place : place + _LONGEST_PHRASE]]
    return next((count for count in range(len(keys), 0, -1) if " ".join(keys[:count]) in wanted), 0)


def _unspaced(query: str) -> Sequence[str]:
    found = _UNSPACED.search(query)
    if found is None:
        return ()
    head, tail = query[: found.start()], query[found.end() :]
    return [f"{head}{found[thing]}{found['rest']}{tail}".strip(_EDGES) for thing in ("a", "b")]
