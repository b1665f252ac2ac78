"""Several processes at once on one lake: making it, and writing the same new events.

Four processes meet before each step, so that they really race: a start without that passes by luck.
"""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from lakehouse.store import Lake
from lakehouse.tables import LakeShape

GOLDEN = Path(__file__).parents[1] / "data" / "golden" / "memory-event.v1.json"
ROUNDS, PROCESSES, EVENTS = 10, 4, 5
EACH = f"""
import asyncio, sys, time
from pathlib import Path
import numpy as np
from lakehouse.store import Lake
from lakehouse.tables import LakeShape
from lakehouse.versions import Change, ScopeMemory
from schemas.memory import MemoryEvent

base, me = Path(sys.argv[1]), sys.argv[3]
event = MemoryEvent.decode(Path(sys.argv[2]).read_bytes())

def meet(step):
    (base / f"{{step}}.{{me}}").touch()
    end = time.monotonic() + 30
    while len(list(base.glob(f"{{step}}.*"))) < {PROCESSES}:
        assert time.monotonic() < end, f"the others never came to {{step}}"
        time.sleep(0.002)

def rows():
    memory = ScopeMemory()
    for number in range(1, {EVENTS} + 1):
        told = {{"event_id": f"event {{number}}", "event": "ADD", "sequence": number, "id": number}}
        yield from memory.apply(Change(event.model_copy(update=told), "record", number, np.eye(8)[0]))

async def main():
    for number in range({ROUNDS}):
        meet(f"make-{{number}}")
        lake = await Lake.make(str(base / f"lake-{{number}}"), LakeShape(1, "stub-1", 8))
        shard = await lake.shard(0)
        meet(f"write-{{number}}")
        await shard.commit_memories(rows())

asyncio.run(main())
"""


@pytest.fixture(scope="module")
def raced(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Lakes that four processes made, and wrote the same events to, at once."""
    base = tmp_path_factory.mktemp("raced")
    running = [
        subprocess.Popen([sys.executable, "-c", EACH, str(base), str(GOLDEN), str(number)], stderr=subprocess.PIPE)
        for number in range(PROCESSES)
    ]
    try:
        errors = [process.communicate(timeout=60)[1].decode() for process in running]
    finally:
        for process in running:
            process.kill()
            process.communicate()
    assert [process.returncode for process in running] == [0] * PROCESSES, errors
    return [base / f"lake-{number}" for number in range(ROUNDS)]


async def test_processes_that_start_at_once_on_an_empty_folder_make_one_lake(raced: list[Path]) -> None:
    for folder in raced:
        assert sorted(path.name for path in folder.glob("*.lance")) == [
            "lake.lance",
            "memories_0000.lance",
            "turns_0000.lance",
        ]
        assert (await Lake.open(str(folder))).shape == LakeShape(1, "stub-1", 8)


async def test_processes_that_write_the_same_new_events_make_no_second_copies(raced: list[Path]) -> None:
    for folder in raced:
        shard = await (await Lake.open(str(folder))).shard(0)

        found = Counter([row.event.event_id async for row in shard.all_rows()])

        assert found == {f"event {number}": 1 for number in range(1, EVENTS + 1)}
