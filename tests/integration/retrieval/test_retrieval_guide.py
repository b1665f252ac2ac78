"""The guide to asking: its Python is run as it stands, on a real lake with the bundled model."""

import ast
import inspect
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import pytest_asyncio

from lakehouse.embedding import load_embedder
from lakehouse.retrieval.chat_knowledge_service import ChatKnowledgeService
from lakehouse.retrieval.context import items_in
from lakehouse.retrieval.rag_service import KnowledgeBase, RAGService
from lakehouse.store import Lake
from lakehouse.tables import LakeShape
from schemas.conversation import Scope
from schemas.errors import Misconfigured
from schemas.retrieval import PRESETS, Citation
from streams.settings import Settings
from tests.contract.world import World

GUIDE = (Path(__file__).parents[3] / "docs" / "retrieval.md").read_text("utf-8")
ADA = Scope(project_id="shop", user_id="ada")
SAID = ("Redis is configured in config/redis.yaml", "Use redis-cli to connect to Redis", "Redis default port is 6379")
SETTINGS = Settings()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)


async def execute(block: str, names: dict[str, Any]) -> None:
    """Run a block that may await at its top level."""
    code = compile(block, "docs/retrieval.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    waiting = eval(code, names)
    if inspect.isawaitable(waiting):
        await waiting


@pytest_asyncio.fixture
async def uri(tmp_path: Path) -> AsyncIterator[str]:
    """A lake in which three things are known."""
    embedder = await load_embedder(SETTINGS.embedder, SETTINGS.cache, threads=1, cache_size=0)
    world = await World.make(tmp_path / "lake", embedder)
    for text in SAID:
        world.say(ADA, text)
    await world.settle(await world.worker())
    yield world.uri
    await embedder.close()


async def test_its_python_does_what_it_says(
    uri: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("MEMLAKE_LAKE", uri)
    told: dict[str, Any] = {"__name__": "guide"}
    found: list[tuple[str, list[dict[str, Any]]]] = []
    for block in blocks("python"):
        await execute(block, told)
        found.append((told["context"], told["citations"]))
    said = capsys.readouterr().out

    opened, _, presets, failed, _, followed, asked, _ = found
    assert next(text for _, _, text in items_in(opened[0])) == SAID[0]
    assert [cited["content"] for cited in opened[1]] == [text for _, _, text in items_in(opened[0])]
    assert said.startswith(f"Context:\n{opened[0]}\n\nCitations: {len(opened[1])} sources\n")
    assert presets[1]
    assert (told["nothing"], told["none"]) == ("", [])
    assert all(cited["score"] >= 0.85 for cited in told["few"])
    assert failed == ("", [])
    assert " ".join(map(str.strip, blocks("text")[1].splitlines())) in said
    assert [hit.item.text for hit in told["results"]] == [cited["content"] for cited in opened[1]]
    assert (told["metrics"].reranking_time, told["rag_stats"]["cache_entries"] > 0) == (0, True)
    assert followed[1][0]["content"] == SAID[1]
    assert {cited["content"] for cited in asked[1]} == set(SAID)

    chat = told["ChatWorkflowManager"](told["knowledge_base"])
    session = SimpleNamespace()
    without = await chat._prepare_llm_request_params(session, "How do I configure Redis?")
    assert ("KNOWLEDGE CONTEXT" in without["prompt"], session.last_citations) == (False, [])
    await chat.initialize()
    given = await chat._prepare_llm_request_params(session, "How do I configure Redis?")
    assert f"\n\n{opened[0]}\n**Current user message:** How do I configure Redis?" in given["prompt"]
    assert given["citations"] == session.last_citations == opened[1]
    await told["knowledge_base"].close()


def test_the_forms_that_it_shows_are_the_forms_that_are_given() -> None:
    (shown,) = blocks("json")
    (context, *_) = blocks("text")
    listed = dict(re.findall(r"^\| `(\w+)`.*? \| (.+?) \|", GUIDE, re.MULTILINE))

    assert Citation.model_validate(json.loads(shown), by_alias=True).to_wire() == json.loads(shown)
    assert len(items_in(context.strip())) == 2
    assert {name: listed[name] for name in PRESETS} == {
        name: str(preset.top_k) if preset else "nothing is retrieved" for name, preset in PRESETS.items()
    }


async def test_a_lake_of_another_model_and_a_place_without_one_are_refused(tmp_path: Path) -> None:
    await Lake.make(str(tmp_path / "other"), LakeShape(1, "another-model", 384))

    for folder, reason in (("other", "embedded by another-model"), ("nowhere", "there is no lake")):
        with pytest.raises(Misconfigured, match=reason):
            await KnowledgeBase.open(str(tmp_path / folder), ADA, embedder=SETTINGS.embedder, cache=SETTINGS.cache)


async def test_a_knowledge_base_sees_what_is_committed_while_it_is_open(tmp_path: Path) -> None:
    embedder = await load_embedder(SETTINGS.embedder, SETTINGS.cache, threads=1, cache_size=0)
    world = await World.make(tmp_path / "lake", embedder)
    worker = await world.worker()
    base = await KnowledgeBase.open(world.uri, ADA, embedder=SETTINGS.embedder, cache=SETTINGS.cache)
    service = ChatKnowledgeService(RAGService(base))
    assert await service.retrieve_relevant_knowledge("How do I configure Redis?") == ("", [])

    world.say(ADA, SAID[0])
    await world.settle(worker)

    context, _ = await service.retrieve_relevant_knowledge("How do I configure Redis?")
    assert SAID[0] in context
    await base.close()
    await embedder.close()
