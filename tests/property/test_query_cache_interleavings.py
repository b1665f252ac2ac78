"""The query cache under any order of questions, ends, failures, cancellations, changes and passing time."""

import asyncio
from dataclasses import dataclass

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, precondition, rule

from lakehouse.retrieval.cache import QueryCache
from schemas.errors import Unavailable

TTL_S = 10
MAX_ENTRIES = 1
KEYS = st.sampled_from("aaab")


@dataclass(frozen=True)
class Answer:
    key: str
    generation: int
    read_at: int
    epoch: int
    degraded: bool


@dataclass
class Work:
    """One computation under way, ended by the machine's rules."""

    key: str
    generation: int
    read_at: int
    epoch: int
    end: asyncio.Future[bool]


@dataclass
class Asked:
    """A question, and how the world stood when it was asked."""

    key: str
    generation: int
    epoch: int
    task: asyncio.Task[Answer]


class AnyInterleaving(RuleBasedStateMachine):
    questions: Bundle[Asked] = Bundle("questions")

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.now = self.generation = self.ended = 0
        self.epochs = dict.fromkeys("ab", 0)  # of each key: how often it was forgotten
        self.works: list[Work] = []
        self.asked: list[Asked] = []
        self.told: list[Answer] = []  # every answer that was ever worked out
        self.cache: QueryCache[str, Answer] = QueryCache(
            max_entries=MAX_ENTRIES, clock=lambda: self.now, keep=lambda answer: not answer.degraded, ttl_s=TTL_S
        )

    def teardown(self) -> None:
        for asked in self.asked:
            asked.task.cancel()
        self._run()
        assert all(asked.task.done() for asked in self.asked)
        assert self.works == []
        self.loop.close()

    def _run(self) -> None:
        for _ in range(8):  # more than any chain of wake-ups here
            self.loop.call_soon(self.loop.stop)
            self.loop.run_forever()

    async def _compute(self, key: str) -> Answer:
        work = Work(key, self.generation, self.now, self.epochs[key], self.loop.create_future())
        self.works.append(work)
        try:
            degraded = await work.end
        finally:
            self.works.remove(work)
        answer = Answer(key, work.generation, work.read_at, work.epoch, degraded)
        self.told.append(answer)
        return answer

    @rule(key=KEYS, target=questions)
    def ask(self, key: str) -> Asked:
        told = len(self.told)
        coroutine = self.cache.get_or_compute(key, lambda: self.generation, lambda: self._compute(key))
        asked = Asked(key, self.generation, self.epochs[key], self.loop.create_task(coroutine))
        self.asked.append(asked)
        self._run()
        if asked.task.done():  # a hit: nothing was worked out for it
            answer = asked.task.result()
            assert len(self.told) == told
            assert self.now < answer.read_at + TTL_S
            assert not answer.degraded
            assert (answer.generation, answer.epoch) == (self.generation, self.epochs[key])
        return asked

    @precondition(lambda self: self.works)
    @rule(number=st.integers(0, 3), outcome=st.sampled_from(["found", "found", "degraded", "failed"]))
    def end_one(self, number: int, outcome: str) -> None:
        end = self.works[number % len(self.works)].end
        if outcome == "failed":
            end.set_exception(Unavailable())
        else:
            end.set_result(outcome == "degraded")
        self._run()

    @rule(asked=consumes(questions))
    def cancel(self, asked: Asked) -> None:
        others = [a for a in self.asked if a is not asked and not a.task.done()]
        asked.task.cancel()
        self._run()
        assert asked.task.done()
        assert not [other for other in others if other.task.done()]

    @rule()
    def change(self) -> None:
        self.generation += 1

    @rule(seconds=st.sampled_from([1, TTL_S - 1, TTL_S]))
    def wait(self, seconds: int) -> None:
        self.now += seconds

    @rule(key=KEYS)
    def forget(self, key: str) -> None:
        self.epochs[key] += 1
        self.cache.forget(lambda kept: kept == key)

    @invariant()
    def no_work_is_done_twice_at_once(self) -> None:
        under_way = [(work.key, work.generation, work.epoch) for work in self.works]
        assert len(set(under_way)) == len(under_way)

    @invariant()
    def whoever_waits_has_somebody_at_work(self) -> None:
        for asked in self._live():
            assert [w for w in self.works if w.key == asked.key and w.generation >= asked.generation]

    @invariant()
    def every_answer_is_to_the_question_and_not_older_than_it(self) -> None:
        for asked in self.asked:
            if asked.task.done() and not asked.task.cancelled() and asked.task.exception() is None:
                answer = asked.task.result()
                assert answer.key == asked.key
                assert answer.generation >= asked.generation
                assert answer.epoch >= asked.epoch

    @invariant()
    def bounds_and_counts_hold(self) -> None:
        assert len(self.cache) <= MAX_ENTRIES
        counts = self.cache.counts
        settled = sum(asked.task.done() and not asked.task.cancelled() for asked in self.asked)
        assert settled <= counts.hits + counts.misses + counts.coalesced <= len(self.asked)
        assert counts.stale + len(self.cache) <= counts.misses

    def _live(self) -> list[Asked]:
        return [asked for asked in self.asked if not asked.task.done()]


AnyInterleaving.TestCase.settings = settings(max_examples=30, stateful_step_count=40, deadline=None)
TestAnyInterleaving = AnyInterleaving.TestCase
