"""Offsets: what was noted is committed, what failed is tried again, what has moved away is let go."""

import asyncio
from contextlib import suppress

from streams.committing import INTERVAL_S, Committer, Place


class Broker:
    """Takes commits, or doesn't."""

    def __init__(self) -> None:
        self.commits: list[dict[Place, int]] = []
        self.answers: list[bool | Exception] = []

    async def commit(self, offsets: dict[Place, int]) -> bool:
        self.commits.append(offsets)
        answer = self.answers.pop(0) if self.answers else True
        if isinstance(answer, Exception):
            raise answer
        return answer


async def test_the_last_noted_offset_of_each_partition_is_committed_once() -> None:
    broker = Broker()
    committer = Committer(broker.commit)
    for offset in (1, 2, 5):
        committer.note("turns", 0, offset)
    committer.note("turns", 1, 3)

    await committer.flush()
    await committer.flush()

    assert broker.commits == [{("turns", 0): 5, ("turns", 1): 3}]
    assert committer.handled == {("turns", 0): 5, ("turns", 1): 3}


async def test_what_could_not_be_committed_is_committed_later_unless_more_was_handled() -> None:
    broker = Broker()
    committer = Committer(broker.commit)
    broker.answers = [False, ConnectionError("gone"), True]
    committer.note("turns", 0, 1)
    committer.note("turns", 1, 1)
    await committer.flush()
    committer.note("turns", 0, 2)
    await committer.flush()
    await committer.flush()

    assert broker.commits == [
        {("turns", 0): 1, ("turns", 1): 1},
        {("turns", 0): 2, ("turns", 1): 1},
        {("turns", 0): 2, ("turns", 1): 1},
    ]


async def test_never_more_than_was_noted_is_committed() -> None:
    noted: dict[Place, int] = {}

    async def commit(offsets: dict[Place, int]) -> bool:
        await asyncio.sleep(0)
        assert all(offset <= noted[place] for place, offset in offsets.items())
        return len(noted) % 2 == 0

    committer = Committer(commit)
    for offset in range(1, 40):
        place = ("turns", offset % 3)
        noted[place] = offset
        committer.note(*place, offset)
        if offset % 4 == 0:
            await committer.flush()


async def test_partitions_that_moved_away_are_let_go() -> None:
    broker = Broker()
    committer = Committer(broker.commit)
    committer.note("turns", 0, 5)
    committer.note("turns", 1, 7)

    committer.moved({("turns", 1), ("turns", 2)})
    await committer.flush()

    assert broker.commits == [{("turns", 1): 7}]
    assert committer.handled == {("turns", 1): 7}
    committer.moved(set())
    await committer.flush()
    assert len(broker.commits) == 1


async def test_it_commits_by_itself_a_few_times_a_second() -> None:
    broker = Broker()
    committer = Committer(broker.commit)
    running = asyncio.create_task(committer.run())
    committer.note("turns", 0, 1)

    await asyncio.sleep(INTERVAL_S * 1.6)
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running

    assert broker.commits == [{("turns", 0): 1}]
