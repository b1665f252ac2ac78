"""``ChatKnowledgeService``: context and citations for a chat's prompt, whatever happens.

Rule of this file: a chat never breaks for want of knowledge. Every failure is an empty context, logged and counted.
Names, arguments, defaults, formats and log lines are promised to programs that have them already.
"""

import logging
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, Final

from pydantic import ValidationError

from lakehouse.retrieval.context import citations_of, context_of, one_line
from lakehouse.retrieval.engine import Retrieved
from lakehouse.retrieval.rag_service import RAGService
from schemas.conversation import is_blank
from schemas.errors import Misconfigured
from schemas.message import invalid
from schemas.retrieval import PRESETS, Citation, HistoryTurn, Preset, SearchRequest

TOP_K: Final = 5
SCORE_THRESHOLD: Final = 0.3
SHOWN: Final = 50
"""Characters of a question or text in a log line."""
SESSIONS: Final = 1_000
"""Sessions whose last questions are kept."""
REMEMBERED: Final = 6
"""Questions of a session that are kept."""
log = logging.getLogger("chat_knowledge_service")


class ChatKnowledgeService:
    """Retrieves what is known, for one scope."""

    def __init__(self, rag_service: RAGService, *, masked: Callable[[str], str] = str) -> None:
        """Make a service.

        Args:
            rag_service: Where from.
            masked: Hides secrets in what is logged.
        """
        self.rag_service = rag_service
        self.failures: Counter[str] = Counter()
        """By the error's name."""
        self._masked = masked
        self._sessions: OrderedDict[str, tuple[HistoryTurn, ...]] = OrderedDict()

    async def retrieve_relevant_knowledge(
        self,
        query: str,
        top_k: int = TOP_K,
        score_threshold: float = SCORE_THRESHOLD,
        *,
        preset: str | None = None,
        session_id: str | None = None,
        **options: Any,
    ) -> tuple[str, list[dict[str, Any]]]:
        """Context and citations for a question.

        Args:
            query: The user's message.
            top_k: Facts at most, 1 … 50.
            score_threshold: Least score, 0 … 1.
            preset: Sets both: "high_precision", "balanced", "high_recall"; "off" retrieves nothing.
            session_id: The questions asked in a session are its history, where none is given.
            **options: Further fields of ``SearchRequest``, such as ``history``, ``kinds`` or ``mode``.

        Returns:
            The context string and its citations, as JSON objects with the fields of ``Citation``; ("", []) where
            nothing is found, and where anything fails.
        """
        try:
            if preset is not None:
                chosen = _preset(preset)
                if chosen is None:
                    return "", []
                top_k, score_threshold = chosen.top_k, chosen.threshold
            if session_id is not None:
                options.setdefault("history", self._session(session_id, query))
            request = SearchRequest(
                scope=self.rag_service.knowledge_base.scope,
                query=query,
                top_k=top_k,
                similarity_threshold=score_threshold,
                format="context",
                **options,
            )
            citations = self.citations(await self.found_for(request))
            return context_of(citations), [cited.to_wire() for cited in citations]
        except Exception as error:  # noqa: BLE001 - a chat never breaks for want of knowledge
            self._note(query, error)
            return "", []

    async def found_for(self, request: SearchRequest, left_s: float | None = None) -> Retrieved:
        """What answers a request, logged.

        Raises:
            Unavailable: Nothing could be searched in time.
        """
        started = time.perf_counter()
        found = await self.rag_service.within(request, left_s)
        threshold = request.similarity_threshold
        for hit in found.rejected if log.isEnabledFor(logging.DEBUG) else ():
            log.debug("Filtered out result (score %.2f < %s): %s...", hit.score, threshold, self._shown(hit.item.text))
        log.info(
            "Retrieved %d/%d facts (threshold: %s) in %.3fs",
            len(found.hits),
            len(found.hits) + len(found.rejected),
            threshold,
            time.perf_counter() - started,
        )
        return found

    def citations(self, found: Retrieved) -> tuple[Citation, ...]:
        """Its hits as citations, as many as a context has room for."""
        return citations_of(found.hits, self.rag_service.knowledge_base.engine.config.context_tokens)

    async def get_knowledge_stats(self) -> dict[str, Any]:
        """What there is and how it does."""
        return {
            "service": type(self).__name__,
            "rag_service_initialized": self.rag_service.initialized,
            "rag_cache_entries": self.rag_service.get_stats()["cache_entries"],
            "kb_implementation": type(self.rag_service.knowledge_base).__name__,
            "failures": dict(self.failures),
        }

    def _note(self, query: str, error: Exception) -> None:
        self.failures[type(error).__name__] += 1
        told = invalid(error) if isinstance(error, ValidationError) else error
        reason = one_line(self._masked(str(told)))
        log.error("Knowledge retrieval failed for query '%s...': %s", self._shown(str(query)), reason)
        log.debug("Returning empty knowledge context due to error")

    def _shown(self, text: str) -> str:
        return one_line(self._masked(text))[:SHOWN]

    def _session(self, session_id: str, query: str) -> Sequence[HistoryTurn]:
        """The questions of a session before this one, which joins them."""
        before = self._sessions.get(session_id, ())
        if not is_blank(query):
            self._sessions[session_id] = (*before, HistoryTurn(role="user", content=query))[-REMEMBERED:]
            self._sessions.move_to_end(session_id)
        while len(self._sessions) > SESSIONS:
            self._sessions.popitem(last=False)
        return before


def _preset(name: str) -> Preset | None:
    if name not in PRESETS:
        raise Misconfigured(f"preset: {name!r} is none of {', '.join(PRESETS)}")
    return PRESETS[name]
