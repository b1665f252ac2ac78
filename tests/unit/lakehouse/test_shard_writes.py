"""What one writer commits, and what others see of it."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lakehouse.store import Lake, Shard
from lakehouse.tables import KEYS_A_READ
from lakehouse.turn_table import InputRow
from lakehouse.versions import MemoryRow
from schemas.conversation import Scope, Turn
from schemas.errors import Unavailable
from schemas.facts import CommandRecord, TurnRecord

Story = Callable[[str], Any]
Unit = Callable[[str], Any]
GOLDEN = Path(__file__).parents[2] / "data" / "golden"
TURN = TurnRecord.decode((GOLDEN / "turn-record.v1.json").read_bytes())
COMMAND = CommandRecord.decode((GOLDEN / "command-record.v1.json").read_bytes())
BAD_VECTORS: dict[str, Any] = {
    "not-a-number": np.full(8, np.nan, dtype=np.float32),
    "infinite": np.array([np.inf] + [0.0] * 7),
    "zeros": np.zeros(8),
    "too-short": np.eye(7)[0],
    "too-long": np.eye(9)[0],
    "not-a-unit": np.full(8, 1.0),
    "a-matrix": np.eye(8)[:1],
}


async def rows_of(shard: Shard) -> list[MemoryRow]:
    return [row async for row in shard.all_rows()]


async def test_a_row_that_a_batch_changes_twice_is_written_once_as_it_was_last(shard: Shard, story: Story) -> None:
    told = story("ann")
    rows = [*told.add("a"), *told.update(1, "b"), *told.update(1, "c"), *told.nothing("c")]

    await shard.commit_memories(rows[::-1])

    found = await shard.scope_rows(told.scope)
    assert [(row.event.text, row.status) for row in found] == [
        ("a", "superseded"),
        ("b", "superseded"),
        ("c", "current"),
        ("c", "none"),
    ]
    assert found == sorted({row.event.event_id: row for row in rows}.values(), key=lambda row: row.event.sequence)
    assert await shard.count() == 4
    assert shard.commits == {"memories": 1, "turns": 0}


async def test_nothing_to_write_is_no_commit(shard: Shard) -> None:
    await shard.commit_memories([])
    await shard.commit_inputs([])

    assert shard.commits == {"memories": 0, "turns": 0}


async def test_the_same_commit_again_changes_nothing(shard: Shard, story: Story) -> None:
    told = story("ann")
    rows = [*told.add("a"), *told.update(1, "b")]

    for _ in range(3):
        await shard.commit_memories(rows)

    assert await shard.scope_rows(told.scope) == sorted(
        {row.event.event_id: row for row in rows}.values(), key=lambda row: row.event.sequence
    )


async def test_a_writer_that_was_left_behind_does_not_undo_what_came_after(shard: Shard, story: Story) -> None:
    told = story("ann")
    first = told.add("a")
    await shard.commit_memories(first)
    second = told.update(1, "b")
    await shard.commit_memories(second)

    await shard.commit_memories(first)
    await shard.commit_memories([replace(first[0], status="deleted")])

    assert [(row.event.text, row.status) for row in await shard.scope_rows(told.scope)] == [
        ("a", "superseded"),
        ("b", "current"),
    ]


async def test_a_reader_never_sees_a_memory_without_or_with_two_current_versions(
    shard: Shard, uri: str, story: Story
) -> None:
    told = story("ann")
    await shard.commit_memories(told.add("version 0"))
    reader = await (await Lake.open(uri)).shard(0)
    seen: list[int] = []
    done = asyncio.Event()

    async def watch() -> None:
        while not done.is_set():
            rows = await reader.scope_rows(told.scope)
            seen.append(sum(row.status == "current" for row in rows))

    watching = asyncio.create_task(watch())
    for number in range(1, 25):
        await shard.commit_memories(told.update(1, f"version {number}"))
    done.set()
    await watching

    assert set(seen) == {1}
    assert len(seen) > 5


async def test_another_handle_sees_each_commit_at_once(shard: Shard, uri: str, story: Story, unit: Unit) -> None:
    reader = await (await Lake.open(uri)).shard(0)
    told = story("ann")

    for number in range(1, 21):
        await shard.commit_memories(told.add(f"fact {number}"))
        assert len(await reader.scope_rows(told.scope)) == number


async def test_a_scope_is_read_back_as_it_was_folded(shard: Shard, story: Story) -> None:
    told, other = story("ann"), story("bo")
    rows = [*told.add("a"), *told.add("b"), *told.update(1, "c", minute=9), *told.update(1, "d", minute=2,
            status="historic"), *told.delete(2), *told.nothing("e"), *other.add("f")]  # fmt: skip
    await shard.commit_memories(rows)

    memory = await shard.scope_memory(told.scope)

    assert (memory.sequence, memory.last_id, len(memory)) == (6, 2, 6)
    for memory_id in (1, 2):
        assert memory.history(memory_id) == told.memory.history(memory_id)
        for row, same in zip(memory.history(memory_id), told.memory.history(memory_id), strict=True):
            assert np.array_equal(row.vector, same.vector) or row.status == "deleted"
    assert {row.event.scope.user_id async for row in shard.all_rows()} == {"ann", "bo"}


@pytest.mark.parametrize("kind", BAD_VECTORS)
async def test_a_bad_vector_is_the_embedders_fault_and_nothing_is_written(
    shard: Shard, story: Story, unit: Unit, kind: str
) -> None:
    told = story("ann")
    await shard.commit_memories(told.add("good"))
    before = await shard.memories.version()

    bad = told.add("bad", vector=BAD_VECTORS[kind])
    with pytest.raises(Unavailable, match="no unit vector of 8 numbers"):
        await shard.commit_memories([*bad, *told.add("also good")])
    with pytest.raises(Unavailable, match="no unit vector"):
        await shard.commit_inputs([InputRow(TURN, BAD_VECTORS[kind])])

    assert [row.event.text for row in await rows_of(shard)] == ["good"]
    assert await shard.memories.version() == before


async def test_a_scope_with_many_memories_is_listed_to_the_end(shard: Shard, story: Story) -> None:
    told, other = story("ann"), story("bo")
    await shard.commit_memories([row for number in range(137) for row in told.add(f"fact {number}")])
    await shard.commit_memories([row for number in range(30) for row in other.add(f"other {number}")])

    assert len(await shard.scope_rows(told.scope)) == 137
    assert len(list((await shard.scope_memory(told.scope)).current)) == 137
    assert await shard.count() == len(await rows_of(shard)) == 167


async def test_what_a_record_caused_is_found_by_it_in_sequence(shard: Shard, story: Story) -> None:
    told = story("ann")
    many = KEYS_A_READ + 3
    rows = [row for number in range(many) for row in told.add(f"fact {number}")]
    await shard.commit_memories([replace(row, record_id="one") for row in rows[:2]] + rows[2:])

    found = await shard.events_of_records([told.scope], ["one", "unknown", *(row.record_id for row in rows[2:])])

    assert [row.event.sequence for row in found["one"]] == [1, 2]
    assert len(found) == many - 1
    assert await shard.events_of_records([told.scope], []) == {}
    assert await shard.events_of_records([story("bea").scope], ["one"]) == {}


async def test_an_input_is_kept_word_for_word_and_found_by_its_record(shard: Shard, unit: Unit) -> None:
    await shard.commit_inputs([InputRow(TURN, unit("a")), InputRow(COMMAND), InputRow(TURN, unit("a"))])
    await shard.commit_inputs([InputRow(TURN.model_copy(update={"recorded_at": datetime(2030, 1, 1, tzinfo=UTC)}))])

    found = await shard.records([TURN.scope, COMMAND.scope], [TURN.record_id, COMMAND.record_id, "unknown"])

    assert found == {TURN.record_id: TURN, COMMAND.record_id: COMMAND}
    assert await shard.turns.count_rows() == 2


async def test_maintenance_is_kept_as_an_input_without_a_scope(shard: Shard) -> None:
    command = COMMAND.command.model_copy(update={"op": "maintain", "scope": None, "interaction": None})
    record = COMMAND.model_copy(update={"command": command})

    await shard.commit_inputs([InputRow(record)])

    assert (await shard.records([record.scope], [record.record_id]))[record.record_id] == record


async def test_a_session_is_its_last_turns_below_an_offset_and_nobody_elses(shard: Shard) -> None:
    bo = Scope(project_id="checkout", user_id="bo")

    def said(offset: int, session: str | None = "s", scope: Scope = TURN.turn.scope) -> InputRow:
        turn = Turn.model_validate(
            TURN.turn.model_dump() | {"session_id": session, "scope": scope, "content": f"turn {offset}"}
        )
        source = TURN.source.model_copy(update={"offset": offset})
        return InputRow(TURN.model_copy(update={"record_id": f"r{offset}", "turn": turn, "source": source}))

    await shard.commit_inputs([said(5), said(3), said(4), said(9), said(6, "other"), said(7, "s", bo), said(8, None)])
    await shard.commit_inputs([InputRow(COMMAND)])

    async def texts(before: int, limit: int) -> list[str]:
        return [record.turn.content for record in await shard.session(TURN.turn.scope, "s", before, limit)]

    assert await texts(9, 2) == ["turn 4", "turn 5"]
    assert await texts(10, 10) == ["turn 3", "turn 4", "turn 5", "turn 9"]
    assert await texts(3, 5) == []
    assert await texts(10, 0) == []


async def test_a_lake_whose_folder_has_gone_is_unavailable_until_it_is_back(
    lake: Lake, shard: Shard, story: Story, unit: Unit, uri: str
) -> None:
    told = story("ann")
    await shard.commit_memories(told.add("a"))
    rows, folder = told.add("b"), Path(uri)
    away = folder.rename(folder.with_name("away"))  # noqa: ASYNC240

    tries: list[Callable[[], Any]] = [
        lambda: shard.commit_memories(rows),
        lambda: shard.commit_inputs([InputRow(TURN)]),
        lambda: shard.scope_memory(told.scope),
        lambda: shard.scope_rows(told.scope),
        lambda: shard.records([told.scope], ["x"]),
        lambda: rows_of(shard),
        shard.count,
        lambda: lake.shard(1),
    ]
    for _ in range(2):
        for one in tries:
            with pytest.raises(Unavailable):
                await one()
        folder.mkdir(exist_ok=True)  # noqa: ASYNC240 - empty, as a disk that is not mounted
    folder.rmdir()  # noqa: ASYNC240
    away.rename(folder)

    await shard.commit_memories(rows)
    assert [row.event.text for row in await shard.scope_rows(told.scope)] == ["a", "b"]
