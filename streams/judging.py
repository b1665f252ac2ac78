"""The seam between handlers and a language model: what is asked of it, within which time, and what if it fails.

Rule of this file: it asks and measures; what an answer means is in ``streams.llm``, and a failure is always the rules'
answer, marked. Nothing that was said is logged. All that one batch asks stands under one budget, so that a slow
endpoint holds up a partition no longer than that.
"""

import asyncio
import random
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal, TypeVar

from schemas.answers import ModelAnswer
from schemas.conversation import Turn
from schemas.errors import MemlakeError
from schemas.facts import CommandRecord, Extraction, Fact, TurnRecord
from streams.decide import Decision, DecisionOptions, Neighbour, decide
from streams.extract.profiles import ALL, Profile
from streams.llm.asking import CallDetails, ask
from streams.llm.breaker import BreakerPolicy
from streams.llm.client import ClientPolicy, ModelClient
from streams.llm.decision import case_of, settled
from streams.llm.extraction import Inquiry, inquiry_of, material_of, material_of_command, understood
from streams.llm.failures import ContextExceeded, ModelFailed, Reason, degraded
from streams.llm.prompts import decision_question
from streams.llm.shapes import (
    RECORDED_FACTS,
    Mask,
    ToldFact,
    decision_in,
    facts_in,
    recorded_decision,
    recorded_facts,
)
from streams.llm.transcript import Line, halves_of
from streams.logs import logger
from streams.metrics import Metrics
from streams.settings import Settings

Result = TypeVar("Result")
Use = Literal["off", "decisions", "extraction", "both"]
NewRecord = TurnRecord | CommandRecord
MAX_SPLITS: Final = 4
"""How often a text that is too long for the model is cut in two."""
MILLION: Final = 1_000_000
BREAKER: Final = {"closed": 0, "half-open": 1, "open": 2}
PROBE: Final = "The kiln is red."
REMEDIES: Final[Mapping[Reason, str]] = {
    "not authorised": "set MEMLAKE_LLM_API_KEY to a key that it takes",
    "not found": "MEMLAKE_LLM_URL is its base, to which /chat/completions is added, and MEMLAKE_LLM_MODEL one it has",
    "redirected": "set MEMLAKE_LLM_URL to where it sends one to",
    "unreachable": "MEMLAKE_LLM_URL must be where it listens",
    "timeout": "give it more time with MEMLAKE_LLM_TIMEOUT_S and MEMLAKE_LLM_DEADLINE_S",
    "quota": "its account is used up",
}
"""What an operator can do, where it is not plain from the reason."""
log = logger("llm")


@dataclass(frozen=True)
class Budget:
    """The time that all questions of one batch have together.

    Attributes:
        until: Moment of the clock at which it is spent, in seconds.
    """

    clock: Callable[[], float]
    until: float

    @property
    def left_s(self) -> float:
        """Seconds that are left; 0 where none are."""
        return max(0.0, self.until - self.clock())


@dataclass
class _Told:
    """What was told of one record's lines."""

    facts: list[ToldFact]
    is_answered: bool = False
    failure: Reason | None = None
    tokens_in: int = 0
    tokens_out: int = 0


class Judge:
    """Asks a language model, where one is set."""

    def __init__(
        self,
        settings: Settings,
        metrics: Metrics,
        mask: Mask,
        rules: Executor | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare; nothing is asked yet.

        Args:
            settings: Of the deployment.
            metrics: Counts calls, tokens and failures.
            mask: Applied to all that a model says.
            rules: Where texts are read, which may take its time; None is the loop's own threads.
            clock: Monotonic seconds.
        """
        self._settings = settings
        self._metrics = metrics
        self._mask = mask
        self._rules = rules
        self._clock = clock
        self.client: ModelClient | None = None
        if settings.llm_url:
            self.client = ModelClient(client_policy(settings), clock=clock, jitter=random.random)

    async def close(self) -> None:
        """Let go of the endpoint."""
        if self.client is not None:
            await self.client.close()

    def budget(self) -> Budget:
        """The time of a batch that begins now."""
        return Budget(self._clock, self._clock() + self._settings.llm_budget_s)

    async def extracted(
        self, records: Mapping[str, NewRecord], contexts: Mapping[str, Sequence[Turn]]
    ) -> dict[str, NewRecord]:
        """Records that the rules have read, with what a model finds in them.

        Args:
            records: New ones of one batch, by record id.
            contexts: The turns before each turn, oldest first, by record id.

        Returns:
            The same records in the same order; each as it was where no model was asked about it.
        """
        told = {record_id: self._without_endpoint(record) for record_id, record in records.items()}
        wanted = [record for record in records.values() if self._wants_facts(record)]
        if wanted:
            budget = self.budget()
            asking = partial(_inquiries, wanted, contexts, self._settings.profile)
            inquiries = await self._in_thread(asking)
            answers = await side_by_side(self._answer(inquiry, budget) for inquiry in inquiries)
            found = await self._in_thread(partial(_all_understood, wanted, inquiries, answers))
            told.update((record.record_id, record) for record in found)
        for record in told.values():
            for reason in record.extraction.degraded:
                self._metrics.degraded.labels(reason).inc()
        return told

    def decides(self, record: NewRecord) -> bool:
        """Whether a model is to be asked what the facts of a record do."""
        if isinstance(record, CommandRecord):
            return record.command.options.use_llm_decisions
        return self._settings.llm_use in {"decisions", "both"}

    async def decide(
        self, fact: Fact, neighbours: Sequence[Neighbour], options: DecisionOptions, budget: Budget | None
    ) -> Decision:
        """What a fact does to what is known.

        Args:
            fact: The new fact.
            neighbours: Known memories.
            options: Thresholds and permissions.
            budget: The time that is left for it; None where no model is to be asked.
        """
        rule = decide(fact, neighbours, options)
        case = case_of(fact, neighbours, options, rule) if budget is not None else None
        if budget is None or case is None:
            return rule
        told = ModelAnswer(model=self._settings.llm_model, prompt=case.prompt)
        read = partial(decision_in, candidates=len(case.shown), mask=self._mask)
        try:
            answer = await ask(self._client(), case.question, read, seconds=budget.left_s, observe=self._observed)
        except ModelFailed as error:
            told = told.model_copy(update={"degraded": degraded(error.reason)})
        else:
            told = told.model_copy(update={"answer": recorded_decision(answer.value)})
        decision = settled(case, told)
        if decision.model is not None and decision.model.degraded is not None:
            self._metrics.degraded.labels(decision.model.degraded).inc()
        return decision

    def _client(self) -> ModelClient:
        if self.client is None:
            raise ModelFailed("not configured")
        return self.client

    def _wants_facts(self, record: NewRecord) -> bool:
        if self.client is None or self._settings.llm_use not in {"extraction", "both"}:
            return False
        if isinstance(record, CommandRecord):
            return record.command.op == "extract_and_operate"
        return record.turn.role == "user"  # of an assistant's words only what is agreed to is a fact

    def _without_endpoint(self, record: NewRecord) -> NewRecord:
        """A record whose sender wants a model's decisions, marked where there is no model."""
        if self.client is not None or isinstance(record, TurnRecord) or not self.decides(record):
            return record
        found = record.extraction.model_copy(update={"degraded": (degraded("not configured"),)})
        return record.model_copy(update={"extraction": found})

    async def _in_thread(self, work: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._rules, work)

    async def _answer(self, inquiry: Inquiry, budget: Budget) -> ModelAnswer | None:
        """What the model says about one record; None where there is nothing to ask about."""
        if not inquiry.windows:
            return None
        parts = await side_by_side(self._told(inquiry, window, budget) for window in inquiry.windows)
        failures = [part.failure for part in parts if part.failure is not None]
        failures += ["too much text"] if inquiry.is_cut else []
        facts = tuple(fact for part in parts for fact in part.facts)[:RECORDED_FACTS]
        return ModelAnswer(
            model=self._settings.llm_model,
            prompt=inquiry.prompt,
            answer=recorded_facts(facts) if any(part.is_answered for part in parts) else None,
            degraded=degraded(failures[0]) if failures else None,
            tokens_in=sum(part.tokens_in for part in parts),
            tokens_out=sum(part.tokens_out for part in parts),
        )

    async def _told(self, inquiry: Inquiry, window: Sequence[Line], budget: Budget, splits: int = 0) -> _Told:
        """The facts of some lines; where they are too many for the model, of their halves."""
        try:
            answer = await ask(
                self._client(),
                inquiry.question(window),
                partial(facts_in, mask=self._mask),
                seconds=budget.left_s,
                observe=self._observed,
            )
        except ContextExceeded as error:
            halves = halves_of(window) if splits < MAX_SPLITS else []
            if not halves:
                return _Told([], failure=error.reason)
            parts = [await self._told(inquiry, half, budget, splits + 1) for half in halves]
            return _joined(parts)
        except ModelFailed as error:
            return _Told([], failure=error.reason)
        return _Told(list(answer.value), is_answered=True, tokens_in=answer.tokens_in, tokens_out=answer.tokens_out)

    def _observed(self, details: CallDetails) -> None:
        metrics, settings = self._metrics, self._settings
        metrics.llm_calls.labels(details.kind, details.outcome).inc()
        metrics.llm_requests.labels(details.kind).inc(details.requests)
        metrics.llm_seconds.labels(details.kind).observe(details.seconds)
        metrics.llm_tokens.labels("in").inc(details.tokens_in)
        metrics.llm_tokens.labels("out").inc(details.tokens_out)
        cost = details.tokens_in * settings.llm_price_in + details.tokens_out * settings.llm_price_out
        metrics.llm_cost.inc(cost / MILLION)
        if self.client is not None:
            metrics.llm_breaker.set(BREAKER[self.client.breaker.state(self._clock())])
        tell = log.debug if details.outcome == "answered" else log.warning
        tell("asked", kind=details.kind, outcome=details.outcome, ms=round(details.seconds * 1000, 1))


def client_policy(settings: Settings) -> ClientPolicy:
    """How the endpoint of the settings is called."""
    return ClientPolicy(
        url=settings.llm_url.rstrip("/"),
        model=settings.llm_model,
        api_key=settings.llm_api_key.get_secret_value(),
        attempt_s=settings.llm_timeout_s,
        deadline_s=settings.llm_deadline_s,
        retries=settings.llm_retries,
        concurrency=settings.llm_concurrency,
        max_bytes=settings.llm_max_bytes,
        max_tokens=settings.llm_max_tokens,
        breaker=BreakerPolicy(settings.llm_breaker_failures, settings.llm_breaker_cooloff_s),
    )


async def probe(settings: Settings) -> str:
    """Ask the endpoint of the settings something whose answer is of no interest.

    Returns:
        What it is, and how long it took.

    Raises:
        MemlakeError: It does not answer, with what may help.
    """
    question, began = decision_question(PROBE, [PROBE]), time.monotonic()
    read = partial(decision_in, candidates=1, mask=str)
    async with ModelClient(client_policy(settings), clock=time.monotonic, jitter=random.random) as client:
        try:
            await ask(client, question, read, seconds=settings.llm_deadline_s, observe=_unobserved)
        except ModelFailed as error:
            remedy = REMEDIES.get(error.reason)
            told = f"{settings.llm_url} does not answer as it should: {error}"
            raise MemlakeError(f"{told}; {remedy}" if remedy else told) from error
        form = "with a schema" if client.dialect.schema else "without a schema, which it does not take"
    return f"{settings.llm_model} at {settings.llm_url} answers {form}, in {time.monotonic() - began:.1f} s"


def _unobserved(_: CallDetails) -> None:
    """A look counts for no metric."""


async def side_by_side(works: Iterable[Coroutine[Any, Any, Result]]) -> list[Result]:
    """Do several things at once, and all of them or none: where one fails, the others are ended before that is told."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def extract_recorded(
    record: NewRecord, context: Sequence[Turn], rules: Extraction, told: ModelAnswer, profile: Profile = ALL
) -> Extraction:
    """Extract again as it was extracted, without a model.

    Args:
        record: With the masked turn or command.
        context: The turns before it, oldest first.
        rules: What the rules make of it now.
        told: What was recorded with it.
        profile: What is worth remembering.

    Returns:
        The recorded facts where the same is asked; what the rules found, marked, where it would be another question.

    Raises:
        AnswerInvalid: The recorded answer is none of ours.
    """
    inquiry = _inquiry(record, context, profile)
    if told.prompt != inquiry.prompt:
        told = ModelAnswer(model=told.model, prompt=inquiry.prompt, degraded=degraded("no recorded answer"))
    return understood(inquiry.material, told, rules)


def _inquiries(records: Sequence[NewRecord], contexts: Mapping[str, Sequence[Turn]], profile: Profile) -> list[Inquiry]:
    return [_inquiry(record, contexts.get(record.record_id, ()), profile) for record in records]


def _inquiry(record: NewRecord, context: Sequence[Turn], profile: Profile) -> Inquiry:
    if isinstance(record, TurnRecord):
        return inquiry_of(material_of(record.turn, context, record.record_id, profile))
    return inquiry_of(material_of_command(record.command, record.record_id, record.recorded_at, profile))


def _all_understood(
    records: Sequence[NewRecord], inquiries: Sequence[Inquiry], answers: Sequence[ModelAnswer | None]
) -> list[NewRecord]:
    found = []
    for record, inquiry, told in zip(records, inquiries, answers, strict=True):
        if told is not None:
            extraction = understood(inquiry.material, told, record.extraction)
            found.append(record.model_copy(update={"extraction": extraction}))
    return found


def _joined(parts: Sequence[_Told]) -> _Told:
    return _Told(
        [fact for part in parts for fact in part.facts],
        is_answered=any(part.is_answered for part in parts),
        failure=next((part.failure for part in parts if part.failure is not None), None),
        tokens_in=sum(part.tokens_in for part in parts),
        tokens_out=sum(part.tokens_out for part in parts),
    )
