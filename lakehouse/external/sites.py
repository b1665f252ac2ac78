"""The sites of documentation that the settings name.

Rule of this file: pure. A site that is written wrong is told with what would be right; none is guessed.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final
from urllib.parse import urlsplit

from lakehouse.external.origins import Refused, target_of
from lakehouse.external.source import Origin, Site
from schemas.errors import Misconfigured

_SITE: Final = re.compile(
    r"(?P<source>[a-z][a-z0-9_]*):(?P<project>[A-Za-z0-9][A-Za-z0-9._-]*)(?:@(?P<version>[A-Za-z0-9][A-Za-z0-9.+_-]*))?"
    r"=(?P<url>\S+)"
)
_FOLDERS: Final = frozenset({"sphinx", "python_docs", "github"})
"""Sources whose address is a folder, whatever its name: "3.0.x" is no file."""
SHAPE: Final = "SOURCE:PROJECT[@VERSION]=URL, such as sphinx:flask@3.0=https://flask.palletsprojects.com/en/3.0.x/"


def sites_of(told: str, known: Iterable[str]) -> tuple[Site, ...]:
    """The sites of a setting, apart by commas.

    Args:
        told: Of the settings; empty is none.
        known: Ids of the sources that there are.

    Raises:
        Misconfigured: One is written wrong, is of an unknown source, or stands twice.
    """
    sources = sorted(known)
    found: dict[tuple[str, str, str | None], Site] = {}
    for part in filter(None, map(str.strip, told.split(","))):
        match = _SITE.fullmatch(part)
        if match is None:
            raise Misconfigured(f"DOCS: {part!r} is not {SHAPE}")
        if match["source"] not in sources:
            raise Misconfigured(f"DOCS: {match['source']!r} is none of the sources {', '.join(sources)}")
        site = Site(
            match["source"], match["project"].casefold(), _root(match["url"], match["source"]), match["version"]
        )
        key = (site.source, site.project, site.version)
        if key in found:
            raise Misconfigured(f"DOCS: {match['source']}:{match['project']} stands twice")
        found[key] = site
    return tuple(found.values())


def _root(url: str, source: str) -> str:
    """The address in the one form that pages have as well: what is told of a page is compared with it."""
    try:
        found = target_of(url).url
    except Refused as error:
        raise Misconfigured(f"DOCS: this is no address of a site, https://HOST[:PORT]/PATH/: {error}") from error
    if "?" in url or "#" in url:
        raise Misconfigured(f"DOCS: {url!r} is no address of a site: https://HOST[:PORT]/PATH/")
    is_file = source not in _FOLDERS and "." in urlsplit(found).path.rpartition("/")[2]
    return found if is_file or found.endswith("/") else f"{found}/"


def origin_of(site: Site) -> Origin:
    """The place that a site is asked at."""
    return target_of(site.url).origin


def sites_for(sites: Sequence[Site], project: str | None) -> list[Site]:
    """Those of a project; all where none is named."""
    return [site for site in sites if project is None or site.project == project.casefold()]


def site_of(sites: Sequence[Site], url: str) -> Site | None:
    """The site that an address lies in, the innermost of several; None where it lies in none."""
    inside = [site for site in sites if url.startswith(site.url)]
    return max(inside, key=lambda site: len(site.url), default=None)
