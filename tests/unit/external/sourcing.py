"""Sources with what they are served: real material, and such as its makers document.

Changelogs, compatibility data and Node's documentation are cuts of real ones; answers of PyPI and GitHub and the
``llms.txt`` are written by hand in their documented form.
"""

import gzip
import io
import json
import tarfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import sphobjinv

from lakehouse.external.source import Outcome, Page, Ref, Site, Source
from lakehouse.external.sources import sources
from schemas.knowledge import PageState
from tests.unit.external.serving import Clock, Host, fetcher, reply, served

DOCS: Final = Path(__file__).parents[2] / "data" / "docs"
HTTPX: Final = (DOCS / "changelogs" / "httpx.md").read_bytes()
FLASK: Final = (DOCS / "changelogs" / "flask.rst").read_bytes()
RELEASES: Final = "/repos/kit/kit/releases?per_page=100"
ISSUES: Final = "/repos/kit/kit/issues?state=all&sort=updated&per_page=100"
COMMENTS: Final = "/repos/kit/kit/issues/comments?sort=updated&direction=desc&per_page=100"
SYMBOLS: Final = {
    "flask": ("flask.Request.json", "flask.Flask.static_path", "flask.Flask.static_url_path", "flask.json")
}

PYPI: Final = {
    "info": {
        "name": "Kit",
        "version": "2.0",
        "summary": "Boxes.",
        "project_urls": {"Documentation": "https://kit.example/", "Release notes": "https://kit.example/news"},
        "classifiers": ["Development Status :: 7 - Inactive"],
    },
    "releases": {
        "1.9": [{"yanked": False}],
        "1.10": [{"yanked": True, "yanked_reason": "loses boxes"}],
        "2.0": [{"yanked": False}],
        "2024a": [],
    },
    "urls": [
        {"packagetype": "bdist_wheel", "url": "https://files.example/kit.whl"},
        {"packagetype": "sdist", "url": "https://files.example/kit-2.0.tar.gz"},
    ],
}
GITHUB: Final[dict[str, list[dict[str, Any]]]] = {
    RELEASES: [{"tag_name": "v2.0", "name": "Two", "body": "Boxes are faster.", "html_url": "https://git.example/r/2"}],
    ISSUES: [
        {
            "number": 7,
            "title": "Plans",
            "state": "open",
            "author_association": "MEMBER",
            "body": "We will deprecate `kit.Box.open` in favour of `kit.unpack`.",
            "html_url": "https://git.example/i/7",
        },
        {
            "number": 8,
            "title": "`kit.Box.close` is deprecated",
            "state": "open",
            "author_association": "NONE",
            "body": "I think so.",
            "html_url": "https://git.example/i/8",
        },
        {"number": 9, "pull_request": {}, "author_association": "OWNER", "body": "Deprecate `kit.Box.close`."},
    ],
    COMMENTS: [
        {"id": 5, "issue_url": "x", "author_association": "OWNER", "body": "No.", "html_url": "https://git.example/c"}
    ],
}
LLMS: Final = b"""# Kit

> Boxes for everything.

Read the tour first.

## Optional

- [History](history.md): Of kit.

## Docs

- [kit.Box](reference/box.md): How to make a box
- [Elsewhere](https://elsewhere.example/kit.unpack): Not ours

```
- [Code](code.md)
```
"""


def inventory() -> bytes:
    told = sphobjinv.Inventory()
    told.project, told.version = "Kit", "2.0"
    told.objects.append(
        sphobjinv.DataObjStr(name="kit.Box", domain="py", role="class", priority="1", uri="api.html#$", dispname="-")
    )
    return bytes(sphobjinv.compress(told.data_file()))


PAGE: Final = b"""<html><body><div role="main"><section id="kit"><h1>Kit</h1>
<dl class="py class"><dt class="sig" id="kit.Box">class kit.Box</dt><dd><p>Holds things.</p>
<div class="deprecated"><p><span class="versionmodified deprecated">Deprecated since version 1.5: </span>
Use <code>kit.Case</code> instead.</p></div></dd></dl></section></div></body></html>"""


@dataclass(frozen=True)
class Case:
    """One source with what it is served.

    Attributes:
        root: Of the site.
        pages: Bodies by path.
        known: A symbol that it knows.
        name: Whole name of it.
        said: Status, since, removed_in and replacements that are told of it; None where nothing is.
        listed: Whether the page that is referred to is the index.
    """

    root: str
    pages: dict[str, bytes]
    known: str
    name: str
    said: tuple[str, str | None, str | None, tuple[str, ...]] | None
    project: str = "kit"
    listed: bool = True
    named: str | None = None
    further: dict[str, Any] = field(default_factory=dict)


def in_json(told: object) -> bytes:
    return json.dumps(told).encode()


SPHINX: Final = Case(
    "/",
    {"/objects.inv": inventory(), "/api.html": PAGE},
    "Box",
    "kit.Box",
    ("deprecated", "1.5", None, ("kit.Case",)),
    listed=False,
)
CASES: Final[dict[str, Case]] = {
    "bcd": Case(
        "/data.json",
        {"/data.json": (DOCS / "bcd" / "data.json").read_bytes()},
        "Document.execCommand",
        "api.Document.execCommand",
        ("deprecated", None, None, ()),
        project="web",
    ),
    "changelog": Case(
        "/CHANGES.rst",
        {"/CHANGES.rst": FLASK},
        "Flask.static_path",
        "flask.Flask.static_path",
        ("removed", None, "1.0", ("flask.Flask.static_url_path",)),
        project="flask",
    ),
    "github": Case(
        "/repos/kit/kit/", {path: in_json(told) for path, told in GITHUB.items()}, "kit 2.0", "kit 2.0", None
    ),
    "llms_txt": Case(
        "/",
        {"/llms.txt": LLMS, "/reference/box.md": b"# kit.Box\n\nA box.\n"},
        "kit.Box",
        "kit.Box",
        None,
        listed=False,
    ),
    "node": Case(
        "/api/",
        {"/api/all.json": (DOCS / "node" / "all.json").read_bytes()},
        "Buffer.parent",
        "buffer.Buffer.parent",
        ("deprecated", "8.0.0", None, ("buf.buffer",)),
        project="node",
    ),
    "pypi": Case("/pypi/kit/", {"/pypi/kit/json": in_json(PYPI)}, "Kit", "kit", ("deprecated", None, None, ())),
    "python_docs": SPHINX,
    "sphinx": SPHINX,
}


@dataclass
class Served:
    """A source with the host that it asks."""

    source: Source
    site: Site
    host: Host
    clock: Clock
    case: Case

    async def page(self, ref: Ref) -> Page:
        found = await fetcher(self.host).get(self.site, ref.url, limit=10_000_000)
        assert isinstance(found, Page)
        return found


@asynccontextmanager
async def serving(name: str, pages: dict[str, bytes] | None = None) -> AsyncIterator[Served]:
    """A source by its id; what it is served can be changed."""
    case, clock = CASES[name], Clock()
    async with served() as host:
        for path, body in (case.pages if pages is None else pages).items():
            kind = "text/html" if path.endswith(".html") else "application/octet-stream"
            host.pages[path] = reply(body, content_type=kind)
        async with fetcher(host, clock=clock) as fetch:
            found = sources(fetch, clock, lambda site: SYMBOLS.get(site.project, ()))
            site = Site(name, case.project, host.url(case.root), language="any", licence="MIT")
            yield Served(found[name], site, host, clock, case)


def summary_of(found: Any) -> tuple[str, str | None, str | None, tuple[str, ...]] | None:
    if not found:
        return None
    (told,) = found
    assert told.evidence
    return told.status, told.since, told.removed_in, told.replacements


def sdist(members: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return gzip.compress(made.getvalue(), mtime=0)


def page_of(body: bytes) -> Page:
    state = PageState(url="https://kit.example/x", source="any", project="kit")
    return Page(state.url, body, "application/octet-stream", state)


@dataclass
class Authorised:
    """Plays a fetcher that sends tokens: which page is known to it, by token."""

    page: Callable[[Ref], Any]
    known: dict[str | None, list[PageState | None]] = field(default_factory=dict)

    async def get(
        self,
        site: Site,
        url: str,
        known: PageState | None = None,
        *,
        limit: int | None = None,
        authorization: str | None = None,
    ) -> Outcome:
        self.known.setdefault(authorization, []).append(known)
        found: Page = await self.page(Ref(site, "", "", url, "", None))
        return found
