"""What a source of documentation is, and what passes between it, the fetcher and the cache.

Rule of this file: shapes only. A source never makes up an address: it names only what an index of its own told it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from schemas.knowledge import Category, Deprecation, Document, PageState


@dataclass(frozen=True)
class Origin:
    """A place that may be asked: exactly this scheme, host and port."""

    scheme: str
    host: str
    port: int


@dataclass(frozen=True)
class Site:
    """One project's documentation, as the settings name it.

    Attributes:
        source: Which source reads it, of ``SOURCES``.
        project: What it is about, such as "python".
        url: Its root, with a slash at the end; nothing outside of it is read.
        version: Of the project; None where the index itself tells.
        language: Programming language, where it has one.
        licence: Whom to name.
    """

    source: str
    project: str
    url: str
    version: str | None = None
    language: str | None = None
    licence: str = ""


@dataclass(frozen=True)
class Ref:
    """Where a symbol is told of.

    Attributes:
        site: Whose.
        role: Kind of symbol, such as "py:function".
        name: The symbol.
        url: Of the page, without fragment.
        anchor: Of the symbol in it; empty for a page as a whole.
        version: Of the project.
    """

    site: Site
    role: str
    name: str
    url: str
    anchor: str
    version: str | None


@dataclass(frozen=True)
class Page:
    """A body with what its host said of it."""

    url: str
    body: bytes
    content_type: str
    state: PageState


@dataclass(frozen=True)
class NotModified:
    """What is kept still holds."""

    state: PageState


@dataclass(frozen=True)
class Gone:
    """There is no such page (404, 410)."""

    state: PageState


@dataclass(frozen=True)
class Failed:
    """It could not be had this time.

    Attributes:
        state: With ``negative_until``.
        reason: In a few words, for an operator.
        permanent: Whether asking again is of no use until somebody changes something.
        retry_after_s: What the host asked for.
    """

    state: PageState
    reason: str
    permanent: bool = False
    retry_after_s: float | None = None


@dataclass(frozen=True)
class Blocked:
    """It may not be asked for: host, address, size or kind of content are not allowed."""

    state: PageState
    reason: str


Outcome = Page | NotModified | Gone | Failed | Blocked


class Fetch(Protocol):
    """Asks hosts. One implementation does; another plays recorded pages in tests of what could not be served."""

    async def get(self, site: Site, url: str, known: PageState | None = None, *, limit: int | None = None) -> Outcome:
        """Ask for one page.

        Args:
            site: On whose behalf; its origin must be allowed.
            url: Absolute.
            known: What is kept of it, for a conditional request; a 304 without a kept copy is asked for again in full.
            limit: Bytes of the body at most, before and after decompression, where not the usual number.
        """


class Source(Protocol):
    """Reads one kind of documentation. Several sites may have the same source."""

    id: str
    category: Category
    trust: float

    @property
    def limit(self) -> int | None:
        """Bytes of a page at most, where not the usual number."""

    async def resolve(self, symbol: str, site: Site) -> Sequence[Ref]:
        """Where a symbol is told of; none where this site does not know it.

        Args:
            symbol: As written: whole ("asyncio.run"), or the end of a whole name where only one ends so.
            site: One of this source's.

        Raises:
            Unavailable: Its index could not be had.
        """

    def documents(self, page: Page, site: Site) -> Sequence[Document]:
        """All that a page tells, each symbol once. Pure: the same page gives the same documents."""

    async def deprecations(self, ref: Ref, page: Page | None) -> Sequence[Deprecation]:
        """What the source says of the symbol.

        Args:
            ref: The symbol.
            page: Its page, where that is at hand.

        Raises:
            Unavailable: What it takes could not be had.
        """


@runtime_checkable
class Prepared(Protocol):
    """A source that reads pages by something that it must have at hand, such as an index."""

    async def prepare(self, site: Site) -> str | None:
        """Have at hand what reading a page takes, such as an index.

        Returns:
            The version that the documents will have.

        Raises:
            Unavailable: It could not be had.
        """
