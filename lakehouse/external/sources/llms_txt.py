"""Sites that list their pages for language models in one file, ``llms.txt``.

Rule of this file: a list names pages; those inside the site are read, and those outside are told of and not read.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urldefrag, urljoin

from lakehouse.external.source import Page, Ref, Site
from lakehouse.external.sources.reading import Indexed, each_once, inside, readable, told
from schemas.knowledge import Category, Deprecation, Document

LIST: Final = "llms.txt"
_HEADING: Final = re.compile(r"(?P<hashes>#{1,6})\s+(?P<title>.+?)\s*#*")
_LINK: Final = re.compile(
    r"\s*[-*+]\s+\[(?P<title>[^\]]+)\]\((?P<url>[^()\s]+)\)(?:\s*[:\u2013\u2014-]\s*(?P<notes>.*))?"
)
_FENCE: Final = re.compile(r"\s*(?:```|~~~)")
_OPTIONAL: Final = "optional"
_WORD: Final = re.compile(r"[\w.]+")


@dataclass(frozen=True)
class Link:
    """A page that a list names.

    Attributes:
        title: Of the page.
        url: Absolute, without fragment.
        notes: What is said of it.
        section: Heading that it stands under.
        is_optional: Whether it may be left out.
    """

    title: str
    url: str
    notes: str
    section: str
    is_optional: bool


@dataclass(frozen=True)
class Listing:
    """An ``llms.txt``.

    Attributes:
        title: Its H1; empty where there is none: then it is no such file.
        summary: Its blockquote.
        details: What stands before the first list.
        links: In their order, the optional ones last.
    """

    title: str
    summary: str
    details: str
    links: tuple[Link, ...]


class LlmsTxtSource(Indexed):
    """Implements ``Source`` over ``llms.txt``. The root of a site is the folder that holds it."""

    id = "llms_txt"
    category: Category = "library_specific"

    async def resolve(self, symbol: str, site: Site) -> Sequence[Ref]:
        """Pages whose title names the symbol, that of no other title first; then those whose notes do."""
        page = await self._index.page(site, _url(site))
        mine = [link for link in listing_of(readable(page), page.url).links if inside(site, link.url)]
        exact = [link for link in mine if link.title.casefold() == symbol.casefold()]
        named = [link for link in mine if symbol in _WORD.findall(link.title)]
        noted = [link for link in mine if symbol in _WORD.findall(link.notes)]
        found = {link.url: link for link in reversed([*exact, *named, *noted])}
        return [Ref(site, "page", link.title, link.url, "", site.version) for link in reversed(found.values())]

    def documents(self, page: Page, site: Site) -> Sequence[Document]:
        """Of a list, itself and one document for each page it names; of another page, the page as a whole."""
        text = readable(page)
        if page.url != _url(site):
            name = next((title for level, title in _headings(text) if level == 1), page.url)
            return [self._told(page, site, "page", name, text=text)]
        listing = listing_of(text, page.url)
        if not listing.title:
            return []
        about = "\n\n".join(filter(None, (listing.summary, listing.details)))
        found = [self._told(page, site, "site", listing.title, text=about or listing.title)]
        found += [self._told(page, site, "link", one.title, text=_line(one), anchor=one.url) for one in listing.links]
        return each_once(found)

    async def deprecations(self, ref: Ref, page: Page | None) -> Sequence[Deprecation]:
        """Nothing: such a list does not say so."""
        del ref, page
        return []

    def _told(self, page: Page, site: Site, role: str, name: str, *, text: str, anchor: str = "") -> Document:
        return told(
            site,
            page,
            source=self.id,
            category=self.category,
            role=role,
            name=name,
            title=name,
            text=text,
            anchor=anchor,
        )


def _url(site: Site) -> str:
    return site.url if site.url.endswith(".txt") else f"{site.url}{LIST}"


def _line(link: Link) -> str:
    told_of = f"{link.title}: {link.notes}" if link.notes else link.title
    return f"{told_of} ({link.section}{', optional' if link.is_optional else ''}) {link.url}"


def listing_of(text: str, url: str) -> Listing:
    """Read a list.

    Args:
        text: Markdown.
        url: Its own address, for those in it that are relative.
    """
    title, summary, details, section = "", list[str](), list[str](), ""
    links: list[Link] = []
    for line in _lines(text):
        heading, link = _HEADING.fullmatch(line), _LINK.fullmatch(line)
        if heading is not None:
            title = title or (heading["title"] if heading["hashes"] == "#" else "")
            section = heading["title"] if heading["hashes"] == "##" else section
        elif section and link is not None:
            target = urldefrag(urljoin(url, link["url"])).url
            is_optional = section.casefold() == _OPTIONAL
            links.append(Link(link["title"].strip(), target, (link["notes"] or "").strip(), section, is_optional))
        elif not section and line.startswith(">"):
            summary.append(line.lstrip("> "))
        elif not section:
            details.append(line)
    ordered = sorted(links, key=lambda one: one.is_optional)
    return Listing(title, " ".join(summary).strip(), "\n".join(details).strip(), tuple(ordered))


def _headings(text: str) -> Iterator[tuple[int, str]]:
    for line in _lines(text):
        heading = _HEADING.fullmatch(line)
        if heading is not None:
            yield len(heading["hashes"]), heading["title"]


def _lines(text: str) -> Iterator[str]:
    """Those that are not in boxes of code."""
    fenced = False
    for line in text.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            yield line.rstrip()
