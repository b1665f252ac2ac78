"""Questions about the past: what was true at a moment, and what was believed then, also when statements came late."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from lakehouse.maintenance import compact
from lakehouse.retrieval.engine import Retrieval
from lakehouse.store import Shard
from schemas.conversation import Scope
from schemas.retrieval import SearchRequest
from tests.unit.lakehouse.asking import AXES, engine

Story = Callable[[str], Any]
START = datetime(2025, 1, 1, tzinfo=UTC)
WHEN: list[tuple[dict[str, int], list[str]]] = [
    # Told at hour 1: Paris from minute 10. Hour 2: Rome from minute 30. Hour 3: Oslo from minute 20, too late to be
    # current. Hour 4: deleted at minute 50. Hour 5: another memory, Lima from minute 15.
    ({}, ["Lima"]),
    ({"as_of": 9}, []),
    ({"as_of": 10}, ["Paris"]),
    ({"as_of": 19}, ["Lima", "Paris"]),
    ({"as_of": 20}, ["Lima", "Oslo"]),
    ({"as_of": 29}, ["Lima", "Oslo"]),
    ({"as_of": 30}, ["Lima", "Rome"]),
    ({"as_of": 49}, ["Lima", "Rome"]),
    ({"as_of": 50}, ["Lima"]),
    ({"known_at": 0}, []),
    ({"known_at": 1}, ["Paris"]),
    ({"known_at": 2}, ["Rome"]),
    ({"known_at": 3}, ["Rome"]),
    ({"known_at": 4}, []),
    ({"known_at": 5}, ["Lima"]),
    ({"as_of": 40, "known_at": 1}, ["Paris"]),
    ({"as_of": 40, "known_at": 2}, ["Rome"]),
    ({"as_of": 15, "known_at": 2}, ["Paris"]),
    ({"as_of": 25, "known_at": 3}, ["Oslo"]),
    ({"as_of": 60, "known_at": 3}, ["Rome"]),
    ({"as_of": 60, "known_at": 4}, []),
    ({"as_of": 25, "known_at": 5}, ["Lima", "Oslo"]),
]


async def moved(shard: Shard, story: Story) -> Scope:
    told = story("ann")
    for rows in (
        told.add("Paris", minute=10),
        told.update(1, "Rome", minute=30),
        told.update(1, "Oslo", minute=20, status="historic"),
        told.delete(1, minute=50),
        told.add("Lima", minute=15),
    ):
        await shard.commit_memories(rows)
    scope: Scope = told.scope
    return scope


async def found(reader: Retrieval, scope: Scope, when: dict[str, int]) -> list[str]:
    """All texts at a moment: minutes of event time, hours of recording time."""
    units = {"as_of": "minutes", "known_at": "hours"}
    told: dict[str, Any] = {name: START + timedelta(**{units[name]: number}) for name, number in when.items()}
    request = SearchRequest(scope=scope, query="where", mode="semantic", top_k=50, similarity_threshold=0, **told)
    return sorted(hit.item.row.event.text for hit in (await reader.search(request)).hits)


async def test_what_was_true_or_believed_at_a_moment_is_found_as_of_then(shard: Shard, story: Story) -> None:
    scope = await moved(shard, story)

    for _ in range(2):
        reader = engine(shard, AXES[0])
        for when, expected in WHEN:
            assert await found(reader, scope, when) == expected, when
        await compact(shard, "memories", timedelta(milliseconds=1))


async def test_what_was_believed_of_a_moment_before_a_late_statement_came_is_still_found(
    shard: Shard, story: Story
) -> None:
    scope = await moved(shard, story)

    assert await found(engine(shard, AXES[0]), scope, {"as_of": 25, "known_at": 2}) == ["Paris"]
