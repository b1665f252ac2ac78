"""What those who keep a project say at GitHub: releases, issues and comments. A hint, and never more than that.

Rule of this file: only owners, members and collaborators are heard, and what they say makes a symbol at most possibly
deprecated. What was seen with one token is not held to be unchanged for another.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, Final, Protocol

from lakehouse.external.policy import trust_of
from lakehouse.external.source import Fetch, Outcome, Page, Ref, Site
from lakehouse.external.sources.reading import MEBIBYTE, Indexed, each_once, fields, items, json_of, told, words
from lakehouse.external.talk import hint_of
from schemas.knowledge import MAX_URL, QUOTE_CHARACTERS, Category, Deprecation, Document, Evidence, PageState

MAX_BYTES: Final = 8 * MEBIBYTE
MAINTAINERS: Final = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})
RELEASES: Final = "releases?per_page=100"
ISSUES: Final = "issues?state=all&sort=updated&per_page=100"
COMMENTS: Final = "issues/comments?sort=updated&direction=desc&per_page=100"
LISTS: Final = (RELEASES, ISSUES, COMMENTS)
HINTED: Final = 0.4
"""Confidence in what is read out of talk."""


class AuthorisedFetch(Fetch, Protocol):
    """Asks hosts in somebody's name."""

    async def get(
        self,
        site: Site,
        url: str,
        known: PageState | None = None,
        *,
        limit: int | None = None,
        authorization: str | None = None,
    ) -> Outcome:
        """Ask for one page; see ``Fetch``.

        Args:
            site: As there.
            url: As there.
            known: As there.
            limit: As there.
            authorization: Header of that name, for the host of the site and no other.
        """


@dataclass(frozen=True)
class _Bearer:
    """Implements ``Fetch`` with a token."""

    fetch: AuthorisedFetch
    token: str

    async def get(self, site: Site, url: str, known: PageState | None = None, *, limit: int | None = None) -> Outcome:
        """Ask for one page with the token."""
        return await self.fetch.get(site, url, known, limit=limit, authorization=f"Bearer {self.token}")


@dataclass(frozen=True)
class Said:
    """Something that was written.

    Attributes:
        role: "release", "issue" or "comment".
        key: What tells it from others: tag, number, or number of the comment.
        title: In one line; empty for a comment.
        text: Markdown.
        url: For readers.
        is_maintainer: Whether somebody wrote it who keeps the project.
        is_closed: Whether it is an issue that was closed.
    """

    role: str
    key: str
    title: str
    text: str
    url: str
    is_maintainer: bool
    is_closed: bool


class GitHubSource(Indexed):
    """Implements ``Source`` over GitHub's API. The root of a site is ``…/repos/OWNER/NAME/``."""

    id = "github"
    category: Category = "community"
    limit = MAX_BYTES

    def __init__(self, fetch: Fetch, clock: Callable[[], datetime]) -> None:
        """Prepare to ask as nobody; nothing is asked.

        Args:
            fetch: Asks hosts.
            clock: Now, timezone-aware.
        """
        super().__init__(fetch, clock)
        self._mark = ""

    @classmethod
    def with_token(cls, fetch: AuthorisedFetch, clock: Callable[[], datetime], token: str) -> "GitHubSource":
        """Prepare to ask in the name of a token: more often, and with answers for it alone.

        Args:
            fetch: Asks hosts.
            clock: Now, timezone-aware.
            token: Secret; it is kept nowhere else.
        """
        source = cls(_Bearer(fetch, token), clock)
        source._mark = fingerprint(token)
        return source

    async def resolve(self, symbol: str, site: Site) -> Sequence[Ref]:
        """A release ("flask 3.0.0") or an issue ("flask#123"); symbols of code are told of nowhere in particular."""
        if not symbol.startswith((f"{site.project} ", f"{site.project}#")):
            return []
        for name in (RELEASES, ISSUES):
            page = await self._page(site, name)
            for one in self.documents(page, site):
                if one.name == symbol:
                    return [Ref(site, one.role, one.name, page.url, one.anchor, one.version)]
        return []

    def documents(self, page: Page, site: Site) -> Sequence[Document]:
        """One a release, and one for each issue that is closed or that somebody wrote who keeps the project."""
        return each_once(
            self._document(page, site, one)
            for one in said_in(page)
            if one.role == "release" or (one.role == "issue" and (one.is_maintainer or one.is_closed))
        )

    async def deprecations(self, ref: Ref, page: Page | None) -> Sequence[Deprecation]:
        """That the symbol may be deprecated, with the words that say so.

        Raises:
            Unavailable: What was written could not be had or read.
        """
        pages = [page] if page is not None else [await self._page(ref.site, name) for name in LISTS]
        hints = [
            Evidence(kind="issue", url=one.url[:MAX_URL], quote=hint[:QUOTE_CHARACTERS])
            for one in (said for each in pages for said in said_in(each))
            if one.is_maintainer and (hint := hint_of(f"{one.title}\n\n{one.text}", ref.name)) is not None
        ]
        if not hints:
            return []
        return [
            Deprecation(
                project=ref.site.project,
                symbol=ref.name,
                version=ref.version,
                status="possible",
                evidence=tuple(hints),
                confidence=HINTED,
            )
        ]

    async def _page(self, site: Site, name: str) -> Page:
        return await self._index.page(site, f"{site.url}{name}", mark=self._mark)

    def _document(self, page: Page, site: Site, one: Said) -> Document:
        is_release, version = one.role == "release", one.key.removeprefix("v")
        return told(
            site,
            page,
            source=self.id,
            category=self.category,
            role=one.role,
            name=f"{site.project} {version}" if is_release else f"{site.project}#{one.key}",
            title=one.title,
            text=f"{one.text}\n\n{one.url}",
            version=version if is_release else None,
            anchor=one.key,
            trust=trust_of("github_maintainer") if one.is_maintainer else self.trust,
        )


def fingerprint(token: str) -> str:
    """Tells tokens apart without telling them."""
    return sha256(token.encode()).hexdigest()[:16]


def said_in(page: Page) -> list[Said]:
    """All that an answer of the API holds, releases, issues or comments. Pull requests are no issues.

    Raises:
        Unavailable: It is no JSON.
    """
    return list(_said(items(json_of(page.url, page.body))))


def _said(answer: Sequence[Any]) -> Iterator[Said]:
    for one in map(fields, answer):
        text, url = words(one.get("body")), words(one.get("html_url"))
        by_maintainer = one.get("author_association") in MAINTAINERS
        if "tag_name" in one:  # only who keeps a project can publish one
            tag = words(one["tag_name"])
            yield Said("release", tag, words(one.get("name")) or tag, text, url, is_maintainer=True, is_closed=False)
        elif "issue_url" in one:
            yield Said("comment", str(one.get("id")), "", text, url, by_maintainer, is_closed=False)
        elif "pull_request" not in one and "number" in one:
            is_closed = one.get("state") == "closed"
            yield Said("issue", str(one["number"]), words(one.get("title")), text, url, by_maintainer, is_closed)
