"""The two places where ``ExternalKnowledgeCache`` keeps its entries: the lake, and plain files.

Rule of this file: both keep the same contract. A file is written whole or not at all, read by its owner alone, and one
that cannot be understood is told, removed, and a miss.

Files: ``root/source/project@version/ab/<SHA-256 of the key>.json``; the key is the canonical JSON of source and symbol,
and each name in the path is escaped, so that none leads elsewhere.
"""

import asyncio
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Final, TypeVar
from urllib.parse import quote

from lakehouse.external.cache import Entry, Wanted, entry_of
from lakehouse.external.events import DocumentRow
from lakehouse.external.store import DocumentStore
from schemas.errors import Unavailable
from schemas.identity import derived_id
from schemas.knowledge import DocumentEvent, PageState, hash_of

FOLDER_MODE: Final = 0o700
LONGEST_NAME: Final = 120
"""Characters of a folder's name; a longer one stands as its hash."""
Argument = TypeVar("Argument")
Outcome = TypeVar("Outcome")


class LakeBackend:
    """Entries are documents of the lake: what sources told is found here, too."""

    def __init__(self, store: DocumentStore, clock: Callable[[], datetime]) -> None:
        """Keep entries in a store.

        Args:
            store: Opened with an embedder, if anything is to be written.
            clock: Now, timezone-aware.
        """
        self._store = store
        self._clock = clock

    async def read(self, wanted: Wanted) -> list[Entry]:
        """See ``Backend``."""
        return [entry_of(row.document, row.checked_at) for row in await self._rows(wanted)]

    async def write(self, entry: Entry) -> None:
        """See ``Backend``."""
        told = entry.document
        key = derived_id("document", "set", told.id, entry.cached_at.isoformat(), told.content_hash)
        event = DocumentEvent(event_id=key, action="FETCHED", at=entry.cached_at, source=told.source, documents=(told,))
        await self._store.apply([event])

    async def remove(self, wanted: Wanted) -> int:
        """See ``Backend``. The pages are fetched as new ones when they are asked for again."""
        rows = await self._rows(wanted)
        await self._store.apply([await self._eviction(row) for row in rows])
        return len(rows)

    async def count(self) -> int:
        """See ``Backend``."""
        return len(await self._store.live())

    async def _rows(self, wanted: Wanted) -> list[DocumentRow]:
        found = await self._store.find(wanted.identifier, wanted.project, wanted.version, source=wanted.source)
        return [one.row for one in found if wanted.matches(entry_of(one.row.document, one.row.checked_at))]

    async def _eviction(self, row: DocumentRow) -> DocumentEvent:
        now, told = self._clock(), row.document
        known = await self._store.page(told.page_url)
        return DocumentEvent(
            event_id=derived_id("document", "EVICTED", told.id, now.isoformat()),
            action="EVICTED",
            at=now,
            source=told.source,
            document_ids=(told.id,),
            page=known or PageState(url=told.page_url, source=told.source, project=told.project),
            reason="invalidated",
        )


class FileBackend:
    """Entries are files in a folder that nobody else may read."""

    def __init__(self, root: Path, tell: Callable[[str], None]) -> None:
        """Keep entries in a folder.

        Args:
            root: It is made when something is written.
            tell: Takes what an operator should know: which file could not be understood and was removed.
        """
        self._root = root
        self._tell = tell

    async def read(self, wanted: Wanted) -> list[Entry]:
        """See ``Backend``."""
        return await asyncio.to_thread(self._guarded, self._read, wanted)

    async def write(self, entry: Entry) -> None:
        """See ``Backend``."""
        await asyncio.to_thread(self._guarded, self._write, entry)

    async def remove(self, wanted: Wanted) -> int:
        """See ``Backend``."""
        return await asyncio.to_thread(self._guarded, self._remove, wanted)

    async def count(self) -> int:
        """See ``Backend``."""
        return await asyncio.to_thread(lambda: sum(1 for _ in self._root.glob("*/*/*/*.json")))

    def _guarded(self, work: Callable[[Argument], Outcome], argument: Argument) -> Outcome:
        try:
            return work(argument)
        except OSError as error:
            raise Unavailable(f"the files of external knowledge cannot be used just now: {error}") from error

    def _read(self, wanted: Wanted) -> list[Entry]:
        found = (self._entry(path) for path in self._paths(wanted))
        return [entry for entry in found if entry is not None and wanted.matches(entry)]

    def _entry(self, path: Path) -> Entry | None:
        try:
            return Entry.model_validate_json(path.read_bytes(), by_alias=True)
        except FileNotFoundError:
            return None  # another process was faster
        except ValueError:
            path.unlink(missing_ok=True)
            self._tell(f"{path} could not be understood and was removed")
            return None

    def _write(self, entry: Entry) -> None:
        path = self._path(entry)
        self._make(path.parent)
        handle, scratch = tempfile.mkstemp(dir=path.parent, suffix=".part")  # for its owner alone
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(entry.model_dump_json(by_alias=True, exclude_none=True).encode())
                file.flush()
                os.fsync(file.fileno())
            Path(scratch).replace(path)
        except BaseException:
            Path(scratch).unlink(missing_ok=True)
            raise

    def _make(self, folder: Path) -> None:
        self._root.parent.mkdir(parents=True, exist_ok=True)
        for part in (*reversed(folder.parents), folder):
            if part.is_relative_to(self._root):
                part.mkdir(mode=FOLDER_MODE, exist_ok=True)

    def _remove(self, wanted: Wanted) -> int:
        removed = 0
        for path in self._paths(wanted):
            entry = self._entry(path)
            if entry is not None and wanted.matches(entry):
                path.unlink(missing_ok=True)
                removed += 1
        return removed

    def _paths(self, wanted: Wanted) -> Iterator[Path]:
        """The files that may hold what is wanted: one a version."""
        folder, name = self._folder(wanted.source), _file_name(wanted.source, wanted.identifier)
        versions = sorted(folder.iterdir()) if folder.is_dir() else []
        return (version / name for version in versions if (version / name).is_file())

    def _path(self, entry: Entry) -> Path:
        parts = (entry.project,) if entry.version is None else (entry.project, entry.version)
        return self._folder(entry.source) / _name(*parts) / _file_name(entry.source, entry.identifier)

    def _folder(self, source: str) -> Path:
        return self._root / _name(source)


def _file_name(source: str, identifier: str) -> Path:
    key = hash_of(json.dumps([source, identifier], ensure_ascii=False, separators=(",", ":")))
    return Path(key[:2]) / f"{key}.json"


def _name(*parts: str) -> str:
    escaped = "@".join(part.replace(".", "%2E") if set(part) <= {"."} else quote(part, safe="") for part in parts)
    return escaped if len(escaped) <= LONGEST_NAME else hash_of(escaped)
