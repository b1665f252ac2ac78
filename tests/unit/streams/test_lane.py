"""A partition's lane: bounded by bytes, in order, and empty of what will be delivered again."""

import asyncio
from datetime import UTC, datetime

from streams.incoming import Incoming
from streams.lane import Lane

NOW = datetime(2026, 3, 2, tzinfo=UTC)
COST = Incoming("turns", 0, 0, None, None, [], NOW).size


def record(offset: int, size: int = 10) -> Incoming:
    return Incoming("turns", 0, offset, None, b"x" * size, [], NOW)


async def taken(lane: Lane, count: int) -> list[int]:
    items = lane.items()
    return [(await anext(items)).offset for _ in range(count)]


async def test_records_come_out_as_they_went_in() -> None:
    lane = Lane(10_000)
    for offset in range(3):
        await lane.put(record(offset))
    assert await taken(lane, 3) == [0, 1, 2]


async def test_a_full_lane_holds_up_until_something_is_done() -> None:
    lane = Lane(2 * COST + 20)
    first = record(0, COST + 20)
    await lane.put(first)
    waiting = asyncio.ensure_future(lane.put(record(1)))
    await asyncio.sleep(0)
    assert not waiting.done()
    assert await taken(lane, 1) == [0]
    lane.done([first])
    await waiting
    assert await taken(lane, 1) == [1]


async def test_a_record_larger_than_the_lane_is_let_in_alone() -> None:
    lane = Lane(2 * COST + 20)
    await lane.put(record(0, 1000))
    assert await taken(lane, 1) == [0]


async def test_a_record_that_waits_for_room_when_the_lane_is_cleared_is_not_let_in_before_those_that_come_again() -> (
    None
):
    lane = Lane(2 * COST + 20)
    in_hand = record(0, 10)
    await lane.put(in_hand)
    assert await taken(lane, 1) == [0]
    await lane.put(record(1, 10))
    late = asyncio.ensure_future(lane.put(record(2, 10)))
    await asyncio.sleep(0)
    lane.clear()
    lane.done([in_hand])
    await late
    await lane.put(record(1, 10))
    assert await taken(lane, 1) == [1]
