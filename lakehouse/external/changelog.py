"""What a changelog says of a project's symbols: deprecated when, gone when, what to use instead.

Rule of this file: pure. Names in changelogs are loose: one counts only where it is the end of exactly one symbol of the
project, and who knows the symbols is asked. Versions are compared as versions; the newest word on a symbol counts.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from packaging.version import Version

from lakehouse.external.changelog_code import Subject
from lakehouse.external.changelog_lines import Entry, entries_of
from lakehouse.external.changelog_words import (
    Kind,
    Statement,
    kind_of_group,
    kind_of_parent,
    statements_of,
)
from lakehouse.external.releases import parsed
from schemas.knowledge import QUOTE_CHARACTERS, Deprecation, Evidence, Extent, Status

__all__ = ["Change", "Entry", "Kind", "Known", "by_suffix", "changes_of", "entries_of", "finding_of"]

Known = Callable[[str], str | None]
"""The whole name of a project's symbol whose end is told; None where none or more than one ends so."""
SAID: Final = 0.9
"""Confidence where a sentence says so itself."""
IMPLIED: Final = 0.7
"""Confidence where only the heading or the bullet above says so."""
_SIGNS: Final = ("::", "#")


@dataclass(frozen=True)
class Change:
    """One word of a changelog on one symbol.

    Attributes:
        symbol: Its whole name.
        kind: What became of it.
        scope: Whether it, or only a parameter or a way of using it.
        version: Of the release that did it, as written; None where it is not released.
        replacements: What is to be used instead: whole names where they are known, else as written.
        removed_in: Where that is told beforehand.
        direct: Whether the sentence says so itself.
        text: The entry.
        part: The parameter that is told of; empty where none is named, or it is a symbol itself.
    """

    symbol: str
    kind: Kind
    scope: Extent
    version: str | None
    replacements: tuple[str, ...]
    removed_in: str | None
    direct: bool
    text: str
    part: str = ""


def by_suffix(names: Iterable[str], *, least: int = 1) -> Known:
    """Knows symbols by their ends: "run" or "asyncio.run", where one symbol alone ends so.

    Args:
        names: All symbols of a project, whole.
        least: Segments that an end must have; a whole name always counts.
    """
    ends: defaultdict[str, set[str]] = defaultdict(set)
    whole = frozenset(names)
    for name in whole:
        segments = _dotted(name).split(".")
        for start in range(len(segments) - least + 1):
            ends[".".join(segments[start:])].add(name)

    def known(told: str) -> str | None:
        if told in whole:
            return told
        found = ends.get(_dotted(told), set[str]())
        return next(iter(found)) if len(found) == 1 else None

    return known


def _dotted(name: str) -> str:
    for sign in _SIGNS:
        name = name.replace(sign, ".")
    return name.rpartition(":")[2]


def changes_of(text: str, known: Known, project: str = "", *, about: str | None = None) -> list[Change]:
    """All that a changelog says of symbols, in its order.

    Args:
        text: Markdown or reStructuredText.
        known: Tells which symbol a name means.
        project: Its name.
        about: The symbol that a directive speaks of which stands in no object.
    """
    return [
        change
        for entry, statements in _read(text, project)
        for statement in statements
        for change in _changes(statement, entry, known, about)
    ]


@lru_cache(maxsize=8)
def _read(text: str, project: str) -> tuple[tuple[Entry, tuple[Statement, ...]], ...]:
    """The entries that say something: the same changelog is asked for many symbols."""
    found = []
    for entry in entries_of(text, project):
        above = kind_of_parent(entry.parents[-1]) if entry.parents else "mention"
        if above == "mention":
            above = kind_of_group(entry.groups)
        said = tuple(one for one in statements_of(entry, above, project) if one.kind != "mention")
        if said:
            found.append((entry, said))
    return tuple(found)


def _changes(statement: Statement, entry: Entry, known: Known, about: str | None) -> Iterable[Change]:
    if statement.kind == "undeprecated" and not _is_undone(entry):
        return
    subjects = statement.subjects or ((Subject(about),) if about and entry.directive else ())
    for subject in subjects:
        symbol, scope = _resolved(subject, known)
        if symbol is not None:
            told = dict.fromkeys(known(name) or name for name in statement.replacements)
            yield Change(
                symbol,
                statement.kind,
                scope,
                statement.since or entry.version,
                tuple(name for name in told if name != symbol),
                statement.removed_in,
                statement.direct,
                entry.text,
                subject.name if scope == "parameter" and subject.owner else "",
            )


def _is_undone(entry: Entry) -> bool:
    """Whether something was taken back that a changelog tells of: what merely works again was never taken."""
    text = entry.text.casefold()
    return "deprecat" in text or "remov" in text or "re-add" in text


def _resolved(subject: Subject, known: Known) -> tuple[str | None, Extent]:
    """A symbol of the project, and what of it is meant.

    A parameter is a symbol where the project has it as one, else it is a way of using what it is said to be of.
    """
    inside = known(f"{subject.owner}.{subject.name}") if subject.owner else None
    if subject.is_parameter:
        return inside or known(subject.owner or subject.name), "parameter"
    return inside or known(subject.name), "symbol"


def finding_of(
    changes: Iterable[Change], symbol: str, project: str, *, url: str = "", version: str | None = None
) -> Deprecation | None:
    """What a changelog says of a symbol by now; None where it says nothing.

    Where the symbol itself and ways of using it are told of, the symbol counts.

    Args:
        changes: Of one changelog, in any order.
        symbol: Whole.
        project: Its name.
        url: Of the changelog.
        version: That is used; what is removed later is deprecated until then. None is the newest.
    """
    mine = [change for change in changes if change.symbol == symbol]
    told = [change for change in mine if change.scope == "symbol"] or mine
    ordered = sorted(told, key=_age)
    if not ordered:
        return None
    fold = _Fold()
    for change in ordered:
        fold = fold.after(change)
    status = _status(fold, parsed(version))
    return Deprecation(
        project=project,
        symbol=symbol,
        version=version,
        status=status,
        since=fold.since,
        removed_in=fold.removed_in,
        replacements=() if status == "undeprecated" else fold.replacements,
        scope=ordered[-1].scope,
        evidence=tuple(
            Evidence(
                kind="changelog", url=url, quote=f"{change.version or 'unreleased'}: {change.text}"[:QUOTE_CHARACTERS]
            )
            for change in reversed(ordered)
        ),
        confidence=SAID if any(change.direct for change in ordered) else IMPLIED,
        parts=tuple(dict.fromkeys(change.part for change in ordered if change.part)),
    )


@dataclass(frozen=True)
class _Fold:
    status: Status = "undeprecated"
    since: str | None = None
    removed_in: str | None = None
    replacements: tuple[str, ...] = ()

    def after(self, change: Change) -> "_Fold":
        """Take up one word more; they come oldest first."""
        is_new = self.status != "deprecated"
        told = change.replacements or (() if is_new else self.replacements)
        match change.kind:
            case "removed":
                since = None if is_new else self.since
                return _Fold("removed", since, change.version, told)
            case "undeprecated":
                return _Fold("undeprecated", since=change.version)
            case _:
                since = change.version if is_new else self.since
                return _Fold("deprecated", since, change.removed_in or (None if is_new else self.removed_in), told)


def _status(fold: _Fold, used: Version | None) -> Status:
    """What is removed later than the version that is used is only deprecated in it."""
    removed_in = parsed(fold.removed_in)
    is_later = used is not None and removed_in is not None and used < removed_in
    return "deprecated" if fold.status == "removed" and is_later else fold.status


def _age(change: Change) -> tuple[bool, Version]:
    """Oldest first; what has no version comes last, since it is not released yet."""
    version = parsed(change.version)
    return (version is None, version or Version("0"))


def symbols_of(changes: Iterable[Change]) -> Mapping[str, list[Change]]:
    """The changes of each symbol, in their order."""
    found: defaultdict[str, list[Change]] = defaultdict(list)
    for change in changes:
        found[change.symbol].append(change)
    return found
