"""What documentation adds to an answer: results beside the memories, or the second part of an agent's context.

Rule of this file: it never takes anything from an answer. What fails here is said in ``degraded``.
"""

import asyncio
from dataclasses import dataclass
from secrets import token_hex

from lakehouse.external.advice import (
    MAX_DOCUMENTS,
    TITLE_CHARACTERS,
    Advice,
    ProjectMemory,
    agent_context,
    named,
)
from lakehouse.external.project import memories_of
from lakehouse.external.retriever import ENOUGH_MEMORIES, MIN_IMPORTANCE
from lakehouse.retrieval.engine import Retrieved
from lakehouse.retrieval.rag_service import KnowledgeBase
from schemas.errors import MemlakeError
from schemas.knowledge import Deprecation
from schemas.retrieval import Reply, SearchRequest, SearchResult
from streams.outside import Outside

DOCUMENT_CITED = "doc:"
SHARE = 0.8
"""Of the answer's time that is left: what the project knows is told in the rest, whatever documentation takes."""
LATE = "external: it did not come in time; what could be fetched is there for the next question"


@dataclass(frozen=True)
class Told:
    """What the outside told.

    Attributes:
        memories: Of the project, for an agent's context.
        advice: Documents, best first.
        warnings: Deprecations of what memories and documents name.
        degraded: What could not be had.
    """

    memories: tuple[ProjectMemory, ...] = ()
    advice: tuple[Advice, ...] = ()
    warnings: tuple[Deprecation, ...] = ()
    degraded: tuple[str, ...] = ()


async def told_outside(
    outside: Outside, knowledge: KnowledgeBase, request: SearchRequest, found: Retrieved, left_s: float
) -> Told:
    """Ask documentation, where a question wants it.

    Args:
        outside: The way there.
        knowledge: The scope's own memory.
        request: The question.
        found: What the scope's memory has to say.
        left_s: Of the answer's time.
    """
    memories = tuple(memories_of(found.hits, agent_id=request.agent_id, min_importance=MIN_IMPORTANCE))
    retriever = outside.retriever(knowledge, left_s=left_s, agent_id=request.agent_id)
    try:
        async with asyncio.timeout(max(0.0, left_s * SHARE)):
            known = memories_of(found.hits)[:ENOUGH_MEMORIES]  # looked for already
            wanted = "external" in request.kinds or retriever.verdict(request.query, known)
            limit = request.top_k if request.format == "results" else MAX_DOCUMENTS
            advice = await retriever.get_relevant_docs(request.query, limit) if wanted else []
            warnings = await retriever.warnings(request.query, memories, advice)
    except TimeoutError:
        return Told(memories, degraded=(LATE,))
    except MemlakeError as error:
        return Told(memories, degraded=(f"external: {error}",))
    late = (LATE,) if retriever.missed and not advice else ()
    return Told(memories, tuple(advice), tuple(warnings), late)


def with_outside(reply: Reply, told: Told, request: SearchRequest) -> Reply:
    """The reply with what the outside told in the form that was asked for."""
    if request.format == "agent_context":
        context = agent_context(told.memories, told.advice, told.warnings, mark=token_hex(4))
        ids = {str(memory.id) for memory in told.memories}
        cited = tuple(one for one in reply.citations or () if one.id in ids)
        renumbered = tuple(one.model_copy(update={"rank": rank}) for rank, one in enumerate(cited, 1))
        return reply.model_copy(update={"context": context, "citations": renumbered})
    if "external" not in request.kinds or request.format != "results":
        return reply
    documents = [_result(one) for one in told.advice if one.score >= request.similarity_threshold]
    results = (*reply.results, *documents)[: request.top_k]
    metadata = reply.metadata.model_copy(update={"total_results": len(results)})
    return reply.model_copy(update={"results": results, "metadata": metadata})


def _result(advice: Advice) -> SearchResult:
    told = advice.document
    return SearchResult(
        id=f"{DOCUMENT_CITED}{told.id}",
        text=named(told) if told.flags else f"{told.title[:TITLE_CHARACTERS]}: {told.summary}",
        tags=("external", told.source),
        timestamp=advice.checked_at,
        similarity=advice.similarity,
        score=advice.score,
        source="external",
        memory_type="external",
        domain=told.project,
        confidence=told.trust,
        reasoning=f"{told.page_url}#{told.anchor}" if told.anchor else told.page_url,
    )
