"""One scope's answer to one question: candidates from both sides, then ``ranking``.

Rule of this file: it reads a shard and nothing else. Hybrid is the union of what the vector side and the keyword side
find; each hit carries both scores, whichever side found it.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from lancedb.expr import Expr, col, lit
from lancedb.query import MatchQuery

from lakehouse import keywords, memory_table, tables
from lakehouse.ranking import Hit, rank, similarity_of_distance
from lakehouse.store import Shard
from lakehouse.versions import FOUND_BY_SEARCH, as_known
from schemas.retrieval import SearchRequest

MAX_TERMS = 100
"""Terms that the keyword side looks for; a longer question is judged by all of them all the same."""
FETCH_AT_LEAST = 20
"""Candidates from each side, however few are asked for: what one side ranks low may be high in both."""
ONLY_SIDE = {"semantic": "vector", "keyword": "keyword"}
"""The side that a mode cannot do without."""


Found = list[dict[str, Any]]
"""Rows of one side, as columns."""


@dataclass(frozen=True)
class Sides:
    """What each side found, and what failed."""

    hits: list[Hit]
    failed: tuple[str, ...] = ()


async def search(shard: Shard, request: SearchRequest, vector: Any | None) -> Sides:
    """Find what answers.

    Args:
        shard: The shard of the request's scope.
        request: The question; a blank one finds nothing.
        vector: Unit vector of the question; None when it could not be had: then only words are searched.

    Returns:
        Hits, best first, and the side that could not be searched, if one.

    Raises:
        Unavailable: No side could be searched.
    """
    terms = keywords.query_terms(request.query)
    limit = max(FETCH_AT_LEAST, 2 * request.top_k)
    wanted = conditions(request)
    if request.known_at is not None:
        believed = await _believed(shard, request, request.known_at)
        if not believed:
            return Sides([])
        wanted = wanted & tables.one_of(memory_table.KEY, believed)
    near: Found | BaseException
    words: Found | BaseException
    near, words = await asyncio.gather(
        _near(shard, request, wanted, vector, limit),
        _words(shard, request, wanted, terms, limit),
        return_exceptions=True,
    )
    failures = [
        (name, side) for name, side in (("vector", near), ("keyword", words)) if isinstance(side, BaseException)
    ]
    if len(failures) == 2 or any(name == ONLY_SIDE.get(request.mode) for name, _ in failures):  # noqa: PLR2004 - both
        raise failures[0][1]
    hits = _union(
        [] if isinstance(near, BaseException) else near,
        [] if isinstance(words, BaseException) else words,
        terms,
        None if isinstance(near, BaseException) else vector,
    )
    ranked = rank(hits, mode=request.mode, threshold=request.similarity_threshold, top_k=request.top_k)
    return Sides(ranked, tuple(f"{name} search failed" for name, _ in failures))


def conditions(request: SearchRequest) -> Expr:
    """All that a row must be, beside its scope, its closeness, and what was known at a moment."""
    found = [_in_time(request)]
    filters = request.filters
    found.extend(memory_table.has_tag(tag) for tag in filters.tags)
    if filters.domain is not None:
        found.append(tables.equals("domain", filters.domain))
    if filters.session_id is not None:
        found.append(tables.equals("source_session_id", filters.session_id))
    if filters.since is not None:
        found.append(col("valid_from") >= lit(filters.since))
    if filters.until is not None:
        found.append(col("valid_from") <= lit(filters.until))
    return tables.all_of(found)


def _in_time(request: SearchRequest) -> Expr:
    """Which versions: the current ones, or those that held (``asOf``); what was known then is told row by row."""
    if request.known_at is not None:
        return tables.one_of("status", FOUND_BY_SEARCH)
    current = tables.equals("status", "current")
    if request.as_of is None:
        return current
    held = tables.one_of("status", ("superseded", "historic")) & (col("valid_to") > lit(request.as_of))
    return (col("valid_from") <= lit(request.as_of)) & (current | held)


async def _believed(shard: Shard, request: SearchRequest, moment: datetime) -> list[str]:
    """Ids of the versions that were current, or held at ``asOf``, by what was known at a moment."""
    known = as_known(await shard.scope_rows(request.scope), moment)
    asked = request.as_of
    return [row.event.event_id for row in known if (row.status == "current" if asked is None else row.held_at(asked))]


async def _near(shard: Shard, request: SearchRequest, wanted: Expr, vector: Any | None, limit: int) -> Found:
    if vector is None:
        return []
    if request.mode == "keyword":
        memory_table.checked(vector, shard.dimension)  # the similarity of what words find is told as well
        return []
    return await shard.by_vector(request.scope, wanted, vector, limit)


async def _words(shard: Shard, request: SearchRequest, wanted: Expr, terms: Sequence[str], limit: int) -> Found:
    if not terms or request.mode == "semantic":
        return []
    query = MatchQuery(" ".join(terms[:MAX_TERMS]), "keywords")  # type: ignore[call-arg]  # its defaults are invisible
    return await shard.by_words(request.scope, wanted, query, limit)


def _union(near: Found, words: Found, terms: tuple[str, ...], vector: Any | None) -> list[Hit]:
    """Each row once, with both scores."""
    hits: dict[str, Hit] = {}
    for told in near:
        row = memory_table.from_columns(told)
        similarity = similarity_of_distance(told["_distance"])
        hits[row.event.event_id] = Hit(row, similarity, _coverage(terms, told), by_vector=True, by_keyword=False)
    for told in words:
        held = _coverage(terms, told)
        if held == 0.0:
            continue
        row = memory_table.from_columns(told)
        known = hits.get(row.event.event_id)
        similarity = known.similarity if known else _cosine(row.vector, vector)
        hits[row.event.event_id] = Hit(row, similarity, held, by_vector=known is not None, by_keyword=True)
    return list(hits.values())


def _coverage(terms: tuple[str, ...], told: Mapping[str, Any]) -> float:
    return keywords.coverage(terms, frozenset(told["keywords"].split()))


def _cosine(stored: Any, asked: Any | None) -> float:
    if stored is None or asked is None:
        return 0.0
    product = float(np.dot(np.asarray(stored, dtype=np.float64), np.asarray(asked, dtype=np.float64)))
    return similarity_of_distance(1.0 - product)
