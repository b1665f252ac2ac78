"""``ExternalKnowledgeNeo4j`` and the migration to it: metadata of documents in a graph database, for whoever wants one.

Rule of this file: the only one that speaks to Neo4j. The lake stays the truth: what is written here can be written anew
at any time, is written only when somebody asks for it, and is never a document's text.
"""

from collections import Counter
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from lakehouse.external import cypher
from lakehouse.external.graph_rows import (
    TOLD_APART,
    UNIQUE,
    Row,
    Write,
    api_id,
    deprecation_row,
    document_row,
    documents_written,
    findings_written,
    replacement_rows,
    why_left_out,
)
from lakehouse.external.migration import MigrationAdvice, MigrationReport, migration_advice
from schemas.errors import Misconfigured, Unavailable
from schemas.knowledge import Deprecation, Document

if TYPE_CHECKING:
    from neo4j import AsyncManagedTransaction

__all__ = [
    "ExternalKnowledgeNeo4j",
    "MigrationAdvice",
    "MigrationReport",
    "migrate_cache_to_neo4j",
    "migration_advice",
]

SCHEMES: Final = frozenset({"bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc"})
CONNECT_S: Final = 10.0
RETRY_S: Final = 30.0
"""How long a transaction is tried again that the database itself says to try again."""

Told = Document | Deprecation


@dataclass(frozen=True)
class Held:
    """A document as a graph holds it, or should.

    Attributes:
        content_hash: Of its text.
        fingerprint: Of its metadata.
        linked: Whether it has both a symbol and a publisher.
    """

    content_hash: str | None
    fingerprint: str | None
    linked: bool = True


class ExternalKnowledgeNeo4j:
    """A Neo4j 5 server. Open it with ``async with``; every call may raise ``Unavailable`` or ``Misconfigured``."""

    def __init__(self, uri: str, user: str, password: str) -> None:
        """Connect to nobody yet.

        Args:
            uri: Where it is, such as "bolt://127.0.0.1:7687"; over a network only "bolt+s://" and "neo4j+s://" hide
                what is said, the password included.
            user: Who asks.
            password: Its password.

        Raises:
            Misconfigured: The extra is not installed, or the address is none.
        """
        try:
            import neo4j  # noqa: PLC0415 - an extra, and half a second
        except ImportError as error:
            raise Misconfigured(
                "the driver of Neo4j is not installed: pip install 'memlake[neo4j]', or leave the metadata in the lake"
            ) from error
        self._place = _place(uri)
        wrong = f"{self._place} is no address of a Neo4j server: give scheme, host and port, as bolt://127.0.0.1:7687"
        if uri.partition("://")[0] not in SCHEMES:
            raise Misconfigured(wrong)
        try:
            self._driver = neo4j.AsyncGraphDatabase.driver(
                uri,
                auth=(user, password),
                connection_timeout=CONNECT_S,
                max_transaction_retry_time=RETRY_S,
                notifications_min_severity="OFF",  # an empty graph has no label yet; that is no news
                telemetry_disabled=True,
            )
        except (neo4j.exceptions.DriverError, ValueError) as error:
            raise Misconfigured(wrong) from error

    async def __aenter__(self) -> Self:
        """Look whether it answers and lets this user in."""
        try:
            with _neo4j_errors(self._place):
                await self._driver.verify_connectivity()
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        await self.close()

    async def close(self) -> None:
        """Let go of all connections."""
        await self._driver.close()

    async def prepare(self) -> None:
        """Declare what is unique, before anything is written; declared already, it changes nothing."""
        texts = [*map(cypher.unique_nodes, UNIQUE), *map(cypher.unique_relations, TOLD_APART)]
        for text in texts:  # each by itself: a transaction declares or writes, never both
            await self.write([Write(text, ())])

    async def write(self, writes: Sequence[Write]) -> Counter[str]:
        """Write all or nothing.

        Returns:
            How many ``nodes_created`` and ``relationships_created``.
        """

        async def work(transaction: "AsyncManagedTransaction") -> Counter[str]:
            made: Counter[str] = Counter()
            for write in writes:
                result = await transaction.run(write.text, rows=list(write.rows))
                counters = (await result.consume()).counters
                made["nodes_created"] += counters.nodes_created
                made["relationships_created"] += counters.relationships_created
            return made

        with _neo4j_errors(self._place):
            async with self._driver.session() as session:
                return await session.execute_write(work)

    async def read(self, text: str, **parameters: Any) -> list[Row]:
        """The records that a text of ``cypher`` finds."""

        async def work(transaction: "AsyncManagedTransaction") -> list[Row]:
            return await (await transaction.run(text, parameters)).data()

        with _neo4j_errors(self._place):
            async with self._driver.session() as session:
                return await session.execute_read(work)

    async def held(self, document_ids: Sequence[str]) -> dict[str, Held]:
        """Those documents that it holds, by id."""
        text = cypher.find_linked("ExternalDoc", "DOCUMENTED_IN", "SOURCED_FROM")
        found = await self.read(text, ids=list(document_ids))
        return {record["node"]["id"]: _held(record["node"], linked=record["linked"]) for record in found}

    async def get(self, document_id: str) -> Row | None:
        """A document's metadata; None where it holds none of that id."""
        found = await self.read(cypher.find_nodes("ExternalDoc"), ids=[document_id])
        return found[0]["node"] if found else None

    async def replacements(self, project: str, symbol: str, version: str | None = None) -> list[str]:
        """What replaces a symbol, what replaces that, and so on, the nearest first.

        Args:
            project: Whose symbol.
            symbol: Its whole name.
            version: Of the documentation that says so, as it names it.
        """
        start = api_id(project, symbol, version)
        found = await self.read(cypher.follow("REPLACED_BY", "APIReference"), id=start)
        return [record["node"]["name"] for record in found]


async def migrate_cache_to_neo4j(
    cache_or_documents: AsyncIterable[Told],
    neo4j: ExternalKnowledgeNeo4j,
    *,
    dry_run: bool = False,
    batch: int = 1_000,
    progress: Callable[[str], None] | None = None,
) -> MigrationReport:
    """Copy metadata into a graph, and compare at the end. The text stays in the lake.

    A batch is written whole or not at all, so a run that was cut off is continued by another one: what the graph holds
    as it is told is not written again. What it holds beyond that is counted and stays.

    Args:
        cache_or_documents: Documents and findings, in any order and mixed.
        neo4j: An open one.
        dry_run: Only look what would be written.
        batch: How many at once, 1 or more.
        progress: Told a line after every batch.

    Raises:
        ValueError: The batch holds nothing.
        Unavailable: The database went away; run it again.
        Misconfigured: It refuses this user.
    """
    if batch < 1:
        raise ValueError("a batch holds at least 1")
    run = _Migration(neo4j, dry_run=dry_run, batch=batch)
    if not dry_run:
        await neo4j.prepare()
    async for some in _batches(cache_or_documents, batch):
        await run.take(some)
        if progress is not None:
            progress(run.told())
    return await run.report()


async def _batches(told: AsyncIterable[Told], size: int) -> AsyncIterator[list[Told]]:
    some: list[Told] = []
    async for one in told:
        some.append(one)
        if len(some) == size:
            yield some
            some = []
    if some:
        yield some


class _Migration:
    """One run: what was told so far, and what became of it."""

    def __init__(self, neo4j: ExternalKnowledgeNeo4j, *, dry_run: bool, batch: int) -> None:
        self._neo4j = neo4j
        self._dry_run = dry_run
        self._batch = batch
        self._expected: dict[str, Held] = {}
        self._relations: dict[cypher.Relation, set[str]] = {relation: set() for relation in TOLD_APART}
        self._written: set[str] = set()
        self._left_out: Counter[str] = Counter()
        self._made: Counter[str] = Counter()

    async def take(self, told: Iterable[Told]) -> None:
        documents, findings = dict[str, Document](), list[Deprecation]()
        for one in told:
            if isinstance(one, Document):
                documents[one.id] = one
            elif (why := why_left_out(one)) is not None:
                self._left_out[why] += 1
            else:
                findings.append(one)
        expected = {one.id: _held(document_row(one)["properties"]) for one in documents.values()}
        held = await self._neo4j.held(list(expected))
        changed = [one for key, one in documents.items() if held.get(key) != expected[key]]
        if not self._dry_run:
            self._made += await self._neo4j.write([*documents_written(changed), *findings_written(findings)])
        self._expected |= expected
        self._written |= {one.id for one in changed}
        self._relations["DEPRECATED_IN"] |= {deprecation_row(one)["id"] for one in findings}
        self._relations["REPLACED_BY"] |= {row["id"] for one in findings for row in replacement_rows(one)}

    def told(self) -> str:
        done = "would be written" if self._dry_run else "written"
        kept = len(self._expected) - len(self._written)
        found = len(self._relations["DEPRECATED_IN"])
        return f"{len(self._written)} documents {done}, {kept} held already, {found} deprecations"

    async def report(self) -> MigrationReport:
        compared = {} if self._dry_run else await self._compared()
        return MigrationReport(
            dry_run=self._dry_run,
            documents=len(self._expected),
            written=len(self._written),
            kept=len(self._expected) - len(self._written),
            findings=len(self._relations["DEPRECATED_IN"]),
            left_out=dict(self._left_out),
            nodes_created=self._made["nodes_created"],
            relations_created=self._made["relationships_created"],
            **compared,
        )

    async def _compared(self) -> dict[str, Any]:
        """What is not as it was told, and how much nobody told."""
        held: dict[str, Held] = {}
        for ids in _pieces(list(self._expected), self._batch):
            held |= await self._neo4j.held(ids)
        missing = sorted(self._expected.keys() - held.keys())
        there = await self._number(cypher.count_nodes("ExternalDoc")) - len(held)
        for relation, expected in self._relations.items():
            found = set[str]()
            for ids in _pieces(list(expected), self._batch):
                records = await self._neo4j.read(cypher.find_relations(relation), ids=ids)
                found |= {record["id"] for record in records}
            missing += sorted(expected - found)
            there += await self._number(cypher.count_relations(relation)) - len(found)
        return {
            "missing": tuple(missing),
            "different": tuple(
                sorted(key for key, one in held.items() if replace(one, linked=True) != self._expected[key])
            ),
            "unlinked": tuple(sorted(key for key, one in held.items() if not one.linked)),
            "only_in_graph": there,
        }

    async def _number(self, text: str) -> int:
        return int((await self._neo4j.read(text))[0]["number"])


def _pieces(ids: list[str], size: int) -> list[list[str]]:
    return [ids[start : start + size] for start in range(0, len(ids), size)]


def _held(properties: Row, *, linked: bool = True) -> Held:
    return Held(properties.get("content_hash"), properties.get("fingerprint"), linked)


@contextmanager
def _neo4j_errors(place: str) -> Iterator[None]:
    """The driver's errors, by what can be done about them."""
    from neo4j import exceptions  # noqa: PLC0415 - an extra

    try:
        yield
    except (exceptions.AuthError, exceptions.Forbidden) as error:
        raise Misconfigured(f"Neo4j at {place} does not let this user in: {error.message}") from error
    except exceptions.ConfigurationError as error:
        raise Misconfigured(f"Neo4j at {place}: {error}") from error
    except (exceptions.DriverError, exceptions.TransientError, exceptions.DatabaseError, OSError) as error:
        raise Unavailable(f"Neo4j at {place}: {error}") from error
    except exceptions.Neo4jError as error:
        raise Misconfigured(f"Neo4j at {place} refuses what it was asked: {error.message}") from error


def _place(uri: str) -> str:
    """An address without a name and password that somebody may have put into it."""
    head, slashes, rest = uri.rpartition("://")
    return f"{head}{slashes}{rest.rpartition('@')[2]}"
