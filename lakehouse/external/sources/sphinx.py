"""Any documentation that Sphinx made: its index tells the pages, and its pages tell all of their symbols at once.

Rule of this file: it asks for what the index names and for nothing else; what a page says is read by pure modules. An
index and a list of modules hold for a day, and are asked for on condition then; where a host is away, what is kept
holds on.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urljoin

from lakehouse.external.inventory import Entry, Inventory, NoInventory, inventory_of
from lakehouse.external.letters import text_of
from lakehouse.external.notices import Notice, Notices, deprecated_modules, notices_of
from lakehouse.external.origins import Refused, joined
from lakehouse.external.pages import Section, Sections
from lakehouse.external.policy import trust_of
from lakehouse.external.source import Blocked, Failed, Fetch, Gone, NotModified, Outcome, Page, Ref, Site
from lakehouse.external.standing import finding_of, parents_of
from schemas.errors import Unavailable
from schemas.knowledge import Category, Deprecation, Document, PageState, document_id, hash_of

INDEX: Final = "objects.inv"
INDEX_BYTES: Final = 4 * 1024 * 1024
HOLDS: Final = timedelta(days=1)
"""How long an index and what goes with it is not asked for again."""
AGAIN: Final = timedelta(minutes=1)
"""How long one that could not be had is left alone, where the host says nothing else and an older one is kept."""
PYTHON_DOCS: Final = Site(
    source="python_docs",
    project="python",
    url="https://docs.python.org/3/",
    language="python",
    licence="Python Software Foundation License",
)
_MODULES: Final = "py-modindex"
"""Label of the list of modules, as the index names it."""
_UNTOLD: Final = frozenset({"c:functionParam", "std:token"})
"""Roles of what has no text of its own."""
MOST_OF_PAGE: Final = 2_000
"""Symbols of one page that are told of, functions and classes first: an index may name any number."""
_NO_PAGE: Final = "there is no such page"
_KEPT_PAGES: Final = 16
"""Pages whose notices are kept: a page is asked for all of its symbols, one after another."""


@dataclass
class _Shelf:
    """What is kept of one site.

    Attributes:
        lock: Held by whoever asks the host.
        states: Of index and pages, by address.
        until: Until when they are not asked for again, by address.
        reasons: Why there is nothing, by address.
        inventory: Its index.
        listed: Modules that it marks as deprecated.
        modules: Notices of pages of modules, by address.
    """

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    states: dict[str, PageState] = field(default_factory=dict)
    until: dict[str, datetime] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    inventory: Inventory | None = None
    listed: frozenset[str] = frozenset()
    modules: dict[str, Notices] = field(default_factory=dict)


class SphinxSource:
    """Reads sites that Sphinx made; see ``Source``. For one event loop.

    Attributes:
        id: Which of the sources of the settings, "sphinx" or "python_docs".
        category: Of all its documents.
        trust: 0 … 1.
    """

    category: Category = "official_docs"
    limit: int | None = None

    def __init__(self, fetch: Fetch, *, clock: Callable[[], datetime], name: str = "sphinx") -> None:
        """Prepare; nothing is asked for.

        Args:
            fetch: Asks hosts.
            clock: Now, timezone-aware.
            name: Its id.
        """
        self.id = name
        self.trust = trust_of(name)
        self._fetch = fetch
        self._clock = clock
        self._shelves: dict[str, _Shelf] = {}
        self._notices: OrderedDict[tuple[str, str | None], Notices] = OrderedDict()

    async def prepare(self, site: Site) -> str | None:
        """Have the index at hand, by which pages are read; ``resolve`` and ``deprecations`` do it by themselves.

        Returns:
            The version that the documents will have.

        Raises:
            Unavailable: The index could not be had.
        """
        inventory = await self._inventory(site)
        return site.version or inventory.version

    async def resolve(self, symbol: str, site: Site) -> Sequence[Ref]:
        """Where a symbol is told of, functions and classes first; see ``Source``.

        Whoever names a symbol means one: a single word is resolved where just one name ends so.
        """
        inventory = await self._inventory(site)
        found = inventory.find(symbol, is_marked=True)
        refs = (_ref(entry, site, site.version or inventory.version) for entry in found if entry.role not in _UNTOLD)
        return [ref for ref in refs if _is_inside(ref.url, site)]

    def documents(self, page: Page, site: Site) -> Sequence[Document]:
        """All that a page tells, each symbol once, by the index where it is at hand; see ``prepare``.

        Without it, what the page itself names: then only functions, classes and the like.
        """
        inventory = self._shelf(site).inventory
        version = site.version or (page.state.version if inventory is None else inventory.version)
        told: dict[str, Document] = {}
        for entry, section in _told(_read(page), page, site, inventory):
            if entry.name not in told:
                ref = Ref(site, entry.role, entry.name, page.url, entry.anchor, version)
                told[entry.name] = self._document(ref, section)
        return list(told.values())

    async def deprecations(self, ref: Ref, page: Page | None) -> Sequence[Deprecation]:
        """What the documentation says of the symbol, its class and its modules; one finding at most."""
        shelf = self._shelf(ref.site)
        inventory = await self._inventory(ref.site)
        listed = await self._listed(ref.site, inventory)
        notices = await self._notices_of(await self._page(ref) if page is None else page)
        modules, places = dict(notices.modules), dict[str, str]()
        for parent in [ref.name, *parents_of(ref.name)] if ref.role.startswith("py:") else []:
            for entry in inventory.find(parent):
                url = _url(entry, ref.site)
                if entry.role == "py:module" and entry.name == parent and _is_inside(url, ref.site) and url != ref.url:
                    told = await self._module(shelf, ref.site, url)
                    modules.setdefault(parent, told.get(parent, ()))
                    places[parent] = url
        found = finding_of(ref, notices.objects, modules, listed, places)
        return [] if found is None else [found]

    def _shelf(self, site: Site) -> _Shelf:
        return self._shelves.setdefault(site.url, _Shelf())

    def _document(self, ref: Ref, section: Section) -> Document:
        site = ref.site
        return Document(
            id=document_id(self.id, site.project, ref.version, ref.role, ref.name),
            source=self.id,
            project=site.project,
            version=ref.version,
            role=ref.role,
            name=ref.name,
            title=section.title,
            summary=section.summary,
            text=section.text,
            content_hash=hash_of(section.text),
            page_url=ref.url,
            anchor=ref.anchor,
            category=self.category,
            trust=self.trust,
            language=site.language,
            licence=site.licence,
        )

    async def _inventory(self, site: Site) -> Inventory:
        shelf, url = self._shelf(site), urljoin(site.url, INDEX)
        async with shelf.lock:
            outcome = await self._asked(shelf, site, url, INDEX_BYTES)
            if isinstance(outcome, Page):
                try:
                    shelf.inventory = await asyncio.to_thread(inventory_of, outcome.body)
                except NoInventory as error:
                    shelf.states.pop(url, None)
                    shelf.until[url], shelf.reasons[url] = self._clock() + AGAIN, f"it cannot be read: {error}"
            if shelf.inventory is None:
                raise Unavailable(f"the index of {site.project} at {url} could not be had: {shelf.reasons[url]}")
            return shelf.inventory

    async def _listed(self, site: Site, inventory: Inventory) -> frozenset[str]:
        """Modules that are marked as deprecated in the list of modules; none where the index names no such list."""
        shelf = self._shelf(site)
        for url in filter(lambda url: _is_inside(url, site), (_url(entry, site) for entry in inventory.find(_MODULES))):
            async with shelf.lock:
                outcome = await self._asked(shelf, site, url)
                if isinstance(outcome, Page):
                    read = await asyncio.to_thread(_read, outcome)
                    shelf.listed = deprecated_modules(read)
                _require(outcome, site, url)
        return shelf.listed

    async def _module(self, shelf: _Shelf, site: Site, url: str) -> Mapping[str, tuple[Notice, ...]]:
        """Notices of modules on the page of one of them."""
        async with shelf.lock:
            outcome = await self._asked(shelf, site, url)
            if isinstance(outcome, Page):
                shelf.modules[url] = await self._notices_of(outcome)
            _require(outcome, site, url)
        kept = shelf.modules.get(url)
        return {} if kept is None else kept.modules

    async def _asked(self, shelf: _Shelf, site: Site, url: str, limit: int | None = None) -> Outcome | None:
        """Ask for something that holds for a day; None where what is kept holds."""
        now = self._clock()
        if url in shelf.until and now < shelf.until[url]:
            return None
        outcome = await self._fetch.get(site, url, shelf.states.get(url), limit=limit)
        match outcome:
            case Page(state=state) | NotModified(state=state):
                shelf.states[url], shelf.until[url] = state, now + HOLDS
            case Gone():
                shelf.states.pop(url, None)
                shelf.until[url], shelf.reasons[url] = now + HOLDS, _NO_PAGE
            case Failed(state=state, reason=reason) | Blocked(state=state, reason=reason):
                shelf.reasons[url] = reason
                if url in shelf.states or isinstance(outcome, Blocked) or outcome.permanent:
                    shelf.until[url] = max(state.negative_until or now + AGAIN, now + AGAIN)
        return outcome

    async def _page(self, ref: Ref) -> Page:
        outcome = await self._fetch.get(ref.site, ref.url)
        if isinstance(outcome, Page):
            return outcome
        reason = outcome.reason if isinstance(outcome, Failed | Blocked) else _NO_PAGE
        raise Unavailable(f"{ref.url} could not be had: {reason}")

    async def _notices_of(self, page: Page) -> Notices:
        key = (page.url, page.state.content_hash)
        if key not in self._notices or page.state.content_hash is None:
            self._notices[key] = await asyncio.to_thread(lambda: notices_of(_read(page)))
            if len(self._notices) > _KEPT_PAGES:
                self._notices.popitem(last=False)
        return self._notices[key]


def _read(page: Page) -> Sections:
    return Sections(text_of(page.body, page.content_type))


def _require(outcome: Outcome | None, site: Site, url: str) -> None:
    """What can be had another time is waited for; what cannot has nothing to say.

    Raises:
        Unavailable: It could not be had this time.
    """
    if isinstance(outcome, Failed) and not outcome.permanent:
        raise Unavailable(f"{url} of {site.project} could not be had: {outcome.reason}")


def _url(entry: Entry, site: Site) -> str:
    """Where an entry leads, in its one form; "", which lies in no site, where that is no address."""
    try:
        return joined(site.url, entry.page).url
    except Refused:
        return ""


def _ref(entry: Entry, site: Site, version: str | None) -> Ref:
    return Ref(site, entry.role, entry.name, _url(entry, site), entry.anchor, version)


def _is_inside(url: str, site: Site) -> bool:
    return url.startswith(urljoin(site.url, "."))


def _told(sections: Sections, page: Page, site: Site, inventory: Inventory | None) -> Sequence[tuple[Entry, Section]]:
    """All that a page tells, and where."""
    if inventory is None:
        own = [(role, section) for role, section in sections.symbols() if role.startswith("py:")]
        return [(Entry(role, one.anchor, "", one.anchor, one.anchor), one) for role, one in own]
    path = page.url.removeprefix(urljoin(site.url, "."))
    told = [entry for entry in inventory.of_page(path) if entry.role not in _UNTOLD]
    entries = [(entry, sections.at(entry.anchor)) for entry in told[:MOST_OF_PAGE]]
    return [(entry, section) for entry, section in entries if section is not None]
