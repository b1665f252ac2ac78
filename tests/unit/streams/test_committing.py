"""Offsets: what was noted is committed, what failed is tried again, what has moved away is let go."""

import asyncio
from collections.abc import Collection
from contextlib import suppress

from streams.committing import INTERVAL_S, Committer, Group, Offsets, Place

FIRST, SECOND = ("turns", 0), ("turns", 1)


class Broker:
    """Keeps commits, fails when told to, and answers only when it may."""

    def __init__(self) -> None:
        self.commits: list[Offsets] = []
        self.failures: list[Exception | None] = []
        self.kept: Offsets = {}
        self.ours: set[Place] = {FIRST, SECOND}
        self.open = asyncio.Event()
        self.open.set()
        self.group = Group(self.commit, self.stored)

    async def commit(self, offsets: Offsets) -> Offsets:
        self.commits.append(dict(offsets))
        await self.open.wait()
        failure = self.failures.pop(0) if self.failures else None
        if failure is not None:
            raise failure
        taken = {place: offset for place, offset in offsets.items() if place in self.ours}
        self.kept |= taken
        return taken

    async def stored(self, places: Collection[Place]) -> Offsets:
        return {place: self.kept[place] for place in places if place in self.kept}


async def test_the_last_noted_offset_of_each_partition_is_committed_once() -> None:
    broker = Broker()
    committer = Committer(broker.group)
    for offset in (1, 2, 5):
        committer.note(*FIRST, offset)
    committer.note(*SECOND, 3)

    await committer.flush()
    await committer.flush()

    assert broker.commits == [{FIRST: 5, SECOND: 3}]
    assert committer.handled == committer.committed == {FIRST: 5, SECOND: 3}


async def test_what_could_not_be_committed_is_committed_later_unless_more_was_handled() -> None:
    broker = Broker()
    committer = Committer(broker.group)
    broker.failures = [ConnectionError("gone"), ConnectionError("still gone")]
    committer.note(*FIRST, 1)
    committer.note(*SECOND, 1)
    await committer.flush()
    committer.note(*FIRST, 2)
    await committer.flush()
    await committer.flush()

    assert broker.commits == [{FIRST: 1, SECOND: 1}, {FIRST: 2, SECOND: 1}, {FIRST: 2, SECOND: 1}]
    assert broker.kept == {FIRST: 2, SECOND: 1}


async def test_never_more_than_was_noted_is_committed() -> None:
    broker = Broker()
    committer = Committer(broker.group)
    noted: Offsets = {}
    for offset in range(1, 40):
        place = (FIRST, SECOND)[offset % 2]
        noted[place] = offset
        broker.failures = [ConnectionError("gone")] if offset % 3 == 0 else []
        committer.note(*place, offset)
        await committer.flush()
        assert all(broker.kept[place] <= noted[place] for place in broker.kept)

    broker.failures = []
    await committer.flush()
    assert broker.kept == noted


async def test_a_commit_that_is_not_answered_stays_the_only_one_under_way() -> None:
    broker = Broker()
    committer = Committer(broker.group)
    broker.open.clear()
    committer.note(*FIRST, 1)
    await committer.flush(timeout_s=0.01)
    committer.note(*FIRST, 2)
    await committer.flush(timeout_s=0.01)
    assert broker.commits == [{FIRST: 1}]

    broker.open.set()
    await committer.flush()
    await committer.flush()

    assert broker.commits == [{FIRST: 1}, {FIRST: 2}]
    assert broker.kept == {FIRST: 2}


async def test_partitions_that_moved_away_are_let_go() -> None:
    broker = Broker()
    committer = Committer(broker.group)
    committer.note(*FIRST, 5)
    committer.note(*SECOND, 7)

    committer.moved({SECOND, ("turns", 2)})
    await committer.flush()

    assert broker.commits == [{SECOND: 7}]
    assert committer.handled == committer.committed == {SECOND: 7}
    committer.moved(set())
    await committer.flush()
    assert len(broker.commits) == 1


async def test_a_committed_offset_that_has_gone_is_told_and_nothing_is_committed_over_it() -> None:
    broker = Broker()
    committer = Committer(broker.group)
    committer.note(*FIRST, 5)
    await committer.flush()
    broker.kept.clear()
    committer.note(*FIRST, 6)

    await committer.flush()
    await committer.flush()

    assert committer.lost == FIRST
    assert broker.commits == [{FIRST: 5}]


async def test_it_commits_by_itself_a_few_times_a_second() -> None:
    broker = Broker()
    committer = Committer(broker.group)
    running = asyncio.create_task(committer.run())
    committer.note(*FIRST, 1)

    await asyncio.sleep(INTERVAL_S * 1.6)
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running

    assert broker.commits == [{FIRST: 1}]
