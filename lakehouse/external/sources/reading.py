"""What all sources do alike: keep what they look things up in, read JSON, and make documents.

Rule of this file: an index is asked for again after a day at the latest, and what is kept of it serves on while its
host cannot be had: an old index finds more than none.
"""

import json
from collections import OrderedDict
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any, Final

from lakehouse.external import markup
from lakehouse.external.letters import Unreadable, text_of
from lakehouse.external.markup import visible
from lakehouse.external.policy import trust_of
from lakehouse.external.source import Fetch, NotModified, Outcome, Page, Site
from schemas.errors import Unavailable
from schemas.knowledge import (
    SUMMARY_CHARACTERS,
    TEXT_BYTES,
    Category,
    Document,
    document_id,
    hash_of,
)

MEBIBYTE: Final = 1024 * 1024
HOLDS_FOR: Final = timedelta(days=1)
MAX_KEPT: Final = 16
"""Pages that one source keeps."""


class Index:
    """The pages in which one source looks things up. For one event loop."""

    def __init__(self, fetch: Fetch, clock: Callable[[], datetime], *, limit: int | None = None) -> None:
        """Begin with nothing kept.

        Args:
            fetch: Asks hosts.
            clock: Now, timezone-aware.
            limit: Bytes of a page at most, where not the usual number.
        """
        self._fetch = fetch
        self._clock = clock
        self._limit = limit
        self._kept: OrderedDict[tuple[Site, str, str], tuple[Page, datetime]] = OrderedDict()

    async def page(self, site: Site, url: str, *, mark: str = "") -> Page:
        """A page, asked for at most once a day.

        Args:
            site: Whose.
            url: Absolute.
            mark: Tells apart who asks: what one may see with a token, another one must not be told to be unchanged.

        Raises:
            Unavailable: It could not be had, and none is kept.
        """
        key, now = (site, url, mark), self._clock()
        kept = self._kept.get(key)
        if kept is not None and timedelta(0) <= now - kept[1] < HOLDS_FOR:
            return kept[0]
        outcome = await self._fetch.get(site, url, None if kept is None else kept[0].state, limit=self._limit)
        if isinstance(outcome, Page):
            kept = (outcome, now)
        elif isinstance(outcome, NotModified) and kept is not None:
            kept = (kept[0], now)
        elif kept is None:
            raise Unavailable(f"{url} could not be had: {reason_of(outcome)}")
        self._kept[key] = kept
        self._kept.move_to_end(key)
        if len(self._kept) > MAX_KEPT:
            self._kept.popitem(last=False)
        return kept[0]


class Indexed:
    """What all sources have in common that look things up in pages, each kept for a day; see ``Source``."""

    id: str
    limit: int | None = None
    """Bytes of its pages at most, where not the usual number."""

    def __init__(self, fetch: Fetch, clock: Callable[[], datetime]) -> None:
        """Prepare; nothing is asked.

        Args:
            fetch: Asks hosts.
            clock: Now, timezone-aware.
        """
        self.trust = trust_of(self.id)
        self._index = Index(fetch, clock, limit=self.limit)


def reason_of(outcome: Outcome) -> str:
    """Why there is no page, for an operator."""
    told = getattr(outcome, "reason", None) or outcome.state.reason
    return str(told or "there is no such page")


def readable(page: Page) -> str:
    """The text of a page.

    Raises:
        Unavailable: Its letters cannot be read.
    """
    try:
        return text_of(page.body, page.content_type)
    except Unreadable as error:
        raise Unavailable(f"{page.url}: {error}") from error


def json_of(url: str, body: bytes) -> Any:
    """What a page of JSON holds.

    Raises:
        Unavailable: It is none.
    """
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Unavailable(f"{url} is no JSON that can be read: {error}") from error


def fields(told: Any) -> dict[str, Any]:
    """An object of somebody's JSON; empty where it is something else."""
    return told if isinstance(told, dict) else {}


def items(told: Any) -> list[Any]:
    """An array of somebody's JSON; empty where it is something else."""
    return told if isinstance(told, list) else []


def words(told: Any) -> str:
    """A string of somebody's JSON; empty where it is something else."""
    return told if isinstance(told, str) else ""


def plain(html: str) -> str:
    """What a piece of HTML says, as text."""
    body = markup.cleaned(html).body if html else None
    return "" if body is None else markup.text_of(body, lambda _: None)


def inside(site: Site, url: str) -> bool:
    """Whether an address lies in a site."""
    return url.startswith(site.url)


def told(
    site: Site,
    page: Page,
    *,
    source: str,
    category: Category,
    role: str,
    name: str,
    title: str,
    text: str,
    version: str | None = None,
    anchor: str = "",
    trust: float | None = None,
) -> Document:
    """A document as ``Document`` wants it: text without invisible characters, cut to what is kept of one.

    Args:
        site: Whose.
        page: On which it stands.
        source: Id of the source.
        category: How long it holds.
        role: Kind of symbol.
        name: The symbol.
        title: In one line.
        text: In plain words or Markdown.
        version: Of the project; that of the site, if none is given.
        anchor: In the page.
        trust: That of the source, if none is given.
    """
    plain = visible(text).strip().encode()[:TEXT_BYTES].decode(errors="ignore")
    of = version or site.version
    return Document(
        id=document_id(source, site.project, of, role, name),
        source=source,
        project=site.project,
        version=of,
        role=role,
        name=name,
        title=" ".join(visible(title).split()) or name,
        summary=" ".join(plain.split())[:SUMMARY_CHARACTERS],
        text=plain,
        content_hash=hash_of(plain),
        page_url=page.url,
        anchor=anchor,
        category=category,
        trust=trust_of(source) if trust is None else trust,
        language=site.language,
        licence=site.licence,
    )


def each_once(documents: Iterable[Document]) -> list[Document]:
    """The first of each id, in their order."""
    found: dict[str, Document] = {}
    for one in documents:
        found.setdefault(one.id, one)
    return list(found.values())
