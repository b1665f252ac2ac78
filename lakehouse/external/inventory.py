"""The index of a documentation that Sphinx made: which symbol is told of on which page.

Rule of this file: pure. Nothing is guessed: a symbol is where the index says, and where several could be meant there is
none. An index is foreign: it is unpacked only up to a limit, and its lines are counted before they are read.
"""

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import sphobjinv

MAX_INFLATED: Final = 32 * 1024 * 1024
"""Bytes of an index, unpacked."""
MAX_LINES: Final = 200_000
MAX_ENDS: Final = 20
"""Of one name: a name of a million points has more letters in its ends than fit anywhere."""
MAX_VERSION: Final = 100
"""Characters of a version, which each document carries."""
HEADER_LINES: Final = 4
_MARK: Final = b"# Sphinx inventory version 2"
_PREFERRED: Final = (
    "py:function",
    "py:class",
    "py:method",
    "py:classmethod",
    "py:staticmethod",
    "py:exception",
    "py:property",
    "py:attribute",
    "py:data",
    "py:module",
)
PLACES: Final = frozenset({"std:label", "std:doc", "std:term", "std:token", "c:functionParam", "py:parameter"})
"""Roles of what is no symbol of its own; nobody means them by the end of a name."""
_RANK: Final[Mapping[str, int]] = MappingProxyType(
    {
        **{role: rank for rank, role in enumerate(_PREFERRED)},
        **dict.fromkeys(PLACES - {"std:label", "std:doc"}, len(_PREFERRED) + 1),
        "std:label": len(_PREFERRED) + 2,
        "std:doc": len(_PREFERRED) + 3,
    }
)


class NoInventory(ValueError):  # noqa: N818 - named by what it says, as in schemas.errors
    """Bytes that are no index, or a larger one than is read; the message says which."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Where one symbol is told of.

    Attributes:
        role: Domain and kind, such as "py:function".
        name: The symbol.
        page: Of the site, relative to its root, without fragment.
        anchor: In the page; empty for the page as a whole.
        title: How it is shown; the name where that is no different.
    """

    role: str
    name: str
    page: str
    anchor: str
    title: str


class Inventory:
    """The index of one project's documentation.

    Attributes:
        project: As it calls itself.
        version: Of the project; None where it tells none.
    """

    def __init__(self, project: str, version: str | None, entries: Iterable[Entry]) -> None:
        """Index entries.

        Args:
            project: As it calls itself.
            version: Of the project.
            entries: In any order.
        """
        self.project = project
        self.version = version
        self._named: dict[str, list[Entry]] = {}
        self._pages: dict[str, list[Entry]] = {}
        for entry in sorted(entries, key=_order):
            self._named.setdefault(entry.name, []).append(entry)
            self._pages.setdefault(entry.page, []).append(entry)
        self._ends = _ends_of(name for name, named in self._named.items() if named[0].role not in PLACES)

    def __len__(self) -> int:
        return sum(map(len, self._named.values()))

    def find(self, symbol: str, *, is_marked: bool = False) -> Sequence[Entry]:
        """Where a symbol is told of: all that have exactly this name, else the one whose name ends so.

        Args:
            symbol: Whole ("asyncio.run"), or the end of a whole name ("Runner.run"). With "()" behind it, it is none of
                the commands, options and headings that a documentation has beside what can be called.
            is_marked: Whether it is called or quoted where it stands. Only then a single word may be the end of a name:
                words are words in most texts.

        Returns:
            Functions and classes first, places in the text last; none where no name ends so, or several do.
        """
        name = symbol.strip().removesuffix("()")
        found = self._named.get(name)
        if found is None and (is_marked or "." in name):
            found = self._named.get(self._ends.get(name) or "")
        is_called = symbol.rstrip().endswith("()")
        return tuple(entry for entry in found or () if not (is_called and entry.role.startswith("std:")))

    def of_page(self, page: str) -> Sequence[Entry]:
        """All that is told of on a page, functions and classes first."""
        return tuple(self._pages.get(page, ()))

    def pages(self) -> Sequence[str]:
        """All pages that hold something, by name."""
        return sorted(self._pages)


def inventory_of(body: bytes) -> Inventory:
    """Read an ``objects.inv``.

    Args:
        body: Version 2 of the format, as it comes.

    Raises:
        NoInventory: It is none, or unpacks to more than 32 MiB or 200,000 lines.
    """
    head, packed = _split(body)
    plain = _inflated(packed)
    if plain.count(b"\n") > MAX_LINES:
        raise NoInventory(f"it has more than {MAX_LINES} lines")
    if not plain.strip():
        raise NoInventory("it lists nothing")
    try:
        read = sphobjinv.Inventory(plaintext=b"\n".join([*head, plain]))
    except (AttributeError, ValueError, TypeError, sphobjinv.SphobjinvError) as error:
        raise NoInventory(f"its lines cannot be read: {error}") from error
    return Inventory(
        _told(head[1], b"# Project:"), _told(head[2], b"# Version:")[:MAX_VERSION] or None, map(_entry, read.objects)
    )


def _split(body: bytes) -> tuple[list[bytes], bytes]:
    *head, packed = body.split(b"\n", HEADER_LINES)
    head = [line.rstrip(b"\r") for line in head]
    if len(head) != HEADER_LINES or head[0] != _MARK:
        raise NoInventory(f"it does not begin with {_MARK.decode()!r}")
    return head, packed


def _inflated(packed: bytes) -> bytes:
    inflater = zlib.decompressobj()
    try:
        plain = inflater.decompress(packed, MAX_INFLATED + 1)
    except zlib.error as error:
        raise NoInventory(f"it cannot be unpacked: {error}") from error
    if len(plain) > MAX_INFLATED:
        raise NoInventory(f"it unpacks to more than {MAX_INFLATED} bytes")
    if not inflater.eof:
        raise NoInventory("it ends early")
    return plain


def _told(line: bytes, label: bytes) -> str:
    return line.removeprefix(label).decode(errors="replace").strip()


def _entry(told: sphobjinv.DataObjStr) -> Entry:
    page, _, anchor = told.uri_expanded.partition("#")
    return Entry(f"{told.domain}:{told.role}", told.name, page, anchor, told.dispname_expanded)


def _order(entry: Entry) -> tuple[int, str, str]:
    return _RANK.get(entry.role, len(_PREFERRED)), entry.role, entry.name


def _ends_of(names: Iterable[str]) -> dict[str, str | None]:
    """The whole name of each end of one; None where several end so."""
    ends: dict[str, str | None] = {}
    for name in names:
        segments = name.rsplit(".", MAX_ENDS)
        for start in range(1, len(segments)):
            end = ".".join(segments[start:])
            ends[end] = None if end in ends else name
    return ends
