"""One client for any OpenAI-compatible endpoint: each call bounded in time, bytes and tries, and ended by a value.

Rule of this file: the only one that imports httpx. It waits and counts; what to do about a reply is in ``verdicts``,
what it means in ``envelope``, when to leave the endpoint alone in ``breaker``. Nothing that was said is in an error.
"""

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Self

import httpx

from streams.llm.breaker import Breaker, BreakerPolicy
from streams.llm.envelope import Completion, Unusable, completion_of
from streams.llm.failures import AWAY, ContextExceeded, ModelFailed, Reason
from streams.llm.prompts import Question
from streams.llm.verdicts import Dialect, Verdict, verdict_on

FIRST_PAUSE_S: Final = 0.5
LONGEST_PAUSE_S: Final = 8.0
ERROR_BYTES: Final = 16_384
"""Of a refusal that are read."""
Message = Mapping[str, str]


@dataclass(frozen=True)
class ClientPolicy:
    """How to call.

    Attributes:
        url: Base of the endpoint; ``/chat/completions`` is put behind it.
        model: As the endpoint knows it.
        api_key: Sent as bearer token; empty sends none.
        attempt_s: Seconds for one try, from the connection to the last byte.
        deadline_s: Seconds for one call with all its tries and pauses.
        retries: Further tries where the endpoint is at fault.
        concurrency: Calls under way at once.
        max_bytes: Of an answer.
        max_tokens: Of an answer; once more as many where it was cut off.
        breaker: When to leave the endpoint alone.
    """

    url: str
    model: str
    api_key: str
    attempt_s: float
    deadline_s: float
    retries: int
    concurrency: int
    max_bytes: int
    max_tokens: int
    breaker: BreakerPolicy


@dataclass(frozen=True)
class Exchange:
    """A reply as it came.

    Attributes:
        headers: By lower-case name.
        body: Whole for a 2xx, else its beginning.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes


class _TooLarge(Exception):  # noqa: N818 - never leaves this file
    """An answer has more bytes than allowed."""


FAULTS: Final[Sequence[tuple[type[Exception], Reason, int]]] = (
    (httpx.PoolTimeout, "busy", 99),
    (httpx.ConnectTimeout, "unreachable", 99),
    (httpx.TimeoutException, "timeout", 99),
    (TimeoutError, "timeout", 99),
    (httpx.ConnectError, "unreachable", 99),
    (httpx.DecodingError, "broken reply", 1),
    (httpx.TransportError, "broken reply", 99),
    (_TooLarge, "too large", 0),
)
"""What may go wrong on the wire, the first that fits: its reason, and how often it is worth another try at most."""


class ModelClient:
    """Calls one endpoint.

    Attributes:
        breaker: Whether it is left alone.
        dialect: What of the protocol it takes, as far as it has told.
    """

    def __init__(
        self,
        policy: ClientPolicy,
        *,
        clock: Callable[[], float],
        jitter: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Prepare; nothing is sent.

        Args:
            policy: How to call.
            clock: Monotonic seconds.
            jitter: 0 … 1, so that workers do not try in step.
            sleep: How to wait between tries.
        """
        self.policy = policy
        self.breaker = Breaker(policy.breaker)
        self.clock = clock
        self._jitter = jitter
        self._sleep = sleep
        self.dialect = Dialect()
        self._free = asyncio.Semaphore(policy.concurrency)
        self._http = httpx.AsyncClient(
            headers=_headers(policy),
            timeout=httpx.Timeout(policy.attempt_s),
            limits=httpx.Limits(max_connections=policy.concurrency, max_keepalive_connections=policy.concurrency),
            follow_redirects=False,
            verify=_trust(policy.url),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Let go of all connections."""
        await self._http.aclose()

    def slot(self) -> AbstractAsyncContextManager[None]:
        """One of the calls that may be under way; waits for it."""
        return self._free

    async def complete(
        self, question: Question, history: Sequence[Message], *, until: float, longer: bool = False
    ) -> Completion | Unusable:
        """Ask once, with tries as the endpoint's state asks for them. Whoever calls bounds the time.

        Args:
            question: What is asked.
            history: What was said after the question: an answer that does not fit and what is wrong with it.
            until: Moment of the clock at which the call ends: no pause goes beyond it.
            longer: Let the answer be twice as long.

        Raises:
            ModelFailed: The endpoint gave no 2xx.
            ContextExceeded: The text is too long for the model.
        """
        if not self.breaker.admits(self.clock()):
            raise ModelFailed("circuit open")
        try:
            found = completion_of(await self._body(question, history, until, longer=longer))
        except ModelFailed as error:
            self._note(error.reason, at_once=error.lasts)
            raise
        except BaseException:
            self.breaker.released()
            raise
        self._note(found.reason if isinstance(found, Unusable) else None)
        return found

    def _note(self, reason: Reason | None, *, at_once: bool = False) -> None:
        if reason in AWAY:
            self.breaker.failed(self.clock(), at_once=at_once)
        else:
            self.breaker.succeeded()

    async def _body(self, question: Question, history: Sequence[Message], until: float, *, longer: bool) -> bytes:
        tries = 0
        while True:
            wait_s: float | None = None
            try:
                async with asyncio.timeout(self.policy.attempt_s):
                    exchange = await self._exchange(self._payload(question, history, longer=longer))
            except (httpx.TransportError, httpx.DecodingError, TimeoutError, _TooLarge) as error:
                reason, worth = _fault(error)
                if tries >= min(worth, self.policy.retries):
                    raise ModelFailed(reason, type(error).__name__.strip("_")) from error
            else:
                verdict = verdict_on(exchange.status, exchange.headers, exchange.body, self.dialect, datetime.now(UTC))
                if verdict.action == "done":
                    return exchange.body
                if verdict.action == "adapt":
                    self.dialect = verdict.dialect
                    continue  # each lack is learned once, so this ends
                wait_s = self._wait(verdict, exchange.status, tries, until - self.clock())
            await self._sleep(self._pause(tries) if wait_s is None else wait_s)
            tries += 1

    def _wait(self, verdict: Verdict, status: int, tries: int, left_s: float) -> float | None:
        """Seconds that the endpoint asks to wait before another try; None where it asks for none.

        Raises:
            ModelFailed: There is none.
        """
        if verdict.action == "split":
            raise ContextExceeded
        asked = verdict.wait_s or 0.0
        lasts = verdict.opens or asked > self.policy.deadline_s
        if verdict.action == "stop" or lasts or tries >= self.policy.retries or asked > left_s:
            raise ModelFailed(verdict.reason, f"status {status}", lasts=lasts)
        return verdict.wait_s

    def _pause(self, tries: int) -> float:
        longest: float = min(FIRST_PAUSE_S * 2**tries, LONGEST_PAUSE_S, self.policy.deadline_s / 4)
        return longest * (0.5 + 0.5 * self._jitter())

    async def _exchange(self, payload: Mapping[str, Any]) -> Exchange:
        """Send one request and read its reply, no further than allowed."""
        async with self._http.stream("POST", f"{self.policy.url}/chat/completions", json=payload) as response:
            is_answer = 200 <= response.status_code < 300  # noqa: PLR2004 - HTTP
            limit = self.policy.max_bytes if is_answer else ERROR_BYTES
            body = bytearray()
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > limit:
                    if is_answer:
                        raise _TooLarge
                    break
            headers = {name.lower(): value for name, value in response.headers.items()}
            return Exchange(response.status_code, headers, bytes(body[:limit]))

    def _payload(self, question: Question, history: Sequence[Message], *, longer: bool) -> dict[str, Any]:
        dialect = self.dialect
        system = question.system if dialect.schema else question.system_with_schema
        form: dict[str, Any] = {"type": "json_object"}
        if dialect.schema:
            told = {"name": question.kind, "strict": True, "schema": question.schema}
            form = {"type": "json_schema", "json_schema": told}
        payload: dict[str, Any] = {
            "model": self.policy.model,
            "messages": [
                {"role": "system", "content": system},
                {"role": "user", "content": question.user},
                *history,
            ],
            "response_format": form,
            "max_tokens" if dialect.max_tokens else "max_completion_tokens": self.policy.max_tokens * (1 + longer),
            "stream": False,
        }
        return payload | ({"temperature": 0} if dialect.temperature else {})


def _headers(policy: ClientPolicy) -> dict[str, str]:
    headers = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "memlake"}
    return headers | ({"Authorization": f"Bearer {policy.api_key}"} if policy.api_key else {})


def _trust(url: str) -> ssl.SSLContext | bool:
    """Whom to trust: the usual authorities, or without TLS nobody, which needs none of them to be read."""
    return url.startswith("https:") or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _fault(error: Exception) -> tuple[Reason, int]:
    return next((reason, worth) for kind, reason, worth in FAULTS if isinstance(error, kind))
