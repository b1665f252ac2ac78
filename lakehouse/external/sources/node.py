"""Node's documentation as its makers publish it for programs: JSON, one tree of modules, classes and methods.

Rule of this file: names are those of the tree, from the module down ("fs.readFile", "buffer.Buffer.alloc"), whatever a
heading calls a variable in its examples.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from lakehouse.external.changelog import Known, by_suffix
from lakehouse.external.changelog_words import replacements_in
from lakehouse.external.source import Page, Ref, Site
from lakehouse.external.sources.reading import MEBIBYTE, Indexed, each_once, fields, items, json_of, plain, told, words
from schemas.knowledge import QUOTE_CHARACTERS, Category, Deprecation, Document, Evidence, Extent

MAX_BYTES: Final = 16 * MEBIBYTE
WHOLE: Final = "all.json"
_ROLES: Final = {
    "classes": "class",
    "classMethods": "method",
    "ctors": "constructor",
    "events": "event",
    "globals": "global",
    "methods": "method",
    "modules": "module",
    "properties": "property",
}
"""Lists of the tree, and what stands in them."""
_STABILITY: Final = re.compile(r"Stability: 0\b[^\n]*(?:\n(?!\n)[^\n]*)*")
_SECTION: Final = re.compile(r"[^A-Za-z_$@]|\s")
_MODULE: Final = re.compile(r"[a-z_$][\w$/:]*")


@dataclass(frozen=True)
class Told:
    """What stands at one place of the tree.

    Attributes:
        name: From the module down.
        role: Kind of symbol.
        title: As its heading has it.
        text: In plain words.
        since: Version in which it was deprecated; None where that is not told.
        notice: What is said of it then; empty where it is not deprecated.
        above: The class or module whose deprecation is its own as well; None where it is its own or none.
    """

    name: str
    role: str
    title: str
    text: str
    since: str | None
    notice: str
    above: "Told | None" = None


class NodeSource(Indexed):
    """Implements ``Source`` over Node's JSON. The root of a site is ``…/api/``, or one file of it."""

    id = "node"
    category: Category = "official_docs"
    limit = MAX_BYTES

    async def resolve(self, symbol: str, site: Site) -> Sequence[Ref]:
        """The symbol of that name, or the only one that ends so."""
        page = await self._index.page(site, _url(site))
        by_name, known = _read(page.url, page.body)
        name = known(symbol.removeprefix("node:").removesuffix("()"))
        return [] if name is None else [Ref(site, _role(by_name[name]), name, page.url, name, site.version)]

    def documents(self, page: Page, site: Site) -> Sequence[Document]:
        """One document a symbol."""
        return each_once(
            told(
                site,
                page,
                source=self.id,
                category=self.category,
                role=_role(one),
                name=one.name,
                title=one.title,
                text=one.text or one.title,
                anchor=one.name,
            )
            for one in _read(page.url, page.body)[0].values()
        )

    async def deprecations(self, ref: Ref, page: Page | None) -> Sequence[Deprecation]:
        """What the documentation says of the symbol, or of the class or module that it is in.

        Raises:
            Unavailable: The documentation could not be had or read.
        """
        page = page or await self._index.page(ref.site, _url(ref.site))
        one = _read(page.url, page.body)[0].get(ref.name)
        said = one if one is None or one.notice else one.above
        if one is None or said is None:
            return []
        scope: Extent = "symbol" if said is one else ("class" if said.role == "class" else "module")
        quote = (said.notice if said is one else f"{said.name}: {said.notice}")[:QUOTE_CHARACTERS]
        return [
            Deprecation(
                project=ref.site.project,
                symbol=ref.name,
                version=ref.version,
                status="deprecated",
                since=said.since,
                replacements=replacements_in(said.notice),
                scope=scope,
                evidence=(Evidence(kind="data" if said is one else "inherited", url=page.url, quote=quote),),
                confidence=1.0 if said is one else 0.9,
            )
        ]


def _url(site: Site) -> str:
    return site.url if site.url.endswith(".json") else f"{site.url}{WHOLE}"


def _role(one: Told) -> str:
    return f"node:{one.role}"


@lru_cache(maxsize=4)
def _read(url: str, body: bytes) -> tuple[Mapping[str, Told], Known]:
    """All that a file tells, by name, and who knows it by its end.

    Raises:
        Unavailable: It is no JSON.
    """
    found: dict[str, Told] = {}
    for one in _walk(fields(json_of(url, body))):
        found.setdefault(one.name, one)
    return found, by_suffix(found)


def _walk(whole: Mapping[str, Any]) -> Iterator[Told]:
    """All symbols, those above before those inside."""
    left: list[tuple[Mapping[str, Any], str, Told | None]] = [(whole, "", None)]
    while left:
        node, prefix, above = left.pop()
        inner: list[tuple[Mapping[str, Any], str, Told | None]] = []
        for key, role in _ROLES.items():
            for child in map(fields, items(node.get(key))):
                one = _told(child, prefix, role, above)
                if one is None:  # a chapter: what is in it belongs to what it is in
                    inner.append((child, prefix, above))
                    continue
                yield one
                carries = one.notice and one.role in {"class", "module"}
                inner.append((child, one.name, one if carries else above))
        left += reversed(inner)


def _told(node: Mapping[str, Any], prefix: str, role: str, above: Told | None) -> Told | None:
    """What stands at a place; None where that is a chapter and no symbol."""
    name = words(node.get("name")).strip().strip("'\"")
    is_chapter = role == "module" and (prefix or _MODULE.fullmatch(name) is None or not node.get("introduced_in"))
    if not name or is_chapter or _SECTION.match(name):
        return None
    whole = name if not prefix or name.startswith(f"{prefix}.") else f"{prefix}.{name}"
    if role == "constructor":
        whole = f"{prefix}.constructor"
    meta = fields(node.get("meta"))
    since = [words(version).removeprefix("v") for version in items(meta.get("deprecated"))]
    text = plain(words(node.get("desc")))
    said = _STABILITY.search(text)
    stated = node.get("stability") == 0
    notice = " ".join(said[0].split()) if said else words(node.get("stabilityText"))
    is_deprecated = bool(since) or stated or said is not None
    title = words(node.get("textRaw")).replace("`", "") or whole
    return Told(
        whole,
        role,
        title,
        text,
        since[0] if since else None,
        (notice or "Deprecated") if is_deprecated else "",
        above,
    )
