"""How events become rows: read what they may change, fold, write what is another one now.

Rule of this file: documents are written before their pages, so that a page that is known to hold has all its documents.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from lakehouse.embedding import Embedder
from lakehouse.external import tables as columns
from lakehouse.external.events import (
    DocumentRow,
    FindingRow,
    Fold,
    PageRow,
    Touched,
    changed,
    happening_of,
    lookups_of,
    touched_by,
)
from lakehouse.external.opened import OpenTables
from schemas.conversation import is_blank
from schemas.errors import Misconfigured
from schemas.knowledge import DocumentEvent

Row = TypeVar("Row", PageRow, FindingRow)


async def take_up(kept: OpenTables, events: Sequence[DocumentEvent]) -> list[DocumentRow]:
    """Take up events, in one commit a table, and give the documents that are other ones now.

    Raises:
        Conflict: Another writer was there meanwhile: take them up again.
        Misconfigured: There are documents and no embedder.
        Unavailable: Lake or embedder failed.
    """
    fold, seen, vectors = await _at_hand(kept, touched_by(events))
    before = Fold(dict(fold.documents), dict(fold.pages), dict(fold.findings))
    for event in events:
        fold.apply(event)
    documents = [fold.documents[key] for key in changed(before.documents, fold.documents)]
    made = await _vectors(kept.embedder, documents, before.documents, vectors)
    told = [columns.document_columns(row, made.get(row.document.id), kept.dimension) for row in documents]
    await kept.write(columns.DOCUMENTS, told, seen)
    await kept.write(columns.PAGES, _told(before.pages, fold.pages, columns.page_columns), seen)
    await kept.write(columns.DEPRECATIONS, _told(before.findings, fold.findings, columns.finding_columns), seen)
    lookups = [columns.access_columns(*pair) for event in events for pair in lookups_of(event).items()]
    await kept.write(columns.ACCESSES, lookups, None)
    counted = [columns.happening_columns(happening_of(event)) for event in events if event.action != "ACCESSED"]
    await kept.write(columns.HAPPENINGS, counted, None)
    return documents


async def _at_hand(kept: OpenTables, touched: Touched) -> tuple[Fold, dict[str, int], dict[str, Any]]:
    """The rows that may change, their ``touched`` by key, and the vectors of the documents."""
    fold, seen, vectors = Fold(), dict[str, int](), dict[str, Any]()
    wanted = [*columns.ROW_COLUMNS, "touched", "vector"]
    for column, keys in ((columns.KEY, touched.document_ids), ("page_url", touched.page_urls)):
        for row in await kept.by(kept.documents, column, keys, wanted):
            fold.documents[row[columns.KEY]] = columns.document_row(row)
            seen[row[columns.KEY]] = row["touched"]
            vectors[row[columns.KEY]] = row["vector"]
    for row in await kept.by(kept.pages, columns.KEY, touched.page_urls, columns.PAGES_SCHEMA.names):
        fold.pages[row[columns.KEY]] = columns.page_row(row)
        seen[row[columns.KEY]] = row["touched"]
    names = columns.DEPRECATIONS_SCHEMA.names
    for row in await kept.by(kept.deprecations, columns.KEY, touched.finding_ids, names):
        fold.findings[row[columns.KEY]] = columns.finding_row(row)
        seen[row[columns.KEY]] = row["touched"]
    return fold, seen, vectors


async def _vectors(
    embedder: Embedder | None, rows: Sequence[DocumentRow], before: Mapping[str, DocumentRow], kept: Mapping[str, Any]
) -> dict[str, Any]:
    """Vectors of the summaries: those that are kept still count where the summary is the same."""
    found, wanted = dict[str, Any](), list[DocumentRow]()
    for row in rows:
        key, old = row.document.id, before.get(row.document.id)
        if row.status != "live" or is_blank(row.document.summary):
            continue
        if old is not None and old.document.summary == row.document.summary and kept[key] is not None:
            found[key] = kept[key]
        else:
            wanted.append(row)
    if wanted and embedder is None:
        raise Misconfigured("documents cannot be kept without an embedder")
    if wanted and embedder is not None:
        made = await embedder.embed([row.document.summary for row in wanted])
        found |= {row.document.id: vector for row, vector in zip(wanted, made, strict=True)}
    return found


def _told(
    before: Mapping[str, Row], after: Mapping[str, Row], columns_of: Callable[[Row], dict[str, Any]]
) -> list[dict[str, Any]]:
    return [columns_of(after[key]) for key in changed(before, after)]
