"""What a host's answer means for a page: read it, keep what there is, or why not and until when.

Rule of this file: pure. Reasons are for an operator: what happened and, where there is one, the remedy. Nothing of a
body is in them.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, Final

from lakehouse.external.hosts import Limits
from lakehouse.external.source import Blocked, Failed, Gone, Site
from lakehouse.retry_after import number_told, seconds_told
from schemas.knowledge import MAX_URL, PageState

OK: Final = 200
NOT_MODIFIED: Final = 304
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
GONE: Final = frozenset({404, 410})
_REFUSED: Final = frozenset({401, 402, 403, 451})
_PASSING: Final = frozenset({408, 421, 425, 429})
"""Of those that tell of a fault in the request, the ones that another time mends."""
_CLIENT_ERRORS: Final = range(400, 500)
_SERVER_ERRORS: Final = range(500, 600)
_ETAG: Final = re.compile(r'(?:W/)?"[\x21\x23-\x7e]{0,500}"')
_DATE: Final = re.compile(r"[\x20-\x7e]{1,100}")


@dataclass(frozen=True)
class Answer:
    """What a host said.

    Attributes:
        status: HTTP status.
        headers: By lower-case name.
        body: Unpacked; empty where it was not to be read.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes = b""

    @property
    def content_type(self) -> str:
        """As it came, with parameters; empty where there is none."""
        return self.headers.get("content-type", "")

    @property
    def kind(self) -> str:
        """The content type without parameters, in lower case."""
        return self.content_type.partition(";")[0].strip().lower()


class Fault(Exception):  # noqa: N818 - named by what it says, as in schemas.errors
    """A page could not be had this time; the message says why.

    Attributes:
        permanent: Whether asking again is of no use until somebody changes something.
        away: Whether it tells that the host itself is in trouble.
        retry_after_s: What the host asked for.
        status: HTTP status, where there was an answer.
    """

    def __init__(
        self,
        reason: str,
        *,
        permanent: bool = False,
        away: bool = False,
        retry_after_s: float | None = None,
        status: int | None = None,
    ) -> None:
        super().__init__(reason)
        self.permanent = permanent
        self.away = away
        self.retry_after_s = retry_after_s
        self.status = status


@dataclass(frozen=True)
class Asked:
    """A page that is asked for, and what is known of it.

    Attributes:
        site: On whose behalf.
        url: In its one form.
        known: What is kept of it.
    """

    site: Site
    url: str
    known: PageState | None

    @property
    def has_copy(self) -> bool:
        """Whether there is something kept that an answer without a body could mean."""
        return self.known is not None and self.known.content_hash is not None

    def state(self, **changes: Any) -> PageState:
        """What is known of the page with what is new; the rest stays."""
        if self.known is None:
            begin = PageState(url=self.url, source=self.site.source, project=self.site.project)
        else:
            begin = self.known
        always = {"source": self.site.source, "project": self.site.project}
        if self.site.version is not None:
            always["version"] = self.site.version
        return begin.model_copy(update={**always, "url": self.url, "negative_until": None, "reason": None, **changes})

    def fetched(self, answer: Answer, now: datetime) -> PageState:
        """Its body came."""
        fresh = {"etag": None, "last_modified": None, **validators(answer)}
        hashed = sha256(answer.body).hexdigest()
        return self.state(status=answer.status, fetched_at=now, checked_at=now, content_hash=hashed, **fresh)

    def held(self, answer: Answer, now: datetime) -> PageState:
        """What is kept of it still holds; validators that the host does not repeat do as well."""
        return self.state(status=answer.status, checked_at=now, **validators(answer))

    def blocked(self, reason: str, now: datetime, limits: Limits) -> Blocked:
        """It may not be asked for."""
        until = now + timedelta(seconds=limits.refused_s)
        return Blocked(self.state(negative_until=until, reason=reason), reason)

    def gone(self, status: int, now: datetime, limits: Limits) -> Gone:
        """There is no such page: what was kept is not asked about any more."""
        until = now + timedelta(seconds=limits.refused_s)
        return Gone(
            self.state(
                status=status,
                negative_until=until,
                etag=None,
                last_modified=None,
                content_hash=None,
                reason=f"there is no such page (status {status})",
            )
        )

    def failed(self, fault: Fault, now: datetime, limits: Limits) -> Failed:
        """It could not be had this time; what is kept stays as it is."""
        pause = limits.refused_s if fault.permanent else max(limits.failed_s, fault.retry_after_s or 0.0)
        reason = str(fault)
        state = self.state(status=fault.status, negative_until=now + timedelta(seconds=pause), reason=reason)
        return Failed(state, reason, fault.permanent, fault.retry_after_s)


def asked(site: Site, url: str, known: PageState | None) -> Asked:
    """A page that is asked for, also where its address cannot be understood.

    Args:
        site: On whose behalf.
        url: As it was given; a state holds no more of it than fits.
        known: What is kept of it.
    """
    return Asked(site, url[:MAX_URL] or site.url, known)


def conditions(asked_for: Asked) -> dict[str, str]:
    """Headers for a conditional request: by ETag, else by date, and none where no copy is kept."""
    known = asked_for.known
    if known is None or known.content_hash is None:
        return {}
    if known.etag is not None and _ETAG.fullmatch(known.etag):
        return {"If-None-Match": known.etag}
    if known.last_modified is not None and _DATE.fullmatch(known.last_modified):
        return {"If-Modified-Since": known.last_modified}
    return {}


def validators(answer: Answer) -> dict[str, str]:
    """What an answer tells to ask with the next time, as fields of a ``PageState``; what cannot be sent is left out."""
    told = {"etag": (_ETAG, "etag"), "last_modified": (_DATE, "last-modified")}
    found = {field: (pattern, answer.headers.get(name, "")) for field, (pattern, name) in told.items()}
    return {field: value for field, (pattern, value) in found.items() if pattern.fullmatch(value)}


def fault_of(answer: Answer, place: str, now: datetime, limits: Limits) -> Fault:
    """Why an answer that is none of page, not modified, gone and redirect gives nothing to read.

    Args:
        answer: What it said.
        place: The host, as it is told to an operator.
        now: Timezone-aware.
        limits: How long is waited at most.
    """
    status = answer.status
    wait_s = wait_of(answer, now, limits)
    if wait_s is not None:
        reason = f"{place} asks to wait {wait_s:.0f} s (status {status})"
        return Fault(reason, away=is_away(answer), retry_after_s=wait_s, status=status)
    if is_away(answer):
        return Fault(f"{place} has a fault of its own (status {status})", away=True, status=status)
    if status in _PASSING:
        return Fault(f"{place} is too busy (status {status})", status=status)
    if status in _REFUSED:
        remedy = "it may turn away programs: look with a browser, and write to whoever runs it"
        return Fault(f"{place} refuses this page (status {status}); {remedy}", permanent=True, status=status)
    if status in _CLIENT_ERRORS:
        return Fault(f"{place} does not take this request (status {status})", permanent=True, status=status)
    return Fault(f"{place} gave an answer without a page (status {status})", status=status)


def is_away(answer: Answer) -> bool:
    """Whether an answer tells that the host itself is in trouble."""
    return answer.status in _SERVER_ERRORS


def wait_of(answer: Answer, now: datetime, limits: Limits) -> float | None:
    """Seconds for which a host asks to be left alone, at most as many as are waited; None where it does not.

    Args:
        answer: What it said; only with a refusal or a fault does it count.
        now: Timezone-aware.
        limits: How long is waited at most.
    """
    if not (is_away(answer) or answer.status in _PASSING or answer.status in _REFUSED):
        return None
    seconds = retry_after(answer.headers, now)
    return None if seconds is None else min(seconds, limits.longest_wait_s)


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds that an answer asks to wait.

    Args:
        headers: By lower-case name: ``Retry-After`` in seconds or as a date, else ``X-RateLimit-Reset`` in seconds
            since 1970, which counts where ``X-RateLimit-Remaining`` is 0.
        now: Timezone-aware.

    Returns:
        0 or more; None where nothing, or nothing that makes sense, is told.
    """
    told = headers.get("retry-after")
    if told is not None:
        return seconds_told(told, now)
    reset = number_told(headers.get("x-ratelimit-reset"))
    if reset is None or headers.get("x-ratelimit-remaining", "").strip() != "0":
        return None
    return max(0.0, reset - now.timestamp())
