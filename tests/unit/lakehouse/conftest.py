"""A lake in a temporary folder, and stories: what a writer would commit, told event by event, with vectors by hand."""

import asyncio
import shutil
import zlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lakehouse.store import Lake, Shard
from lakehouse.tables import LakeShape
from lakehouse.versions import Change, MemoryRow, ScopeMemory
from schemas.conversation import Scope
from schemas.memory import MemoryEvent

GOLDEN = Path(__file__).parents[2] / "data" / "golden" / "memory-event.v1.json"
EVENT = MemoryEvent.decode(GOLDEN.read_bytes())
START = datetime(2025, 1, 1, tzinfo=UTC)
SHAPE = LakeShape(1, "stub-1", 8)


def unit_vector(text: str) -> Any:
    """A unit vector of a text's own."""
    found = np.random.default_rng(zlib.crc32(text.encode(errors="replace"))).normal(size=SHAPE.dimension)
    return (found / np.linalg.norm(found)).astype(np.float32)


class Story:
    """One scope's history: each step gives the rows that one commit of it holds.

    Event times are minutes after ``START``, recording times are hours after it, by the event's sequence.
    """

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.memory = ScopeMemory()
        self.vector: Callable[[str], Any] = unit_vector

    def add(self, text: str, **fields: Any) -> tuple[MemoryRow, ...]:
        return self._tell("ADD", self.memory.last_id + 1, text, 1, fields)

    def update(self, memory_id: int, text: str, **fields: Any) -> tuple[MemoryRow, ...]:
        return self._tell("UPDATE", memory_id, text, len(self.memory.history(memory_id)) + 1, fields)

    def delete(self, memory_id: int, **fields: Any) -> tuple[MemoryRow, ...]:
        row = self.memory.current_of(memory_id)
        assert row is not None
        return self._tell("DELETE", memory_id, row.event.text, len(self.memory.history(memory_id)) + 1, fields)

    def restore(self, memory_id: int, revision: int = 1, **fields: Any) -> tuple[MemoryRow, ...]:
        """By command, and so without a fact."""
        wanted, told = self.memory.history(memory_id)[revision - 1].event, {"command_id": "restore", "fact_id": None}
        return self.update(memory_id, wanted.text, source_turn_ids=wanted.source_turn_ids, **told, **fields)

    def nothing(self, text: str, **fields: Any) -> tuple[MemoryRow, ...]:
        return self._tell("NONE", fields.pop("memory_id", 0), text, None, fields)

    def _tell(
        self, kind: str, memory_id: int, text: str, revision: int | None, fields: dict[str, Any]
    ) -> tuple[MemoryRow, ...]:
        sequence = self.memory.sequence + 1
        told = {
            "event_id": f"{self.scope.key}#{sequence}",
            "scope": self.scope,
            "sequence": sequence,
            "id": memory_id,
            "revision": revision,
            "event": kind,
            "text": text,
            "old_memory": None,
            "tags": (),
            "domain": None,
            "timestamp": START + timedelta(minutes=fields.pop("minute", sequence)),
            "recorded_at": START + timedelta(hours=sequence),
        }
        vector = fields.pop("vector", None)
        return self.memory.apply(
            Change(
                EVENT.model_copy(update=told | fields),
                f"record-{sequence}-of-{self.scope.key}",
                sequence,
                self.vector(text) if vector is None else vector,
            )
        )


@pytest.fixture
def uri(tmp_path: Path) -> str:
    return str(tmp_path / "lake")


def written(folder: Path, *commits: list[MemoryRow]) -> str:
    """A lake there with these commits: for fixtures that many tests share, which only read it. Gives its URI."""

    async def write() -> None:
        shard = await (await Lake.make(str(folder), SHAPE)).shard(0)
        for rows in commits:
            await shard.commit_memories(rows)

    with asyncio.Runner() as loop:
        loop.run(write())
    return str(folder)


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A lake that nobody writes into: a copy is had sooner than one made anew."""
    return written(tmp_path_factory.mktemp("empty") / "lake")


@pytest.fixture
async def lake(uri: str, empty: str) -> Lake:
    shutil.copytree(empty, uri)
    return await Lake.open(uri)


@pytest.fixture
async def shard(lake: Lake) -> Shard:
    return await lake.shard(0)


@pytest.fixture
def story() -> Callable[[str], Story]:
    """Stories by the user's name."""
    return lambda user: Story(Scope(project_id="shop", user_id=user))


@pytest.fixture
def unit() -> Callable[[str], Any]:
    return unit_vector
