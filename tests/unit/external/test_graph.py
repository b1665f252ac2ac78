"""What a graph database is asked and given, and whether it is worth it; the database itself is asked elsewhere."""

import inspect
import json
import re
import sys
from collections.abc import AsyncIterator, Callable
from itertools import product
from typing import Any, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakehouse.external import cypher
from lakehouse.external.graph import ExternalKnowledgeNeo4j, migrate_cache_to_neo4j
from lakehouse.external.graph_rows import (
    METADATA,
    api_id,
    deprecation_row,
    document_row,
    documents_written,
    findings_written,
    replacement_rows,
    why_left_out,
)
from lakehouse.external.migration import FEW_HITS, MIGRATE, SLOW, MigrationReport, migration_advice
from schemas.errors import Misconfigured, Unavailable
from schemas.knowledge import Deprecation, Document, Evidence, document_id, hash_of

BUILDERS: dict[str, Callable[..., str]] = {
    name: function
    for name, function in inspect.getmembers(cypher, inspect.isfunction)
    if not name.startswith("_") and function.__module__ == cypher.__name__
}
HOSTILE = ("Source) DETACH DELETE (n", "source", "Source ", "", "REPLACED_BY]-() DELETE one //", "`Source`")
SECRET = "x9-this-is-the-body-of-the-page"
WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)


def names_asked_for(builder: Callable[..., str]) -> list[str]:
    """Which arguments of a builder are names that cannot be parameters, in their order."""
    hints = get_type_hints(builder)
    return [name for name in inspect.signature(builder).parameters if hints[name] in {cypher.Label, cypher.Relation}]


def right_arguments(builder: Callable[..., str]) -> dict[str, str]:
    hints = get_type_hints(builder)
    return {name: "Source" if hints[name] == cypher.Label else "REPLACED_BY" for name in names_asked_for(builder)}


def document(name: str = "asyncio.run", text: str = SECRET, **fields: Any) -> Document:
    told: dict[str, Any] = {
        "source": "python_docs",
        "project": "python",
        "version": "3.11",
        "role": "py:function",
        "title": name,
        "summary": text[:500],
        "content_hash": hash_of(text),
        "page_url": "https://docs.example/library/asyncio-runner.html",
        "category": "official_docs",
        "trust": 0.95,
    } | fields
    key = document_id(told["source"], told["project"], told["version"], told["role"], name)
    return Document.model_validate({"id": key, "name": name, "text": text, **told})


def finding(symbol: str = "imp.reload", *replacements: str, **fields: Any) -> Deprecation:
    told = {"project": "python", "version": "3.11", "status": "deprecated", "since": "3.4", "confidence": 1.0} | fields
    return Deprecation.model_validate({"symbol": symbol, "replacements": replacements, **told})


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("name", BUILDERS)
def test_a_name_that_is_on_no_list_comes_into_no_text(name: str, hostile: str) -> None:
    builder = BUILDERS[name]
    right = right_arguments(builder)
    for argument in right:
        with pytest.raises(ValueError, match="there is no"):
            builder(**{**right, argument: hostile})


@pytest.mark.parametrize("name", BUILDERS)
def test_a_text_has_no_place_for_a_value(name: str) -> None:
    """All that is not fixed is one of the names, and a fixed text holds no literal but bounds of a chain."""
    builder = BUILDERS[name]
    text = builder(**right_arguments(builder))
    assert not re.search(r"['\"]", text)
    assert set(re.findall(r"\d+", text)) <= {"1", str(cypher.LONGEST_CHAIN)}


def test_a_label_is_no_relation() -> None:
    assert not cypher.LABELS & cypher.RELATIONS
    with pytest.raises(ValueError, match="there is no relation"):
        cypher.count_relations("Source")  # type: ignore[arg-type]


def test_nodes_are_merged_by_their_id_and_relations_once_or_by_theirs() -> None:
    assert (
        cypher.merge_nodes("Source") == "UNWIND $rows AS row MERGE (one:Source {id: row.id}) SET one += row.properties"
    )
    once = cypher.merge_relations("SOURCED_FROM", "ExternalDoc", "Source")
    assert once.endswith("MERGE (start)-[one:SOURCED_FROM]->(end) SET one += row.properties")
    several = cypher.merge_relations("REPLACED_BY", "APIReference", "APIReference", told_apart=True)
    assert several.endswith("MERGE (start)-[one:REPLACED_BY {id: row.id}]->(end) SET one += row.properties")


def test_neither_text_nor_summary_nor_a_sources_own_words_leave_the_lake() -> None:
    told = finding("imp.reload", "importlib.reload", evidence=[Evidence(kind="notice", quote=SECRET)])
    writes = [*documents_written([document()]), *findings_written([told])]
    assert SECRET not in json.dumps([[write.text, write.rows] for write in writes])


def test_what_is_copied_of_a_document_is_told_by_name() -> None:
    row = document_row(document(flags=("orders",)))
    assert row["properties"].keys() == {*METADATA, "flags", "fingerprint"}
    assert row["properties"]["flags"] == ["orders"]
    assert Document.model_fields.keys() - {*METADATA, "flags"} == {"id", "summary", "text"}


@pytest.mark.parametrize("change", [{"trust": 0.5}, {"title": "another"}, {"flags": ("orders",)}, {"text": "new"}])
def test_a_fingerprint_is_the_same_exactly_for_the_same_metadata(change: dict[str, Any]) -> None:
    before = document_row(document())["properties"]["fingerprint"]
    assert document_row(document())["properties"]["fingerprint"] == before
    assert document_row(document(**change))["properties"]["fingerprint"] != before


def test_documents_are_related_to_who_publishes_them_and_to_their_symbol_at_its_version() -> None:
    new, old, bare = document(), document(version="3.10"), document(version=None)
    docs, sources, symbols, versions, documented, sourced = documents_written([new, old, bare, new])
    assert [row["id"] for row in docs.rows] == [new.id, old.id, bare.id]
    assert [row["id"] for row in sources.rows] == ["python_docs"]
    ids = {version: api_id("python", "asyncio.run", version) for version in ("3.11", "3.10", None)}
    assert {row["id"]: row["properties"]["version"] for row in symbols.rows} == {key: name for name, key in ids.items()}
    assert [(row["start"], row["end"]) for row in versions.rows] == [(ids["3.11"], ids[None]), (ids["3.10"], ids[None])]
    assert {row["end"]: row["start"] for row in documented.rows} == {
        new.id: ids["3.11"],
        old.id: ids["3.10"],
        bare.id: ids[None],
    }
    assert {(row["start"], row["end"]) for row in sourced.rows} == {(key.id, "python_docs") for key in (new, old, bare)}


def test_a_finding_is_a_relation_to_the_project_with_its_version() -> None:
    row = deprecation_row(finding(removed_in="3.12"))
    assert (row["start"], row["end"]) == (api_id("python", "imp.reload", "3.11"), "python")
    assert row["properties"] == {
        "version": "3.4",
        "status": "deprecated",
        "removed_in": "3.12",
        "scope": "symbol",
        "confidence": 1.0,
    }


def test_each_replacement_is_a_relation_with_the_version_and_none_leads_to_itself() -> None:
    rows = replacement_rows(finding("a.b", "a.c", "a.b", "a.c", "a.d"))
    assert [row["end"] for row in rows] == [api_id("python", name, "3.11") for name in ("a.c", "a.d")]
    assert {row["properties"]["in_version"] for row in rows} == {"3.4"}
    assert len({row["id"] for row in rows}) == 2


def test_what_a_finding_names_is_a_node_even_where_no_document_tells_of_it() -> None:
    projects, symbols, _, deprecated, replaced = findings_written([finding("imp.reload", "importlib.reload")])
    assert [row["id"] for row in projects.rows] == ["python"]
    named = {(row["properties"]["name"], row["properties"]["version"]) for row in symbols.rows}
    assert named == set(product(("imp.reload", "importlib.reload"), ("3.11", None)))
    nodes = {row["id"] for row in symbols.rows}
    assert {row["start"] for row in (*deprecated.rows, *replaced.rows)} | {row["end"] for row in replaced.rows} <= nodes


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({}, None),
        ({"status": "soft_deprecated"}, None),
        ({"status": "removed", "scope": "module"}, None),
        ({"scope": "class"}, None),
        ({"scope": "parameter"}, "parameter"),
        ({"status": "possible"}, "possible"),
        ({"status": "undeprecated"}, "undeprecated"),
    ],
)
def test_what_is_no_plain_truth_of_a_symbol_is_left_out_and_says_why(fields: dict[str, Any], why: str | None) -> None:
    assert why_left_out(finding(**fields)) == why


@given(st.lists(st.tuples(WORDS, WORDS, st.none() | WORDS), min_size=2, max_size=2, unique=True))
def test_two_symbols_never_share_an_id(symbols: list[tuple[str, str, str | None]]) -> None:
    one, other = symbols
    assert api_id(*one) != api_id(*other)


def test_a_row_is_the_same_however_often_it_is_made_and_in_whichever_order() -> None:
    told = [document(), document("asyncio.sleep"), document()]
    backwards = documents_written(told[::-1])
    for write, other in zip(documents_written(told), backwards, strict=True):
        assert write.text == other.text
        assert {json.dumps(row) for row in write.rows} == {json.dumps(row) for row in other.rows}


@pytest.mark.parametrize(
    ("measured", "worth_it", "reason", "cures"),
    [
        ((0.69, 20.0, 7, 500), True, "the hit rate of 0.69 is below 0.7", (*FEW_HITS, MIGRATE)),
        ((0.9, 100.1, 7, 500), True, "the average of 100.1 ms is above 100 ms", (*SLOW, MIGRATE)),
        ((0.2, 250.0, 30, 9_000), True, "is below 0.7 and the average", (*FEW_HITS, *SLOW, MIGRATE)),
        ((0.7, 100.0, 7, 500), False, "Not needed", ()),
        ((0.1, 900.0, 6.99, 500), False, "Too little was measured: 500 look-ups in 6.99 days", ()),
        ((0.1, 900.0, 7, 499), False, "Too little was measured: 499 look-ups in 7 days", ()),
        ((None, 900.0, 7, 500), False, "Too little was measured", ()),
        ((0.1, None, 7, 500), False, "Too little was measured", ()),
    ],
)
def test_a_migration_is_worth_it_only_where_enough_was_measured_and_the_cheaper_cure_comes_first(
    measured: tuple[float | None, float | None, float, int], worth_it: bool, reason: str, cures: tuple[str, ...]
) -> None:
    hit_rate, average_ms, days, lookups = measured
    advice = migration_advice(hit_rate, average_ms, days=days, lookups=lookups)
    assert (advice.worth_it, advice.cures) == (worth_it, cures)
    assert reason in advice.reason


@pytest.mark.parametrize(
    ("figures", "days", "lookups"),
    [
        ((1.1, 1.0), 7, 500),
        ((-0.1, 1.0), 7, 500),
        ((float("nan"), 1.0), 7, 500),
        ((0.5, float("nan")), 7, 500),
        ((0.5, -1.0), 7, 500),
        ((0.5, 1.0), -1, 500),
        ((0.5, 1.0), 7, -1),
    ],
)
def test_figures_that_are_none_are_refused(figures: tuple[float, float], days: float, lookups: int) -> None:
    with pytest.raises(ValueError, match=r"0 to 1|not negative"):
        migration_advice(*figures, days=days, lookups=lookups)


@pytest.mark.parametrize(
    ("fields", "verified"),
    [
        ({}, True),
        ({"only_in_graph": 3}, True),
        ({"missing": ("a",)}, False),
        ({"different": ("a",)}, False),
        ({"unlinked": ("a",)}, False),
        ({"dry_run": True}, False),
    ],
)
def test_a_migration_is_verified_where_all_that_was_told_was_found(fields: dict[str, Any], verified: bool) -> None:
    told = {"dry_run": False, "documents": 1, "written": 1, "kept": 0, "findings": 0, "left_out": {}}
    report = MigrationReport(**{**told, "nodes_created": 1, "relations_created": 1, **fields})
    assert report.verified is verified


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "neo4j", None)
    with pytest.raises(Misconfigured, match=r"pip install 'memlake\[neo4j\]'"):
        ExternalKnowledgeNeo4j("bolt://127.0.0.1:7687", "neo4j", "a password")


@pytest.mark.parametrize("uri", ["", "nonsense", "http://127.0.0.1:7474", "bolt://neo4j:a-password@127.0.0.1:7687"])
def test_an_address_that_is_none_is_told_without_any_password(uri: str) -> None:
    with pytest.raises(Misconfigured, match="is no address of a Neo4j server") as told:
        ExternalKnowledgeNeo4j(uri, "neo4j", "a-password")
    assert "a-password" not in str(told.value)


async def test_where_nobody_answers_it_is_unavailable() -> None:
    neo4j = ExternalKnowledgeNeo4j("bolt://127.0.0.1:1", "neo4j", "a-password")
    with pytest.raises(Unavailable, match=r"Neo4j at bolt://127\.0\.0\.1:1"):
        await neo4j.__aenter__()


async def test_a_batch_holds_something() -> None:
    async def nothing() -> AsyncIterator[Document]:
        for one in list[Document]():
            yield one

    neo4j = ExternalKnowledgeNeo4j("bolt://127.0.0.1:1", "neo4j", "a-password")
    with pytest.raises(ValueError, match="at least 1"):
        await migrate_cache_to_neo4j(nothing(), neo4j, batch=0)
    await neo4j.close()
