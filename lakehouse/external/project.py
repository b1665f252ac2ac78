"""The project's own memory, as an agent's context takes it: what a scope remembers, important things first.

Rule of this file: a seam between retrieval and advice; nothing that came from outside is in a scope's memory.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from lakehouse.external.advice import ProjectMemory
from lakehouse.retrieval.rag_service import KnowledgeBase
from lakehouse.retrieval.ranking import Hit
from schemas.memory import MemoryEvent
from schemas.retrieval import MAX_QUERY_CHARACTERS, MAX_RESULTS, SearchRequest

FLOOR: Final = 0.3
"""Least score of a memory that is told at all, as of any question."""


class ProjectMemories:
    """Retrieves memories of one scope; see ``retriever.MemoryManager``."""

    def __init__(self, knowledge: KnowledgeBase, *, floor: float = FLOOR) -> None:
        """Make one.

        Args:
            knowledge: Of the scope.
            floor: Least score, 0 … 1.
        """
        self._knowledge = knowledge
        self._floor = floor

    async def retrieve(
        self, search: str, *, limit: int = 3, agent_id: str | None = None, min_importance: int = 1
    ) -> Sequence[ProjectMemory]:
        """What the scope remembers of something.

        Args:
            search: What is searched for.
            limit: Memories at most.
            agent_id: Whose; what no agent is named for is everybody's. None is all.
            min_importance: Least importance, 1 … 10.

        Raises:
            Unavailable: The lake cannot be read.
        """
        request = SearchRequest(
            scope=self._knowledge.scope,
            query=search[:MAX_QUERY_CHARACTERS],
            top_k=MAX_RESULTS,
            similarity_threshold=self._floor,
        )
        found = await self._knowledge.find(request)
        return memories_of(found.hits, agent_id=agent_id, min_importance=min_importance)[:limit]


def memories_of(hits: Iterable[Hit], *, agent_id: str | None = None, min_importance: int = 1) -> list[ProjectMemory]:
    """The memories among hits that are important enough and the agent's or everybody's, in their order."""
    found = []
    for hit in hits:
        if hit.item.kind != "knowledge":
            continue
        event = hit.item.row.event
        if event.importance >= min_importance and (agent_id is None or event.agent_id in {None, agent_id}):
            found.append(
                ProjectMemory(event.id, title_of(event), event.text, event.importance, hit.similarity, event.agent_id)
            )
    return found


def title_of(event: MemoryEvent) -> str:
    """What a memory is about, in a word or two: its subject, else its domain."""
    return event.subject or event.domain or f"memory {event.id}"
