"""The loop of an agent: what fails is tried again or given up, in order, and nothing is let go before it is durable."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest

from lakehouse.known import KnownScopes
from schemas.errors import Conflict, InvalidMessage, Unavailable
from streams import loop as loop_module
from streams.faults import Faults
from streams.health import Health, HealthPolicy
from streams.incoming import Incoming
from streams.loop import AgentLoop
from streams.metrics import Metrics
from streams.ports import Ports
from streams.settings import Settings
from streams.wire import Outbox, Outgoing

NOW = datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC)
NOTHING: Any = None


class Sent(Outbox):
    """An outbox that keeps what leaves by it; the first sends may fail."""

    def __init__(self, settings: Settings) -> None:  # no producer, so nothing to connect
        self.settings = settings
        self.source = "/memlake/test"
        self.outgoing: list[Outgoing] = []
        self.failures = 0

    async def send(self, messages: Iterable[Outgoing]) -> None:
        if self.failures:
            self.failures -= 1
            raise Unavailable("no broker")
        self.outgoing.extend(messages)


class Recorder:
    """A handler that takes a batch as a whole, or fails as it is told to: by message, and how often."""

    def __init__(self, failures: dict[int, list[Exception]] | None = None) -> None:
        self.failures = failures or {}
        self.tries: list[list[int]] = []
        self.done: list[int] = []
        self.forgotten = 0
        self.gate = asyncio.Event()
        self.gate.set()

    async def handle(self, partition: int, batch: list[Incoming]) -> None:
        self.tries.append([incoming.offset for incoming in batch])
        await self.gate.wait()
        for incoming in batch:
            if waiting := self.failures.get(incoming.offset):
                raise waiting.pop(0) if len(waiting) > 1 or not isinstance(waiting[0], InvalidMessage) else waiting[0]
        self.done.extend(incoming.offset for incoming in batch)

    def forget(self) -> None:
        self.forgotten += 1


class Agent:
    """A loop with all that it needs."""

    def __init__(self, handler: Recorder, **settings: Any) -> None:
        told = Settings(batch_linger_ms=1, retry_max_s=0.01, **settings)
        self.outbox = Sent(told)
        ports = Ports(
            settings=told,
            lake=NOTHING,
            embedder=NOTHING,
            outbox=self.outbox,
            masker=told.masker(),
            judge=NOTHING,
            known=KnownScopes(8, 1),
            metrics=Metrics(),
            rules=NOTHING,
            clock=lambda: NOW,
            faults=Faults(),
        )
        self.handler = handler
        self.noted: list[tuple[str, int, int]] = []
        self.done_when_noted: list[list[int]] = []
        self.health = Health(HealthPolicy(20, 100), 0.0)
        self.loop = AgentLoop("test", handler, ports, self.health, self._note)
        self.metrics = ports.metrics

    def _note(self, topic: str, partition: int, offset: int) -> None:
        self.noted.append((topic, partition, offset))
        self.done_when_noted.append(list(self.handler.done))

    def letters(self) -> list[dict[str, Any]]:
        return [json.loads(sent.value) for sent in self.outbox.outgoing if sent.suffix == "deadletters"]


def record(offset: int, partition: int = 0, topic: str = "memlake.turns", **headers: str) -> Incoming:
    told = [(name, value.encode()) for name, value in headers.items()]
    return Incoming(topic, partition, offset, b"shop/ann", f"value {offset}".encode(), told, NOW)


async def at_once(records: Sequence[Incoming]) -> AsyncIterator[Incoming]:
    for one in records:
        yield one


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop_module, "FIRST_PAUSE_S", 0.005)


async def test_a_batch_is_handled_and_then_let_go() -> None:
    agent = Agent(Recorder())

    await agent.loop.run(at_once([record(offset) for offset in range(5)]))

    assert agent.handler.tries == [[0, 1, 2, 3, 4]]
    assert agent.noted == [("memlake.turns", 0, 5)]
    assert agent.health.agent("test").handled == 5
    assert agent.letters() == []


async def test_nothing_is_let_go_before_the_handler_has_returned() -> None:
    agent = Agent(Recorder(), batch_size=2)

    await agent.loop.run(at_once([record(offset) for offset in range(6)]))

    assert agent.done_when_noted == [[0, 1], [0, 1, 2, 3], [0, 1, 2, 3, 4, 5]]
    assert [offset for _, _, offset in agent.noted] == [2, 4, 6]


@pytest.mark.parametrize("error", [Unavailable, Conflict])
async def test_what_the_world_causes_is_tried_again_in_place_and_order_is_kept(
    error: Callable[[str], Exception],
) -> None:
    handler = Recorder({1: [error("the lake is away") for _ in range(3)]})
    agent = Agent(handler, batch_size=2)

    await agent.loop.run(at_once([record(offset) for offset in range(4)]))

    assert handler.tries == [[0, 1], [0, 1], [0, 1], [0, 1], [2, 3]]
    assert handler.done == [0, 1, 2, 3]
    assert agent.noted == [("memlake.turns", 0, 2), ("memlake.turns", 0, 4)]
    assert agent.letters() == []


async def test_while_it_is_tried_again_health_says_why_and_nothing_is_let_go() -> None:
    handler = Recorder({0: [Unavailable("the lake is away")] * 10_000})
    agent = Agent(handler)
    running = asyncio.create_task(agent.loop.run(at_once([record(0)])))
    await asyncio.sleep(0.05)

    assert agent.health.agent("test").waiting_for == {0: "the lake is away"}
    assert agent.noted == []
    assert not await agent.loop.stop(10.0)
    handler.failures = {}
    await running
    assert agent.noted == [("memlake.turns", 0, 1)]
    assert agent.health.agent("test").waiting_for == {}


async def test_one_bad_message_becomes_one_dead_letter_and_its_neighbours_are_handled_once() -> None:
    handler = Recorder({2: [InvalidMessage("content: must not be blank", field="content")]})
    agent = Agent(handler)

    await agent.loop.run(at_once([record(offset) for offset in range(5)]))

    assert handler.done == [0, 1, 3, 4]
    assert handler.tries == [[0, 1, 2, 3, 4], [0], [1], [2], [3], [4]]
    assert [(letter["offset"], letter["error"], letter["field"], letter["attempt"]) for letter in agent.letters()] == [
        (2, "InvalidMessage", "content", 1)
    ]
    assert agent.letters()[0]["value"] == "value 2"
    assert agent.noted == [("memlake.turns", 0, 5)]


async def test_a_message_that_fails_for_no_known_reason_has_its_tries_and_then_is_given_up() -> None:
    handler = Recorder({0: [ZeroDivisionError("x")] * 10})
    agent = Agent(handler, attempts=2)

    await agent.loop.run(at_once([record(0), record(1)]))

    assert handler.tries == [[0, 1], [0], [0], [1]]
    assert [(letter["offset"], letter["error"], letter["attempt"]) for letter in agent.letters()] == [
        (0, "ZeroDivisionError", 2)
    ]
    assert handler.done == [1]


async def test_a_message_that_fails_once_for_no_known_reason_is_handled_the_next_time() -> None:
    handler = Recorder({0: [ZeroDivisionError("x"), ZeroDivisionError("x")]})
    agent = Agent(handler, attempts=3)

    await agent.loop.run(at_once([record(0), record(1)]))

    assert handler.done == [0, 1]
    assert agent.letters() == []


async def test_a_dead_letter_waits_for_the_broker_and_its_message_is_not_let_go_without_it() -> None:
    handler = Recorder({0: [InvalidMessage("no")]})
    agent = Agent(handler)
    agent.outbox.failures = 3

    await agent.loop.run(at_once([record(0)]))

    assert len(agent.letters()) == 1
    assert agent.noted == [("memlake.turns", 0, 1)]


async def test_whoever_waits_for_an_answer_gets_the_error() -> None:
    handler = Recorder({0: [InvalidMessage("content: must not be blank", field="content")]})
    agent = Agent(handler)

    await agent.loop.run(at_once([record(0, reply_to="memlake.replies", correlation_id="c1")]))

    _, answer = agent.outbox.outgoing
    assert (answer.suffix, answer.topic, answer.key) == ("replies", "memlake.replies", "c1")
    assert json.loads(answer.value) == {
        "schemaVersion": 1,
        "success": False,
        "code": "invalid_request",
        "message": "content: must not be blank",
        "field": "content",
    }


async def test_each_partition_and_topic_has_its_own_offset_and_one_that_waits_holds_up_the_batch_only() -> None:
    handler = Recorder({7: [Unavailable("away")] * 3})
    agent = Agent(handler)
    records = [record(0), record(7, partition=1), record(1), record(4, topic="memlake.commands"), record(8, 1)]

    await agent.loop.run(at_once(records))

    assert sorted(agent.noted) == [
        ("memlake.commands", 0, 5),
        ("memlake.turns", 0, 2),
        ("memlake.turns", 1, 9),
    ]
    assert agent.noted[-1] == ("memlake.turns", 1, 9)
    assert [tried for tried in handler.tries if 7 not in tried] == [[0, 1, 4]]


async def test_a_stop_waits_for_the_batch_in_hand_and_takes_no_other() -> None:
    handler = Recorder()
    agent = Agent(handler, batch_size=1)
    handler.gate.clear()
    running = asyncio.create_task(agent.loop.run(at_once([record(0), record(1)])))
    await asyncio.sleep(0.01)
    assert not await agent.loop.stop(0.02)

    handler.gate.set()
    assert await agent.loop.stop(1.0)
    await asyncio.sleep(0.01)
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running

    assert handler.tries == [[0]]
    assert agent.noted == [("memlake.turns", 0, 1)]


async def test_an_idle_loop_stops_at_once() -> None:
    assert await Agent(Recorder()).loop.stop(0.0)


async def test_when_partitions_move_the_batch_in_hand_is_not_let_go_and_what_waits_is_dropped() -> None:
    handler = Recorder()
    agent = Agent(handler, batch_size=1)
    handler.gate.clear()
    running = asyncio.create_task(agent.loop.run(at_once([record(0), record(1), record(2)])))
    await asyncio.sleep(0.01)
    agent.loop.moved()
    handler.gate.set()
    await running

    assert handler.forgotten == 1
    assert handler.done == [0]
    assert agent.noted == []


async def test_a_partition_that_is_stuck_holds_up_no_other() -> None:
    handler = Recorder({0: [Unavailable("its shard is away")] * 10_000})
    agent = Agent(handler)
    running = asyncio.create_task(agent.loop.run(at_once([record(0), record(1, partition=1), record(2, partition=1)])))
    await asyncio.sleep(0.05)

    assert handler.done == [1, 2]
    assert agent.noted == [("memlake.turns", 1, 3)]
    handler.failures = {}
    await running
    assert sorted(agent.noted) == [("memlake.turns", 0, 1), ("memlake.turns", 1, 3)]


async def test_what_a_partition_holds_is_bounded_by_bytes() -> None:
    handler = Recorder()
    agent = Agent(handler, batch_bytes=2048)
    handler.gate.clear()
    drawn: list[int] = []

    async def large() -> AsyncIterator[Incoming]:
        for offset in range(10):
            drawn.append(offset)
            yield Incoming("memlake.turns", 0, offset, None, b"x" * 400, [], NOW)

    running = asyncio.create_task(agent.loop.run(large()))
    await asyncio.sleep(0.02)

    assert drawn == [0, 1, 2]
    handler.gate.set()
    await running
    assert handler.done == [*range(10)]


async def test_a_loop_that_is_cancelled_lets_nothing_go() -> None:
    handler = Recorder()
    agent = Agent(handler)
    handler.gate.clear()
    running = asyncio.create_task(agent.loop.run(at_once([record(0)])))
    await asyncio.sleep(0.01)
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running

    assert agent.noted == []
    assert agent.loop.idle.is_set()
