"""What a package index says of a project: where its documentation and changelog are, its releases, what was yanked.

Rule of this file: it tells addresses and follows none: which sites are read is said by the settings.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from lakehouse.external.releases import by_fit
from lakehouse.external.source import Page, Ref, Site
from lakehouse.external.sources.reading import MEBIBYTE, Indexed, fields, items, json_of, told, words
from schemas.knowledge import QUOTE_CHARACTERS, Category, Deprecation, Document, Evidence

MAX_BYTES: Final = 8 * MEBIBYTE
METADATA: Final = "json"
DOCUMENTATION: Final = ("documentation", "docs", "api docs", "api documentation", "reference")
CHANGELOG: Final = ("changelog", "changes", "change log", "release notes", "release history", "history", "what's new")
"""Labels of a project's links, as the index knows them, in lower case; the first that there is counts."""
_INACTIVE: Final = "Development Status :: 7 - Inactive"


@dataclass(frozen=True)
class Package:
    """A project as the index knows it.

    Attributes:
        name: As it writes itself.
        version: The newest, as the index says.
        summary: In one line.
        documentation: Address; None where none is told.
        changelog: Address; None where none is told.
        sdist: Address of the newest source distribution; None where there is none.
        versions: Newest first, those that were yanked among them.
        yanked: Why, by version; empty where nobody said.
        is_inactive: Whether its owners say that it is not kept up.
    """

    name: str
    version: str | None
    summary: str
    documentation: str | None
    changelog: str | None
    sdist: str | None
    versions: tuple[str, ...]
    yanked: Mapping[str, str]
    is_inactive: bool


class PyPISource(Indexed):
    """Implements ``Source`` over the JSON of a package index. The root of a site is ``…/pypi/NAME/``."""

    id = "pypi"
    category: Category = "library_specific"
    limit = MAX_BYTES

    async def resolve(self, symbol: str, site: Site) -> Sequence[Ref]:
        """The project's own page, for its own name."""
        if _plain(symbol) != _plain(site.project):
            return []
        page = await self._index.page(site, f"{site.url}{METADATA}")
        return [Ref(site, "package", site.project, page.url, "", site.version or package_of(page).version)]

    def documents(self, page: Page, site: Site) -> Sequence[Document]:
        """One: what the index says of the project."""
        package = package_of(page)
        lines = [package.summary]
        lines += [f"Documentation: {package.documentation}"] if package.documentation else []
        lines += [f"Changelog: {package.changelog}"] if package.changelog else []
        lines += [f"Newest version: {package.version}"] if package.version else []
        lines += [f"Versions: {', '.join(package.versions)}"] if package.versions else []
        lines += [f"Yanked: {version} {reason}".strip() for version, reason in package.yanked.items()]
        return [
            told(
                site,
                page,
                source=self.id,
                category=self.category,
                role="package",
                name=site.project,
                title=f"{package.name} on the package index",
                text="\n".join(lines),
                version=package.version,
            )
        ]

    async def deprecations(self, ref: Ref, page: Page | None) -> Sequence[Deprecation]:
        """That a release was yanked, or that the whole project is not kept up.

        Raises:
            Unavailable: The index could not be had or read.
        """
        if ref.role != "package" and _plain(ref.name) != _plain(ref.site.project):
            return []
        page = page or await self._index.page(ref.site, f"{ref.site.url}{METADATA}")
        package = package_of(page)
        if ref.version is not None and ref.version in package.yanked:
            sound = next((version for version in package.versions if version not in package.yanked), None)
            why = package.yanked[ref.version] or "no reason is told"
            return [self._found(ref, page, f"{ref.version} was yanked: {why}", () if sound is None else (sound,))]
        return [self._found(ref, page, _INACTIVE)] if package.is_inactive else []

    def _found(self, ref: Ref, page: Page, quote: str, instead: tuple[str, ...] = ()) -> Deprecation:
        return Deprecation(
            project=ref.site.project,
            symbol=ref.name,
            version=ref.version,
            status="deprecated",
            replacements=instead,
            evidence=(Evidence(kind="data", url=page.url, quote=quote[:QUOTE_CHARACTERS]),),
            confidence=1.0,
        )


def package_of(page: Page) -> Package:
    """What the metadata of a project says.

    Raises:
        Unavailable: It is no JSON.
    """
    whole = fields(json_of(page.url, page.body))
    info, releases = fields(whole.get("info")), fields(whole.get("releases"))
    links = {label.casefold().strip(): url for label, url in fields(info.get("project_urls")).items() if words(url)}
    yanked = {
        version: words(fields(files[0]).get("yanked_reason"))
        for version, files in releases.items()
        if items(files) and all(fields(file).get("yanked") for file in files)
    }
    return Package(
        name=words(info.get("name")),
        version=words(info.get("version")) or None,
        summary=words(info.get("summary")),
        documentation=_first(links, DOCUMENTATION) or words(info.get("docs_url")) or None,
        changelog=_first(links, CHANGELOG),
        sdist=_sdist(items(whole.get("urls"))),
        versions=tuple(by_fit(releases, lambda version: version)),
        yanked=yanked,
        is_inactive=_INACTIVE in items(info.get("classifiers")),
    )


def _sdist(files: Sequence[object]) -> str | None:
    told = (fields(file) for file in files)
    return next((words(file.get("url")) or None for file in told if file.get("packagetype") == "sdist"), None)


def _first(links: Mapping[str, str], labels: Sequence[str]) -> str | None:
    return next((links[label] for label in labels if label in links), None)


def _plain(name: str) -> str:
    return name.casefold().replace("_", "-").replace(".", "-")
