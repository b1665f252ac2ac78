"""The services that programs run themselves: names, defaults, formats, log lines, and that no chat breaks."""

import asyncio
import inspect
import json
import logging
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from lakehouse.retrieval.chat_knowledge_service import ChatKnowledgeService
from lakehouse.retrieval.config import RAGConfig
from lakehouse.retrieval.engine import Retrieval, Retrieved
from lakehouse.retrieval.rag_service import KnowledgeBase, RAGService
from lakehouse.store import Lake, Shard
from schemas.conversation import Scope
from schemas.errors import Unavailable
from schemas.retrieval import SearchRequest
from tests.unit.lakehouse.asking import NOW, ToldEmbedder, engine
from tests.unit.lakehouse.conftest import SHAPE

Stories = Callable[[str], Any]
ANN = Scope(project_id="shop", user_id="ann")
LOGGER = "chat_knowledge_service"
ASKED = np.eye(SHAPE.dimension, dtype=np.float32)[0]
SAID = {
    "The server is configured in config/server.yaml": 0.95,
    "Use the console to talk to it": 0.9,
    "Backups run at night": 0.8,
    "It listens on port 6379": 0.62,
    "The office is painted green": 0.1,
}
"""What is known, with its similarity to every question."""


def near(similarity: float) -> Any:
    """A unit vector that is so close to the question."""
    vector = np.zeros(SHAPE.dimension, dtype=np.float32)
    vector[:2] = similarity, np.sqrt(1 - similarity**2)
    return vector


@pytest.fixture
async def known(shard: Shard, story: Stories) -> KnowledgeBase:
    """Five facts, at known distances from any question."""
    told = story("ann")
    rows = [row for text, similarity in SAID.items() for row in told.add(text, vector=near(similarity))]
    await shard.commit_memories(rows)
    return KnowledgeBase(engine(shard, ASKED), ANN)


@pytest.fixture
def service(known: KnowledgeBase) -> ChatKnowledgeService:
    return ChatKnowledgeService(RAGService(known))


@pytest.fixture(autouse=True)
def told(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """What the service's logger says."""
    caplog.set_level(logging.DEBUG, LOGGER)
    return caplog


def lines(told: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    return [(record.levelname, record.getMessage()) for record in told.records if record.name == LOGGER]


class Away(KnowledgeBase):
    """A knowledge base that fails in a way of one's own."""

    def __init__(self, known: KnowledgeBase, error: Exception) -> None:
        super().__init__(known.engine, known.scope)
        self.error = error

    async def find(self, request: SearchRequest, left_s: float | None = None) -> Retrieved:
        """Fails."""
        raise self.error


class Stuck(ToldEmbedder):
    """An embedder that never comes back."""

    async def embed(self, texts: Sequence[str]) -> Any:
        """Waits."""
        await asyncio.Event().wait()


def test_names_arguments_and_defaults_are_the_promised_ones() -> None:
    retrieve = inspect.signature(ChatKnowledgeService.retrieve_relevant_knowledge).parameters
    search = inspect.signature(RAGService.advanced_search).parameters

    assert [(name, retrieve[name].default) for name in list(retrieve)[2:4]] == [("top_k", 5), ("score_threshold", 0.3)]
    assert [(name, search[name].default) for name in list(search)[2:4]] == [
        ("max_results", 5),
        ("enable_reranking", True),
    ]
    assert next(iter(inspect.signature(RAGService).parameters)) == "knowledge_base"
    assert next(iter(inspect.signature(ChatKnowledgeService).parameters)) == "rag_service"
    assert list(retrieve)[1] == list(search)[1] == "query"


async def test_context_and_citations_have_their_exact_form(service: ChatKnowledgeService) -> None:
    context, citations = await service.retrieve_relevant_knowledge("how?", top_k=3)

    assert context == (
        "KNOWLEDGE CONTEXT:\n"
        "1. [score: 0.95] The server is configured in config/server.yaml\n"
        "2. [score: 0.90] Use the console to talk to it\n"
        "3. [score: 0.80] Backups run at night"
    )
    assert json.loads(json.dumps(citations)) == citations
    assert [cited["rank"] for cited in citations] == [1, 2, 3]
    assert citations[0].keys() == {"id", "content", "score", "source", "rank", "metadata"}
    assert (citations[0]["id"], citations[0]["content"], citations[0]["score"]) == ("1", next(iter(SAID)), 0.95)
    assert citations[0]["metadata"] == {"semantic_score": 0.95, "hybrid_score": pytest.approx(0.417), "chunk_index": 0}


async def test_scores_of_words_and_of_a_reranker_stand_in_the_citations_where_there_are_any(
    shard: Shard, known: KnowledgeBase
) -> None:
    found = Retrieval(shard_lake(shard), ToldEmbedder(ASKED), lambda: NOW, reranker=Backwards())
    service = ChatKnowledgeService(RAGService(KnowledgeBase(found, known.scope)))

    context, citations = await service.retrieve_relevant_knowledge("green office backups", top_k=2)

    assert [cited["content"] for cited in citations] == ["The office is painted green", "It listens on port 6379"]
    assert citations[0]["metadata"].keys() == {
        "semantic_score",
        "keyword_score",
        "hybrid_score",
        "rerank_score",
        "chunk_index",
    }
    assert context.startswith("KNOWLEDGE CONTEXT:\n1. [score: 0.90] The office")


class Backwards:
    """A reranker that finds the best what is the least close."""

    id = "backwards"

    async def rerank(self, query: str, texts: Sequence[str], *, deadline: float) -> list[float]:
        """1 minus the closeness that was told."""
        return [round(1 - SAID[text], 2) for text in texts]

    async def close(self) -> None:
        """Nothing is open."""


def shard_lake(shard: Shard) -> Lake:
    lake = Lake("memory", None, SHAPE)
    lake._shards[shard.partition] = shard
    return lake


async def test_what_is_found_and_filtered_out_is_logged_in_the_promised_words(
    service: ChatKnowledgeService, told: pytest.LogCaptureFixture
) -> None:
    await service.retrieve_relevant_knowledge("how?", score_threshold=0.7)

    filtered, also, found = lines(told)
    assert filtered == ("DEBUG", "Filtered out result (score 0.62 < 0.7): It listens on port 6379...")
    assert also == ("DEBUG", "Filtered out result (score 0.10 < 0.7): The office is painted green...")
    assert found[0] == "INFO"
    assert re.fullmatch(r"Retrieved 3/5 facts \(threshold: 0\.7\) in \d\.\d{3}s", found[1])


@pytest.mark.parametrize(
    ("preset", "count"), [("high_precision", 2), ("balanced", 4), ("high_recall", 4), ("off", 0), (None, 4)]
)
async def test_a_preset_says_how_much_and_how_good(
    service: ChatKnowledgeService, preset: str | None, count: int
) -> None:
    context, citations = await service.retrieve_relevant_knowledge("how?", preset=preset)

    assert len(citations) == count
    assert bool(context) == bool(count)
    assert service.failures == {}


async def test_the_preset_that_is_off_searches_nothing(known: KnowledgeBase, told: pytest.LogCaptureFixture) -> None:
    service = ChatKnowledgeService(RAGService(Away(known, ConnectionError("never asked"))))

    assert await service.retrieve_relevant_knowledge("how?", preset="off") == ("", [])
    assert (service.failures, lines(told)) == ({}, [])


async def test_a_failure_is_an_empty_context_logged_in_the_promised_words_and_counted(
    known: KnowledgeBase, told: pytest.LogCaptureFixture
) -> None:
    service = ChatKnowledgeService(RAGService(Away(known, ConnectionError("Connection timeout"))))

    assert [await service.retrieve_relevant_knowledge("test") for _ in range(2)] == [("", [])] * 2

    assert (
        lines(told)
        == [
            ("ERROR", "Knowledge retrieval failed for query 'test...': Connection timeout"),
            ("DEBUG", "Returning empty knowledge context due to error"),
        ]
        * 2
    )
    assert (await service.get_knowledge_stats())["failures"] == {"ConnectionError": 2}


@pytest.mark.parametrize("error", [Unavailable("the lake is away"), OSError("disk"), KeyError("x"), RuntimeError()])
async def test_no_failure_of_any_kind_reaches_the_chat(known: KnowledgeBase, error: Exception) -> None:
    service = ChatKnowledgeService(RAGService(Away(known, error)))

    assert await service.retrieve_relevant_knowledge("test") == ("", [])
    assert service.failures == {type(error).__name__: 1}


async def test_a_model_that_hangs_costs_its_share_of_the_time_and_no_more(shard: Shard, known: KnowledgeBase) -> None:
    found = Retrieval(shard_lake(shard), Stuck(ASKED), lambda: NOW, config=RAGConfig(timeout_s=0.05))
    service = ChatKnowledgeService(RAGService(KnowledgeBase(found, known.scope)))

    assert await service.retrieve_relevant_knowledge("test", mode="semantic") == ("", [])
    assert service.failures == {"Unavailable": 1}
    words, _ = await service.retrieve_relevant_knowledge("painted green")
    assert words == "KNOWLEDGE CONTEXT:\n1. [score: 1.00] The office is painted green"


async def test_no_answer_in_time_is_a_failure_like_any_other(
    known: KnowledgeBase, told: pytest.LogCaptureFixture
) -> None:
    class Endless(KnowledgeBase):
        async def find(self, request: SearchRequest, left_s: float | None = None) -> Retrieved:
            await asyncio.Event().wait()
            raise AssertionError

    known.engine.config = RAGConfig(timeout_s=0.02)
    service = ChatKnowledgeService(RAGService(Endless(known.engine, ANN)))

    assert await service.retrieve_relevant_knowledge("test") == ("", [])
    assert lines(told)[0][1].endswith("no answer within 0.0 s")


WRONG: dict[str, dict[str, Any]] = {
    "no results": {"top_k": 0},
    "too many results": {"top_k": 51},
    "no number": {"top_k": "five"},
    "a threshold out of range": {"score_threshold": 1.5},
    "no threshold": {"score_threshold": float("nan")},
    "no question": {"query": None},
    "a question of another type": {"query": ["how?"]},
    "a question that is too long": {"query": "x" * 10_001},
    "a lone surrogate": {"query": "\ud800"},
    "no question in a session": {"query": None, "session_id": "s"},
    "an unknown preset": {"preset": "best"},
    "an unknown option": {"colour": "green"},
    "no kind": {"kinds": ()},
    "an option twice": {"scope": ANN},
    "a moment without a zone": {"as_of": "2025-01-01T00:00:00"},
    "a session that is no name": {"session_id": []},
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
async def test_wrong_arguments_are_an_empty_context_told_on_one_line(
    service: ChatKnowledgeService, told: pytest.LogCaptureFixture, wrong: dict[str, Any]
) -> None:
    assert await service.retrieve_relevant_knowledge(**{"query": "how?", **wrong}) == ("", [])

    (level, message), (_, last) = lines(told)
    assert level == "ERROR"
    assert message.startswith("Knowledge retrieval failed for query '")
    assert "\n" not in message
    assert last == "Returning empty knowledge context due to error"
    assert sum(service.failures.values()) == 1


@pytest.mark.parametrize(
    "asked", [{"query": " \u200b"}, {"score_threshold": 1.0}, {"mode": "keyword", "query": "zebra"}]
)
async def test_nothing_that_answers_is_an_empty_context_and_no_failure(
    service: ChatKnowledgeService, asked: dict[str, Any]
) -> None:
    assert await service.retrieve_relevant_knowledge(**{"query": "how?", **asked}) == ("", [])
    assert service.failures == {}


async def test_an_empty_knowledge_base_is_an_empty_context_and_no_failure(shard: Shard) -> None:
    service = ChatKnowledgeService(RAGService(KnowledgeBase(engine(shard, ASKED), ANN)))

    assert await service.retrieve_relevant_knowledge("how?") == ("", [])
    assert service.failures == {}


async def test_who_cancels_is_obeyed(known: KnowledgeBase, told: pytest.LogCaptureFixture) -> None:
    begun = asyncio.Event()

    class Waiting(KnowledgeBase):
        async def find(self, request: SearchRequest, left_s: float | None = None) -> Retrieved:
            begun.set()
            await asyncio.Event().wait()
            raise AssertionError

    service = ChatKnowledgeService(RAGService(Waiting(known.engine, ANN)))
    task = asyncio.create_task(service.retrieve_relevant_knowledge("how?"))
    await begun.wait()

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert (service.failures, lines(told)) == ({}, [])


async def test_what_is_logged_is_masked_before_it_is_cut_and_stays_on_its_line(
    shard: Shard, story: Stories, told: pytest.LogCaptureFixture
) -> None:
    await shard.commit_memories(story("ann").add("first\nERROR: forged", vector=near(0.2)))
    secret = "s3cret"
    rag = RAGService(KnowledgeBase(engine(shard, ASKED), ANN))
    service = ChatKnowledgeService(rag, masked=lambda text: text.replace(secret, "[masked]"))

    await service.retrieve_relevant_knowledge("how?")
    await service.retrieve_relevant_knowledge("x" * 46 + secret, top_k=0)

    messages = [message for _, message in lines(told)]
    assert messages[0] == "Filtered out result (score 0.20 < 0.3): first ERROR: forged..."
    assert f"query '{'x' * 46}[mas...'" in messages[2]
    assert "s3c" not in "".join(messages)


async def test_the_questions_of_a_session_are_its_history_though_one_was_blank_or_wrong(
    known: KnowledgeBase,
) -> None:
    asked: list[tuple[str, ...]] = []

    class Listening(KnowledgeBase):
        async def find(self, request: SearchRequest, left_s: float | None = None) -> Retrieved:
            asked.append(tuple(turn.content for turn in request.history))
            return Retrieved()

    service = ChatKnowledgeService(RAGService(Listening(known.engine, ANN)))
    for session, query in [("s", "one"), ("s", " "), ("s", None), ("t", "two"), ("s", "three"), (None, "four")]:
        await service.retrieve_relevant_knowledge(query, session_id=session)  # type: ignore[arg-type]  # None is wrong

    assert asked == [(), ("one",), (), ("one",), ()]


async def test_what_the_service_is_and_does_can_be_read(service: ChatKnowledgeService) -> None:
    before = await service.get_knowledge_stats()
    await service.rag_service.initialize()
    for _ in range(2):
        await service.retrieve_relevant_knowledge("how?")

    assert before == {
        "service": "ChatKnowledgeService",
        "rag_service_initialized": False,
        "rag_cache_entries": 0,
        "kb_implementation": "KnowledgeBase",
        "failures": {},
    }
    after = await service.get_knowledge_stats()
    assert (after["rag_service_initialized"], after["rag_cache_entries"]) == (True, 1)
    assert service.rag_service.get_stats() == {
        "cache_entries": 1,
        "cache_hits": 1,
        "cache_misses": 1,
        "initialized": True,
    }


async def test_advanced_search_gives_results_and_what_they_took(known: KnowledgeBase) -> None:
    results, metrics = await RAGService(known).advanced_search(query="how?", max_results=2, enable_reranking=False)

    assert [hit.item.text for hit in results] == list(SAID)[:2]
    assert metrics.total_time == metrics.retrieval_time + metrics.reranking_time
    assert metrics.retrieval_time > metrics.reranking_time == 0
    assert (metrics.documents_considered, metrics.degraded) == (2, ())


async def test_reranking_can_be_left_out(shard: Shard, known: KnowledgeBase) -> None:
    found = Retrieval(shard_lake(shard), ToldEmbedder(ASKED), lambda: NOW, reranker=Backwards())
    service = RAGService(KnowledgeBase(found, known.scope))

    (first, *_), _ = await service.advanced_search("how?")
    (other, *_), metrics = await service.advanced_search("how?", enable_reranking=False)

    assert (first.item.text, other.item.text) == (list(SAID)[-1], next(iter(SAID)))
    assert metrics.reranking_time == 0


async def test_a_search_of_ones_own_fails_loudly(known: KnowledgeBase) -> None:
    with pytest.raises(ValueError, match="top_k"):
        await RAGService(known).advanced_search("how?", max_results=0)
    with pytest.raises(Unavailable, match="the lake is away"):
        await RAGService(Away(known, Unavailable("the lake is away"))).advanced_search("how?")
