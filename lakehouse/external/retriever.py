"""``ExternalKnowledgeRetriever``: what the project knows, what is kept of the outside, and what is asked for now.

Rule of this file: three stages under one deadline, the project's own memory first, and no answer is waited for longer.
It reads tables and asks for pages; it fetches nothing and writes nothing. A page that comes too late for this question
is there for the next.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from secrets import token_hex
from typing import Final, Protocol

from lakehouse.external.advice import MAX_DOCUMENTS, Advice, ProjectMemory, agent_context
from lakehouse.external.library import symbol_url
from lakehouse.external.tasks import Asked, Symbol, asked_of
from schemas.errors import MemlakeError
from schemas.knowledge import (
    Deprecation,
    Document,
    Lookup,
    LookupOutcome,
    PageState,
    RefreshReason,
    RefreshRequest,
    Stage,
)

DEADLINE_S: Final = 0.1
PROJECT_S: Final = 0.04
CACHE_S: Final = 0.03
"""The whole, and of it what the first two stages may take."""
POLL_S: Final = 0.005
ENOUGH_MEMORIES: Final = 3
"""Of the project's own, above the floor: then nobody outside is asked."""
MIN_IMPORTANCE: Final = 5
MEMORY_FLOOR: Final = 0.5
"""Least similarity of a memory that answers a question by itself. A guess, too: see ``kept.FLOOR``."""


class MemoryManager(Protocol):
    """The project's own memory."""

    async def retrieve(
        self, search: str, *, limit: int = ENOUGH_MEMORIES, agent_id: str | None = None, min_importance: int = 1
    ) -> Sequence[ProjectMemory]:
        """What it knows, best first; nothing that came from outside."""


@dataclass(frozen=True)
class Kept:
    """A document as it is kept.

    Attributes:
        document: What it is.
        checked_at: When its source last said that it holds.
        stale: Whether that was longer ago than its kind holds.
        similarity: To what was searched for, 0 … 1.
        score: Its relevance, 0 … 1.
        stage: Whether it was there, or came while it was waited for.
    """

    document: Document
    checked_at: datetime
    stale: bool
    similarity: float = 0.0
    score: float = 0.0
    stage: Stage = "cache"


class Cache(Protocol):
    """What is kept of the outside."""

    async def find(self, symbol: str, project: str | None, version: str | None) -> Kept | None:
        """The document of a symbol, of the version nearest to the one that is asked for."""

    async def relevant(self, context: str, limit: int) -> Sequence[Kept]:
        """What fits best, the gate of similarity passed; see ``scoring``."""

    async def page(self, url: str) -> PageState | None:
        """What is known of a page, or of a symbol that was looked for."""

    async def deprecations(self, symbols: Sequence[str]) -> Sequence[Deprecation]:
        """What is known of symbols that are not to be used any more."""


@dataclass(frozen=True)
class Verdict:
    """Whether the outside is asked, and why."""

    yes: bool
    reason: str

    def __bool__(self) -> bool:
        return self.yes


@dataclass(frozen=True)
class Knowledge:
    """An answer of one of the three stages.

    Attributes:
        stage: Which.
        memory: Of the project; None where it is a document.
        document: Of the outside.
        stale: Whether the document is past its time.
        milliseconds: What it took.
    """

    stage: Stage
    memory: ProjectMemory | None = None
    document: Document | None = None
    stale: bool = False
    milliseconds: float = 0.0


Ask = Callable[[RefreshRequest], Awaitable[None]]
Note = Callable[[Lookup], None]


@dataclass
class ExternalKnowledgeRetriever:
    """Answers with what the project knows and, where that is not enough, with documentation.

    Attributes:
        memory_manager: The project's own memory.
        cache: What is kept of the outside; None where nothing is configured: then only the project answers.
        ask: Asks for a page, and does not wait for it.
        note: Is told of each question.
        clock: Now, timezone-aware.
        deadline_s: For one question, all in all.
        agent: On whose behalf, for the report.
        projects: That have documentation.
    """

    memory_manager: MemoryManager
    cache: Cache | None = None
    ask: Ask | None = None
    note: Note = lambda _: None
    clock: Callable[[], datetime] = field(kw_only=True)
    deadline_s: float = DEADLINE_S
    agent: str | None = None
    projects: frozenset[str] = frozenset()
    missed: list[str] = field(default_factory=list)
    """Symbols that were asked for and did not come in time, or could not be asked for."""

    async def should_query_external(self, task: str) -> Verdict:
        """Whether the outside is to be asked for a task; see ``verdict_of``."""
        known = () if self.cache is None else await self.memory_manager.retrieve(task, limit=ENOUGH_MEMORIES)
        return self.verdict(task, known)

    def verdict(self, task: str, known: Sequence[ProjectMemory]) -> Verdict:
        """The same, given what the project knows, best first."""
        if self.cache is None:
            return Verdict(yes=False, reason="no documentation is configured")
        return verdict_of(asked_of(task, self.projects), known)

    async def should_fetch_external(self, context: str) -> Verdict:
        """Whether a host may be asked for a question, once neither the project nor what is kept has an answer."""
        return await self.should_query_external(context)

    async def get_function_doc(self, language: str, module: str, function: str) -> Document | None:
        """The documentation of one function, as far as it can be had in time.

        Args:
            language: Its project, such as "python".
            module: Such as "asyncio".
            function: Such as "run".
        """
        found = await self._outside(Symbol(f"{module}.{function}", project=language), self._ends())
        return None if found is None else found.document

    async def get_knowledge(self, context: str) -> Knowledge | None:
        """The best single answer: a memory, else what is kept, else what comes in time.

        Returns:
            None where nobody knows, or not in time.
        """
        started, ends = time.perf_counter(), self._ends()
        try:
            async with asyncio.timeout(min(PROJECT_S, self.deadline_s)):
                memories = await self.memory_manager.retrieve(context, limit=1)
        except (TimeoutError, MemlakeError):
            memories = ()
            self._told("project", "failed", context, started)
        if memories and memories[0].similarity >= MEMORY_FLOOR:
            self._told("project", "hit", context, started)
            return Knowledge("project", memory=memories[0], milliseconds=_since(started))
        told = asked_of(context, self.projects)
        if self.cache is None or not verdict_of(told, memories):
            return None
        for symbol in told.symbols:
            found = await self._outside(symbol, ends)
            if found is not None:
                return Knowledge(found.stage, None, found.document, found.stale, _since(started))
        return None

    async def get_relevant_docs(self, task: str, limit: int = MAX_DOCUMENTS) -> list[Advice]:
        """Documents that may help with a task: those of the symbols it names first, then what fits by its words.

        Args:
            task: In the agent's words.
            limit: Documents at most.
        """
        if self.cache is None:
            return []
        ends, told = self._ends(), asked_of(task, self.projects)
        found: dict[str, Advice] = {}
        for symbol in told.symbols[:limit]:
            kept = await self._outside(symbol, ends)
            if kept is not None:
                wanted = None if symbol.version in {None, kept.document.version} else symbol.version
                found.setdefault(kept.document.id, _advice(kept, wanted))
        if len(found) < limit:
            try:
                async with asyncio.timeout(max(CACHE_S, ends - time.monotonic())):
                    more = await self.cache.relevant(task, limit)
            except (TimeoutError, MemlakeError):
                more = ()
            for kept in more:
                found.setdefault(kept.document.id, _advice(kept, None))
        return list(found.values())[:limit]

    async def build_agent_context(self, agent_id: str | None, task: str) -> str:
        """What an agent reads before a task: memories of importance 5 and more, then documentation where it is needed.

        Args:
            agent_id: Whose memories, where they are told apart; None is everybody's.
            task: In the agent's words.
        """
        memories = await self.memory_manager.retrieve(
            task, limit=ENOUGH_MEMORIES, agent_id=agent_id, min_importance=MIN_IMPORTANCE
        )
        advice = await self.get_relevant_docs(task) if await self.should_query_external(task) else []
        return agent_context(memories, advice, await self.warnings(task, memories, advice), mark=token_hex(4))

    async def warnings(
        self, task: str, memories: Sequence[ProjectMemory], advice: Sequence[Advice]
    ) -> list[Deprecation]:
        """Deprecations of what the task, the memories and the documents name."""
        if self.cache is None:
            return []
        texts = [task, *(memory.content for memory in memories)]
        named = dict.fromkeys(symbol.name for text in texts for symbol in asked_of(text).symbols)
        named |= dict.fromkeys(one.document.name for one in advice)
        try:
            async with asyncio.timeout(CACHE_S):
                return list(await self.cache.deprecations(list(named))) if named else []
        except (TimeoutError, MemlakeError):
            return []

    async def _outside(self, symbol: Symbol, ends: float) -> Kept | None:
        """What is kept of a symbol, else what comes of asking for it before the deadline."""
        assert self.cache is not None
        started = time.perf_counter()
        try:
            async with asyncio.timeout(max(0.001, ends - time.monotonic())):
                kept = await self.cache.find(symbol.name, symbol.project, symbol.version)
                if kept is not None:
                    self._told("cache", "stale" if kept.stale else "fresh", symbol.name, started, kept.document)
                    if kept.stale:
                        await self._ask(symbol, "stale", kept.document)
                    return kept
                negative = await self.cache.page(symbol_url(symbol.project, symbol.name))
                if negative is not None and negative.negative_until and negative.negative_until > self.clock():
                    self._told("cache", "negative", symbol.name, started)
                    return None
                self._told("cache", "miss", symbol.name, started)
                await self._ask(symbol, "miss", None)
                return await self._arrived(symbol, started)
        except TimeoutError:
            self._told("external", "budget", symbol.name, started)
        except MemlakeError:
            self._told("external", "failed", symbol.name, started)
        self.missed.append(symbol.name)
        return None

    async def _arrived(self, symbol: Symbol, started: float) -> Kept | None:
        """Wait for what was asked for, until somebody ends the wait."""
        assert self.cache is not None
        while True:
            await asyncio.sleep(POLL_S)
            kept = await self.cache.find(symbol.name, symbol.project, symbol.version)
            if kept is not None:
                self._told("external", "hit", symbol.name, started, kept.document)
                return replace(kept, stage="external")
            negative = await self.cache.page(symbol_url(symbol.project, symbol.name))
            if negative is not None and negative.negative_until and negative.negative_until > self.clock():
                self._told("external", "unresolved", symbol.name, started)
                return None

    async def _ask(self, symbol: Symbol, reason: RefreshReason, document: Document | None) -> None:
        if self.ask is None:
            return
        await self.ask(
            RefreshRequest(
                url=document.page_url if document else symbol_url(symbol.project, symbol.name),
                source=document.source if document else "",
                project=document.project if document else symbol.project or "",
                symbol=None if document else symbol.name,
                version=symbol.version,
                reason=reason,
                requested_at=self.clock(),
            )
        )

    def _told(
        self, stage: Stage, outcome: LookupOutcome, query: str, started: float, document: Document | None = None
    ) -> None:
        self.note(
            Lookup(
                at=self.clock(),
                stage=stage,
                outcome=outcome,
                query=query[:300],
                project=document.project if document else None,
                document_id=document.id if document else None,
                source=document.source if document else None,
                agent=self.agent,
                milliseconds=_since(started),
            )
        )

    def _ends(self) -> float:
        return time.monotonic() + self.deadline_s


def verdict_of(told: Asked, memories: Sequence[ProjectMemory]) -> Verdict:
    """Whether the outside is asked for what a task names, given what the project knows.

    In this order: an explicit question for documentation, yes; three memories that fit, no; a change of form alone
    without a symbol that no memory names, no; a symbol that no memory names, yes; an error that no memory names, yes.
    """
    fitting = [memory for memory in memories if memory.similarity >= MEMORY_FLOOR]
    known = " ".join(memory.content for memory in fitting)
    unknown = [symbol.name for symbol in told.symbols if symbol.name not in known]
    if told.wants_documentation:
        return Verdict(yes=True, reason="documentation is asked for")
    if len(fitting) >= ENOUGH_MEMORIES:
        return Verdict(yes=False, reason="the project knows enough")
    if told.is_refactoring and not unknown:
        return Verdict(yes=False, reason="only the form changes")
    if unknown:
        return Verdict(yes=True, reason=f"no memory names {unknown[0]}")
    if told.errors and not any(error in known for error in told.errors):
        return Verdict(yes=True, reason=f"no memory names {told.errors[0]}")
    return Verdict(yes=False, reason="nothing in it is documented outside")


def _advice(kept: Kept, wanted: str | None) -> Advice:
    return Advice(kept.document, kept.score, kept.checked_at, kept.stale, wanted, kept.similarity)


def _since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 3)
