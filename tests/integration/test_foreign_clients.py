"""Clients that know nothing of memlake but its topics: plain Kafka, in whatever way they use it."""

import json
import time
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from schemas.conversation import Scope
from schemas.facts import TurnRecord, decode_record
from schemas.message import header
from schemas.retrieval import ErrorReply, Reply, SearchRequest
from streams.client import MemoryClient
from tests.integration.stage import Deployment, plain_producer, turn, until

pytestmark = pytest.mark.broker

WRONG_COMMANDS: dict[str, tuple[dict[str, Any], str]] = {
    "a threshold above one": ({"options": {"similarityThreshold": 1.5}}, "options.similarityThreshold"),
    "too many similar": ({"options": {"maxSimilarResults": 21}}, "options.maxSimilarResults"),
    "a blank interaction": ({"interaction": "  "}, "interaction"),
    "an unknown operation": ({"op": "forget-everything"}, "op"),
    "an unknown field": ({"surprise": 1}, "surprise"),
    "a scope that is a pattern": ({"scope": {"projectId": "tests", "userId": "*"}}, "scope.userId"),
}


async def replies_of(deployment: Deployment, correlation_id: str) -> list[Any]:
    return [
        record
        for record in await deployment.records("replies")
        if header(record.headers, "correlation_id") == correlation_id
    ]


def way_back(deployment: Deployment, correlation_id: str, **more: str) -> list[tuple[str, bytes]]:
    told = {"reply_to": deployment.topic("replies"), "correlation_id": correlation_id, **more}
    return [(name, value.encode()) for name, value in told.items()]


@pytest.mark.parametrize(("wrong", "field"), WRONG_COMMANDS.values(), ids=WRONG_COMMANDS)
async def test_a_wrong_command_is_refused_with_the_field_at_fault(
    shared: Deployment, scope: Scope, wrong: dict[str, Any], field: str
) -> None:
    correlation_id = str(uuid.uuid4())
    told = {"op": "extract_and_operate", "scope": scope.to_wire(), "interaction": "I like tea.", **wrong}
    async with plain_producer(shared.bootstrap) as producer:
        await producer.send_and_wait(
            shared.topic("commands"), json.dumps(told).encode(), partition=0, headers=way_back(shared, correlation_id)
        )
    (reply,) = await until(lambda: replies_of(shared, correlation_id))
    error = ErrorReply.decode(reply.value)
    assert (error.code, error.field) == ("invalid_request", field)


async def test_a_plain_producer_without_any_header_of_ours_is_understood_and_lands_right(
    shared: Deployment, memory: MemoryClient, scope: Scope
) -> None:
    async with plain_producer(shared.bootstrap) as producer:
        placed = await producer.send_and_wait(
            shared.topic("turns"), turn(scope, "I grow tomatoes."), key=scope.key.encode()
        )
    assert placed.partition == scope.partition(shared.settings.partitions)

    async def known() -> list[Any]:
        return [event async for event in memory.changes()]

    (event,) = await until(known)
    assert "tomatoes" in event.text
    assert abs(event.recorded_at - datetime.now(UTC)) < timedelta(minutes=1)


async def test_a_turn_on_the_wrong_partition_is_forwarded_once_and_keeps_its_time(
    shared: Deployment, scope: Scope
) -> None:
    home = scope.partition(shared.settings.partitions)
    before = shared.metric("memlake_forwarded_total")
    correlation_id = str(uuid.uuid4())
    async with plain_producer(shared.bootstrap) as producer:
        placed = await producer.send_and_wait(
            shared.topic("turns"),
            turn(scope, "I grow leeks.", turnId="stray"),
            partition=1 - home,
            headers=way_back(shared, correlation_id),
        )
    (reply,) = await until(lambda: replies_of(shared, correlation_id))
    assert json.loads(reply.value)["success"]
    assert shared.metric("memlake_forwarded_total") == before + 1
    records = [decode_record(record.value, record.headers) for record in await shared.records("facts")]
    (found,) = [record for record in records if isinstance(record, TurnRecord) and record.turn.turn_id == "stray"]
    assert found.source.partition == home
    assert found.recorded_at == datetime.fromtimestamp(placed.timestamp / 1000, UTC)


async def test_a_time_of_recording_that_a_client_made_up_is_not_believed(shared: Deployment, scope: Scope) -> None:
    async with plain_producer(shared.bootstrap) as producer:
        await producer.send_and_wait(
            shared.topic("turns"),
            turn(scope, "I grow beans.", turnId="forged"),
            key=scope.key.encode(),
            headers=[("memlake_recorded_at", b"1999-01-01T00:00:00+00:00")],
        )

    async def found() -> list[TurnRecord]:
        records = [decode_record(record.value, record.headers) for record in await shared.records("facts")]
        return [one for one in records if isinstance(one, TurnRecord) and one.turn.turn_id == "forged"]

    (record,) = await until(found)
    assert record.recorded_at.year > 1999


async def test_a_question_on_the_wrong_partition_is_answered_all_the_same(shared: Deployment, scope: Scope) -> None:
    request = SearchRequest.from_wire({"scope": scope, "query": "What do I grow?"})
    correlation_id = str(uuid.uuid4())
    async with plain_producer(shared.bootstrap) as producer:
        await producer.send_and_wait(
            shared.topic("queries"),
            request.encode(),
            partition=1 - scope.partition(shared.settings.partitions),
            headers=way_back(shared, correlation_id),
        )
    (reply,) = await until(lambda: replies_of(shared, correlation_id))
    assert Reply.decode(reply.value).query == "What do I grow?"


async def test_a_question_whose_deadline_has_passed_is_answered_so_and_not_searched(
    shared: Deployment, scope: Scope
) -> None:
    before = shared.metric("memlake_late_queries_total")
    correlation_id = str(uuid.uuid4())
    past = str(round((time.time() - 1) * 1000))
    async with plain_producer(shared.bootstrap) as producer:
        await producer.send_and_wait(
            shared.topic("queries"),
            SearchRequest.from_wire({"scope": scope, "query": "Too late?"}).encode(),
            key=scope.key.encode(),
            headers=way_back(shared, correlation_id, deadline=past),
        )
    (reply,) = await until(lambda: replies_of(shared, correlation_id))
    assert ErrorReply.decode(reply.value).code == "deadline_exceeded"
    assert shared.metric("memlake_late_queries_total") == before + 1


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
async def test_a_producer_may_compress(shared: Deployment, memory: MemoryClient, scope: Scope, codec: str) -> None:
    async with plain_producer(shared.bootstrap, compression_type=codec) as producer:
        await producer.send_and_wait(shared.topic("turns"), turn(scope, "I own a kayak."), key=scope.key.encode())
    assert (await memory.publish_and_wait("I own a canoe.")).success
    assert any("kayak" in event.text for event in [event async for event in memory.changes()])


async def test_an_answer_for_a_topic_that_does_not_exist_holds_nobody_up(
    shared: Deployment, memory: MemoryClient, scope: Scope
) -> None:
    headers = way_back(shared, "nowhere", reply_to=shared.topic("replies.nowhere"))
    async with plain_producer(shared.bootstrap) as producer:
        for topic, value in (
            ("queries", SearchRequest.from_wire({"scope": scope, "query": "Anybody?"}).encode()),
            ("turns", turn(scope, "I own a tandem.")),
        ):
            await producer.send_and_wait(shared.topic(topic), value, key=scope.key.encode(), headers=headers)
    assert (await memory.ask("Still there?", timeout_s=5)).success
    assert (await memory.publish_and_wait("I own a unicycle.", timeout_s=5)).success
    assert any("tandem" in event.text for event in [event async for event in memory.changes()])
