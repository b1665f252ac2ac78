"""``daily_maintenance``: what is used is looked at again, what nobody uses is let go, counts and scores are renewed.

Rule of this file: it reads rows and tells what is to be done, as requests and events; it applies none. Whoever runs it
sends the events and applies them after that: run again for the same moment, because it died between the two, it tells
the same ones, with the same ids; run again after they were applied, none.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from pydantic import JsonValue

from lakehouse.external.events import DocumentRow
from lakehouse.external.opened import NAMES, POLICY
from lakehouse.external.policy import UNUSED_DAYS, VALUABLE_SHARE, percentile, should_evict, should_refresh
from lakehouse.external.scoring import standing_score
from lakehouse.external.store import DocumentStore
from lakehouse.maintenance import compact
from lakehouse.similarity import DIGITS
from schemas.errors import Unavailable
from schemas.identity import derived_id
from schemas.knowledge import DocumentEvent, KnowledgeMaintenance, PageState, RefreshRequest, Uses

DOCUMENTS_AN_EVENT: Final = 5000


@dataclass(frozen=True)
class Upkept:
    """What one run of the maintenance found to do.

    Attributes:
        report: Figures of it.
        requests: Pages to look at again, the most used first.
        events: To be sent, and then applied.
    """

    report: KnowledgeMaintenance
    requests: tuple[RefreshRequest, ...]
    events: tuple[DocumentEvent, ...]


async def daily_maintenance(store: DocumentStore, *, now: datetime, keep: timedelta = POLICY.keep) -> Upkept:
    """All that is due once a day; the tables are compacted on the way.

    Args:
        store: Whose documents.
        now: When it was asked for, timezone-aware: it makes the ids of the events.
        keep: How long old versions of the tables stay readable.

    Raises:
        Unavailable: The lake cannot be read.
    """
    before = await store.live()
    rows = counted(before, await store.uses())
    pages = unused_pages(rows, now)
    evictions = await _evictions(store, pages, now)
    left = [row for row in rows if row.document.page_url not in pages]
    requests = requests_for(left, await store.refused_pages(now), now)
    scores = rescored(before, left, now)
    report = KnowledgeMaintenance(
        at=now,
        refreshed=len(requests),
        evicted=sum(len(event.document_ids) for event in evictions),
        rescored=sum(len(event.scores) for event in scores),
        rolled_up=sum(row.access_count for row in rows) - sum(row.access_count for row in before),
        tables=await _compacted(store, keep),
    )
    return Upkept(report, tuple(requests), (*evictions, *scores))


async def refresh_docs_if_needed(
    store: DocumentStore, *, now: datetime, access_count_percentile: float = VALUABLE_SHARE
) -> list[RefreshRequest]:
    """Requests for the pages of documents that are stale and used; see ``policy.should_refresh``.

    Args:
        store: Whose documents.
        now: Timezone-aware.
        access_count_percentile: Share of all documents that a valuable one is used more often than.
    """
    rows = counted(await store.live(), await store.uses())
    return requests_for(rows, await store.refused_pages(now), now, access_count_percentile)


async def cleanup_cache(
    store: DocumentStore, *, now: datetime, older_than_days: int = UNUSED_DAYS, unused: bool = True
) -> list[DocumentEvent]:
    """Events that let go of pages none of whose documents is worth keeping; see ``policy.should_evict``."""
    rows = counted(await store.live(), await store.uses())
    pages = unused_pages(rows, now, older_than_days=older_than_days, unused=unused)
    return await _evictions(store, pages, now)


async def recalculate_relevance_scores(store: DocumentStore, *, now: datetime) -> list[DocumentEvent]:
    """Events with the counts and scores that are other ones now; none on the same day once they are applied."""
    before = await store.live()
    return rescored(before, counted(before, await store.uses()), now)


def counted(rows: Iterable[DocumentRow], uses: Mapping[str, Uses]) -> list[DocumentRow]:
    """The rows with what was counted from the look-ups; a count never falls."""
    found = []
    for row in rows:
        told = uses.get(row.document.id)
        if told is not None:
            last = max(filter(None, (row.last_accessed, told.last)), default=None)
            row = replace(row, access_count=max(row.access_count, told.count), last_accessed=last)  # noqa: PLW2901
        found.append(row)
    return found


def requests_for(
    rows: Sequence[DocumentRow], refused: set[str], now: datetime, share: float = VALUABLE_SHARE
) -> list[RefreshRequest]:
    """One request a page that is worth it, the most used first.

    Args:
        rows: All documents, counted.
        refused: Pages that are not asked for just now.
        now: Timezone-aware.
        share: See ``refresh_docs_if_needed``.
    """
    bound = percentile([row.access_count for row in rows], share)
    due = [row for row in rows if row.document.page_url not in refused and should_refresh(row, now, bound)]
    pages: dict[str, DocumentRow] = {}
    for row in sorted(due, key=lambda row: (-row.access_count, row.document.id)):
        pages.setdefault(row.document.page_url, row)
    return [
        RefreshRequest(
            url=url,
            source=row.document.source,
            project=row.document.project,
            version=row.version,
            reason="scheduled",
            requested_at=now,
        )
        for url, row in pages.items()
    ]


def unused_pages(
    rows: Iterable[DocumentRow], now: datetime, *, older_than_days: int = UNUSED_DAYS, unused: bool = True
) -> dict[str, list[DocumentRow]]:
    """Pages, by address, of which no document is worth keeping: a page is kept as a unit, as it is fetched."""
    pages: dict[str, list[DocumentRow]] = {}
    for row in rows:
        pages.setdefault(row.document.page_url, []).append(row)
    return {
        url: found
        for url, found in sorted(pages.items())
        if all(should_evict(row, now, older_than_days=older_than_days, unused=unused) for row in found)
    }


def rescored(before: Iterable[DocumentRow], rows: Iterable[DocumentRow], now: datetime) -> list[DocumentEvent]:
    """Events that tell the counts and scores of these rows, as far as they are other ones than before."""
    known = {row.document.id: row for row in before}
    changes: dict[str, dict[str, tuple[float, Uses]]] = {}
    for row in rows:
        scored = replace(row, relevance_score=round(standing_score(row, now=now), DIGITS))
        if scored != known[row.document.id] and scored.relevance_score is not None:
            uses = Uses(count=row.access_count, last=row.last_accessed)
            changes.setdefault(row.document.source, {})[row.document.id] = (scored.relevance_score, uses)
    return [
        DocumentEvent(
            event_id=derived_id("document", "RESCORED", source, now.isoformat(), str(start)),
            action="RESCORED",
            at=now,
            source=source,
            scores={key: score for key, (score, _) in some},
            uses={key: uses for key, (_, uses) in some},
        )
        for source, found in sorted(changes.items())
        for start in range(0, len(found), DOCUMENTS_AN_EVENT)
        for some in [sorted(found.items())[start : start + DOCUMENTS_AN_EVENT]]
    ]


async def _evictions(
    store: DocumentStore, pages: Mapping[str, Sequence[DocumentRow]], now: datetime
) -> list[DocumentEvent]:
    """Events without validators: a page that was let go is fetched as a new one when it is asked for again."""
    events = []
    for url, rows in pages.items():
        told = rows[0].document
        known = await store.page(url)
        state = known or PageState(url=url, source=told.source, project=told.project, version=told.version)
        events.append(
            DocumentEvent(
                event_id=derived_id("document", "EVICTED", url, now.isoformat()),
                action="EVICTED",
                at=now,
                source=told.source,
                document_ids=tuple(sorted(row.document.id for row in rows)),
                page=state.model_copy(update={"etag": None, "last_modified": None, "content_hash": None}),
                reason="unused",
            )
        )
    return events


async def _compacted(store: DocumentStore, keep: timedelta) -> dict[str, JsonValue]:
    """Figures of each table; one that another writer is busy with is left for the next day, and says so."""
    tables: dict[str, JsonValue] = {}
    for name in NAMES:
        try:
            done = await compact(store, name, keep)
        except Unavailable as error:
            tables[name] = {"failed": str(error)}
        else:
            tables[name] = {
                "rows": done.rows,
                "fragments_before": done.fragments_before,
                "fragments_after": done.fragments_after,
            }
    return tables
