"""A shard: both tables of one partition, with one writer, who also maintains them.

Rule of this file: the lowest layer that reads or writes memories. The scope is a required argument of every read of one
person's rows, and always a pre-filter. Both tables are written under one lock.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any

from lancedb.expr import Expr, col, lit

from lakehouse import memory_table, tables, turn_table
from lakehouse.turn_table import InputRow
from lakehouse.versions import MemoryRow, ScopeMemory
from schemas.conversation import Scope
from schemas.errors import Misconfigured
from schemas.facts import CommandRecord, TurnRecord, turn_record_id
from schemas.memory import MemoryEvent
from schemas.retrieval import Kind

RowsAndVectors = tuple[list[dict[str, Any]], Any]


class Shard:
    """The memories and the inputs of one partition."""

    def __init__(self, uri: str, partition: int, dimension: int, memories: Any, turns: Any) -> None:
        self.partition = partition
        self.lock = asyncio.Lock()
        self.commits = {"memories": 0, "turns": 0}
        """Commits since the last maintenance."""
        self._uri = uri
        self.dimension = dimension
        self._columns = list(memory_table.READ)
        self.memories = memories
        self.turns = turns

    def require_present(self) -> None:
        """Raise ``Unavailable`` where the lake has gone."""
        tables.require_present(self._uri)

    async def commit_memories(self, rows: Iterable[MemoryRow]) -> None:
        """Write new and closed versions in one commit; where one row was changed twice, the later counts."""
        by_key = {row.event.event_id: row for row in sorted(rows, key=lambda row: row.touched)}
        if not by_key:
            return
        data = memory_table.to_table(list(by_key.values()), self.dimension)
        async with self.lock:
            self.require_present()
            await tables.merge(self.memories, memory_table.KEY, data)
            self.commits["memories"] += 1

    async def commit_inputs(self, rows: Iterable[InputRow]) -> None:
        """Write records in one commit."""
        by_key = {row.record.record_id: row for row in rows}
        if not by_key:
            return
        data = turn_table.to_table(list(by_key.values()), self.dimension)
        async with self.lock:
            self.require_present()
            await tables.merge(self.turns, turn_table.KEY, data)
            self.commits["turns"] += 1

    async def commit_episodes(self, rows: Sequence[dict[str, Any]]) -> None:
        """Write rows that ``episodes`` gave, changed, in one commit; what was changed later meanwhile stays."""
        if not rows:
            return
        data = turn_table.of_columns(rows, self.dimension)
        async with self.lock:
            self.require_present()
            await tables.merge(self.turns, turn_table.KEY, data)
            self.commits["turns"] += 1

    async def episodes(self, scope: Scope, turn_ids: Iterable[str]) -> list[dict[str, Any]]:
        """The rows of a scope's turns, whole, as columns; turns that were never stored have none."""
        keys = (turn_record_id(scope, turn_id) for turn_id in turn_ids)
        return await self._by_key(self.turns, [scope], turn_table.KEY, keys, turn_table.schema(self.dimension).names)

    async def idle(self, scopes: Iterable[Scope | None], record_ids: Iterable[str]) -> set[str]:
        """Those of these commands that were carried out already and found nothing to change."""
        found = await self._by_key(self.turns, scopes, turn_table.KEY, record_ids, ["status", turn_table.KEY])
        return {row[turn_table.KEY] for row in found if row["status"] == turn_table.IDLE}

    async def first_events(self, scope: Scope, memory_ids: Iterable[int]) -> dict[int, MemoryEvent]:
        """The events that began these memories, by id; there must be one. Unknown ones have none."""
        conditions = (
            memory_table.in_scope(scope.project_id, scope.user_id),
            tables.one_of("id", list(memory_ids)),
            tables.equals("revision", 1),
        )
        found = await self._read(self.memories, tables.all_of(conditions), self._columns)
        return {event.id: event for event in (memory_table.from_columns(row).event for row in found)}

    async def feedback(self, scope: Scope) -> list[MemoryEvent]:
        """The events that tell what was said of a scope's memories as results, in sequence."""
        conditions = (
            memory_table.in_scope(scope.project_id, scope.user_id),
            tables.equals("status", "none"),
            memory_table.has_feedback(),
        )
        found = await self._read(self.memories, tables.all_of(conditions), self._columns)
        events = (memory_table.from_columns(row).event for row in found)
        return sorted((event for event in events if event.feedback), key=lambda event: event.sequence)

    async def records(
        self, scopes: Iterable[Scope | None], record_ids: Iterable[str]
    ) -> dict[str, TurnRecord | CommandRecord]:
        """The stored records of these scopes with these ids, by id; None stands for commands that have no scope."""
        columns = ["status", "record", turn_table.KEY]
        found = await self._by_key(self.turns, scopes, turn_table.KEY, record_ids, columns)
        return {row[turn_table.KEY]: turn_table.from_columns(row) for row in found}

    async def events_of_records(
        self, scopes: Iterable[Scope | None], record_ids: Iterable[str]
    ) -> dict[str, list[MemoryRow]]:
        """The rows of these scopes that these records caused, in sequence, by record id."""
        found = await self._by_key(self.memories, scopes, "record_id", record_ids, self._columns)
        by_record: dict[str, list[MemoryRow]] = {}
        for row in sorted(map(memory_table.from_columns, found), key=lambda row: row.event.sequence):
            by_record.setdefault(row.record_id, []).append(row)
        return by_record

    async def session(self, scope: Scope, session_id: str, before: int, limit: int) -> list[TurnRecord]:
        """The last turns of a session, oldest first; those that are out of search as well.

        What was forgotten meanwhile depends on how far the shard's writer has come, and what is understood of a turn
        must not.

        Args:
            scope: Whose session.
            session_id: Which.
            before: Only turns at lower offsets of the inbox.
            limit: How many at most.
        """
        if limit < 1:
            return []
        conditions = tables.all_of(
            (
                memory_table.in_scope(scope.project_id, scope.user_id),
                tables.equals("session_id", session_id),
                tables.one_of("status", turn_table.TURNS),
                col("source_offset") < lit(before),
            )
        )
        found = await self._read(self.turns, conditions, [turn_table.KEY, "source_offset"])
        last = sorted(found, key=lambda row: row["source_offset"])[-limit:]
        records = await self.records([scope], (row[turn_table.KEY] for row in last))
        return [record for row in last if isinstance(record := records[row[turn_table.KEY]], TurnRecord)]

    async def scope_memory(self, scope: Scope) -> ScopeMemory:
        """All that a scope knows and knew, with vectors."""
        found = await self._read(
            self.memories, memory_table.in_scope(scope.project_id, scope.user_id), [*self._columns, "vector"]
        )
        return ScopeMemory.of_rows(map(memory_table.from_columns, found))

    async def scope_rows(self, scope: Scope) -> list[MemoryRow]:
        """All rows of a scope in sequence, without vectors."""
        found = await self._read(self.memories, memory_table.in_scope(scope.project_id, scope.user_id), self._columns)
        return sorted(map(memory_table.from_columns, found), key=lambda row: row.event.sequence)

    async def all_rows(self) -> AsyncIterator[MemoryRow]:
        """Every row of the shard, without vectors, in no order."""
        self.require_present()
        with tables.lake_errors():  # read whole, at once: old files go soon after they were replaced
            found = await self.memories.query().select(self._columns).to_arrow()
        for batch in found.to_batches(max_chunksize=tables.PAGE):
            for row in batch.to_pylist():
                yield memory_table.from_columns(row)

    async def count(self) -> int:
        """Number of events in the shard."""
        self.require_present()
        with tables.lake_errors():
            rows: int = await self.memories.count_rows()
        return rows

    async def version(self, kind: Kind) -> int:
        """Version of the table that holds this kind, "knowledge" or "episode": equal ones hold the same rows."""
        self.require_present()
        with tables.lake_errors():
            version: int = await self._table(kind).version()
        return version

    async def rows_of(self, scope: Scope, kind: Kind, conditions: Expr, limit: int) -> RowsAndVectors:
        """Rows of a scope that may answer, as columns, and their vectors as one matrix (rows x dimension).

        Args:
            scope: Whose rows.
            kind: "knowledge" or "episode".
            conditions: What they must be. Rows without a vector come with zeros.
            limit: How many at most, in no order.
        """
        return await self._answers(self._table(kind).query(), scope, kind, conditions, limit)

    async def by_vector(self, scope: Scope, kind: Kind, conditions: Expr, vector: Any, limit: int) -> RowsAndVectors:
        """The nearest rows of a scope by exact cosine, best first; see ``rows_of``.

        Raises:
            Unavailable: The question's vector is none, or the lake cannot be read.
        """
        unit = memory_table.checked(vector, self.dimension)  # LanceDB answers a bad one with nothing, and no error
        query = self._table(kind).query().nearest_to(unit).distance_type("cosine")
        return await self._answers(query, scope, kind, conditions, limit)

    async def by_words(self, scope: Scope, kind: Kind, conditions: Expr, query: Any, limit: int) -> RowsAndVectors:
        """The rows of a scope that hold one of the words, best first; see ``rows_of``."""
        return await self._answers(self._table(kind).query().nearest_to_text(query), scope, kind, conditions, limit)

    async def _answers(self, query: Any, scope: Scope, kind: Kind, conditions: Expr, limit: int) -> RowsAndVectors:
        inside = memory_table.in_scope(scope.project_id, scope.user_id) & conditions
        columns = [*(memory_table.ANSWERS if kind == "knowledge" else turn_table.ANSWERS), "vector"]
        self.require_present()
        with tables.lake_errors():
            found = await query.where(inside).limit(limit).select(columns).to_arrow()
        rows = found.select(columns[:-1]).to_pylist()
        return rows, tables.matrix(found["vector"], self.dimension)

    def _table(self, kind: Kind) -> Any:
        return self.memories if kind == "knowledge" else self.turns

    async def _by_key(
        self, table: Any, scopes: Iterable[Scope | None], column: str, keys: Iterable[str], columns: list[str]
    ) -> list[dict[str, Any]]:
        inside = tables.one_of("scope", sorted({scope.key if scope else "" for scope in scopes}) or [""])
        found: list[dict[str, Any]] = []
        for some in tables.batched(keys, tables.KEYS_A_READ):
            found.extend(await self._read(table, inside & tables.one_of(column, some), columns))
        return found

    async def _read(self, table: Any, conditions: Expr, columns: list[str]) -> list[dict[str, Any]]:
        self.require_present()
        with tables.lake_errors():
            found: list[dict[str, Any]] = await table.query().where(conditions).select(columns).to_list()
        return found


class Lake:
    """The lake of a deployment: one shard a partition, opened when it is first asked for."""

    def __init__(self, uri: str, connection: Any, shape: tables.LakeShape) -> None:
        self.uri = uri
        self.shape = shape
        self._connection = connection
        self._shards: dict[int, Shard] = {}

    @classmethod
    async def make(cls, uri: str, shape: tables.LakeShape) -> "Lake":
        """Make the lake, or complete and open the one that is there.

        Raises:
            Misconfigured: The one that is there was made for something else.
            Unavailable: Folder or object store cannot be reached.
        """
        connection = await tables.connect(uri)
        async with tables.making(uri):
            found = await tables.read_shape(connection)
            if found is not None:
                tables.require_shape(found, shape)
            for partition in range(shape.partitions):
                memories, turns = memory_table.table_name(partition), turn_table.table_name(partition)
                await tables.create_table(
                    connection, memories, memory_table.schema(shape.dimension), memory_table.KEY, ("scope",)
                )
                await tables.create_table(
                    connection, turns, turn_table.schema(shape.dimension), turn_table.KEY, ("scope",)
                )
            if found is None:
                await tables.write_shape(connection, shape)
        return cls(uri, connection, shape)

    @staticmethod
    async def is_there(uri: str) -> bool:
        """Whether a lake was made there before.

        Raises:
            Misconfigured: It was, by a newer memlake or with another recipe.
        """
        folder = tables.local_folder(uri)
        if folder is not None and not folder.is_dir():
            return False
        return await tables.read_shape(await tables.connect(uri)) is not None

    @classmethod
    async def open(cls, uri: str) -> "Lake":
        """Open a lake to read it.

        Raises:
            Misconfigured: There is none.
        """
        folder = tables.local_folder(uri)
        if folder is not None and not folder.is_dir():
            raise Misconfigured(f"there is no lake at {uri}: has a worker run yet?")
        connection = await tables.connect(uri)
        shape = await tables.read_shape(connection)
        if shape is None:
            raise Misconfigured(f"there is no lake at {uri}: has a worker run yet?")
        return cls(uri, connection, shape)

    async def shard(self, partition: int) -> Shard:
        """The shard of a partition."""
        if partition not in self._shards:
            tables.require_present(self.uri)
            with tables.lake_errors():
                memories = await self._connection.open_table(memory_table.table_name(partition))
                turns = await self._connection.open_table(turn_table.table_name(partition))
            self._shards.setdefault(partition, Shard(self.uri, partition, self.shape.dimension, memories, turns))
        return self._shards[partition]

    async def shard_of(self, scope: Scope) -> Shard:
        """The shard of a scope."""
        return await self.shard(scope.partition(self.shape.partitions))

    async def all_rows(self) -> AsyncIterator[MemoryRow]:
        """Every row of every shard, without vectors."""
        for partition in range(self.shape.partitions):
            async for row in (await self.shard(partition)).all_rows():
                yield row

    def opened(self) -> list[Shard]:
        """The shards that were asked for so far."""
        return list(self._shards.values())
