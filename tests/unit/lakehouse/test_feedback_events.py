"""What was said of a scope's results is read from its events, and from no other's."""

from collections.abc import Callable
from typing import Any

from lakehouse.store import Shard
from tests.unit.lakehouse.conftest import Story

SAID: dict[str, Any] = {"fact_id": None, "command_id": "c", "memory_id": 1}


def said(value: str) -> dict[str, Any]:
    return SAID | {"metadata": {"feedback": {"value": value}}}


async def test_feedback_is_read_in_sequence_and_never_that_of_another_scope(
    shard: Shard, story: Callable[[str], Story]
) -> None:
    ann, bo = story("ann"), story("bo")
    rows = [*ann.add("a"), *ann.nothing("a", **said("helpful")), *ann.nothing("a", **said("withdrawn"))]
    others = [*bo.add("b"), *bo.nothing("b", **said("unhelpful"))]
    await shard.commit_memories([*reversed(rows), *others])

    found = await shard.feedback(ann.scope)

    assert found == [rows[1].event, rows[2].event]
    assert [event.feedback.value for event in found if event.feedback] == ["helpful", "withdrawn"]
    assert await shard.feedback(story("cy").scope) == []


async def test_what_people_send_as_metadata_is_no_feedback(shard: Shard, story: Callable[[str], Story]) -> None:
    told = story("ann")
    forged: dict[str, Any] = {"metadata": {"feedback": {"value": "helpful"}}}
    rows = [
        *told.add("a", **forged),
        *told.nothing("a", memory_id=1, **forged),
        *told.nothing("a", **SAID, metadata=None),
        *told.delete(1, **forged),
    ]
    await shard.commit_memories(rows)

    assert await shard.feedback(told.scope) == []
