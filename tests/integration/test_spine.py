"""The main way, end to end, on a real broker with a real worker process, as clients of every kind go it."""

import asyncio
import json
import subprocess
import sys
import time
import uuid
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from aiokafka import TopicPartition

from schemas.commands import Command
from schemas.conversation import Scope, Turn
from schemas.errors import InvalidMessage
from schemas.facts import TurnRecord, decode_record
from schemas.message import header
from schemas.retrieval import ErrorReply, Reply, SearchRequest
from streams.client import MemoryClient, RequestFailed
from streams.deployment import environment
from streams.sync_client import SyncMemoryClient
from tests.integration.conftest import Deploy
from tests.integration.stage import Deployment, gapless, plain_producer, reader, scopes, turn, until

pytestmark = pytest.mark.broker

HEAVY = ("torch", "lancedb", "onnxruntime", "faust", "pyarrow", "sentence_transformers")
CLIENT_COMMANDS = {
    "say": ["say", "I keep bees."],
    "ask": ["ask", "What do I keep?"],
    "changes": ["changes"],
    "deadletters": ["deadletters", "list"],
    "help": ["--help"],
    "settings": ["settings"],
}
WRONG_COMMANDS: dict[str, tuple[dict[str, Any], str]] = {
    "a threshold above one": ({"options": {"similarityThreshold": 1.5}}, "options.similarityThreshold"),
    "too many similar": ({"options": {"maxSimilarResults": 21}}, "options.maxSimilarResults"),
    "a blank interaction": ({"interaction": "  "}, "interaction"),
    "an unknown operation": ({"op": "forget-everything"}, "op"),
    "an unknown field": ({"surprise": 1}, "surprise"),
    "a scope that is a pattern": ({"scope": {"projectId": "tests", "userId": "*"}}, "scope.userId"),
}


@pytest.fixture(scope="module")
def running(deploy_once: Deploy) -> Iterator[Deployment]:
    deployment = deploy_once()
    deployment.start()
    yield deployment
    assert deployment.workers[0].end() == 0


@pytest.fixture
def scope() -> Scope:
    return Scope(project_id="tests", user_id=f"u-{uuid.uuid4()}")


@pytest.fixture
async def memory(running: Deployment, scope: Scope) -> AsyncIterator[MemoryClient]:
    async with running.client(scope) as client:
        yield client


async def replies_of(deployment: Deployment, correlation_id: str) -> list[Any]:
    return [
        record
        for record in await deployment.records("replies")
        if header(record.headers, "correlation_id") == correlation_id
    ]


def way_back(deployment: Deployment, correlation_id: str, **more: str) -> list[tuple[str, bytes]]:
    told = {"reply_to": deployment.topic("replies"), "correlation_id": correlation_id, **more}
    return [(name, value.encode()) for name, value in told.items()]


async def test_the_first_request_after_a_start_is_answered_within_its_deadline(running: Deployment) -> None:
    async with running.client(timeout_s=5) as client:
        assert (await client.ask("What is known?")).success


async def test_a_hundred_questions_at_once_get_each_its_own_answer(memory: MemoryClient) -> None:
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


async def test_a_reader_in_another_process_sees_each_write_at_once(
    running: Deployment, memory: MemoryClient, scope: Scope
) -> None:
    code = """
import asyncio, sys
from lakehouse.store import Lake
from schemas.conversation import Scope
async def main():
    lake = await Lake.open(sys.argv[1])
    scope = Scope(project_id=sys.argv[2], user_id=sys.argv[3])
    shard = await lake.shard_of(scope)
    for line in sys.stdin:
        print(len(await shard.scope_rows(scope)), flush=True)
asyncio.run(main())
"""
    command = [sys.executable, "-c", code, running.settings.lake_uri, scope.project_id, scope.user_id]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        seen, known = [], []
        for number in range(20):
            report = await memory.publish_and_wait(f"My locker number {number} is in building {number * 7 + 1}.")
            known.append(len(report.memory) + (known[-1] if known else 0))
            process.stdin.write("\n")
            process.stdin.flush()
            seen.append(int(process.stdout.readline()))
        process.stdin.close()
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


async def test_equal_turn_ids_in_two_scopes_are_two_turns(running: Deployment, memory: MemoryClient) -> None:
    await memory.publish_and_wait(memory.turn("I play the cello.", turnId="same"))
    async with running.client(Scope(project_id="tests", user_id=f"other-{uuid.uuid4()}")) as other:
        report = await other.publish_and_wait(other.turn("I play the cello.", turnId="same"))
        assert [outcome.event for outcome in report.memory] == ["ADD"]


async def test_the_same_fact_told_by_two_at_the_same_moment_is_one_memory(running: Deployment, scope: Scope) -> None:
    async with running.client(scope) as one, running.client(scope) as two:
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
    assert report.command_id == command.identified().command_id
    assert report.extraction.extracted == len(report.memory) == len(report.summary) >= 2
    assert {outcome.event for outcome in report.memory} == {"ADD"}
    events = [event async for event in memory.changes()]
    assert {event.source_session_id for event in events} == {"s1"}
    assert events[0].metadata is not None
    assert events[0].metadata["ticket"] == 7


@pytest.mark.parametrize(("wrong", "field"), WRONG_COMMANDS.values(), ids=WRONG_COMMANDS)
async def test_a_wrong_command_is_refused_with_the_field_at_fault(
    running: Deployment, scope: Scope, wrong: dict[str, Any], field: str
) -> None:
    correlation_id = str(uuid.uuid4())
    told = {"op": "extract_and_operate", "scope": scope.to_wire(), "interaction": "I like tea.", **wrong}
    async with plain_producer(running.bootstrap) as producer:
        await producer.send_and_wait(
            running.topic("commands"), json.dumps(told).encode(), partition=0, headers=way_back(running, correlation_id)
        )
    (reply,) = await until(lambda: replies_of(running, correlation_id))
    error = ErrorReply.decode(reply.value)
    assert (error.code, error.field) == ("invalid_request", field)


async def test_a_wrong_turn_is_refused_at_the_client_with_the_field_at_fault(memory: MemoryClient) -> None:
    with pytest.raises(InvalidMessage) as refused:
        memory.turn("  ")
    assert refused.value.field == "content"


async def test_a_plain_producer_without_any_header_of_ours_is_understood_and_lands_right(
    running: Deployment, memory: MemoryClient, scope: Scope
) -> None:
    async with plain_producer(running.bootstrap) as producer:
        placed = await producer.send_and_wait(
            running.topic("turns"), turn(scope, "I grow tomatoes."), key=scope.key.encode()
        )
    assert placed.partition == scope.partition(running.settings.partitions)

    async def known() -> list[Any]:
        return [event async for event in memory.changes()]

    (event,) = await until(known)
    assert "tomatoes" in event.text
    assert abs(event.recorded_at - datetime.now(UTC)) < timedelta(minutes=1)


async def test_a_turn_on_the_wrong_partition_is_forwarded_once_and_keeps_its_time(
    running: Deployment, scope: Scope
) -> None:
    home = scope.partition(running.settings.partitions)
    before = running.metric("memlake_forwarded_total")
    correlation_id = str(uuid.uuid4())
    async with plain_producer(running.bootstrap) as producer:
        placed = await producer.send_and_wait(
            running.topic("turns"),
            turn(scope, "I grow leeks.", turnId="stray"),
            partition=1 - home,
            headers=way_back(running, correlation_id),
        )
    (reply,) = await until(lambda: replies_of(running, correlation_id))
    assert json.loads(reply.value)["success"]
    assert running.metric("memlake_forwarded_total") == before + 1
    records = [decode_record(record.value, record.headers) for record in await running.records("facts")]
    (found,) = [record for record in records if isinstance(record, TurnRecord) and record.turn.turn_id == "stray"]
    assert found.source.partition == home
    assert found.recorded_at == datetime.fromtimestamp(placed.timestamp / 1000, UTC)


async def test_a_time_of_recording_that_a_client_made_up_is_not_believed(running: Deployment, scope: Scope) -> None:
    async with plain_producer(running.bootstrap) as producer:
        await producer.send_and_wait(
            running.topic("turns"),
            turn(scope, "I grow beans.", turnId="forged"),
            key=scope.key.encode(),
            headers=[("memlake_recorded_at", b"1999-01-01T00:00:00+00:00")],
        )

    async def found() -> list[TurnRecord]:
        records = [decode_record(record.value, record.headers) for record in await running.records("facts")]
        return [one for one in records if isinstance(one, TurnRecord) and one.turn.turn_id == "forged"]

    (record,) = await until(found)
    assert record.recorded_at.year > 1999


async def test_a_question_on_the_wrong_partition_is_answered_all_the_same(running: Deployment, scope: Scope) -> None:
    request = SearchRequest.from_wire({"scope": scope, "query": "What do I grow?"})
    correlation_id = str(uuid.uuid4())
    async with plain_producer(running.bootstrap) as producer:
        await producer.send_and_wait(
            running.topic("queries"),
            request.encode(),
            partition=1 - scope.partition(running.settings.partitions),
            headers=way_back(running, correlation_id),
        )
    (reply,) = await until(lambda: replies_of(running, correlation_id))
    assert Reply.decode(reply.value).query == "What do I grow?"


async def test_a_question_whose_deadline_has_passed_is_answered_so_and_not_searched(
    running: Deployment, scope: Scope
) -> None:
    before = running.metric("memlake_late_queries_total")
    correlation_id = str(uuid.uuid4())
    past = str(round((time.time() - 1) * 1000))
    async with plain_producer(running.bootstrap) as producer:
        await producer.send_and_wait(
            running.topic("queries"),
            SearchRequest.from_wire({"scope": scope, "query": "Too late?"}).encode(),
            key=scope.key.encode(),
            headers=way_back(running, correlation_id, deadline=past),
        )
    (reply,) = await until(lambda: replies_of(running, correlation_id))
    assert ErrorReply.decode(reply.value).code == "deadline_exceeded"
    assert running.metric("memlake_late_queries_total") == before + 1


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
async def test_a_producer_may_compress(running: Deployment, memory: MemoryClient, scope: Scope, codec: str) -> None:
    async with plain_producer(running.bootstrap, compression_type=codec) as producer:
        await producer.send_and_wait(running.topic("turns"), turn(scope, "I own a kayak."), key=scope.key.encode())
    assert (await memory.publish_and_wait("I own a canoe.")).success
    assert any("kayak" in event.text for event in [event async for event in memory.changes()])


async def test_an_answer_for_a_topic_that_does_not_exist_holds_nobody_up(
    running: Deployment, memory: MemoryClient, scope: Scope
) -> None:
    headers = way_back(running, "nowhere", reply_to=running.topic("replies.nowhere"))
    async with plain_producer(running.bootstrap) as producer:
        for topic, value in (
            ("queries", SearchRequest.from_wire({"scope": scope, "query": "Anybody?"}).encode()),
            ("turns", turn(scope, "I own a tandem.")),
        ):
            await producer.send_and_wait(running.topic(topic), value, key=scope.key.encode(), headers=headers)
    assert (await memory.ask("Still there?", timeout_s=5)).success
    assert (await memory.publish_and_wait("I own a unicycle.", timeout_s=5)).success
    assert any("tandem" in event.text for event in [event async for event in memory.changes()])


async def test_a_scope_never_hears_of_another(running: Deployment, memory: MemoryClient) -> None:
    await memory.publish_and_wait("My codeword is heliotrope.")
    async with running.client(Scope(project_id="tests", user_id=f"nosy-{uuid.uuid4()}")) as other:
        await other.publish_and_wait("My codeword is marmalade.")
        for mode in ("hybrid", "semantic", "keyword"):
            reply = await other.ask("codeword heliotrope", mode=mode, threshold=0.0, top_k=50)  # type: ignore[arg-type]
            assert "heliotrope" not in reply.to_wire().__str__().replace(reply.query, "")
        assert ["marmalade" in event.text for event in [event async for event in other.changes()]] == [True]


async def test_a_client_whose_request_is_refused_hears_why(memory: MemoryClient, scope: Scope) -> None:
    unscoped = Command.model_construct(op="extract_and_operate", scope=scope, command_id="bad", interaction=None)
    with pytest.raises(RequestFailed) as refused:
        await memory.command(unscoped)
    assert refused.value.reply.code == "invalid_request"


def test_a_program_without_an_event_loop_has_the_same(running: Deployment, scope: Scope) -> None:
    with SyncMemoryClient(scope.project_id, scope.user_id, settings=running.settings) as memory:
        assert memory.publish_and_wait("I collect stamps.").success
        (turn_id,) = memory.publish(
            Turn(scope=scope, role="user", timestamp=datetime.now(UTC), content="I collect coins.")
        )
        assert turn_id
        assert "stamps" in memory.ask("What do I collect?", mode="keyword").results[0].text
        assert memory.publish_and_wait("I collect maps.").success
        assert [event.sequence for event in memory.changes()] == [1, 2, 3]


def test_the_command_line_says_asks_and_looks_back(running: Deployment, scope: Scope) -> None:
    lines = [{"role": "user", "timestamp": "2026-03-02T10:00:00+01:00", "content": f"I live in {city}."} for city in ("Bonn", "Kiel")]  # fmt: skip
    said = "\n".join(map(json.dumps, lines)) + '\n{"role": "user", "content": "no time"}\n'
    published = running.cli("publish", "-", "--wait", "--json", said=said, scope=scope)
    assert published.returncode == 1
    assert "timestamp" in published.stderr
    reports = [json.loads(line) for line in published.stdout.splitlines()]
    assert [report["success"] for report in reports] == [True, True]

    asked = running.cli("ask", "Where do I live?", "--json", scope=scope)
    assert (asked.returncode, len(asked.stdout.splitlines())) == (0, 1)
    shown = [json.loads(line) for line in running.cli("show", "--json", scope=scope).stdout.splitlines()]
    assert shown
    history = running.cli("history", str(shown[0]["id"]), "--json", scope=scope).stdout.splitlines()
    assert [json.loads(line)["revision"] for line in history] == list(range(1, len(history) + 1))
    changes = [json.loads(line) for line in running.cli("changes", "--json", scope=scope).stdout.splitlines()]
    assert [event["sequence"] for event in changes] == list(range(1, len(changes) + 1))
    unknown = running.cli("history", "999", scope=scope)
    assert (unknown.returncode, unknown.stdout) == (1, "")
    assert "999" in unknown.stderr
    digests = {running.cli("digest", "--json").stdout for _ in range(2)}
    assert len(digests) == 1
    assert json.loads(digests.pop())["digest"]


@pytest.mark.parametrize("arguments", CLIENT_COMMANDS.values(), ids=CLIENT_COMMANDS)
def test_a_command_that_talks_to_the_broker_loads_neither_model_nor_lake(
    running: Deployment, scope: Scope, arguments: list[str]
) -> None:
    code = (
        "import sys\nfrom streams.cli import main\n"
        "try:\n    main()\nfinally:\n"
        f"    print('loaded', *(name for name in {HEAVY!r} if name in sys.modules), file=sys.stderr)"
    )
    env = environment(running.settings) | {"MEMLAKE_USER": scope.user_id}
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1].split() == ["loaded"]


async def test_two_deployments_on_one_broker_never_meet(running: Deployment, deploy: Deploy) -> None:
    other = deploy()
    other.start()
    scope = scopes(2, f"both-{uuid.uuid4().hex[:6]}")[1]
    async with running.client(scope) as one, other.client(scope) as two:
        said = {client: [client.turn(f"My {name} locker {n} is number {n * 3}.") for n in range(50)] for client, name in ((one, "red"), (two, "blue"))}  # fmt: skip
        reports = await asyncio.gather(*(client.publish_all_and_wait(turns) for client, turns in said.items()))
        for client, colour in ((one, "blue"), (two, "red")):
            events = [event async for event in client.changes(everyone=True)]
            assert events
            assert not [event for event in events if f"My {colour}" in event.text]
    assert all(report.success for told in reports for report in told if not isinstance(report, Exception))
    assert [len(told) for told in reports] == [50, 50]
    gapless(await other.events())
    for deployment in (running, other):
        async with reader(deployment.bootstrap) as consumer:
            replies = [TopicPartition(deployment.topic("replies"), 0)]
            assert (await consumer.end_offsets(replies))[replies[0]] >= 0
        assert deployment.health()["status"] == "ready"


async def test_everything_was_handled_and_committed_in_the_end(running: Deployment) -> None:
    await running.settled()
    gapless(await running.events())
    assert running.health()["lag"] == 0
