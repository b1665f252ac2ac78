"""Compacting: when it is due, and what it leaves."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from lakehouse.maintenance import RETRY_S, MaintenancePolicy, MaintenanceState, compact
from lakehouse.store import Shard
from lakehouse.turn_table import InputRow
from schemas.errors import Unavailable
from schemas.facts import TurnRecord

Story = Callable[[str], Any]
Unit = Callable[[str], Any]
GOLDEN = Path(__file__).parents[2] / "data" / "golden" / "turn-record.v1.json"
POLICY = MaintenancePolicy(commits=10, idle_s=30, keep=timedelta(minutes=60))
DUE: list[tuple[int, float, float, str | None]] = [
    # commits, seconds since the last of them, seconds until it may be tried again, why it is due
    (0, 0, 0, None),
    (0, 1000, 0, None),
    (1, 29.9, 0, None),
    (1, 30, 0, "idle after 1 commits"),
    (9, 29, 0, None),
    (10, 0, 0, "10 commits"),
    (500, 0, 0, "500 commits"),
    (500, 100, 0.1, None),
]


@pytest.mark.parametrize(("commits", "idle_s", "left_s", "why"), DUE)
def test_a_table_is_due_after_many_commits_or_when_it_has_been_idle(
    commits: int, idle_s: float, left_s: float, why: str | None
) -> None:
    now = 10_000.0
    state = MaintenanceState(commits, last_commit=now - idle_s, not_before=now + left_s if left_s else 0.0)

    assert state.due(POLICY, now) == why


def test_idle_time_begins_with_the_last_commit_and_a_failure_leaves_the_table_for_a_while() -> None:
    state = MaintenanceState()
    state.committed(100.0, 1)
    state.committed(120.0, 1)
    assert state.due(POLICY, 130.0) == "idle after 1 commits"

    state.committed(125.0, 2)
    assert state.due(POLICY, 130.0) is None
    state.failed(155.0)
    assert state.due(POLICY, 155.0 + RETRY_S - 0.1) is None
    assert state.due(POLICY, 155.0 + RETRY_S) == "idle after 2 commits"

    state.done(POLICY, 10_000.0, rows=7)
    assert state.due(POLICY, 10_001.0) is None


def test_versions_that_a_compaction_had_to_keep_are_dropped_when_their_time_is_up() -> None:
    state = MaintenanceState(commits=3)
    state.done(POLICY, 100.0, rows=7)

    assert state.due(POLICY, 100.0 + 3600) is None
    assert state.due(POLICY, 100.0 + 3601) == "old versions"

    state.done(POLICY, 100.0 + 3601, rows=7)
    assert state.due(POLICY, 1_000_000.0) is None


@pytest.mark.parametrize(("rows", "commits"), [(0, 25), (5000, 25), (20_000, 100), (40_000, 200), (10**9, 200)])
def test_a_large_table_is_compacted_less_often(rows: int, commits: int) -> None:
    policy = MaintenancePolicy(commits=200, idle_s=30, keep=timedelta(seconds=10))

    assert policy.commits_for(rows) == commits


async def test_compacting_keeps_every_row_in_fewer_files(shard: Shard, story: Story, unit: Unit) -> None:
    told = story("ann")
    record = TurnRecord.decode(GOLDEN.read_bytes())
    for number in range(12):
        await shard.commit_memories(told.add(f"fact {number}"))
        await shard.commit_inputs([InputRow(record.model_copy(update={"record_id": f"r{number}"}), unit(str(number)))])
    before = await shard.scope_rows(told.scope)
    inside: list[str] = []

    done = await compact(shard, "memories", timedelta(milliseconds=1), inside=lambda: inside.append("inside"))

    assert (done.table, done.rows, done.fragments_before, done.fragments_after) == ("memories_0000", 12, 12, 1)
    assert inside == ["inside"]
    assert shard.commits == {"memories": 0, "turns": 12}
    assert await shard.scope_rows(told.scope) == before
    turns = await compact(shard, "turns", timedelta(milliseconds=1))
    assert (turns.table, turns.rows, turns.fragments_after) == ("turns_0000", 12, 1)
    assert len(await shard.records([record.scope], [f"r{number}" for number in range(12)])) == 12


async def test_old_versions_stay_as_long_as_they_are_promised(shard: Shard, story: Story) -> None:
    told = story("ann")
    for number in range(4):
        await shard.commit_memories(told.add(f"fact {number}"))

    await compact(shard, "memories", timedelta(hours=1))
    kept = len(await shard.memories.list_versions())
    await compact(shard, "memories", timedelta(milliseconds=1))

    assert len(await shard.memories.list_versions()) < kept


async def test_a_lake_that_has_gone_cannot_be_compacted_and_the_count_of_commits_is_kept(
    shard: Shard, story: Story, uri: str
) -> None:
    told = story("ann")
    await shard.commit_memories(told.add("fact"))
    Path(uri).rename(f"{uri}-away")  # noqa: ASYNC240

    with pytest.raises(Unavailable):
        await compact(shard, "memories", timedelta(hours=1))

    assert shard.commits["memories"] == 1
    assert not shard.lock.locked()


async def test_a_keyword_index_that_lacks_rows_is_made_anew(shard: Shard, story: Story) -> None:
    from lakehouse.maintenance import _mend_word_index

    told = story("ann")
    await shard.commit_memories(told.add("fact"))

    async def lacking() -> dict[str, int]:
        return {i.columns[0]: i.num_unindexed_rows for i in await shard.memories.list_indices()}

    assert (await lacking())["keywords"] == 1
    await _mend_word_index(shard.memories)

    assert (await lacking())["keywords"] == 0
