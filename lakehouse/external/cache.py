"""``ExternalKnowledgeCache``: documents by source and symbol, over the lake or over plain files, the last used at hand.

Rule of this file: what it keeps is told exactly by the parts of its key, and an entry whose parts are others is a miss.
An entry that is past its time is no hit, and still there for whoever takes a stale one. Time is passed in.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Generic, Protocol, TypeVar

from pydantic import JsonValue

from lakehouse.external.policy import age
from lakehouse.external.releases import by_fit
from schemas.knowledge import Document
from schemas.message import Instant, Part

MAX_AGE_DAYS: Final = 7
AT_HAND: Final = 1000
"""Entries that are kept in the process; the longest unused goes first."""
AT_HAND_FOR: Final = timedelta(seconds=60)
"""How long one is given without looking whether another process has changed it."""
Item = TypeVar("Item")


class Entry(Part):
    """A document as a backend keeps it, with the parts of its key."""

    source: str
    identifier: str
    project: str
    version: str | None = None
    cached_at: Instant
    """When its source last said that it holds."""
    document: Document


def entry_of(document: Document, cached_at: datetime) -> Entry:
    """The entry of a document."""
    return Entry(
        source=document.source,
        identifier=document.name,
        project=document.project,
        version=document.version,
        cached_at=cached_at,
        document=document,
    )


@dataclass(frozen=True)
class Wanted:
    """What is asked for.

    Attributes:
        source: Who publishes it.
        identifier: The symbol, whole.
        project: Whose; None is any.
        version: Exactly this one; None is any.
    """

    source: str
    identifier: str
    project: str | None = None
    version: str | None = None

    def matches(self, entry: Entry) -> bool:
        """Whether an entry is what is asked for: letter by letter, part by part."""
        return (
            (self.source, self.identifier) == (entry.source, entry.identifier)
            and self.project in {None, entry.project}
            and self.version in {None, entry.version}
        )


class Backend(Protocol):
    """Where entries are kept: the lake, or files."""

    async def read(self, wanted: Wanted) -> Sequence[Entry]:
        """All entries that match, of any version.

        Raises:
            Unavailable: They cannot be read.
        """

    async def write(self, entry: Entry) -> None:
        """Keep an entry, instead of one with the same parts.

        Raises:
            Unavailable: It cannot be written.
        """

    async def remove(self, wanted: Wanted) -> int:
        """Remove all entries that match, and say how many.

        Raises:
            Unavailable: They cannot be removed.
        """

    async def count(self) -> int:
        """How many entries there are."""


@dataclass(frozen=True)
class Cached:
    """An answer.

    Attributes:
        document: What was asked for.
        cached_at: When its source last said that it holds.
        stale: Whether that was longer ago than was allowed.
    """

    document: Document
    cached_at: datetime
    stale: bool = False


class AtHand(Generic[Item]):
    """The last used items by key, each for a short time."""

    def __init__(self, clock: Callable[[], datetime], *, most: int = AT_HAND, hold: timedelta = AT_HAND_FOR) -> None:
        """Begin empty.

        Args:
            clock: Now, timezone-aware.
            most: Items kept.
            hold: How long each may be given again.
        """
        self._clock = clock
        self._most = most
        self._hold = hold
        self._items: OrderedDict[Hashable, tuple[Item, datetime]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._items)

    def get(self, key: Hashable) -> Item | None:
        """The item, if it is kept and not older than is held."""
        found = self._items.get(key)
        if found is None:
            return None
        if abs(self._clock() - found[1]) > self._hold:  # either way: a clock that was set back holds nothing for long
            del self._items[key]
            return None
        self._items.move_to_end(key)
        return found[0]

    def put(self, key: Hashable, item: Item) -> None:
        """Keep an item."""
        self._items[key] = (item, self._clock())
        self._items.move_to_end(key)
        while len(self._items) > self._most:
            self._items.popitem(last=False)

    def clear(self) -> None:
        """Keep nothing."""
        self._items.clear()


class ExternalKnowledgeCache:
    """Documents by source and symbol. For one event loop."""

    def __init__(self, backend: Backend, *, clock: Callable[[], datetime], most_at_hand: int = AT_HAND) -> None:
        """Begin with nothing at hand.

        Args:
            backend: Where entries are kept.
            clock: Now, timezone-aware.
            most_at_hand: Entries kept in the process.
        """
        self._backend = backend
        self._clock = clock
        self._at_hand = AtHand[Entry](clock, most=most_at_hand)
        self._counts = dict.fromkeys(("hits", "at_hand_hits", "stale_hits", "expired", "misses"), 0)

    async def get(
        self,
        source: str,
        identifier: str,
        *,
        project: str | None = None,
        version: str | None = None,
        max_age_days: float = MAX_AGE_DAYS,
        stale: bool = False,
    ) -> Cached | None:
        """The document of a symbol; the newest version where none is named.

        Args:
            source: Who publishes it, such as "python_docs".
            identifier: The symbol, whole, such as "asyncio.run".
            project: Whose; None is any.
            version: Exactly this one; None is any.
            max_age_days: What was last known to hold longer ago is no hit.
            stale: Whether such a one is given all the same, and marked.

        Raises:
            Unavailable: Entries cannot be read.
        """
        wanted = Wanted(source, identifier, project, version)
        entry = self._at_hand.get(wanted)
        if entry is None:
            found = by_fit(await self._backend.read(wanted), lambda one: one.version, version)
            entry = next((one for one in found if wanted.matches(one)), None)
            if entry is None:
                self._counts["misses"] += 1
                return None
            self._at_hand.put(wanted, entry)
        else:
            self._counts["at_hand_hits"] += 1
        is_old = age(entry.cached_at, self._clock()) > timedelta(days=max_age_days)
        self._counts[("stale_hits" if stale else "expired") if is_old else "hits"] += 1
        return Cached(entry.document, entry.cached_at, is_old) if stale or not is_old else None

    async def set(self, document: Document) -> None:
        """Keep a document, as known to hold now, instead of one of the same source, project, symbol and version.

        Raises:
            Unavailable: It cannot be written.
        """
        await self._backend.write(entry_of(document, self._clock()))
        self._at_hand.clear()  # any question may have it as its answer now

    async def invalidate(
        self, source: str, identifier: str, *, project: str | None = None, version: str | None = None
    ) -> int:
        """Remove what is kept of a symbol, of any version where none is named, and say how much it was.

        Raises:
            Unavailable: It cannot be removed.
        """
        removed = await self._backend.remove(Wanted(source, identifier, project, version))
        self._at_hand.clear()
        return removed

    async def get_stats(self) -> dict[str, JsonValue]:
        """Counts since the begin, ``hit_rate`` (0 … 1; None before the first question) and how many entries there are.

        Raises:
            Unavailable: Entries cannot be counted.
        """
        answered = self._counts["hits"] + self._counts["stale_hits"]
        asked = answered + self._counts["expired"] + self._counts["misses"]
        rate = round(answered / asked, 4) if asked else None
        return {**self._counts, "hit_rate": rate, "entries": await self._backend.count(), "at_hand": len(self._at_hand)}
