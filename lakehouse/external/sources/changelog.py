"""Changelogs: a file in a repository, or the one inside a source distribution.

Rule of this file: a source distribution is read in memory, forward and once, and nothing of it is unpacked to a disk;
of all its members only those are looked at that are called like a changelog.
"""

import gzip
import io
import re
import tarfile
import zlib
from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Final

from lakehouse.external.changelog import Change, Known, by_suffix, changes_of, entries_of, finding_of, symbols_of
from lakehouse.external.changelog_lines import Entry
from lakehouse.external.letters import Unreadable, text_of
from lakehouse.external.releases import by_fit
from lakehouse.external.source import Fetch, Page, Ref, Site
from lakehouse.external.sources.reading import MEBIBYTE, Indexed, each_once, readable, told
from schemas.errors import Unavailable
from schemas.knowledge import Category, Deprecation, Document

MAX_SDIST_BYTES: Final = 50 * MEBIBYTE
MAX_INFLATED_BYTES: Final = 500 * MEBIBYTE
"""Of a whole source distribution; no more is unpacked of one that says to be larger."""
MAX_MEMBER_BYTES: Final = 4 * MEBIBYTE
MAX_MEMBERS: Final = 50_000
_GZIP: Final = b"\x1f\x8b"
_MEMBER: Final = re.compile(
    r"(?:\./)?[^/]+/(?:docs?/(?:source/)?)?(?:change(?:s|log|_log|-log)?|history|news|release[-_]?notes|whats_?new)"
    r"(?:\.(?:md|rst|txt|markdown))?",
    re.IGNORECASE,
)
Symbols = Callable[[Site], Collection[str]]
"""All symbols that are known of a site's project; empty where its documentation is not known."""


class ChangelogSource(Indexed):
    """Implements ``Source`` over changelogs. The root of a site is the file itself."""

    id = "changelog"
    category: Category = "library_specific"
    limit = MAX_SDIST_BYTES

    def __init__(self, fetch: Fetch, clock: Callable[[], datetime], symbols: Symbols = lambda _: ()) -> None:
        """Prepare; nothing is asked.

        Args:
            fetch: Asks hosts.
            clock: Now, timezone-aware.
            symbols: Of whom a changelog can speak. Where none are known, only whole names count.
        """
        super().__init__(fetch, clock)
        self._symbols = symbols

    async def resolve(self, symbol: str, site: Site) -> Sequence[Ref]:
        """The changelog, where it tells of the symbol or of the release ("httpx 0.28.0")."""
        page = await self._index.page(site, site.url)
        found = [one for one in self.documents(page, site) if symbol in {one.name, f"{one.project} {one.version}"}]
        if not found:
            whole = self._known(site)(symbol)
            found = [one for one in self.documents(page, site) if one.name == whole]
        return [Ref(site, one.role, one.name, page.url, one.anchor, one.version) for one in found]

    def documents(self, page: Page, site: Site) -> Sequence[Document]:
        """One document a release, and one for each symbol of which something became."""
        text = changelog_in(page)
        entries = entries_of(text, site.project)
        changes = changes_of(text, self._known(site), site.project)
        releases = [self._release(page, site, version, entries) for version in _versions(entries)]
        return each_once([*releases, *(self._symbol(page, site, *one) for one in symbols_of(changes).items())])

    async def deprecations(self, ref: Ref, page: Page | None) -> Sequence[Deprecation]:
        """What the changelog says of the symbol, by the version of the reference.

        Raises:
            Unavailable: The changelog could not be had or read.
        """
        page = page or await self._index.page(ref.site, ref.site.url)
        known = self._known(ref.site, ref.name)
        found = finding_of(
            changes_of(changelog_in(page), known, ref.site.project),
            ref.name,
            ref.site.project,
            url=page.url,
            version=ref.version,
        )
        return [] if found is None else [found]

    def _known(self, site: Site, asked: str | None = None) -> Known:
        """Which symbol a name means; who asks for one says that it is one."""
        names = frozenset(self._symbols(site))
        return _known(names if asked is None else names | {asked}, site.project, is_whole=bool(names))

    def _release(self, page: Page, site: Site, version: str, entries: Sequence[Entry]) -> Document:
        text = "\n".join(f"- {one.text}" for one in entries if one.version == version)
        name = f"{site.project} {version}"
        return self._told(page, site, role="release", name=name, text=text, version=version)

    def _symbol(self, page: Page, site: Site, symbol: str, changes: Sequence[Change]) -> Document:
        text = "\n".join(f"- {one.version or 'unreleased'}: {one.text}" for one in changes)
        return self._told(page, site, role="changes", name=symbol, text=text)

    def _told(self, page: Page, site: Site, *, role: str, name: str, text: str, version: str | None = None) -> Document:
        return told(
            site,
            page,
            source=self.id,
            category=self.category,
            role=role,
            name=name,
            title=f"{name}: changes",
            text=text,
            version=version,
            anchor=version or name,
        )


@lru_cache(maxsize=8)
def _known(names: frozenset[str], project: str, *, is_whole: bool) -> Known:
    """Ends of names count where the project's symbols are known; else whole names do, and those that begin with it."""
    if is_whole:
        return by_suffix(names)
    two, package = by_suffix(names, least=2), project.replace("-", "_")

    def known(name: str) -> str | None:
        return two(name) or (name if name.startswith(f"{package}.") else None)

    return known


def _versions(entries: Sequence[Entry]) -> list[str]:
    """Of a changelog, newest first, each once."""
    versions = dict.fromkeys(entry.version for entry in entries if entry.version is not None)
    return by_fit(versions, lambda version: version)


def changelog_in(page: Page) -> str:
    """The text of a changelog, or of the one inside a source distribution.

    Raises:
        Unavailable: There is none, or it cannot be read.
    """
    if not page.body.startswith(_GZIP):
        return readable(page)
    try:
        return _in_sdist(page.body)
    except (tarfile.TarError, OSError, EOFError, zlib.error, Unreadable) as error:
        raise Unavailable(f"{page.url} is no source distribution that can be read: {error}") from error


class _Bounded(io.RawIOBase):
    """Bytes as they are unpacked, up to a bound."""

    def __init__(self, packed: bytes) -> None:
        self._inner = gzip.GzipFile(fileobj=io.BytesIO(packed))
        self._left = MAX_INFLATED_BYTES

    def read(self, size: int = -1) -> bytes:
        """Some more bytes.

        Raises:
            OSError: There are more than is allowed.
        """
        some = self._inner.read(size)
        self._left -= len(some)
        if self._left < 0:
            raise OSError(f"it unpacks to more than {MAX_INFLATED_BYTES} bytes")
        return some


@lru_cache(maxsize=4)
def _in_sdist(packed: bytes) -> str:
    """The largest of the files that are called like a changelog: others only point to it."""
    best = b""
    with tarfile.open(fileobj=_Bounded(packed), mode="r|") as members:
        for number, member in enumerate(members):
            if number >= MAX_MEMBERS:
                raise OSError(f"it has more than {MAX_MEMBERS} members")
            if member.isfile() and member.size <= MAX_MEMBER_BYTES and _MEMBER.fullmatch(member.name):
                content = members.extractfile(member)
                best = max(best, content.read() if content is not None else b"", key=len)
    if not best:
        raise OSError("it holds no changelog")
    return text_of(best)
