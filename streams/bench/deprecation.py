"""What is told to be deprecated, held against labels, beside the plain way: the word anywhere on the page.

Rule of this file: it reads an unpacked documentation from disk through the same source that reads hosts, and asks
nobody. Which symbols are deprecated is data (``data/deprecation-python-3.11.yaml``), made by reading.
"""

import random
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from lakehouse.external.inventory import Entry, Inventory, NoInventory, inventory_of
from lakehouse.external.markup import cleaned
from lakehouse.external.notices import Notices, Place, deprecated_modules, notices_of
from lakehouse.external.pages import Sections
from lakehouse.external.source import Gone, Outcome, Page, Ref, Site
from lakehouse.external.sources.sphinx import INDEX, SphinxSource
from lakehouse.ruledata import load_data
from schemas.errors import Misconfigured
from schemas.knowledge import PageState
from streams.bench.figures import Figure

BENCH: Final = "deprecation"
LABELS: Final = "deprecation-python-3.11"
WORD: Final = "deprecated"
OBJECTS: Final = frozenset({"py:function", "py:method", "py:class", "py:data", "py:attribute", "py:exception"})
SAMPLE: Final = 1_000
"""Symbols of any role of which it is looked whether they have a section."""
SEED: Final = 1
_ROOT: Final = "https://documentation.invalid/"
_MOMENT: Final = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Folder:
    """Implements ``Fetch`` over a folder.

    Attributes:
        root: Where the documentation lies; it is served at ``_ROOT``.
    """

    root: Path

    async def get(self, site: Site, url: str, known: PageState | None = None, *, limit: int | None = None) -> Outcome:  # noqa: ARG002
        """The file of an address, always in full."""
        state = PageState(url=url, source=site.source, project=site.project)
        path = self.root / url.removeprefix(site.url)
        if not path.is_file():
            return Gone(state)
        body = path.read_bytes()
        return Page(url, body, "text/html", state.model_copy(update={"content_hash": sha256(body).hexdigest()}))


@dataclass
class Labels:
    """Which symbols of a documentation are deprecated.

    Attributes:
        documentation: Project and version, as its index tells them.
        symbols: That are, by name.
        inside: Whatever lies in one of these is, by its name.
    """

    documentation: str
    symbols: frozenset[str]
    inside: tuple[str, ...]

    def __contains__(self, name: str) -> bool:
        return name in self.symbols or name.startswith(self.inside)


@dataclass
class _Seen:
    """What was found in all pages.

    Attributes:
        told: Symbols that are told to be deprecated as a whole.
        by_word: Symbols on whose page the word stands.
        names: All symbols that are judged.
        own: Symbols with a notice of their own.
        modules: Modules that are deprecated by the list or a notice of their own.
        boxes: Notices on all pages, by what they stand in.
        sections: Of a sample of symbols, whether each has a section.
    """

    told: set[str] = field(default_factory=set)
    by_word: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    own: set[str] = field(default_factory=set)
    modules: set[str] = field(default_factory=set)
    boxes: Counter[Place] = field(default_factory=Counter)
    sections: list[bool] = field(default_factory=list)


def labels() -> Labels:
    """The labels that come along."""
    data: Mapping[str, Any] = load_data("streams.bench", LABELS)
    words = {key: value.split() for key, value in data.items() if isinstance(value, str)}
    symbols = [*words["symbols"], *words["symbols_by_prose"], *words["symbols_elsewhere"]]
    inside = [*words["modules"], *words["modules_by_prose"], *words["classes"]]
    return Labels(data["documentation"], frozenset(symbols), tuple(f"{name}." for name in inside))


async def measure(docs: Path, *, errors: int = 0) -> tuple[list[Figure], dict[str, list[str]]]:
    """Read a documentation and judge what is told of its symbols.

    Args:
        docs: Folder with its ``objects.inv``.
        errors: Wrong cases of each kind to tell.

    Returns:
        Figures, and wrong cases by metric.

    Raises:
        Misconfigured: There is no index, or one of another documentation than the labels are of.
    """
    told = labels()
    inventory = _inventory(docs, told)
    seen = await _seen(docs, inventory)
    right = {name for name in seen.names if name in told}
    wrong = {"precision": sorted(seen.told - right)[:errors], "recall": sorted(right - seen.told)[:errors]}
    return _figures(seen, right), {metric: cases for metric, cases in wrong.items() if cases}


def _inventory(docs: Path, told: Labels) -> Inventory:
    path = docs / INDEX
    if not path.is_file():
        raise Misconfigured(f"--docs: {docs} has no {INDEX}; unpack Debian's python3.11-doc and name its html folder")
    try:
        inventory = inventory_of(path.read_bytes())
    except NoInventory as error:
        raise Misconfigured(f"--docs: {path} cannot be read: {error}") from error
    if f"{inventory.project} {inventory.version}".casefold() != told.documentation:
        found = f"{inventory.project} {inventory.version}"
        raise Misconfigured(f"--docs: the labels are of {told.documentation}, and {docs} is of {found}")
    return inventory


async def _seen(docs: Path, inventory: Inventory) -> _Seen:
    site = Site("python_docs", inventory.project.casefold(), _ROOT)
    folder, seen = Folder(docs), _Seen()
    source = SphinxSource(folder, clock=lambda: _MOMENT, name=site.source)
    sample = _sample(inventory)
    for path in inventory.pages():
        page = await folder.get(site, _ROOT + path)
        if not isinstance(page, Page):
            continue
        entries = inventory.of_page(path)
        objects = [entry for entry in entries if entry.role in OBJECTS]
        html = page.body.decode()
        sections = Sections(html)
        seen.sections += [_has_section(sections, entry) for entry in entries if entry in sample]
        seen.names |= {entry.name for entry in objects}
        body = cleaned(html).body
        if body is not None and WORD in body.text(deep=True).lower():
            seen.by_word |= {entry.name for entry in objects}
        _count(seen, notices_of(sections), objects)
        for entry in objects:
            ref = Ref(site, entry.role, entry.name, page.url, entry.anchor, inventory.version)
            found = await source.deprecations(ref, page)
            seen.told |= {one.symbol for one in found if one.scope != "parameter"}
    listed = docs / "py-modindex.html"
    seen.modules |= deprecated_modules(Sections(listed.read_text(encoding="utf-8"))) if listed.is_file() else set()
    return seen


def _sample(inventory: Inventory) -> frozenset[Entry]:
    entries = [entry for path in inventory.pages() for entry in inventory.of_page(path)]
    return frozenset(random.Random(SEED).sample(entries, min(SAMPLE, len(entries))))  # noqa: S311 - no secret


def _has_section(sections: Sections, entry: Entry) -> bool:
    found = sections.at(entry.anchor)
    return found is not None and bool(found.text)


def _count(seen: _Seen, notices: Notices, objects: Iterable[Entry]) -> None:
    """Whose the boxes of a page are."""
    boxes = {name: [one for one in found if one.kind == "notice"] for name, found in notices.objects.items()}
    seen.own |= {entry.name for entry in objects if boxes.get(entry.anchor)}
    modules = {name: [one for one in found if one.kind == "notice"] for name, found in notices.modules.items()}
    seen.modules |= {name for name, found in modules.items() if any(one.about == "whole" for one in found)}
    seen.boxes.update(notices.boxes)


def _figures(seen: _Seen, right: set[str]) -> list[Figure]:
    precision, plain = _share(seen.told & right, seen.told), _share(seen.by_word & right, seen.by_word)
    recall, all_found = _share(seen.told & right, right), _share(seen.by_word & right, right)
    boxes = seen.boxes.total()
    return [
        _figure("precision", precision, plain, len(seen.told)),
        _figure("recall", recall, all_found, len(right)),
        _figure("false", len(seen.told - right), len(seen.by_word - right), len(seen.told), unit="symbols"),
        _figure("sections", sum(seen.sections) / max(1, len(seen.sections)), None, len(seen.sections)),
        _figure("own_notice", len(seen.own), None, len(seen.names), unit="symbols"),
        _figure("modules", len(seen.modules), None, len(seen.modules), unit="modules"),
        _figure("notices", boxes, None, boxes, unit="notices"),
        _figure("attributed", boxes - seen.boxes["nowhere"], boxes, boxes, unit="notices"),
        _figure("of_objects", seen.boxes["object"], boxes, boxes, unit="notices"),
        _figure("of_modules", seen.boxes["module"], boxes, boxes, unit="notices"),
    ]


def _share(some: set[str], of: set[str]) -> float:
    return len(some) / len(of) if of else 0.0


def _figure(metric: str, value: float, baseline: float | None, n: int, *, unit: str = "share") -> Figure:
    return Figure(BENCH, metric, float(value), unit, baseline, value / baseline if baseline else None, value, value, n)
