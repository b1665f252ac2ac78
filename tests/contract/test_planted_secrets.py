"""Secrets of every class, planted wherever something can be said: nothing of ours holds one, and each is reported."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from lakehouse.embedding.embedder import Vectors
from schemas.retrieval import SearchRequest
from streams.masking import Masker
from tests.contract import world as stage
from tests.contract.world import World, scope_in
from tests.planted import Planted, planted

SCOPE = scope_in(0)
TOLD_APART = 8
"""A shorter value may stand somewhere by chance; it is looked for only where it was said."""
OFF = {one.name for one in Masker.made().classes if not one.on}
SEED = 4711
SECRETS = [one for one in planted(SEED) if one.secret not in OFF]
EMBEDDED: list[str] = []


class Listening(stage.WordEmbedder):
    """An embedder that remembers what it was told."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        EMBEDDED.extend(texts)
        return await super().embed(texts)


@pytest.fixture
async def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    EMBEDDED.clear()
    monkeypatch.setattr(stage, "WordEmbedder", Listening)
    return await World.make(tmp_path / "lake")


def found(said: Planted, text: str) -> bool:
    """Whether a secret stands in a text, as it is or as JSON writes it."""
    return said.value in text or json.dumps(said.value)[1:-1] in text


async def told_by(world: World) -> Iterator[str]:
    """All that a deployment wrote: derived topics with keys and headers, rows, and the files of the lake."""
    texts = [repr(EMBEDDED)]
    for (topic, _), records in world.topics.logs.items():
        if not topic.endswith((".turns", ".commands", ".queries")):
            texts += [repr((one.key, (one.value or b"").decode(), one.headers)) for one in records]
    texts += [row.event.encode().decode() for row in await world.rows()]
    texts += [record for _, record in await world.records()]
    texts += files_of(world)
    return iter(texts)


def files_of(world: World) -> list[str]:
    return [path.read_bytes().decode("latin-1") for path in Path(world.uri).rglob("*") if path.is_file()]


async def leaks(world: World, secrets: Sequence[Planted]) -> list[str]:
    long = [one for one in secrets if len(one.value) >= TOLD_APART]
    return [f"{one.shape}: {one.value}" for text in await told_by(world) for one in long if found(one, text)]


async def test_what_is_said_in_a_turn_is_masked_in_everything_of_ours(world: World) -> None:
    for number, one in enumerate(SECRETS):
        world.say(SCOPE, one.text, ask=f"a{number}")
    worker = await world.worker()
    await world.settle(worker, size=50)

    assert await leaks(world, SECRETS) == []
    records = [record for record in world.facts() if hasattr(record, "turn")]
    assert [one.shape for one, record in zip(SECRETS, records, strict=True) if found(one, record.turn.content)] == []
    for number, one in enumerate(SECRETS):
        ((kind, report),) = world.answers(f"a{number}")
        assert kind == "turn-report"
        assert one.secret in report["extraction"]["masked"], one


async def test_what_stands_beside_the_text_is_masked_too(world: World) -> None:
    for number, one in enumerate(SECRETS[:60]):
        metadata: Any = {"deep": [{"note": one.text}], one.text: 1}
        world.say(
            SCOPE,
            f"Crate {number} is red.",
            name=f"Ann {one.text}"[:256] if len(one.text) < 200 else "Ann",
            conversation_topic=one.text[:1024],
            metadata=metadata,
        )
    worker = await world.worker()
    await world.settle(worker, size=50)

    assert await leaks(world, SECRETS[:60]) == []


async def test_what_a_command_says_is_masked(world: World) -> None:
    for one in SECRETS:
        world.command(
            0,
            op="extract_and_operate",
            scope=SCOPE,
            interaction=[f"User: {one.text}"],
            existing_memories=[{"id": "1", "text": one.text}],
            context={"conversationTopic": one.text[:1024]},
            memory_metadata={"environment": "test", "note": one.text},
        )
    worker = await world.worker()
    await world.settle(worker, size=50)

    assert await leaks(world, SECRETS) == []
    assert len(world.facts()) == len(SECRETS)


async def test_a_message_that_cannot_be_read_leaves_a_masked_letter_and_a_masked_answer(world: World) -> None:
    worker = await world.worker()
    for number, one in enumerate(SECRETS):
        values = [
            json.dumps({"role": "root", "content": one.text}),
            json.dumps({"content": one.text}, ensure_ascii=True)[:-1],
            json.dumps({one.text: 1}),
            f"{{'content': {one.text}",
        ]
        for place, value in enumerate(values):
            headers = [*stage.way_back(f"a{number}.{place}"), ("x-note", one.text.encode())]
            world.topics.append("turns", 0, one.text, value.encode(), headers)
    await worker.handle("intake", 0, world.topics.inboxes[0])

    letters = world.topics.log("deadletters")
    assert len(letters) == 4 * len(SECRETS)
    assert await leaks(world, SECRETS) == []


async def test_a_question_is_masked_before_it_is_looked_for_and_in_its_answer(world: World) -> None:
    for number, one in enumerate(SECRETS):
        request = SearchRequest.from_wire({"scope": SCOPE, "query": one.text[:1000], "history": []})
        world.ask(request, f"q{number}")
    worker = await world.worker()
    await worker.handle("answer", 0, world.topics.log("queries"))

    short = [one for one in SECRETS if len(one.text) <= 1000]
    assert await leaks(world, short) == []
    assert len(world.topics.log("replies")) == len(SECRETS)


async def test_a_class_that_is_off_is_kept_and_one_of_their_own_is_masked(world: World, tmp_path: Path) -> None:
    rules = tmp_path / "rules.yaml"
    rules.write_text("version: 1\nrules: [{secret: badge, pattern: 'BDG-[0-9]{6}'}]")
    world.settings = world.settings.model_copy(update={"mask_off": "iban", "mask_rules": rules})
    (iban,) = [one for one in SECRETS if one.shape == "German" and one.secret == "iban"]
    world.say(SCOPE, f"My account is {iban.value}.")
    world.say(SCOPE, "The guard with the badge BDG-123456 lives in Oslo.")
    worker = await world.worker()
    await world.settle(worker)

    texts = [event.text for event in world.changes()]
    assert texts == [f"My account is {iban.value}.", "The guard with the badge [masked:badge] lives in Oslo."]
