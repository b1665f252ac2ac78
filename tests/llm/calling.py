"""A client of the fault server, whose pauses last no time, and one good question with its answer."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from streams.llm.asking import Answer, CallDetails, ask
from streams.llm.breaker import BreakerPolicy
from streams.llm.client import ClientPolicy, ModelClient
from streams.llm.failures import ModelFailed
from streams.llm.prompts import decision_question
from streams.llm.shapes import ToldDecision, decision_in
from tests.llm.fault_server import says

GOOD = {"reasoning": "The pier is another one.", "event": "UPDATE", "targetId": 0, "confidence": 0.9}
OK = says(GOOD)
QUESTION = decision_question("I live in Braga now.", ["I live in Tavira."])
POLICY = ClientPolicy(
    url="",
    model="m",
    api_key="a-key-that-is-long-enough",
    attempt_s=0.5,
    deadline_s=2.5,
    retries=2,
    concurrency=2,
    max_bytes=100_000,
    max_tokens=256,
    breaker=BreakerPolicy(failures=3, cooloff_s=60),
)
MARGIN_S = 5.0
"""What a busy machine may add to a deadline."""


class Endpoint:
    """A client with its own clock of pauses: each is noted and lasts no time."""

    def __init__(self, url: str, **changed: Any) -> None:
        self.pauses: list[float] = []
        self.calls: list[CallDetails] = []
        self.skipped_s = 0.0
        self.client = ModelClient(
            replace(POLICY, url=url, **changed), clock=self._now, jitter=lambda: 1.0, sleep=self._sleep
        )

    def _now(self) -> float:
        return time.monotonic() + self.skipped_s

    async def _sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)

    async def ask(self, seconds: float = 60) -> Answer[ToldDecision]:
        read = partial(decision_in, candidates=1, mask=str)
        return await ask(self.client, QUESTION, read, seconds=seconds, observe=self.calls.append)

    async def fails(self) -> ModelFailed:
        with pytest.raises(ModelFailed) as failed:
            await self.ask()
        return failed.value


async def settled(condition: Callable[[], bool]) -> None:
    """Wait until something holds."""
    async with asyncio.timeout(MARGIN_S):
        while not condition():  # noqa: ASYNC110 - the server tells no event
            await asyncio.sleep(0.01)
