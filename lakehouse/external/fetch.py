"""Pages of hosts that the settings allow, each request bounded in place, size, time and number.

Rule of this file: the only one of this package that imports httpx, and nothing here raises but programming errors: what
may not be asked for is ``Blocked``, what could not be had is ``Failed``, each with a reason for an operator.

Theory of operation: a *trip* is the way to one page over all its redirects. Each *hop* is looked at as if it were the
first: its place must be allowed, its name is resolved once and all addresses must be of the right kind, and the
connection goes to one of these addresses, so that a name cannot change its mind in between; the certificate is checked
against the name all the same. Connections are not kept: the library would share them by address, and with it the
certificate of another name. Whose turn it is, ``turns`` says. Fifty who ask for one page at once share one trip.
"""

import asyncio
import ssl
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Final, Self

import httpx

from lakehouse.external import answers, robots
from lakehouse.external.answers import Answer, Asked, Fault
from lakehouse.external.hosts import Limits
from lakehouse.external.letters import Unreadable, text_of
from lakehouse.external.names import Resolve, SystemNames
from lakehouse.external.origins import (
    Refused,
    Target,
    check_addresses,
    check_origin,
    is_address,
    joined,
    place_of,
    root_of,
    target_of,
)
from lakehouse.external.source import NotModified, Origin, Outcome, Page, Site
from lakehouse.external.turns import Trip, Turns
from lakehouse.external.unpacking import ACCEPTED, Broken, TooLarge, Unpacker
from lakehouse.retrieval.cache import QueryCache
from schemas.knowledge import PageState

AGENT: Final = "memlake"
LIMITS: Final = Limits()
_ACCEPT: Final = "text/html, application/json;q=0.9, text/plain;q=0.9, */*;q=0.5"
_MAX_TRIED: Final = 3
"""Addresses of a host, one after another, where one cannot be connected to."""
_Flight = tuple[Site, str, PageState | None, int]


def agent_of(contact: str) -> str:
    """What requests say of us.

    Args:
        contact: Address or page of whoever runs this, for hosts that want to complain; empty where none is set.
    """
    return f"{AGENT} (+{contact})" if contact else AGENT


class _LedAway(Refused):
    """A redirect out of what may be asked."""


class Fetcher:
    """Implements ``Fetch`` over HTTP. For one event loop; to be closed."""

    def __init__(
        self,
        allowed: Collection[Origin],
        *,
        agent: str,
        clock: Callable[[], datetime],
        limits: Limits = LIMITS,
        loopback: Collection[str] = (),
        resolve: Resolve | None = None,
        trust: ssl.SSLContext | None = None,
    ) -> None:
        """Prepare; nothing is sent.

        Args:
            allowed: Exactly these places are asked, redirects included.
            agent: Header ``User-Agent``; see ``agent_of``.
            clock: Now, timezone-aware.
            limits: What a fetch may take.
            loopback: Hosts that are on this machine: they may be asked without TLS, and only at loopback addresses.
            resolve: Tells a host's addresses; the system does, if none is given.
            trust: Whose certificates hold; those of the usual authorities, if none is given.
        """
        self._allowed = frozenset(allowed)
        self._loopback = frozenset(loopback)
        self._agent = agent
        self._clock = clock
        self._limits = limits
        self._resolve = resolve or SystemNames()
        self._turns = Turns(limits, clock)
        self._flights: QueryCache[_Flight, Outcome] = QueryCache(
            max_entries=0, clock=self._seconds, keep=lambda _: False
        )
        self._rules: QueryCache[Origin, robots.Robots] = QueryCache(
            max_entries=len(self._allowed), clock=self._seconds, keep=lambda _: True, ttl_s=robots.TTL_S
        )
        self._http = httpx.AsyncClient(
            headers={"User-Agent": agent, "Accept": _ACCEPT, "Accept-Encoding": ACCEPTED, "Connection": "close"},
            timeout=httpx.Timeout(limits.total_s, connect=limits.connect_s),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=0),
            follow_redirects=False,
            trust_env=False,
            cookies=_no_cookies(),
            verify=trust or _authorities(self._allowed),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Let go of all connections."""
        await self._http.aclose()

    async def get(self, site: Site, url: str, known: PageState | None = None, *, limit: int | None = None) -> Outcome:
        """Ask for one page; see ``Fetch``. Whoever asks for the same meanwhile gets the same outcome.

        Args:
            site: On whose behalf; its origin must be allowed.
            url: Absolute; the state of the outcome has it in its one form.
            known: What is kept of it. ``negative_until`` is for the caller to look at.
            limit: Bytes of the body at most, where not the usual number.
        """
        try:
            target = target_of(url)
            check_origin(target_of(site.url).origin, self._allowed, self._loopback)
            check_origin(target.origin, self._allowed, self._loopback)
        except Refused as refusal:
            return self._blocked(answers.asked(site, url, known), str(refusal))
        size = self._limits.body_bytes if limit is None else limit
        key = (site, target.url, known, size)
        asked = answers.asked(site, target.url, known)
        return await self._flights.get_or_compute(key, _always, lambda: self._outcome(asked, target, size))

    def _seconds(self) -> float:
        return self._clock().timestamp()

    async def _outcome(self, asked: Asked, target: Target, limit: int) -> Outcome:
        trip = Trip(asyncio.timeout(self._limits.total_s), self._limits.queue_s, place_of(target.origin))
        try:
            async with trip.deadline:
                return await self._page(trip, asked, target, limit)
        except TimeoutError:
            fault = Fault(f"{trip.place} did not answer in full within {self._limits.total_s:g} s", away=True)
        except Fault as found:
            fault = found
        except TooLarge:
            return self._blocked(asked, f"{trip.place} sends more than {limit} bytes")
        except Refused as refusal:
            return self._blocked(asked, str(refusal))
        return asked.failed(fault, self._clock(), self._limits)

    def _blocked(self, asked: Asked, reason: str) -> Outcome:
        return asked.blocked(reason, self._clock(), self._limits)

    async def _page(self, trip: Trip, asked: Asked, target: Target, limit: int) -> Outcome:
        answer = await self._followed(trip, target, answers.conditions(asked), limit)
        if answer.status == answers.NOT_MODIFIED and not asked.has_copy:
            answer = await self._followed(trip, target, {"Cache-Control": "no-cache"}, limit)
        now = self._clock()
        if answer.status == answers.OK:
            _check_letters(answer, trip.place)
            return Page(asked.url, answer.body, answer.content_type, asked.fetched(answer, now))
        if answer.status == answers.NOT_MODIFIED and asked.has_copy:
            return NotModified(asked.held(answer, now))
        if answer.status in answers.GONE:
            return asked.gone(answer.status, now, self._limits)
        raise answers.fault_of(answer, trip.place, now, self._limits)

    async def _followed(
        self, trip: Trip, target: Target, headers: Mapping[str, str], limit: int, *, is_page: bool = True
    ) -> Answer:
        """The answer at the end of all redirects; each place on the way to a page is asked for its rules first."""
        path = []
        while True:
            path.append(target.url)
            if is_page:
                await self._check_rules(trip, target)
            answer = await self._hop(trip, target, headers, limit, self._limits.content_types if is_page else None)
            if answer.status not in answers.REDIRECTS:
                return answer
            target = self._next(trip, path, answer)

    def _next(self, trip: Trip, path: list[str], answer: Answer) -> Target:
        """Where a redirect leads.

        Raises:
            _LedAway: It may not be asked.
            Fault: It leads nowhere, in a circle or too far.
        """
        told = answer.headers.get("location")
        if told is None:
            raise Fault(f"{trip.place} redirects to nowhere", permanent=True, status=answer.status)
        try:
            found = joined(path[-1], told)
            check_origin(found.origin, self._allowed, self._loopback)
        except Refused as refusal:
            raise _LedAway(f"redirected by {trip.place}: {refusal}") from refusal
        if found.url in path:
            raise Fault(f"{trip.place} redirects in a circle, by {found.url}", permanent=True, status=answer.status)
        if len(path) > self._limits.redirects:
            reason = f"{trip.place} redirects on and on, after {self._limits.redirects} times to {found.url}"
            raise Fault(reason, permanent=True, status=answer.status)
        return found

    async def _check_rules(self, trip: Trip, target: Target) -> None:
        origin = target.origin
        rules = await self._rules.get_or_compute(origin, _always, lambda: self._rules_of(trip, origin))
        if not rules.allows(self._agent, target.url):
            raise Refused(f"robots.txt of {place_of(origin)} does not allow {target.url} to {self._agent}")

    async def _rules_of(self, trip: Trip, origin: Origin) -> robots.Robots:
        """What a place lets programs ask for; see the table in ``robots``.

        Raises:
            Fault: It is not known.
        """
        target = target_of(f"{root_of(origin)}/robots.txt")
        try:
            answer = await self._followed(trip, target, {}, robots.MAX_BYTES, is_page=False)
        except TooLarge as error:
            return robots.of_begin(error.begin)
        except _LedAway:
            return robots.Robots()
        except Fault as fault:
            if fault.permanent:
                return robots.Robots()
            raise
        found = robots.robots_of(answer.status, answer.content_type, answer.body)
        if found is None:
            raise answers.fault_of(answer, f"robots.txt of {trip.place}", self._clock(), self._limits)
        return found

    async def _hop(
        self, trip: Trip, target: Target, headers: Mapping[str, str], limit: int, kinds: Collection[str] | None
    ) -> Answer:
        """One request; ``kinds`` are those that are read, None for all."""
        trip.place = place_of(target.origin)
        async with self._turns.one(trip, target.origin) as host:
            answer = await self._answer(target, headers, limit, kinds)
            now = self._clock()
            wait_s = answers.wait_of(answer, now, self._limits)
            if wait_s is not None:
                host.asked_to_wait(now, wait_s)
            elif answers.is_away(answer):
                host.failed(now)
            else:
                host.answered(now)
            return answer

    async def _answer(
        self, target: Target, headers: Mapping[str, str], limit: int, kinds: Collection[str] | None
    ) -> Answer:
        """Ask at the first of a host's addresses that can be connected to."""
        place = place_of(target.origin)
        refused = ""
        for address in (await self._addresses(target.origin))[:_MAX_TRIED]:
            try:
                return await self._exchange(target, address, headers, limit, kinds)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                refused = str(error) or type(error).__name__
            except (httpx.TransportError, Broken) as error:
                told = str(error) or type(error).__name__
                raise Fault(f"{place} gave a broken answer: {told}", away=True) from error
        raise Fault(f"{place} cannot be connected to: {refused}", away=True)

    async def _addresses(self, origin: Origin) -> Sequence[str]:
        """Where a host may be connected to.

        Raises:
            Refused: One of its addresses is of the wrong kind.
            Fault: Its name does not resolve.
        """
        try:
            found = [origin.host] if is_address(origin.host) else await self._resolve(origin.host, origin.port)
        except OSError as error:
            raise Fault(f"the name {origin.host} cannot be resolved: {error}", away=True) from error
        check_addresses(origin.host, found, self._loopback)
        return found

    async def _exchange(
        self, target: Target, address: str, headers: Mapping[str, str], limit: int, kinds: Collection[str] | None
    ) -> Answer:
        origin = target.origin
        url = httpx.URL(target.url).copy_with(host=address)
        named = {**headers, "Host": place_of(origin)}
        async with self._http.stream("GET", url, headers=named, extensions={"sni_hostname": origin.host}) as response:
            told = {name.lower(): value for name, value in response.headers.items()}
            answer = Answer(response.status_code, told)
            if answer.status != answers.OK:
                return answer
            if kinds is not None and answer.kind not in kinds:
                raise Refused(f"{place_of(origin)} sends {answer.kind!r}, which is no kind of documentation")
            unpacker = Unpacker(told.get("content-encoding", ""), limit)
            async for chunk in response.aiter_raw():
                unpacker.feed(chunk)
            return replace(answer, body=unpacker.end())


def _check_letters(answer: Answer, place: str) -> None:
    """A page to be cut into sections must be readable; an inventory is none, whatever its host calls it."""
    if "html" in answer.kind:
        try:
            text_of(answer.body, answer.content_type)
        except Unreadable as error:
            raise Refused(f"{place} sends letters that cannot be read: {error}") from error


def _always() -> int:
    """The one generation of things that no change of ours overtakes."""
    return 0


def _no_cookies() -> CookieJar:
    return CookieJar(DefaultCookiePolicy(allowed_domains=()))


def _authorities(allowed: Collection[Origin]) -> ssl.SSLContext | bool:
    """Whom to trust: the usual authorities, or without TLS nobody, which needs none of them to be read."""
    return any(origin.scheme == "https" for origin in allowed) or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
