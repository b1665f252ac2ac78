"""Which rows a question is about: the versions and turns that it may be answered from, before anything is ranked.

Rule of this file: scope, time and filters are conditions of the read, never of what was read. What holds now comes from
the catalogue; other moments and filters are read for this one question. Of a scope that is too large for that, the
union of what its vectors and its words find is taken.
"""

import asyncio
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import numpy as np
from lancedb.expr import Expr, col, lit
from lancedb.query import MatchQuery

from lakehouse import memory_table, tables, turn_table
from lakehouse.retrieval.items import ITEM, KEY, is_found
from lakehouse.retrieval.ranking import Question
from lakehouse.retrieval.scope_index import ScopeIndex
from lakehouse.store import Shard
from lakehouse.versions import FOUND_BY_SEARCH, as_known
from schemas.conversation import Scope
from schemas.errors import MemlakeError
from schemas.retrieval import Filters, Kind, SearchRequest

FETCHED: Final = 100
"""Candidates from each side of a scope that is searched in its table."""
MAX_TERMS: Final = 100
"""Terms that the keyword side of a table looks for; a longer question is judged by all of them all the same."""


@dataclass(frozen=True)
class Candidates:
    """What may answer, and which side of the search failed, if one."""

    index: ScopeIndex
    failed: tuple[str, ...] = ()


def is_plain(request: SearchRequest) -> bool:
    """Whether a question is about all that holds now."""
    return request.as_of is None and request.known_at is None and request.filters == Filters()


async def read(
    shard: Shard, request: SearchRequest, kind: Kind, question: Question, *, most_rows: int, large: bool = False
) -> Candidates:
    """Read what may answer one question.

    Args:
        shard: Of the request's scope.
        request: The question.
        kind: "knowledge" or "episode".
        question: As it is searched.
        most_rows: From how many rows on only the nearest are taken.
        large: Whether there are known to be more: they are then not read to be counted.

    Raises:
        Unavailable: The lake cannot be read.
    """
    wanted = await _conditions(shard, request, kind)
    if wanted is None:
        return Candidates(ScopeIndex(shard.dimension))
    failed: tuple[str, ...] = ()
    if not large:
        rows, matrix = await shard.rows_of(request.scope, kind, wanted, most_rows + 1)
        large = len(rows) > most_rows
    if large:
        rows, matrix, failed = await _nearest(shard, request.scope, kind, wanted, question)
    index = ScopeIndex(shard.dimension)
    for columns, vector in zip(rows, matrix, strict=True):
        if is_found(columns):
            index.put(ITEM[kind](columns), vector)
    return Candidates(index, failed)


async def _nearest(
    shard: Shard, scope: Scope, kind: Kind, wanted: Expr, question: Question
) -> tuple[list[dict[str, Any]], Any, tuple[str, ...]]:
    """The union of what both sides find in a table; a side that fails is named, and both failing is a failure."""
    sides = [("vector", shard.by_vector(scope, kind, wanted, vector, FETCHED)) for vector in question.vectors]
    if question.terms:
        query = MatchQuery(" ".join(question.terms[:MAX_TERMS]), "keywords")  # type: ignore[call-arg]  # hidden defaults
        sides.append(("keyword", shard.by_words(scope, kind, wanted, query, FETCHED)))
    found = await asyncio.gather(*(search for _, search in sides), return_exceptions=True)
    failed: list[str] = []
    rows: dict[str, tuple[dict[str, Any], Any]] = {}
    for (side, _), outcome in zip(sides, found, strict=True):
        if isinstance(outcome, MemlakeError):
            failed.append(f"{side} search failed")
        elif isinstance(outcome, BaseException):
            raise outcome
        else:
            rows.update((columns[KEY[kind]], (columns, vector)) for columns, vector in zip(*outcome, strict=True))
    if sides and len(failed) == len(sides):
        raise next(outcome for outcome in found if isinstance(outcome, MemlakeError))
    matrix = np.stack([vector for _, vector in rows.values()]) if rows else np.zeros((0, shard.dimension))
    return [columns for columns, _ in rows.values()], matrix, tuple(dict.fromkeys(failed))


async def _conditions(shard: Shard, request: SearchRequest, kind: Kind) -> Expr | None:
    """All that a row must be beside its scope; None where no row can be it."""
    if kind == "episode":
        return _of_turns(request)
    found = [_in_time(request), *_filtered(request.filters)]
    if request.known_at is not None:
        believed = await _believed(shard, request, request.known_at)
        if not believed:
            return None
        found.append(tables.one_of(memory_table.KEY, believed))
    return tables.all_of(found)


def _filtered(filters: Filters) -> list[Expr]:
    found = [memory_table.has_tag(tag) for tag in filters.tags]
    if filters.domain is not None:
        found.append(tables.equals("domain", filters.domain))
    if filters.session_id is not None:
        found.append(tables.equals("source_session_id", filters.session_id))
    return [*found, *_between("valid_from", filters)]


def _between(column: str, filters: Filters) -> list[Expr]:
    since = [] if filters.since is None else [col(column) >= lit(filters.since)]
    until = [] if filters.until is None else [col(column) <= lit(filters.until)]
    return [*since, *until]


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


def _of_turns(request: SearchRequest) -> Expr | None:
    """What was said until the moments asked for, and is not forgotten now. Turns have no tags and no domain."""
    filters = request.filters
    if filters.tags or filters.domain is not None:
        return None
    found = [tables.equals("status", turn_table.EPISODE)]
    for column, latest in (("timestamp", request.as_of), ("recorded_at", request.known_at)):
        if latest is not None:
            found.append(col(column) <= lit(latest))
    if filters.session_id is not None:
        found.append(tables.equals("session_id", filters.session_id))
    return tables.all_of([*found, *_between("timestamp", filters)])
