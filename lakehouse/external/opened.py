"""The tables of external knowledge, open, and how their rows are read and written.

Rule of this file: it knows tables, rows and keys, and of no question that anybody asks; see ``store``.
"""

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final, Self

from lakehouse import tables
from lakehouse.embedding import Embedder
from lakehouse.external import tables as columns
from lakehouse.maintenance import MaintenancePolicy, compact
from schemas.errors import Misconfigured, Unavailable

COMMITS: Final = 20
"""After which a table is compacted that a question is answered from."""
ROWS_A_COMMIT: Final = 100
"""A commit of more counts as several: what it wrote is in no index before the table is compacted."""
POLICY: Final = MaintenancePolicy(commits=200, idle_s=0, keep=timedelta(minutes=10))
"""For the other tables, which only grow, and for all: how long readers may go on with an old version."""
NAMES: Final = (*columns.SCHEMAS, columns.DOCUMENTS)
log = logging.getLogger("external_knowledge")


class OpenTables:
    """Each table is an attribute by its name; ``maintenance.compact`` takes this as their owner."""

    def __init__(self, uri: str, shape: tables.LakeShape, embedder: Embedder | None, opened: Mapping[str, Any]) -> None:
        self.uri = uri
        self.lock = asyncio.Lock()
        self.commits = dict.fromkeys(NAMES, 0)
        self._rows = dict.fromkeys(NAMES, 0)
        self.dimension = shape.dimension
        self.embedder = embedder
        self.documents = opened[columns.DOCUMENTS]
        self.pages = opened[columns.PAGES]
        self.inventories = opened[columns.INVENTORIES]
        self.deprecations = opened[columns.DEPRECATIONS]
        self.accesses = opened[columns.ACCESSES]
        self.happenings = opened[columns.HAPPENINGS]
        self.progress = opened[columns.PROGRESS]

    @classmethod
    async def open(cls, uri: str, embedder: Embedder | None = None) -> Self:
        """Open the tables of a lake, or make them.

        Args:
            uri: Of a lake that was made before.
            embedder: The lake's own; needed only by who applies events with documents.

        Raises:
            Misconfigured: There is no lake, or it has another embedder.
            Unavailable: Folder or object store cannot be reached.
        """
        folder = tables.local_folder(uri)
        connection = None if folder is not None and not folder.is_dir() else await tables.connect(uri)
        shape = None if connection is None else await tables.read_shape(connection)
        if connection is None or shape is None:
            raise Misconfigured(f"there is no lake at {uri}: has a worker run yet?")
        if embedder is not None:
            tables.require_shape(shape, tables.LakeShape(shape.partitions, embedder.id, embedder.dimension))
        schemas = columns.SCHEMAS | {columns.DOCUMENTS: columns.documents_schema(shape.dimension)}
        async with tables.making(uri):
            for name, schema in schemas.items():
                await tables.create_table(connection, name, schema, columns.KEY, ())
            with tables.lake_errors():
                opened = {name: await connection.open_table(name) for name in schemas}
            for name, looked_up in columns.LOOKED_UP.items():
                await columns.create_lookups(opened[name], looked_up)
        return cls(uri, shape, embedder, opened)

    def require_present(self) -> None:
        """Raise ``Unavailable`` where the lake has gone."""
        tables.require_present(self.uri)

    async def read(self, table: Any, where: Any | None, wanted: list[str]) -> list[dict[str, Any]]:
        """Rows as columns, in no order; all where there is no condition."""
        self.require_present()
        with tables.lake_errors():
            query = table.query() if where is None else table.query().where(where)
            found: list[dict[str, Any]] = await query.select(wanted).to_list()
        return found

    async def by(self, table: Any, column: str, keys: Iterable[str], wanted: list[str]) -> list[dict[str, Any]]:
        """The rows with these values in a column."""
        found: list[dict[str, Any]] = []
        for some in tables.batched(sorted(keys), tables.KEYS_A_READ):
            found += await self.read(table, tables.one_of(column, some), wanted)
        return found

    async def write(self, name: str, rows: Sequence[dict[str, Any]], seen: Mapping[str, int] | None) -> None:
        """Write rows of a table; ``seen`` is None where they never change. See ``tables``."""
        if not rows:
            return
        table = getattr(self, name)
        schema = columns.SCHEMAS.get(name) or columns.documents_schema(self.dimension)
        if seen is None:
            await columns.append(table, rows, schema)
        else:
            await columns.write(table, rows, seen, schema)
        self.commits[name] += max(1, len(rows) // ROWS_A_COMMIT)

    async def compact_if_due(self) -> None:
        """Compact the tables that had many commits: each makes what is looked up slower.

        One that cannot be compacted just now, such as because another writer is busy with it, stays as it is until the
        next time, and the log says so.
        """
        for name, commits in self.commits.items():
            most = COMMITS if name in columns.LOOKED_UP else POLICY.commits_for(self._rows[name])
            if commits >= most:
                try:
                    self._rows[name] = (await compact(self, name, POLICY.keep)).rows
                except Unavailable as error:
                    log.warning("%s: not compacted after %d commits: %s", name, commits, error)
