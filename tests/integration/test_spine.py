"""The main way, end to end, on a real broker with a real worker process, as clients of every kind go it."""

import asyncio
import sys
import uuid
from datetime import UTC, datetime
from typing import get_args

import pytest
from aiokafka import TopicPartition

from schemas.commands import Command
from schemas.conversation import Scope, Turn
from schemas.errors import InvalidMessage
from schemas.retrieval import Mode
from streams.client import MemoryClient, RequestFailed
from streams.sync_client import SyncMemoryClient
from tests.integration.conftest import Deploy
from tests.integration.stage import Deployment, eventually, gapless, reader, scopes

pytestmark = pytest.mark.broker


async def test_the_first_request_after_a_start_is_answered_and_then_a_hundred_at_once_each_with_its_own(
    deploy: Deploy,
) -> None:
    deployment = deploy()
    deployment.start()
    async with deployment.client(timeout_s=5) as memory:
        assert (await memory.ask("What is known?")).success
        questions = [f"What is number {number}?" for number in range(100)]
        replies = await asyncio.gather(*(memory.ask(question) for question in questions))
    assert [reply.query for reply in replies] == questions


async def test_a_turn_is_reported_with_each_fact_and_its_outcome(memory: MemoryClient) -> None:
    report = await memory.publish_and_wait("I moved to Porto in March.")
    assert report.success
    assert [outcome.event for outcome in report.memory] == ["ADD"]
    assert report.extraction.extracted == len(report.summary) == 1
    assert "Porto" in report.summary[0].fact_preview


async def test_what_was_said_is_found_at_once_with_context_and_citations(memory: MemoryClient) -> None:
    await memory.publish_and_wait("I moved to Porto in March.")
    reply = await memory.ask("Where did I move to?", format="context")
    assert "Porto" in reply.results[0].text
    assert reply.degraded == ()
    assert "Porto" in (reply.context or "")
    assert reply.citations is not None
    assert reply.citations[0].source.startswith("turn:")


READER = """
import asyncio, sys
from lakehouse.store import Lake
from schemas.conversation import Scope
async def main():
    lake = await Lake.open(sys.argv[1])
    scope = Scope(project_id=sys.argv[2], user_id=sys.argv[3])
    shard = await lake.shard_of(scope)
    while await asyncio.to_thread(sys.stdin.readline):
        print(len(await shard.scope_rows(scope)), flush=True)
asyncio.run(main())
"""


async def test_a_reader_in_another_process_sees_each_write_at_once(
    shared: Deployment, memory: MemoryClient, scope: Scope
) -> None:
    arguments = (shared.settings.lake_uri, scope.project_id, scope.user_id)
    other = await asyncio.create_subprocess_exec(
        sys.executable, "-c", READER, *arguments, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert other.stdin is not None
    assert other.stdout is not None
    seen: list[int] = []
    known: list[int] = []
    for number in range(20):
        report = await memory.publish_and_wait(f"My locker number {number} is in building {number * 7 + 1}.")
        known.append(len(report.memory) + (known[-1] if known else 0))
        other.stdin.write(b"\n")
        seen.append(int(await other.stdout.readline()))
    other.stdin.close()
    await other.wait()
    assert seen == known


async def test_changes_come_in_order_without_gaps(memory: MemoryClient) -> None:
    said = ["I live in Lisbon.", "I like tea.", "I live in Porto now.", "I like tea.", "My dog is called Rex."]
    await memory.publish_all_and_wait([memory.turn(text) for text in said])
    events = [event async for event in memory.changes()]
    assert [event.sequence for event in events] == list(range(1, len(events) + 1))
    assert {event.event for event in events} >= {"ADD", "NONE"}


async def test_the_same_turn_twice_is_one_turn_and_the_second_is_told_the_same(memory: MemoryClient) -> None:
    said = memory.turn("I play the cello.", turnId="twice")
    first, second = await memory.publish_and_wait(said), await memory.publish_and_wait(said)
    assert second.memory == first.memory
    assert second.extraction == first.extraction
    assert len([event async for event in memory.changes()]) == 1


async def test_equal_turn_ids_in_two_scopes_are_two_turns(shared: Deployment, memory: MemoryClient) -> None:
    await memory.publish_and_wait(memory.turn("I play the cello.", turnId="same"))
    async with shared.client(Scope(project_id="tests", user_id=f"other-{uuid.uuid4()}")) as other:
        report = await other.publish_and_wait(other.turn("I play the cello.", turnId="same"))
        assert [outcome.event for outcome in report.memory] == ["ADD"]


async def test_the_same_fact_told_by_two_at_the_same_moment_is_one_memory(shared: Deployment, scope: Scope) -> None:
    async with shared.client(scope) as one, shared.client(scope) as two:
        said = [f"My favourite number of group {number} is {number * 13}." for number in range(20)]
        for text in said:
            await asyncio.gather(one.publish_and_wait(text), two.publish_and_wait(text))
        events = [event async for event in one.changes()]
    added = [event.text for event in events if event.event == "ADD"]
    assert len(added) == len(set(added))
    assert sum(event.event == "NONE" for event in events) >= len(said)


async def test_a_command_is_answered_with_the_full_output(memory: MemoryClient, scope: Scope) -> None:
    command = Command.from_wire(
        {
            "op": "extract_and_operate",
            "scope": scope,
            "interaction": ["My sister Ana lives in Faro.", "The staging database runs PostgreSQL 16."],
            "context": {"sessionId": "s1"},
            "memoryMetadata": {"environment": "test", "ticket": 7},
        }
    )
    report = await memory.command(command)
    assert report.success
    assert report.command_id
    assert report.extraction.extracted == len(report.memory) == len(report.summary) >= 2
    assert {outcome.event for outcome in report.memory} == {"ADD"}
    events = [event async for event in memory.changes()]
    assert {event.source_session_id for event in events} == {"s1"}
    assert events[0].metadata is not None
    assert events[0].metadata["ticket"] == 7


async def test_a_wrong_turn_is_refused_at_the_client_with_the_field_at_fault(memory: MemoryClient) -> None:
    with pytest.raises(InvalidMessage) as refused:
        memory.turn("  ")
    assert refused.value.field == "content"


async def test_a_scope_never_hears_of_another(shared: Deployment, memory: MemoryClient) -> None:
    await memory.publish_and_wait("My codeword is heliotrope.")
    async with shared.client(Scope(project_id="tests", user_id=f"nosy-{uuid.uuid4()}")) as other:
        await other.publish_and_wait("My codeword is marmalade.")
        for mode in get_args(Mode):
            reply = await other.ask("codeword heliotrope", mode=mode, threshold=0.0, top_k=50)
            assert "heliotrope" not in reply.to_wire().__str__().replace(reply.query, "")
        assert ["marmalade" in event.text for event in [event async for event in other.changes()]] == [True]


async def test_a_client_whose_request_is_refused_hears_why(memory: MemoryClient, scope: Scope) -> None:
    unscoped = Command.model_construct(op="extract_and_operate", scope=scope, command_id="bad", interaction=None)
    with pytest.raises(RequestFailed) as refused:
        await memory.command(unscoped)
    assert refused.value.reply.code == "invalid_request"


def test_a_program_without_an_event_loop_has_the_same(shared: Deployment, scope: Scope) -> None:
    with SyncMemoryClient(scope.project_id, scope.user_id, settings=shared.settings) as memory:
        assert memory.publish_and_wait("I collect stamps.").success
        (turn_id,) = memory.publish(
            Turn(scope=scope, role="user", timestamp=datetime.now(UTC), content="I collect coins.")
        )
        assert turn_id
        assert "stamps" in memory.ask("What do I collect?", mode="keyword").results[0].text
        assert memory.publish_and_wait("I collect maps.").success
        assert [event.sequence for event in memory.changes()] == [1, 2, 3]
        changed = [*memory.forget(1).memory, *memory.restore(1).memory, *memory.forget(everything=True).memory]
        assert [(outcome.event, outcome.id) for outcome in changed[:2]] == [("DELETE", 1), ("UPDATE", 1)]
        assert {outcome.event for outcome in changed[2:]} == {"DELETE"}
        with pytest.raises(RequestFailed, match="no memory 99"):
            memory.forget(99)
        judged = memory.feedback(helpful=["1"], used=[2, 99], query="What do I collect?")
        assert [(outcome.event, outcome.id) for outcome in judged.memory] == [("NONE", 2), ("NONE", 1)]
        assert ["no memory 99 of" in reason for reason in judged.degraded] == [True]


async def test_two_deployments_on_one_broker_never_meet(shared: Deployment, deploy: Deploy) -> None:
    other = deploy()
    other.start()
    scope = scopes(2, f"both-{uuid.uuid4().hex[:6]}")[1]
    async with shared.client(scope) as one, other.client(scope) as two:
        said = [
            [client.turn(f"My {colour} locker {number} is number {number * 3}.") for number in range(50)]
            for client, colour in ((one, "red"), (two, "blue"))
        ]
        reports = await asyncio.gather(one.publish_all_and_wait(said[0]), two.publish_all_and_wait(said[1]))
        for client, colour in ((one, "blue"), (two, "red")):
            events = [event async for event in client.changes(everyone=True)]
            assert events
            assert not [event for event in events if f"My {colour}" in event.text]
    assert all(report.success for told in reports for report in told if not isinstance(report, Exception))
    assert [len(told) for told in reports] == [50, 50]
    gapless(await other.events())
    for deployment in (shared, other):
        async with reader(deployment.bootstrap) as consumer:
            replies = [TopicPartition(deployment.topic("replies"), 0)]
            assert (await consumer.end_offsets(replies))[replies[0]] >= 0
        assert deployment.health()["status"] == "ready"


async def test_everything_was_handled_and_committed_in_the_end(shared: Deployment) -> None:
    await shared.settled()
    gapless(await shared.events())
    eventually(lambda: shared.health()["lag"] == 0)  # the worker's own look at the broker, once in a while
