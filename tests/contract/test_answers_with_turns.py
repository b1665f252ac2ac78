"""Answers with turns beside memories: what they are called, which there are, and why each is a result."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from schemas.commands import memory_cited, turn_cited
from schemas.retrieval import HistoryTurn, SearchRequest
from streams.masking import Masker
from tests.contract.world import START, World, scope_in
from tests.planted import planted

HERE = scope_in(0)
SAID = {
    "1": ("user", "I live in Lyon."),
    "2": ("assistant", "Lyon has wonderful bridges over the river."),
    "3": ("user", "My phone number is 5551234."),
}
"""By turn id, which are digits like the ids of memories."""
OFF = {one.name for one in Masker.made().classes if not one.on}


@pytest.fixture
async def world(tmp_path: Path) -> World:
    made = await World.make(tmp_path / "lake")
    for minute, (turn_id, (role, content)) in enumerate(SAID.items()):
        moment = START + timedelta(minutes=minute)
        made.say(HERE, content, turn_id=turn_id, role=role, name=f"the {role}", timestamp=moment)
    await made.settle(await made.worker())
    return made


async def answer(world: World, query: str, **fields: Any) -> dict[str, Any]:
    """The one reply to a question."""
    request = SearchRequest(**{"scope": HERE, "query": query, "similarity_threshold": 0.0, "top_k": 50} | fields)
    ask = f"q{len(world.topics.log('queries'))}"
    worker = await world.worker()
    await worker.handle("answer", 0, [world.ask(request, ask)])
    ((_, reply),) = world.answers(ask)
    return reply


def by_id(reply: dict[str, Any]) -> dict[str, str]:
    return {result["id"]: result["text"] for result in reply["results"]}


async def test_a_turn_is_a_result_of_its_own_kind_and_says_who_spoke(world: World) -> None:
    reply = await answer(world, "bridges over the river", kinds=("episode",))

    first = reply["results"][0]
    assert {first[name] for name in ("source", "memoryType")} == {"episode"}
    told = {name: first[name] for name in ("id", "text", "role", "name", "sourceSessionId", "timestamp")}
    assert told == {
        "id": "turn:2",
        "text": SAID["2"][1],
        "role": "assistant",
        "name": "the assistant",
        "sourceSessionId": "s",
        "timestamp": "2025-01-01T00:01:00Z",
    }
    assert "event" not in first
    assert by_id(reply).keys() == {"turn:1", "turn:2", "turn:3"}
    assert reply["degraded"] == []


async def test_turns_and_memories_are_never_taken_for_each_other(world: World) -> None:
    reply = await answer(world, "Lyon", kinds=("knowledge", "episode"), format="context")

    results = {(result["source"], result["id"]) for result in reply["results"]}
    assert {found for kind, found in results if kind == "knowledge"} == {"1", "2"}
    assert {found for kind, found in results if kind == "episode"} <= {"turn:1", "turn:2", "turn:3"}
    assert ("episode", "turn:2") in results
    cited = [cited["id"] for cited in reply["citations"]]
    assert cited == [result["id"] for result in reply["results"]]
    assert [memory_cited(one) for one in cited if one.startswith("turn:")].count(None) == len(cited) - 2
    assert all(memory_cited(one) for one in cited if not one.startswith("turn:"))


async def test_a_turn_that_was_used_is_told_to_be_no_memory_however_long_its_id_is(world: World) -> None:
    reply = await answer(world, "Lyon", used=(turn_cited("1"), turn_cited("x" * 256), "1"))

    assert reply["degraded"] == ["used: episodes and external documents are not judged"]
    (command,) = world.topics.inboxes[0][len(SAID) :]
    assert b'"used":[1]' in (command.value or b"")


@pytest.mark.parametrize(
    "fields",
    [{}, {"mode": "keyword"}, {"as_of": START + timedelta(days=99)}, {"known_at": START + timedelta(days=99)}],
    ids=["plain", "words", "as of", "known at"],
)
async def test_a_forgotten_turn_is_no_result_and_a_restored_one_is(world: World, fields: dict[str, Any]) -> None:
    fields["kinds"] = ("episode",)
    before = await answer(world, "phone number", **fields)
    world.command(0, op="forget", scope=HERE, id=2, command_id="f")
    await world.settle(await world.worker())
    gone = await answer(world, "phone number", **fields)
    world.command(0, op="restore", scope=HERE, id=2, command_id="r")
    await world.settle(await world.worker())
    back = await answer(world, "phone number", **fields)

    assert ["turn:3" in by_id(reply) for reply in (before, gone, back)] == [True, False, True]


async def test_each_result_explains_itself_where_that_is_asked_for(world: World) -> None:
    world.say(HERE, "I moved to Oslo.", turn_id="4", timestamp=START + timedelta(days=1))
    await world.settle(await world.worker())

    plain = await answer(world, "Oslo", kinds=("knowledge", "episode"), similarity_threshold=0.9)
    told = await answer(world, "Oslo", kinds=("knowledge", "episode"), similarity_threshold=0.9, explain=True)

    assert by_id(plain) == by_id(told)
    assert not any("explanation" in result for result in plain["results"])
    memory = next(result for result in told["results"] if result["id"] == "1")
    why = memory["explanation"]
    assert (why["passed"], why["sourceTurnIds"]) == ("it holds all words of the question", ["4"])
    assert (why["revision"], why["old_memory"], why["keyword_score"]) == (2, "I live in Lyon.", 1.0)
    assert why["semantic_score"] == memory["similarity"]
    assert "rerank_score" not in why


async def test_what_is_explained_holds_no_secret(world: World) -> None:
    longest = sorted(planted(7), key=lambda one: len(one.value))  # a short one may be in a figure by chance
    hidden = list({one.secret: one for one in longest if one.secret not in OFF}.values())
    for number, one in enumerate(hidden):
        world.say(HERE, f"I live in Oslo. {one.text}", turn_id=f"s{number}", timestamp=START + timedelta(days=number))
    await world.settle(await world.worker())

    reply = await answer(
        world,
        "What do I know?",
        kinds=("knowledge", "episode"),
        explain=True,
        format="context",
        similarity_threshold=0.1,
    )

    assert reply["results"]
    assert [one.secret for one in hidden if one.value in str(reply)] == []


async def test_a_reranker_that_is_asked_for_and_not_there_is_told(world: World) -> None:
    asked = {flag: await answer(world, "Lyon", rerank=flag) for flag in (None, True, False)}

    degraded = {flag: reply["degraded"] for flag, reply in asked.items()}
    assert degraded == {None: [], True: ["rerank: no reranker is configured"], False: []}


async def test_what_was_said_before_is_taken_into_account(world: World) -> None:
    before = (HistoryTurn(role="user", content="Tell me about the bridges over the river."),)
    with_it = await answer(world, "Where are they?", kinds=("episode",), history=before)
    without = await answer(world, "Where are they?", kinds=("episode",))

    assert with_it["results"][0]["id"] == "turn:2"
    assert with_it["degraded"] == without["degraded"] == []
    assert with_it["results"][0]["similarity"] > next(
        result["similarity"] for result in without["results"] if result["id"] == "turn:2"
    )


@pytest.mark.parametrize("form", ["context", "agent_context"])
async def test_a_context_that_cannot_be_had_is_empty_and_says_why(world: World, form: Any) -> None:
    world.lose_lake()

    reply = await answer(world, "Where do I live?", format=form)

    assert (reply["success"], reply["context"], reply["citations"]) == (True, "", [])
    assert [reason for reason in reply["degraded"] if reason.startswith("retrieval failed: ")]
