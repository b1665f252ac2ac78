"""What of a document and of a finding goes into a graph database, as rows for the texts of ``cypher``.

Rule of this file: pure. Metadata only: neither text nor summary of a document, nor a source's own words, leave the
lake. An id is a function of what it names, so that the same row twice is one.

The graph::

    (APIReference of a version) -DOCUMENTED_IN-> (ExternalDoc) -SOURCED_FROM-> (Source)
    (APIReference of a version) -VERSION_OF-> (APIReference as such)
    (APIReference of a version) -DEPRECATED_IN {version}-> (Framework: its project)
    (APIReference of a version) -REPLACED_BY {in_version}-> (APIReference of the same version)

A relation is read as plain truth of the symbol. Findings that are none (a mere possibility, a parameter, "no longer")
are left out and counted.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from lakehouse.external import cypher
from lakehouse.external.cypher import Label, Relation
from schemas.knowledge import Deprecation, Document, hash_of

Row = dict[str, Any]
METADATA: Final = (
    "source",
    "project",
    "version",
    "role",
    "name",
    "title",
    "content_hash",
    "page_url",
    "anchor",
    "category",
    "trust",
    "language",
    "licence",
)
"""What is copied of a document, beside its flags; all else of it stays in the lake."""
UNIQUE: Final[tuple[Label, ...]] = ("ExternalDoc", "APIReference", "Source", "Framework")
TOLD_APART: Final[tuple[Relation, ...]] = ("DEPRECATED_IN", "REPLACED_BY")
_FLAT: Final = frozenset({"deprecated", "soft_deprecated", "removed"})


@dataclass(frozen=True)
class Write:
    """One question to a graph database with its rows."""

    text: str
    rows: tuple[Row, ...]


def api_id(project: str, symbol: str, version: str | None) -> str:
    """Id of a symbol at a version of its project, or as such where that is None: 64 hex digits."""
    return _id("api", project, symbol, version)


def document_row(document: Document) -> Row:
    """A document's node. ``fingerprint`` is the same for the same metadata."""
    properties: Row = {name: getattr(document, name) for name in METADATA} | {"flags": list(document.flags)}
    return {"id": document.id, "properties": properties | {"fingerprint": _id("document", properties)}}


def documents_written(documents: Iterable[Document]) -> list[Write]:
    """Writes documents, who publishes them, and the symbols that they tell of."""
    documents = list(documents)
    symbols = [(document.project, document.name, document.version) for document in documents]
    ids = [(document.id, api_id(*symbol), document.source) for document, symbol in zip(documents, symbols, strict=True)]
    return [
        _nodes("ExternalDoc", map(document_row, documents)),
        _nodes("Source", ({"id": source, "properties": {}} for _, _, source in ids)),
        *_symbols(symbols),
        _relations("DOCUMENTED_IN", "APIReference", "ExternalDoc", (_pair(api, one) for one, api, _ in ids)),
        _relations("SOURCED_FROM", "ExternalDoc", "Source", (_pair(one, source) for one, _, source in ids)),
    ]


def why_left_out(finding: Deprecation) -> str | None:
    """Why a finding is not plain truth of its symbol: its status or its scope; None where it is."""
    if finding.status not in _FLAT:
        return finding.status
    return finding.scope if finding.scope == "parameter" else None


def findings_written(findings: Iterable[Deprecation]) -> list[Write]:
    """Writes what is deprecated and what replaces it; only for those that are not left out."""
    findings = list(findings)
    symbols = [
        (finding.project, name, finding.version)
        for finding in findings
        for name in (finding.symbol, *finding.replacements)
    ]
    projects = ({"id": finding.project, "properties": {}} for finding in findings)
    replaced = (row for finding in findings for row in replacement_rows(finding))
    return [
        _nodes("Framework", projects),
        *_symbols(symbols),
        _relations("DEPRECATED_IN", "APIReference", "Framework", map(deprecation_row, findings)),
        _relations("REPLACED_BY", "APIReference", "APIReference", replaced),
    ]


def deprecation_row(finding: Deprecation) -> Row:
    """The relation from a symbol to its project."""
    return {
        "id": _finding_id(finding),
        "start": api_id(finding.project, finding.symbol, finding.version),
        "end": finding.project,
        "properties": {
            "version": finding.since,
            "status": finding.status,
            "removed_in": finding.removed_in,
            "scope": finding.scope,
            "confidence": finding.confidence,
        },
    }


def replacement_rows(finding: Deprecation) -> list[Row]:
    """The relations from a symbol to what replaces it, each once; none to itself."""
    return [
        {
            "id": _id("replacement", _finding_id(finding), name),
            "start": api_id(finding.project, finding.symbol, finding.version),
            "end": api_id(finding.project, name, finding.version),
            "properties": {
                "in_version": finding.since,
                "scope": finding.scope,
                "confidence": finding.confidence,
            },
        }
        for name in dict.fromkeys(finding.replacements)
        if name != finding.symbol
    ]


def _symbols(symbols: Iterable[tuple[str, str, str | None]]) -> Iterator[Write]:
    """Symbols at their versions, and as such."""
    told = list(dict.fromkeys(symbols))
    nodes = dict.fromkeys(
        symbol for project, name, version in told for symbol in ((project, name, version), (project, name, None))
    )
    yield _nodes(
        "APIReference",
        (
            {"id": api_id(*symbol), "properties": dict(zip(("project", "name", "version"), symbol, strict=True))}
            for symbol in nodes
        ),
    )
    yield _relations(
        "VERSION_OF",
        "APIReference",
        "APIReference",
        (
            _pair(api_id(project, name, version), api_id(project, name, None))
            for project, name, version in told
            if version is not None
        ),
    )


def _nodes(label: Label, rows: Iterable[Row]) -> Write:
    return Write(cypher.merge_nodes(label), _once(rows))


def _relations(relation: Relation, start: Label, end: Label, rows: Iterable[Row]) -> Write:
    text = cypher.merge_relations(relation, start, end, told_apart=relation in TOLD_APART)
    return Write(text, _once(rows))


def _pair(start: str, end: str) -> Row:
    return {"start": start, "end": end, "properties": {}}


def _once(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Each row once, the last of an id."""
    return tuple({row.get("id") or (row["start"], row["end"]): row for row in rows}.values())


def _finding_id(finding: Deprecation) -> str:
    told = (finding.project, finding.symbol, finding.version, finding.status, finding.since, finding.removed_in)
    return _id("finding", *told, finding.scope)


def _id(kind: str, *parts: Any) -> str:
    return hash_of(json.dumps([kind, *parts], ensure_ascii=False, separators=(",", ":"), sort_keys=True))
