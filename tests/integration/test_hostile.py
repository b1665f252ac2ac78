"""Whatever stands on an input topic: it ends as a dead letter with its reason, and nobody else is held up by it."""

import json
import os
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from aiokafka.producer import message_accumulator
from aiokafka.producer import producer as producer_module
from aiokafka.record.default_records import _DefaultRecordBatchBuilderPy

from schemas.conversation import Scope
from schemas.message import header
from schemas.reports import DeadLetter
from schemas.retrieval import ErrorReply
from schemas.topics import BY_SUFFIX
from streams.deployment import WorkerProcess
from tests.integration.conftest import Deploy
from tests.integration.stage import Deployment, plain_producer, turn

pytestmark = pytest.mark.broker

SECRET = "sk-proj-" + "a1B2c3D4e5F6g7H8" * 3
SCOPE = Scope(project_id="hostile", user_id="mallory")
MESSAGES = 100
NESTED = 100_000


def _turn(**fields: Any) -> bytes:
    return turn(SCOPE, **{"content": "I like tea.", **fields})


def _raw(name: str, text: str) -> bytes:
    """A turn with a piece of JSON that no honest encoder would write."""
    return _turn(metadata={"x": name}).replace(json.dumps(name).encode(), text.encode())


HOSTILE: dict[str, bytes | None] = {
    "nothing": None,
    "empty": b"",
    "blank": b" \n\t ",
    "random bytes": bytes(range(256)),
    "no UTF-8": b'{"content": "\xff\xfe"}',
    "UTF-16": '{"content": "x"}'.encode("utf-16"),
    "zeros": b"\0" * 1000,
    "cut off": _turn()[:-5],
    "two objects": _turn() + _turn(),
    "a list": b"[1, 2, 3]",
    "a number": b"1",
    "a null": b"null",
    "an empty object": b"{}",
    "another schema": json.dumps({"user": "mallory", "text": "hello"}).encode(),
    "a version of tomorrow": _turn(schemaVersion=99),
    "a version that is none": _turn(schemaVersion="one"),
    "deep lists": b"[" * NESTED + b"]" * NESTED,
    "deep objects": b'{"a":' * NESTED + b"1" + b"}" * NESTED,
    "deep metadata": _raw("deep", '{"a":' * 900 + "1" + "}" * 900),
    "a huge number": _raw("number", "9" * 5000),
    "no number": _raw("number", "NaN"),
    "infinity": _raw("number", "-Infinity"),
    "a half character in the text": _raw("x", '"x"').replace(b"I like tea.", b"half \\ud83d"),
    "a half character in a name": _turn(sessionId="half").replace(b'"half"', b'"\\udc00"'),
    "a half character in the scope": _turn().replace(b"mallory", b"\\ud800"),
    "no scope": json.dumps({"role": "user", "content": "x", "timestamp": "2026-03-02T10:00:00Z"}).encode(),
    "every scope": _turn().replace(b"mallory", b"*"),
    "any scope": _turn().replace(b"mallory", b"%"),
    "a blank scope": _turn().replace(b"mallory", b"   "),
    "an unknown role": _turn(role="root"),
    "a time without a zone": _turn(timestamp="2026-03-02T10:00:00"),
    "no time": _turn(timestamp="yesterday"),
    "an unknown operation": json.dumps({"op": "drop table", "scope": SCOPE.to_wire(), "interaction": "x"}).encode(),
    "an unknown field": _turn(admin=True),
    "blank text": _turn(content="\u200b \u200d"),
    "a secret in wrong JSON": f"{{'password': '{SECRET}'}}".encode(),
    "a secret in a wrong field": _turn(apiKey=SECRET),
    "too much metadata": _turn(metadata={"x": "y" * 20_000}),
    "a name too long": _turn(sessionId="s" * 300),
    "control characters": b'{"content": "\x00\x01\x1b[31m"}',
}
"""What no topic takes, whichever it stands on."""

HEADERS: dict[str, list[tuple[str, bytes | None]]] = {
    "none": [],
    "thousands": [(f"h{number}", b"v") for number in range(3000)],
    "one of half a megabyte": [("bomb", b"\x01" * 500_000)],
    "null values": [("traceparent", None), ("ce_type", None)],
    "no text": [("ce_id", b"\xff\xfe\x00"), ("ce_type", b"\xff")],
    "a lie about the kind": [("ce_type", b"memlake.memory-event.v1"), ("ce_id", b"x" * 10_000)],
    "forwarded": [("memlake_forwarded", b"1"), ("memlake_recorded_at", b"0001-01-01T00:00:00+14:00")],
    "a secret": [("authorization", f"Bearer {SECRET}".encode())],
}
WRONG_WAYS_BACK: dict[str, list[tuple[str, bytes | None]]] = {
    "an inbox": [("reply_to", b"{name}.turns"), ("correlation_id", b"c")],
    "somebody else's topic": [("reply_to", b"payments"), ("correlation_id", b"c")],
    "no topic's name": [("reply_to", b"{name}.replies. /?*\n"), ("correlation_id", b"c")],
    "a name too long": [("reply_to", b"{name}.replies." + b"x" * 300), ("correlation_id", b"c")],
    "no id": [("reply_to", b"{name}.replies")],
    "a null id": [("reply_to", b"{name}.replies"), ("correlation_id", None)],
    "an endless id": [("reply_to", b"{name}.replies"), ("correlation_id", b"c" * 400_000)],
    "no deadline": [("reply_to", b"{name}.replies"), ("correlation_id", b"c"), ("deadline", b"soon")],
    "an endless deadline": [("reply_to", b"{name}.replies"), ("correlation_id", b"c"), ("deadline", b"9" * 30)],
}
WAY_BACK = {"reply_to", "correlation_id", "deadline"}
Sent = tuple[str, int, int]


@pytest.fixture(scope="module")
def running(deploy_once: Deploy) -> Deployment:
    deployment = deploy_once()
    deployment.start()
    return deployment


@pytest.fixture
def worker(running: Deployment) -> Iterator[WorkerProcess]:
    """The worker, which must be the same process before and after, and well."""
    worker = running.workers[0]
    assert worker.process is not None
    pid = worker.process.pid
    yield worker
    assert worker.process.poll() is None
    assert worker.process.pid == pid
    assert running.health()["status"] == "ready"


async def letters_of(deployment: Deployment) -> dict[Sent, list[DeadLetter]]:
    found: dict[Sent, list[DeadLetter]] = {}
    for record in await deployment.records("deadletters"):
        letter = DeadLetter.decode(record.value)
        found.setdefault((letter.topic, letter.partition, letter.offset), []).append(letter)
    return found


async def errors_of(deployment: Deployment) -> dict[str, list[ErrorReply]]:
    found: dict[str, list[ErrorReply]] = {}
    for record in await deployment.records("replies"):
        if header(record.headers, "ce_type") == "memlake.error.v1":
            told = found.setdefault(header(record.headers, "correlation_id") or "", [])
            told.append(ErrorReply.decode(record.value))
    return found


async def still_works(deployment: Deployment) -> None:
    """A good turn and a good question of the same scope."""
    async with deployment.client(SCOPE) as memory:
        assert (await memory.publish_and_wait(f"My ticket is number {uuid.uuid4().int % 10_000}.")).success
        assert (await memory.ask("Which ticket?")).success


@pytest.mark.parametrize("suffix", ["turns", "commands", "queries", "facts"])
async def test_hostile_messages_become_dead_letters_and_errors_and_nothing_stops(
    running: Deployment, worker: WorkerProcess, suffix: str
) -> None:
    asked: dict[Sent, str | None] = {}
    kinds, ways = list(HOSTILE.values()), list(HEADERS.values())
    async with plain_producer(running.bootstrap) as producer:
        for number in range(MESSAGES):
            correlation_id = f"{suffix}-{number}" if number % 2 else None
            headers = list(ways[number % len(ways)])
            if correlation_id:
                headers += [
                    ("reply_to", running.topic("replies").encode()),
                    ("correlation_id", correlation_id.encode()),
                ]
            value = kinds[number % len(kinds)]
            if value is None and suffix == "facts":
                value = b"-"  # there, nothing is the tombstone of what was erased
            bare = (
                number % 3 and value is not None and suffix != "facts"
            )  # a compacted topic takes no record without a key
            key = None if bare else os.urandom(9)
            placed = await producer.send_and_wait(
                running.topic(suffix), value, key=key, partition=number % 2, headers=headers
            )
            asked[placed.topic, placed.partition, placed.offset] = correlation_id
        await producer.send_and_wait(running.topic(suffix), b'{"scope":"' + b"x" * 900_000 + b'"}', key=b"k")
    await running.settled(60)
    letters, errors = await letters_of(running), await errors_of(running)
    assert {place: len(letters.get(place, ())) for place in asked} == dict.fromkeys(asked, 1)
    told = [letters[place][0] for place in asked]
    assert all(letter.reason and letter.error and letter.attempt >= 1 for letter in told)
    assert {letter.error for letter in told} == {"InvalidMessage"}
    assert [len(errors.get(one, ())) for one in asked.values() if one] == [1] * (MESSAGES // 2)
    assert {errors[one][0].code for one in asked.values() if one} == {"invalid_request"}
    assert SECRET not in json.dumps([letter.to_wire() for letter in told])
    assert SECRET not in json.dumps([error.to_wire() for some in errors.values() for error in some])
    assert SECRET not in worker.told()
    await still_works(running)


@pytest.mark.parametrize("suffix", ["turns", "queries"])
async def test_a_way_back_that_cannot_be_gone_is_a_dead_letter(
    running: Deployment, worker: WorkerProcess, suffix: str
) -> None:
    value = _turn() if suffix == "turns" else json.dumps({"scope": SCOPE.to_wire(), "query": "x"}).encode()
    places: dict[str, Sent] = {}
    async with plain_producer(running.bootstrap) as producer:
        for way, headers in WRONG_WAYS_BACK.items():
            named = [(name, told and told.replace(b"{name}", running.name.encode())) for name, told in headers]
            placed = await producer.send_and_wait(running.topic(suffix), value, key=SCOPE.key.encode(), headers=named)
            places[way] = (placed.topic, placed.partition, placed.offset)
    await running.settled()
    letters = await letters_of(running)
    found = {way: [letter.field in WAY_BACK for letter in letters.get(place, ())] for way, place in places.items()}
    assert found == {way: [True] for way in WRONG_WAYS_BACK}


@pytest.mark.parametrize("suffix", ["turns", "commands", "facts"])
async def test_a_message_as_large_as_its_topic_takes_becomes_a_dead_letter_with_its_beginning(
    running: Deployment, worker: WorkerProcess, suffix: str
) -> None:
    size = BY_SUFFIX[suffix].max_message_bytes - 2048
    value = b'{"nobody": "' + b"\\u0001" * ((size - 20) // 6) + b'"}'
    async with plain_producer(running.bootstrap) as producer:
        placed = await producer.send_and_wait(running.topic(suffix), value, key=b"k", partition=1)
    await running.settled(60)
    (letter,) = (await letters_of(running))[placed.topic, placed.partition, placed.offset]
    assert letter.value is not None
    assert letter.value.startswith('{"nobody": "')
    await still_works(running)


@pytest.mark.parametrize("text", ["I like tea. ", "ä"], ids=["prose", "one word"])
async def test_a_turn_as_large_as_its_topic_takes_has_one_outcome_and_holds_up_nobody_for_long(
    running: Deployment, worker: WorkerProcess, text: str
) -> None:
    piece = text.encode()
    size = BY_SUFFIX["turns"].max_message_bytes - 4096
    value = _turn(content="@", turnId=f"large-{uuid.uuid4()}").replace(b"@", piece * (size // len(piece)))
    async with plain_producer(running.bootstrap) as producer:
        await producer.send_and_wait(running.topic("turns"), value, key=SCOPE.key.encode())
    await running.settled(60)
    await still_works(running)


async def test_a_record_without_a_time_of_its_own_is_handled(running: Deployment, worker: WorkerProcess) -> None:
    async with running.client(SCOPE) as memory:
        for moment in (1, 10**6):
            async with plain_producer(running.bootstrap) as producer:
                await producer.send_and_wait(
                    running.topic("queries"),
                    json.dumps({"scope": SCOPE.to_wire(), "query": "x"}).encode(),
                    key=SCOPE.key.encode(),
                    timestamp_ms=moment,
                    headers=[("reply_to", running.topic("replies").encode()), ("correlation_id", b"old")],
                )
        assert (await memory.ask("Still there?", timeout_s=5)).success


class NoText(str):
    """A header's name as only clients of other languages can write it."""

    __slots__ = ()

    def encode(self, *_: Any, **__: Any) -> bytes:
        return b"\xff\xfe"


async def test_a_header_whose_name_is_no_text_ends_nobody(
    running: Deployment, worker: WorkerProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (message_accumulator, producer_module):  # the fast writer takes no such name
        monkeypatch.setattr(module, "DefaultRecordBatchBuilder", _DefaultRecordBatchBuilderPy)
    async with plain_producer(running.bootstrap, linger_ms=50) as sender:
        for number in range(6):
            headers = [(NoText("x") if number % 2 else "plain", b"v")]
            value = b"{" if number == 3 else _turn(content=f"I own boat number {number}.")
            await sender.send(running.topic("turns"), value, key=SCOPE.key.encode(), headers=headers)
        await sender.flush()
    await running.settled()
    texts = [event.text for event in await running.events()]
    assert [sum(f"boat number {number}" in text for text in texts) for number in range(6)] == [1, 1, 1, 0, 1, 1]
    assert [r"\xff\xfe"] in [
        [name for name, _ in letter.headers] for some in (await letters_of(running)).values() for letter in some
    ]


async def test_numbers_that_overflow_never_come_out_as_no_json(running: Deployment, worker: WorkerProcess) -> None:
    async with plain_producer(running.bootstrap) as producer:
        await producer.send_and_wait(running.topic("turns"), _raw("number", "1e999"), key=SCOPE.key.encode())
    await running.settled()
    ours = [
        record.value
        for suffix in ("facts", "changes", "deadletters")
        for record in await running.records(suffix)
        if header(record.headers, "ce_source") == f"/{running.name}/worker"
    ]
    assert ours
    for value in ours:
        json.loads(value, parse_constant=pytest.fail)
    await still_works(running)
