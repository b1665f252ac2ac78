"""``DocumentStore``: what is kept of the outside, in the lake beside the memories.

Rule of this file: rows are what ``events`` makes of the events, and are written by ``apply`` alone. Several processes
may apply events, each of its own pages: who did not see a row as it is reads again and folds again.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from lancedb.expr import Expr, col, lit
from lancedb.query import MatchQuery

from lakehouse import keywords, tables
from lakehouse.external import tables as columns
from lakehouse.external.events import DocumentRow, Fold, Happening
from lakehouse.external.opened import OpenTables
from lakehouse.external.policy import VALUABLE_SHARE, percentile
from lakehouse.external.releases import FITTING, Fit, by_fit, fit
from lakehouse.external.writing import take_up
from lakehouse.memory_table import checked
from lakehouse.similarity import DIGITS
from schemas.errors import Conflict
from schemas.knowledge import Deprecation, DocumentEvent, Lookup, PageState, Uses

CANDIDATES: Final = 50
"""Documents from each side of a search, and from both together."""
ATTEMPTS: Final = 5
"""To write rows that others write as well."""
EVENTS_A_BATCH: Final = 50
"""Of a rebuild."""
MAX_TERMS: Final = 100


@dataclass(frozen=True)
class Found:
    """A document of a symbol.

    Attributes:
        row: The document.
        fit: How its version fits the one that was asked for.
    """

    row: DocumentRow
    fit: Fit

    @property
    def fits(self) -> bool:
        """Whether it is of the version, or the series, that was asked for; another one must be told as such."""
        return self.fit in FITTING


class DocumentStore(OpenTables):
    """Documents, their pages, findings and look-ups. Readers see each commit at once."""

    async def apply(self, events: Sequence[DocumentEvent]) -> list[DocumentRow]:
        """Take up events, in one commit a table; what was taken up before changes nothing.

        Args:
            events: Those of one source in the order in which they were written.

        Returns:
            The documents that are other ones now, those that are gone included.

        Raises:
            Conflict: Others wrote the same rows again and again; what is written is right as far as it goes.
            Misconfigured: There are documents and no embedder.
            Unavailable: Lake or embedder failed: the same events can be applied again.
        """
        async with self.lock:
            changed = await self._taken_up(events)
        await self.compact_if_due()
        return changed

    async def rebuild(self, events: Iterable[DocumentEvent]) -> None:
        """Take up any number of events, batch by batch; see ``apply``."""
        for batch in tables.batched(events, EVENTS_A_BATCH):
            await self.apply(batch)

    async def get(self, document_id: str) -> DocumentRow | None:
        """A document by its id; None where there is none, or none any more."""
        found = await self._documents(tables.equals(columns.KEY, document_id))
        return found[0] if found else None

    async def find(
        self, symbol: str, project: str | None = None, version: str | None = None, *, source: str | None = None
    ) -> list[Found]:
        """The documents of a symbol, best first: those of the version that fits best, see ``releases``.

        Args:
            symbol: Whole, or the end of exactly one whole name ("run" where only "asyncio.run" ends so).
            project: Whose; None looks in all.
            version: As the project is pinned; None takes the newest.
            source: Which publisher; None takes all, the most trusted first.
        """
        conditions = [tables.equals("last_name", columns.last_name(symbol))]
        conditions += [] if project is None else [tables.equals("project", project)]
        conditions += [] if source is None else [tables.equals("source", source)]
        rows = await self._documents(tables.all_of(conditions))
        same = [row for row in rows if row.document.name == symbol]
        if not same:
            same = [row for row in rows if row.document.name.endswith(f".{symbol}")]
            if len({(row.document.project, row.document.name) for row in same}) > 1:
                return []
        same.sort(key=lambda row: (row.document.role.startswith("std:"), -row.credibility, row.document.id))
        return [Found(row, fit(row.version, version)) for row in by_fit(same, lambda row: row.version, version)]

    async def search(
        self, text: str, vector: Any = None, *, project: str | None = None, limit: int = CANDIDATES
    ) -> list[tuple[DocumentRow, float]]:
        """What may help with a text: the nearest by meaning and those that share its words, the nearest first.

        Args:
            text: A task or a question.
            vector: Its unit vector; without one only words find, and all similarities are 0.
            project: Whose documents; None looks in all.
            limit: From each side, and of both together.

        Returns:
            Documents with their similarity, 0 … 1.

        Raises:
            Unavailable: The vector is none, or the lake cannot be read.
        """
        where = _live(*([] if project is None else [tables.equals("project", project)]))
        terms = keywords.query_terms(text)[:MAX_TERMS]
        unit = None if vector is None else checked(vector, self.dimension)
        queries = []
        if unit is not None:
            queries.append((self.documents.query().nearest_to(unit).distance_type("cosine"), "_distance"))
        if terms:
            words = MatchQuery(" ".join(terms), "keywords")  # type: ignore[call-arg]  # hidden defaults
            queries.append((self.documents.query().nearest_to_text(words), "_score"))
        sides = await asyncio.gather(*(self._candidates(query, rank, where, limit) for query, rank in queries))
        found: dict[str, tuple[DocumentRow, float]] = {}
        for rows, matrix in sides:
            near = np.zeros(len(rows)) if unit is None else np.clip(matrix @ unit, 0.0, 1.0)
            for row, similarity in zip(rows, near, strict=True):
                found.setdefault(row.document.id, (row, round(float(similarity), DIGITS)))
        return sorted(found.values(), key=lambda pair: -pair[1])[:limit]

    async def deprecations_of(
        self, project: str | None, symbols: Sequence[str], *, source: str | None = None
    ) -> list[Deprecation]:
        """What is known of symbols, in their order; of each the newest version first.

        Args:
            project: Whose; None looks in all.
            symbols: Whole names.
            source: Who says so; None takes all.
        """
        found: list[Deprecation] = []
        for some in tables.batched(dict.fromkeys(symbols), tables.KEYS_A_READ):
            conditions = [tables.one_of("symbol", some)]
            conditions += [] if project is None else [tables.equals("project", project)]
            conditions += [] if source is None else [tables.equals("source", source)]
            rows = await self.read(self.deprecations, tables.all_of(conditions), [columns.KEY, "finding", *_TOLD])
            findings = [columns.finding_row(row).finding for row in sorted(rows, key=lambda row: row[columns.KEY])]
            place = {symbol: number for number, symbol in enumerate(some)}
            newest = by_fit(findings, lambda finding: finding.version)
            found += sorted(newest, key=lambda finding: place[finding.symbol])
        return found

    async def findings(self) -> list[Deprecation]:
        """All that is known not to be used any more, by project and symbol."""
        told = await self.read(self.deprecations, None, columns.DEPRECATIONS_SCHEMA.names)
        found = [columns.finding_row(row).finding for row in told]
        found.sort(key=lambda finding: (finding.project, finding.symbol, finding.version or ""))
        return [finding for finding in found if finding.status != "undeprecated"]

    async def applied(self) -> int:
        """Offset in the log of the first event that was not taken up; see ``note_applied``."""
        rows = await self.read(self.progress, None, ["offset"])
        return max((int(row["offset"]) for row in rows), default=0)

    async def note_applied(self, offset: int) -> None:
        """Note how far the log was taken up.

        Args:
            offset: Of the first event that was not.

        Raises:
            Conflict: Another writer notes it just now.
            Unavailable: The lake cannot be written.
        """
        async with self.lock:
            kept = await self.read(self.progress, None, [columns.KEY, "touched"])
            await self.write(columns.PROGRESS, [{columns.KEY: "log", "offset": offset}], _seen(kept))

    async def page(self, url: str) -> PageState | None:
        """What is known of a page, for the next request to it."""
        rows = await self.read(self.pages, tables.equals(columns.KEY, url), ["state"])
        return columns.page_state(rows[0]) if rows else None

    async def on_page(self, url: str) -> list[DocumentRow]:
        """The documents of a page."""
        return await self._documents(tables.equals("page_url", url))

    async def refused_pages(self, now: datetime) -> set[str]:
        """Pages that are not asked for just now."""
        rows = await self.read(self.pages, col("negative_until") > lit(now), [columns.KEY])
        return {row[columns.KEY] for row in rows}

    async def live(self) -> list[DocumentRow]:
        """All documents, by id."""
        return sorted(await self._documents(), key=lambda row: row.document.id)

    async def percentile_80(self) -> float:
        """The access count that four of five documents do not exceed; 0 where there is none."""
        rows = await self.read(self.documents, _live(), ["access_count"])
        return percentile([row["access_count"] for row in rows], VALUABLE_SHARE)

    async def uses(self) -> dict[str, Uses]:
        """How often each document was given and when last, counted from all look-ups."""
        self.require_present()
        with tables.lake_errors():
            told = await self.accesses.query().select([columns.KEY, "document_id", "at"]).to_arrow()
        given = told.filter(pc.is_valid(told["document_id"]))
        counted = given.group_by("document_id").aggregate([(columns.KEY, "count_distinct"), ("at", "max")])
        return {
            row["document_id"]: Uses(count=row["id_count_distinct"], last=row["at_max"]) for row in counted.to_pylist()
        }

    async def lookups(self, since: datetime, until: datetime) -> dict[str, Lookup]:
        """The look-ups from one moment to before another, by id, in the order in which they were asked."""
        rows = await self._between(self.accesses, since, until, columns.ACCESSES_SCHEMA)
        return {row[columns.KEY]: columns.access_row(row) for row in rows}

    async def happened(self, since: datetime, until: datetime) -> list[Happening]:
        """What happened from one moment to before another, in its order."""
        return [
            columns.happening_row(row)
            for row in await self._between(self.happenings, since, until, columns.HAPPENINGS_SCHEMA)
        ]

    async def keep_inventory(self, state: PageState, body: bytes, *, now: datetime) -> None:
        """Keep an index of a site as it came. It is no part of the events: it can be had again.

        Raises:
            Conflict: Another writer keeps it just now.
            Unavailable: The lake cannot be written.
        """
        row = {columns.KEY: state.url, "body": body, "kept_at": now}
        row["state"] = state.model_dump_json(by_alias=True, exclude_none=True)
        async with self.lock:
            kept = await self.read(self.inventories, tables.equals(columns.KEY, state.url), [columns.KEY, "touched"])
            await self.write(columns.INVENTORIES, [row], _seen(kept))

    async def inventory(self, url: str) -> tuple[PageState, bytes] | None:
        """An index of a site with what its host said of it; None where none is kept."""
        rows = await self.read(self.inventories, tables.equals(columns.KEY, url), ["state", "body"])
        return (columns.page_state(rows[0]), rows[0]["body"]) if rows else None

    async def everything(self) -> Fold:
        """All rows, those that are gone included: two stores that took up the same events have equal ones."""
        documents = await self.read(self.documents, None, list(columns.ROW_COLUMNS))
        pages = await self.read(self.pages, None, columns.PAGES_SCHEMA.names)
        findings = await self.read(self.deprecations, None, columns.DEPRECATIONS_SCHEMA.names)
        return Fold(
            {row.document.id: row for row in map(columns.document_row, documents)},
            {row.state.url: row for row in map(columns.page_row, pages)},
            {row.id: row for row in map(columns.finding_row, findings)},
        )

    async def _taken_up(self, events: Sequence[DocumentEvent]) -> list[DocumentRow]:
        for _ in range(ATTEMPTS - 1):
            with suppress(Conflict):  # read again, fold again
                return await take_up(self, events)
        return await take_up(self, events)

    async def _candidates(self, query: Any, rank: str, where: Expr, limit: int) -> tuple[list[DocumentRow], Any]:
        self.require_present()
        wanted = [*columns.ROW_COLUMNS, "vector", rank]
        with tables.lake_errors():
            found: pa.Table = await query.where(where).limit(limit).select(wanted).to_arrow()
        rows = [columns.document_row(row) for row in found.select(list(columns.ROW_COLUMNS)).to_pylist()]
        return rows, tables.matrix(found["vector"], self.dimension)

    async def _documents(self, *conditions: Expr) -> list[DocumentRow]:
        rows = await self.read(self.documents, _live(*conditions), list(columns.ROW_COLUMNS))
        return [columns.document_row(row) for row in rows]

    async def _between(self, table: Any, since: datetime, until: datetime, schema: pa.Schema) -> list[dict[str, Any]]:
        where = (col("at") >= lit(since)) & (col("at") < lit(until))
        rows = await self.read(table, where, schema.names)
        return sorted(rows, key=lambda row: (row["at"], row[columns.KEY]))


_TOLD: Final = ("source", "told_at", "told_by")


def _live(*conditions: Expr) -> Expr:
    return tables.all_of((tables.equals("status", "live"), *conditions))


def _seen(rows: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    return {row[columns.KEY]: row["touched"] for row in rows}
