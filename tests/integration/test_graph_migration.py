"""The migration to a real Neo4j: cut off and continued, compared, followed along its relations."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from lakehouse.external import cypher
from lakehouse.external.graph import ExternalKnowledgeNeo4j, MigrationReport, migrate_cache_to_neo4j
from lakehouse.external.graph_rows import Write, api_id, documents_written
from schemas.errors import Misconfigured, Unavailable
from schemas.knowledge import Deprecation, Document, Evidence, document_id, hash_of
from streams.settings import Settings
from tests.integration import neo4j_server
from tests.integration.neo4j_server import Server

pytestmark = pytest.mark.neo4j

SYMBOLS, VERSIONS = 670, ("1.9", "1.10", None)
DOCUMENTS = SYMBOLS * len(VERSIONS)
BODY = "The body of a page that stays in the lake"
BATCH = 250
WHOLE = {
    "ExternalDoc": DOCUMENTS,
    "Source": 1,
    "Framework": 1,
    "APIReference": DOCUMENTS + 2,
    "DOCUMENTED_IN": DOCUMENTS,
    "SOURCED_FROM": DOCUMENTS,
    "VERSION_OF": 2 * SYMBOLS + 1,
    "DEPRECATED_IN": 3,
    "REPLACED_BY": 3,
}
"""The graph of all documents and findings here, nodes by label and relations by type."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for the module; only where its jars cannot be had there is none."""
    cache = Settings.from_env(os.environ).cache
    try:
        found = neo4j_server.class_path(cache, print)
    except Unavailable as error:
        pytest.skip(str(error))
    with neo4j_server.running(tmp_path_factory.mktemp("neo4j"), found) as running:
        yield running


@pytest.fixture
async def neo4j(server: Server) -> AsyncIterator[ExternalKnowledgeNeo4j]:
    """An empty graph."""
    async with server.opened() as opened:
        async with opened._driver.session() as session:
            await (await session.run("MATCH (one) DETACH DELETE one")).consume()
        yield opened


def document(number: int, version: str | None, text: str = BODY, **fields: Any) -> Document:
    told = ("hand_docs", "hand", version, "py:function", f"hand.part{number % 20}.name{number}")
    return Document(
        id=document_id(*told),
        source=told[0],
        project=told[1],
        version=version,
        role=told[3],
        name=told[4],
        title=f"{told[4]}()",
        summary=f"{text} {number}"[:500],
        text=f"{text} {number} {version}",
        content_hash=hash_of(f"{text} {number} {version}"),
        page_url=f"https://docs.example/part{number % 20}.html",
        anchor=told[4],
        category="official_docs",
        trust=fields.pop("trust", 0.85),
        **fields,
    )


def documents() -> list[Document]:
    return [document(number, version) for number in range(SYMBOLS) for version in VERSIONS]


def finding(symbol: str, *replacements: str, **fields: Any) -> Deprecation:
    told = {"project": "hand", "version": "1.10", "status": "deprecated", "since": "1.8", "confidence": 1.0} | fields
    evidence = (Evidence(kind="notice", quote=BODY),)
    return Deprecation.model_validate({"symbol": symbol, "replacements": replacements, "evidence": evidence, **told})


FINDINGS = (
    finding("hand.part0.name0", "hand.part1.name1", since="1.4"),
    finding("hand.part1.name1", "hand.part2.name2", "elsewhere.name"),
    finding("hand.part2.name2", removed_in="2.0", status="removed"),
    finding("hand.part3.name3", "hand.part4.name4", scope="parameter"),
    finding("hand.part5.name5", status="possible", confidence=0.4),
)


async def told(*things: Document | Deprecation) -> AsyncIterator[Document | Deprecation]:
    for thing in things:
        yield thing


def figures(report: MigrationReport) -> dict[str, Any]:
    return {name: getattr(report, name) for name in ("documents", "written", "kept", "findings", "only_in_graph")}


async def counted(neo4j: ExternalKnowledgeNeo4j) -> dict[str, int]:
    """Nodes by label and relations by type."""
    nodes = await neo4j.read("MATCH (one) RETURN labels(one)[0] AS kind, count(one) AS number")
    relations = await neo4j.read("MATCH ()-[one]->() RETURN type(one) AS kind, count(one) AS number")
    return {row["kind"]: row["number"] for row in (*nodes, *relations)}


async def test_a_migration_that_was_cut_off_is_continued_and_a_second_one_changes_nothing(
    neo4j: ExternalKnowledgeNeo4j,
) -> None:
    things: list[Document | Deprecation] = [*documents(), *FINDINGS]
    lines: list[str] = []

    def cut_off(line: str) -> None:
        """The third batch is on its way when the run ends."""
        lines.append(line)
        task = asyncio.current_task()
        if len(lines) == 2 and task is not None:
            task.cancel()

    interrupted = asyncio.create_task(migrate_cache_to_neo4j(told(*things), neo4j, batch=BATCH, progress=cut_off))
    with pytest.raises(asyncio.CancelledError):
        await interrupted
    assert lines[-1] == f"{2 * BATCH} documents written, 0 held already, 0 deprecations"
    assert (await counted(neo4j))["ExternalDoc"] == 2 * BATCH

    continued = await migrate_cache_to_neo4j(told(*things), neo4j, batch=BATCH)
    assert continued.verified, continued
    assert figures(continued) == {
        "documents": DOCUMENTS,
        "written": DOCUMENTS - 2 * BATCH,
        "kept": 2 * BATCH,
        "findings": 3,
        "only_in_graph": 0,
    }
    assert continued.left_out == {"parameter": 1, "possible": 1}
    assert await counted(neo4j) == WHOLE

    again = await migrate_cache_to_neo4j(told(*things), neo4j, batch=1_000)
    assert again == replace(continued, written=0, kept=DOCUMENTS, nodes_created=0, relations_created=0), (
        "a second run writes nothing"
    )
    assert await counted(neo4j) == WHOLE


async def test_a_batch_is_written_whole_or_not_at_all(neo4j: ExternalKnowledgeNeo4j) -> None:
    nameless = Write(cypher.merge_nodes("Source"), ({"id": None, "properties": {}},))
    with pytest.raises(Misconfigured, match="refuses what it was asked"):
        await neo4j.write([*documents_written(documents()[:3]), nameless])
    assert await counted(neo4j) == {}


async def test_a_dry_run_says_what_would_be_written_and_writes_nothing(neo4j: ExternalKnowledgeNeo4j) -> None:
    first = documents()[:10]
    await migrate_cache_to_neo4j(told(*first), neo4j)
    before = await counted(neo4j)

    report = await migrate_cache_to_neo4j(told(*documents()[:25], *FINDINGS), neo4j, dry_run=True)
    assert (report.dry_run, report.documents, report.written, report.kept) == (True, 25, 15, 10)
    assert (report.nodes_created, report.relations_created) == (0, 0)
    assert await counted(neo4j) == before


async def test_what_replaces_a_symbol_is_found_along_the_chain_and_has_its_documents(
    neo4j: ExternalKnowledgeNeo4j,
) -> None:
    await migrate_cache_to_neo4j(told(*FINDINGS, *documents()[:30]), neo4j, batch=7)
    found = await neo4j.replacements("hand", "hand.part0.name0", "1.10")
    assert found == ["hand.part1.name1", "elsewhere.name", "hand.part2.name2"]
    assert await neo4j.replacements("hand", "hand.part3.name3", "1.10") == [], "a parameter is not the symbol"
    assert await neo4j.replacements("hand", "hand.part0.name0", "1.9") == []
    rows = await neo4j.read(
        "MATCH (:APIReference {id: $id})-[replaced:REPLACED_BY]->(next)-[:DOCUMENTED_IN]->(doc:ExternalDoc)"
        " MATCH (next)-[:VERSION_OF]->(such)<-[:VERSION_OF]-(other) WHERE other <> next"
        " RETURN replaced.in_version AS version, doc.page_url AS page, other.version AS other",
        id=api_id("hand", "hand.part0.name0", "1.10"),
    )
    assert rows == [{"version": "1.4", "page": "https://docs.example/part1.html", "other": "1.9"}]
    removed = await neo4j.read(
        "MATCH (one)-[since:DEPRECATED_IN {version: '1.8'}]->(:Framework {id: 'hand'}) WHERE since.status = 'removed'"
        " RETURN one.name AS name, since.removed_in AS removed"
    )
    assert removed == [{"name": "hand.part2.name2", "removed": "2.0"}]


async def test_two_replacements_for_each_other_end(neo4j: ExternalKnowledgeNeo4j) -> None:
    await migrate_cache_to_neo4j(told(finding("a.b", "a.c"), finding("a.c", "a.b")), neo4j)
    assert await neo4j.replacements("hand", "a.b", "1.10") == ["a.c"]


async def test_what_has_changed_is_written_anew_and_what_nobody_tells_any_more_is_counted(
    neo4j: ExternalKnowledgeNeo4j,
) -> None:
    same, other, new, gone = (document(number, "1.10", language="python") for number in range(4))
    await migrate_cache_to_neo4j(told(same, other, new, gone, *FINDINGS), neo4j)
    changed = document(1, "1.10", trust=0.5)
    rewritten = document(2, "1.10", text="A new body")

    report = await migrate_cache_to_neo4j(told(same, changed, rewritten, rewritten, *FINDINGS[:1]), neo4j, batch=2)
    assert report.verified, report
    assert figures(report) == {"documents": 3, "written": 2, "kept": 1, "findings": 1, "only_in_graph": 1 + 2 + 2}
    held = await neo4j.get(changed.id)
    assert held is not None
    assert (held["trust"], "language" in held) == (0.5, False), "what is told no more is taken away"
    assert (await neo4j.held([rewritten.id]))[rewritten.id].content_hash == rewritten.content_hash
    assert await neo4j.get("0" * 64) is None


async def test_a_graph_that_somebody_changes_meanwhile_is_no_match(neo4j: ExternalKnowledgeNeo4j) -> None:
    lost, forged, alone, sound = (document(number, "1.10") for number in range(4))

    async def meddled(things: Sequence[Document | Deprecation]) -> AsyncIterator[Document | Deprecation]:
        for thing in things:
            yield thing
        # The generator goes on when the last whole batch is written.
        async with neo4j._driver.session() as session:
            for text, key in (
                ("MATCH (one {id: $id}) DETACH DELETE one", lost.id),
                ("MATCH (one {id: $id}) SET one.content_hash = 'f'", forged.id),
                ("MATCH (one {id: $id})-[out:SOURCED_FROM]->() DELETE out", alone.id),
            ):
                await (await session.run(text, id=key)).consume()
            await (await session.run("MATCH ()-[one:REPLACED_BY]->() DELETE one")).consume()

    things = (lost, forged, alone, sound, FINDINGS[0])
    report = await migrate_cache_to_neo4j(meddled(things), neo4j, batch=len(things))
    assert not report.verified
    assert (report.missing[0], len(report.missing)) == (lost.id, 2)
    assert (report.different, report.unlinked) == ((forged.id,), (alone.id,))

    mended = await migrate_cache_to_neo4j(told(*things), neo4j)
    assert mended.verified, mended
    assert (mended.written, mended.kept) == (3, 1)


async def test_no_text_is_in_the_graph(neo4j: ExternalKnowledgeNeo4j) -> None:
    await migrate_cache_to_neo4j(told(*documents()[:50], *FINDINGS), neo4j)
    nodes = await neo4j.read("MATCH (one) RETURN properties(one) AS told")
    relations = await neo4j.read("MATCH ()-[one]->() RETURN properties(one) AS told")
    assert BODY not in str([*nodes, *relations])


async def test_a_wrong_password_is_the_operators_to_mend_and_is_not_repeated(server: Server) -> None:
    with pytest.raises(Misconfigured, match="does not let this user in") as refused:
        await server.opened("a-wrong-password").__aenter__()
    assert "a-wrong-password" not in str(refused.value)


async def test_a_value_that_looks_like_a_question_stays_a_value(neo4j: ExternalKnowledgeNeo4j) -> None:
    hostile = "x'}) DETACH DELETE n //"
    report = await migrate_cache_to_neo4j(told(document(1, hostile), finding(hostile, hostile + "`")), neo4j)
    assert report.verified, report
    assert await neo4j.replacements("hand", hostile, "1.10") == [hostile + "`"]
