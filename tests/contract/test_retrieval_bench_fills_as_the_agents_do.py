"""The lake that ``bench retrieval`` asks is the one that the agents would have written from the same turns."""

from datetime import timedelta
from pathlib import Path
from typing import Any

from lakehouse.store import Lake
from lakehouse.tables import LakeShape
from lakehouse.versions import MemoryRow
from schemas.conversation import Turn
from streams.bench.quality.memory import scope_of
from streams.bench.retrieval.memlake import filled
from streams.bench.vectors import Vectors
from tests.contract.world import DIMENSION, PARTITIONS, START, WordEmbedder, World

SCOPE = scope_of("somebody")
SAID = (
    ("one", "I live in Ulm. My API key is sk-abcdefghijklmnopqrstuvwxyz123456."),
    ("one", "What a day!"),
    ("one", "I live in Ulm."),
    ("two", "I live in Bonn now."),
    ("two", "My phone number is 5551234."),
    ("two", "Please forget my phone number."),
)


def told(rows: list[MemoryRow]) -> list[Any]:
    found = (
        (row.event.sequence, row.event.event_id, row.event.event, row.event.text, row.status, row.event.source_turn_ids)
        for row in rows
    )
    return sorted(found)


async def test_rows_and_episodes_are_the_same(tmp_path: Path) -> None:
    world = await World.make(tmp_path / "world")
    turns = [
        Turn(
            scope=SCOPE,
            turn_id=f"t{minute}",
            session_id=session,
            role="user",
            content=text,
            timestamp=START + timedelta(minutes=minute),
        )
        for minute, (session, text) in enumerate(SAID)
    ]
    for turn in turns:
        world.say(SCOPE, turn.content, session_id=turn.session_id, turn_id=turn.turn_id, timestamp=turn.timestamp)
    await world.settle(await world.worker())

    lake = await Lake.make(str(tmp_path / "lake"), LakeShape(PARTITIONS, WordEmbedder.id, DIMENSION))
    await filled(lake, turns, Vectors(WordEmbedder()))

    ours = [row async for row in lake.all_rows()]
    assert told(ours) == told(await world.rows())
    assert {row.event.event for row in ours} == {"ADD", "UPDATE", "DELETE", "NONE"}
    shard = await lake.shard_of(SCOPE)
    columns = ["record_id", "status", "touched", "text", "vector"]
    theirs = (await (await Lake.open(world.uri)).shard_of(SCOPE)).turns
    assert sorted(await shard.turns.query().select(columns).to_list(), key=lambda row: row["record_id"]) == sorted(
        await theirs.query().select(columns).to_list(), key=lambda row: row["record_id"]
    )
