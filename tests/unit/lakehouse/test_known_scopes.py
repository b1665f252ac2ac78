"""What a writer keeps in memory: a bounded cache that is read again whenever it may be wrong."""

from collections.abc import Callable
from typing import Any

from lakehouse.known import KnownScopes
from lakehouse.store import Shard

Story = Callable[[str], Any]


async def test_a_scope_is_read_once_and_again_when_it_was_dropped(shard: Shard, story: Story) -> None:
    told, known = story("ann"), KnownScopes(8, 1000)
    await shard.commit_memories(told.add("a"))
    first = await known.get(shard, told.scope)
    await shard.commit_memories(told.add("b"))

    assert await known.get(shard, told.scope) is first
    assert len(first.memory) == 1
    known.drop([told.scope, told.scope])
    assert len((await known.get(shard, told.scope)).memory) == 2
    await shard.commit_memories(told.add("c"))
    known.clear()
    assert len((await known.get(shard, told.scope)).memory) == 3


async def test_the_scopes_used_longest_ago_make_room(shard: Shard, story: Story) -> None:
    known = KnownScopes(8, 5)
    stories = [story(name) for name in ("ann", "bo", "cy")]
    for told in stories:
        await shard.commit_memories([*told.add("a"), *told.add("b")])
    held = [await known.get(shard, told.scope) for told in stories]
    assert await known.get(shard, stories[0].scope) is held[0]

    known.shrink()

    assert await known.get(shard, stories[0].scope) is held[0]
    assert await known.get(shard, stories[2].scope) is held[2]
    assert await known.get(shard, stories[1].scope) is not held[1]


async def test_one_scope_is_kept_however_large_it_is(shard: Shard, story: Story) -> None:
    told, known = story("ann"), KnownScopes(8, 1)
    await shard.commit_memories([*told.add("a"), *told.add("b")])
    held = await known.get(shard, told.scope)

    known.shrink()

    assert await known.get(shard, told.scope) is held
