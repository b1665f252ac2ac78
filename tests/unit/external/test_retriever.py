"""Three stages under one deadline: the project, what is kept, and what comes in time."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from lakehouse.external.advice import ADVISORY, PROJECT, ProjectMemory
from lakehouse.external.kept import KeptKnowledge
from lakehouse.external.library import symbol_url
from lakehouse.external.retriever import ExternalKnowledgeRetriever, verdict_of
from lakehouse.external.store import DocumentStore
from lakehouse.external.tasks import asked_of
from lakehouse.store import Lake
from lakehouse.tables import LakeShape
from schemas.errors import Unavailable
from schemas.knowledge import DocumentEvent, Lookup, PageState, RefreshRequest
from tests.unit.external.keeping import DIMENSION, PAGE, START, HandEmbedder, document
from tests.unit.external.serving import Clock


def memory(content: str = "Retries are capped at 5.", similarity: float = 0.9, importance: int = 7) -> ProjectMemory:
    return ProjectMemory(1, "worker", content, importance, similarity)


class Memories:
    """The project's memory as a list; ``fail`` as a lake that is away."""

    def __init__(self, *told: ProjectMemory, fail: bool = False) -> None:
        self.told = told
        self.fail = fail

    async def retrieve(
        self, search: str, *, limit: int = 3, agent_id: str | None = None, min_importance: int = 1
    ) -> Sequence[ProjectMemory]:
        if self.fail:
            raise Unavailable(f"{search} for {agent_id}: the lake is away")
        return [one for one in self.told if one.importance >= min_importance][:limit]


class Stage:
    """A retriever over a real store, with what it asked for and told."""

    def __init__(self, store: DocumentStore) -> None:
        self.store = store
        self.clock = Clock(START)
        self.asked: list[RefreshRequest] = []
        self.told: list[Lookup] = []
        self.deliver: DocumentEvent | None = None

    async def ask(self, request: RefreshRequest) -> None:
        self.asked.append(request)
        if self.deliver is not None:
            await self.store.apply([self.deliver])

    def retriever(self, memories: Memories | None = None, **told: Any) -> ExternalKnowledgeRetriever:
        kept = KeptKnowledge(self.store, HandEmbedder(), self.clock, floor=0.99)
        options: dict[str, Any] = {"ask": self.ask, "note": self.told.append, "clock": self.clock, "deadline_s": 2.0}
        options |= told
        return ExternalKnowledgeRetriever(memories or Memories(), kept, **options)

    def fetched(self, *names: str, **fields: Any) -> DocumentEvent:
        page = PageState(url=PAGE, source="python_docs", project="python", checked_at=START, fetched_at=START)
        return DocumentEvent(
            event_id="e-" + "-".join(names), action="FETCHED", at=START, source="python_docs",
            documents=tuple(document(name, f"Text of {name}.", **fields) for name in names),
            page=page, replaces_page=True,
        )  # fmt: skip

    @property
    def outcomes(self) -> list[tuple[str, str]]:
        return [(one.stage, one.outcome) for one in self.told]


@pytest.fixture
async def stage(tmp_path: Path) -> Stage:
    uri = str(tmp_path / "lake")
    await Lake.make(uri, LakeShape(1, HandEmbedder.id, DIMENSION))
    return Stage(await DocumentStore.open(uri, HandEmbedder()))


async def test_a_memory_that_fits_answers_first_and_nobody_else_is_asked(stage: Stage) -> None:
    found = await stage.retriever(Memories(memory())).get_knowledge("How often does asyncio.run retry?")

    assert found is not None
    assert (found.stage, found.memory) == ("project", memory())
    assert (stage.asked, stage.outcomes) == ([], [("project", "hit")])


async def test_what_is_kept_answers_next_and_is_at_hand_then(stage: Stage) -> None:
    await stage.store.apply([stage.fetched("asyncio.run")])
    retriever = stage.retriever(Memories(memory(similarity=0.2)))

    for _ in range(2):
        found = await retriever.get_knowledge("What does asyncio.run do?")
        assert found is not None
        assert found.document is not None
        assert (found.stage, found.document.name, found.stale) == ("cache", "asyncio.run", False)
    assert (stage.asked, stage.outcomes) == ([], [("cache", "fresh"), ("cache", "fresh")])
    assert (await retriever.get_function_doc("python", "asyncio", "run")) == document(
        "asyncio.run", "Text of asyncio.run."
    )


async def test_what_is_past_its_time_is_given_and_asked_for_again(stage: Stage) -> None:
    await stage.store.apply([stage.fetched("asyncio.run")])
    stage.clock.now = START + timedelta(days=31)

    found = await stage.retriever().get_knowledge("What does asyncio.run do?")

    assert found is not None
    assert found.stale
    assert [(request.url, request.reason, request.symbol) for request in stage.asked] == [(PAGE, "stale", None)]
    assert stage.outcomes == [("cache", "stale")]


async def test_what_comes_in_time_is_waited_for(stage: Stage) -> None:
    stage.deliver = stage.fetched("asyncio.run")

    found = await stage.retriever().get_knowledge("What does asyncio.run do?")

    assert found is not None
    assert found.document is not None
    assert found.stage == "external"
    assert [(request.symbol, request.reason) for request in stage.asked] == [("asyncio.run", "miss")]
    assert stage.outcomes == [("cache", "miss"), ("external", "hit")]


async def test_what_comes_too_late_is_there_for_the_next_question(stage: Stage) -> None:
    late = stage.retriever(deadline_s=0.05)

    assert await late.get_knowledge("What does asyncio.run do?") is None
    assert late.missed == ["asyncio.run"]
    assert stage.outcomes == [("cache", "miss"), ("external", "budget")]
    await stage.store.apply([stage.fetched("asyncio.run")])
    assert await stage.retriever().get_knowledge("What does asyncio.run do?") is not None


async def test_what_nobody_knows_is_not_asked_for_while_that_holds(stage: Stage) -> None:
    unknown = PageState(
        url=symbol_url(None, "asyncio.runn"), source="python_docs", project="", checked_at=START,
        negative_until=START + timedelta(days=1), reason="no site knows this symbol",
    )  # fmt: skip
    told = DocumentEvent(event_id="e", action="FETCH_FAILED", at=START, source="python_docs", page=unknown)
    stage.deliver = told

    assert await stage.retriever().get_knowledge("asyncio.runn?") is None
    assert await stage.retriever().get_knowledge("asyncio.runn?") is None
    assert len(stage.asked) == 1
    assert stage.outcomes == [("cache", "miss"), ("external", "unresolved"), ("cache", "negative")]


async def test_documents_of_the_named_symbols_come_before_those_that_fit(stage: Stage) -> None:
    await stage.store.apply([stage.fetched("asyncio.run", "asyncio.sleep", "asyncio.wait")])
    retriever = stage.retriever()

    named = await retriever.get_relevant_docs("asyncio.wait or asyncio.run of Python 3.12?")
    fitting = await retriever.get_relevant_docs("Text of asyncio.sleep.", limit=1)

    assert [one.document.name for one in named] == ["asyncio.wait", "asyncio.run"]
    assert [one.document.name for one in fitting] == ["asyncio.sleep"]
    assert await retriever.get_relevant_docs("the weather in Rome") == []


async def test_an_agents_context_takes_what_is_important_and_advice_where_it_is_needed(stage: Stage) -> None:
    await stage.store.apply([stage.fetched("asyncio.run")])
    memories = Memories(memory("We start with asyncio.main.", 0.6), memory("A trifle.", 0.6, importance=4))

    told = await stage.retriever(memories).build_agent_context("builder", "How do I call asyncio.run?")
    plain = await stage.retriever(memories).build_agent_context(None, "Rename the worker")

    assert told.split("\n")[:2] == [PROJECT, "- worker: We start with asyncio.main."]
    assert told.index(PROJECT) < told.index(ADVISORY)
    assert "A trifle" not in told
    assert ADVISORY not in plain


async def test_a_lake_that_is_away_answers_nothing_from_the_project(stage: Stage) -> None:
    assert await stage.retriever(Memories(fail=True)).get_knowledge("the weather") is None
    assert stage.outcomes == [("project", "failed")]


async def test_without_documentation_only_the_project_answers() -> None:
    alone = ExternalKnowledgeRetriever(Memories(memory(similarity=0.1)), clock=Clock(START))

    assert await alone.get_knowledge("asyncio.run?") is None
    assert await alone.get_relevant_docs("asyncio.run?") == []
    assert not await alone.should_fetch_external("asyncio.run?")
    assert await alone.build_agent_context(None, "asyncio.run?") == f"{PROJECT}\n- worker: Retries are capped at 5."


async def test_fifty_who_ask_at_once_are_answered_by_what_one_of_them_brings(stage: Stage) -> None:
    stage.deliver = stage.fetched("asyncio.run")
    retriever = stage.retriever()

    found = await asyncio.gather(*(retriever.get_knowledge("What does asyncio.run do?") for _ in range(50)))

    assert {one.document.name for one in found if one and one.document} == {"asyncio.run"}
    assert len(found) == 50


@pytest.mark.parametrize(
    ("task", "memories", "yes"),
    [
        ("Show me the documentation of asyncio.run", [memory("asyncio.run")] * 3, True),
        ("How do I call asyncio.run?", [memory("a"), memory("b"), memory("c")], False),
        ("Rename the call of asyncio.run", [memory("We call asyncio.run")], False),
        ("Rename the call of asyncio.run", [], True),
        ("How do I call asyncio.run?", [memory("We call asyncio.run")], False),
        ("How do I call asyncio.run?", [memory("asyncio.run", similarity=0.1)], True),
        ("Why ModuleNotFoundError?", [], True),
        ("Why ModuleNotFoundError?", [memory("A ModuleNotFoundError means the venv is off")], False),
        ("remove the item from the list", [], False),
    ],
)
def test_the_outside_is_asked_in_this_order(task: str, memories: list[ProjectMemory], yes: bool) -> None:
    verdict = verdict_of(asked_of(task), memories)

    assert bool(verdict) is yes
    assert verdict.reason
