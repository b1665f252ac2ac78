"""The way from a question to documentation: asks for pages over Kafka, and tells what was asked, in batches.

Rule of this file: nothing here waits for a host. A look-up that cannot be told is dropped, and that is logged: it is a
figure in a report, and no answer waits for it.
"""

import os
from collections import deque

from lakehouse.external.kept import KeptKnowledge
from lakehouse.external.project import ProjectMemories
from lakehouse.external.retriever import ExternalKnowledgeRetriever
from lakehouse.retrieval.rag_service import KnowledgeBase
from schemas.errors import MemlakeError
from schemas.identity import derived_id
from schemas.knowledge import MAX_LOOKUPS, Accesses, Lookup, RefreshRequest
from schemas.message import cloud_event
from streams.logs import logger
from streams.ports import Ports
from streams.refreshing import refresh_of
from streams.wire import Outgoing

MOST_WAITING = 10_000
log = logger("outside")


class Outside:
    """Documentation for the questions of one worker."""

    def __init__(self, ports: Ports, kept: KeptKnowledge | None, projects: frozenset[str] = frozenset()) -> None:
        """Make one.

        Args:
            ports: The world.
            kept: What is kept; None where no documentation is configured.
            projects: That have documentation.
        """
        self._projects = projects
        self._ports = ports
        self._kept = kept
        self._waiting: deque[Lookup] = deque(maxlen=MOST_WAITING)
        self._own = os.urandom(8).hex()
        self._told = 0

    @property
    def is_configured(self) -> bool:
        """Whether there is any documentation to ask for."""
        return self._kept is not None

    def retriever(
        self, knowledge: KnowledgeBase, *, left_s: float, agent_id: str | None = None
    ) -> ExternalKnowledgeRetriever:
        """Asks for one scope.

        Args:
            knowledge: The scope's own memory, which comes first.
            left_s: Of the answer's time.
            agent_id: On whose behalf.
        """
        return ExternalKnowledgeRetriever(
            ProjectMemories(knowledge),
            self._kept,
            ask=self._ask,
            note=self._note,
            clock=self._ports.clock,
            deadline_s=max(0.001, min(self._ports.settings.docs_deadline_ms / 1000, left_s)),
            agent=agent_id,
            projects=self._projects,
        )

    async def tell(self) -> None:
        """Send the look-ups that wait; call it every second or so. Those of the last second end with the process."""
        while self._waiting:
            some = [self._waiting.popleft() for _ in range(min(MAX_LOOKUPS, len(self._waiting)))]
            self._told += 1
            accesses = Accesses(id=derived_id("accesses", self._own, self._told), lookups=tuple(some))
            try:
                await self._ports.outbox.send([self._outgoing(accesses)])
            except MemlakeError as error:
                log.warning("look-ups were not told", count=len(some), reason=str(error))
                return

    async def _ask(self, request: RefreshRequest) -> None:
        await self._ports.outbox.send([refresh_of(request, self._ports.outbox.source)])

    def _note(self, lookup: Lookup) -> None:
        self._ports.metrics.lookups.labels(lookup.stage, lookup.outcome).inc()
        masked = self._ports.masker.text(lookup.query)[:300]
        self._waiting.append(lookup.model_copy(update={"query": masked}))

    def _outgoing(self, accesses: Accesses) -> Outgoing:
        key = Accesses.kind
        headers = cloud_event(
            accesses, event_id=accesses.id, source=self._ports.outbox.source, time=self._ports.clock(), key=key
        )
        return Outgoing("knowledge.refresh", key, accesses.encode(), headers)
