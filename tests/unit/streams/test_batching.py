"""Batches of what is waiting: nothing lost, nothing twice, within the bounds, however the source behaves."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from streams.batching import Batcher, BatchPolicy

POLICY = BatchPolicy(size=3, total_bytes=10, linger_s=0.02)
# Sizes of items that are there at once, and the batches they make.
SHAPES: list[tuple[list[int], list[list[int]]]] = [
    ([], []),
    ([1], [[1]]),
    ([1, 1, 1], [[1, 1, 1]]),
    ([1, 1, 1, 1], [[1, 1, 1], [1]]),
    ([4, 4, 4], [[4, 4], [4]]),
    ([5, 5, 5], [[5, 5], [5]]),
    ([99], [[99]]),
    ([99, 1, 1], [[99], [1, 1]]),
    ([1, 99, 1], [[1], [99], [1]]),
    ([10, 10, 10], [[10], [10], [10]]),
    ([6, 5, 5, 1], [[6], [5, 5], [1]]),
    ([0, 0, 0, 0, 0], [[0, 0, 0], [0, 0]]),
]


async def at_once(items: Sequence[int]) -> AsyncIterator[int]:
    for item in items:
        yield item


async def slowly(items: Sequence[int], pause_s: float) -> AsyncIterator[int]:
    for item in items:
        await asyncio.sleep(pause_s)
        yield item


@pytest.mark.parametrize(("items", "batches"), SHAPES, ids=str)
async def test_a_batch_keeps_within_its_size_and_bytes_and_order_is_kept(
    items: list[int], batches: list[list[int]]
) -> None:
    assert [batch async for batch in Batcher(at_once(items), POLICY, lambda item: item)] == batches


async def test_what_comes_slowly_comes_at_once_and_nothing_is_lost_when_the_time_is_up() -> None:
    source = slowly(range(8), 0.01)

    batches = [batch async for batch in Batcher(source, BatchPolicy(100, 1000, 0.003), lambda _: 1)]

    assert [item for batch in batches for item in batch] == list(range(8))
    assert len(batches) > 2


async def test_a_batch_waits_a_little_for_one_more() -> None:
    batches = [batch async for batch in Batcher(slowly(range(4), 0.005), BatchPolicy(100, 1000, 1.0), lambda _: 1)]

    assert batches == [[0, 1, 2, 3]]


async def test_a_source_that_falls_silent_delays_nothing_and_is_read_on_when_it_speaks_again() -> None:
    queue: asyncio.Queue[int] = asyncio.Queue()

    async def endless() -> AsyncIterator[int]:
        while True:
            yield await queue.get()

    batcher = Batcher(endless(), POLICY, lambda _: 1)
    batches = aiter(batcher)
    for number in range(5):
        queue.put_nowait(number)
    assert await anext(batches) == [0, 1, 2]
    assert await anext(batches) == [3, 4]
    later = asyncio.ensure_future(anext(batches))
    await asyncio.sleep(0.05)
    assert not later.done()
    queue.put_nowait(5)

    assert await later == [5]
    batcher.close()
    batcher.close()


async def test_a_source_that_fails_fails_the_batch() -> None:
    async def failing() -> AsyncIterator[int]:
        yield 1
        raise ConnectionError("gone")

    with pytest.raises(ConnectionError):
        _ = [batch async for batch in Batcher(failing(), POLICY, lambda _: 1)]


async def test_a_reader_that_is_cancelled_can_read_on_without_a_loss() -> None:
    queue: asyncio.Queue[int] = asyncio.Queue()

    async def endless() -> AsyncIterator[int]:
        while True:
            yield await queue.get()

    batcher = Batcher(endless(), POLICY, lambda _: 1)
    first = asyncio.ensure_future(anext(aiter(batcher)))
    await asyncio.sleep(0.01)
    first.cancel()
    await asyncio.wait({first})
    queue.put_nowait(7)

    assert await anext(aiter(batcher)) == [7]
    batcher.close()
