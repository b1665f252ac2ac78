"""Which parts of the web platform are deprecated, from the data behind MDN's tables.

Rule of this file: the data tells neither since when nor what instead, and nothing is made up: "deprecated" in it means
that its makers advise against new use.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from lakehouse.external.changelog import Known, by_suffix
from lakehouse.external.source import Page, Ref, Site
from lakehouse.external.sources.reading import MEBIBYTE, Indexed, fields, items, json_of, plain, told, words
from schemas.knowledge import QUOTE_CHARACTERS, Category, Deprecation, Document, Evidence

MAX_BYTES: Final = 48 * MEBIBYTE
_COMPAT: Final = "__compat"


@dataclass(frozen=True)
class Feature:
    """A feature as the data knows it.

    Attributes:
        name: Its path, such as "api.Document.createEvent".
        description: In one line; often empty.
        url: Its page in MDN; empty where it has none.
        status: What is said of it: "deprecated", "experimental", "standard track".
    """

    name: str
    description: str
    url: str
    status: tuple[str, ...]


class BcdSource(Indexed):
    """Implements ``Source`` over browser-compat-data. The root of a site is ``…/data.json``, or a part of it."""

    id = "bcd"
    category: Category = "official_docs"
    limit = MAX_BYTES

    async def resolve(self, symbol: str, site: Site) -> Sequence[Ref]:
        """The feature of that name, or of the only one that ends so."""
        page = await self._index.page(site, site.url)
        version, _, known = _features(page)
        name = known(symbol)
        return [] if name is None else [Ref(site, _role(name), name, page.url, name, version or site.version)]

    def documents(self, page: Page, site: Site) -> Sequence[Document]:
        """One document a feature."""
        version, features, _ = _features(page)
        return [self._document(page, site, one, version) for one in features.values()]

    async def deprecations(self, ref: Ref, page: Page | None) -> Sequence[Deprecation]:
        """Whether the data calls the feature deprecated.

        Raises:
            Unavailable: The data could not be had or read.
        """
        page = page or await self._index.page(ref.site, ref.site.url)
        feature = _features(page)[1].get(ref.name)
        if feature is None or "deprecated" not in feature.status:
            return []
        return [
            Deprecation(
                project=ref.site.project,
                symbol=ref.name,
                version=ref.version,
                status="deprecated",
                evidence=(Evidence(kind="data", url=feature.url or page.url, quote=_said(feature)[:QUOTE_CHARACTERS]),),
                confidence=1.0,
            )
        ]

    def _document(self, page: Page, site: Site, feature: Feature, version: str | None) -> Document:
        text = "\n".join(filter(None, (feature.description, _said(feature), feature.url)))
        return told(
            site,
            page,
            source=self.id,
            category=self.category,
            role=_role(feature.name),
            name=feature.name,
            title=feature.name.partition(".")[2] or feature.name,
            text=text,
            version=version,
            anchor=feature.name,
        )


def _said(feature: Feature) -> str:
    return f"{feature.name}: {', '.join(feature.status) or 'no status'}"


def _role(name: str) -> str:
    return f"bcd:{name.partition('.')[0]}"


def _features(page: Page) -> tuple[str | None, Mapping[str, Feature], Known]:
    """Version of the data, its features by name, and who knows them by their ends.

    Raises:
        Unavailable: It is no JSON.
    """
    return _read(page.url, page.body)


@lru_cache(maxsize=2)
def _read(url: str, body: bytes) -> tuple[str | None, Mapping[str, Feature], Known]:
    """What comes of a page is asked for once for each of its features; the same bytes are compared by identity."""
    whole = fields(json_of(url, body))
    version = words(fields(whole.get("__meta")).get("version")) or None
    features = {feature.name: feature for feature in _walk(whole)}
    return version, features, by_suffix(features)


def _walk(whole: Mapping[str, Any]) -> Iterator[Feature]:
    """All features, in their order; how deep they lie is up to the data."""
    left: list[tuple[str, Any]] = [
        (name, told) for name, told in reversed(list(whole.items())) if not name.startswith("__")
    ]
    while left:
        name, node = left.pop()
        if isinstance(node, dict):
            compat = fields(node.get(_COMPAT))
            if compat:
                yield _feature(name, compat)
            left += [(f"{name}.{key}", value) for key, value in reversed(list(node.items())) if key != _COMPAT]


def _feature(name: str, compat: Mapping[str, Any]) -> Feature:
    status = fields(compat.get("status"))
    url = words(compat.get("mdn_url")) or next(filter(None, map(words, items(compat.get("spec_url")))), "")
    known = ("deprecated", "experimental", "standard_track")
    return Feature(
        name,
        plain(words(compat.get("description"))),
        url or words(compat.get("spec_url")),
        tuple(word.replace("_", " ") for word in known if status.get(word) is True),
    )
