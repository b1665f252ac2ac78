"""What a task names that documentation could tell of: symbols, errors, and whether it asks for documentation at all.

Rule of this file: pure. A word is a symbol only by its form: joined by points, in backticks, called, imported, or an
error's name; "remove the item from the list" names none. Words that mean something are data (``tasks.yaml``).
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from lakehouse.keywords import fold_text
from lakehouse.ruledata import load_data

MAX_READ: Final = 4_000
"""Characters of a task that are looked at."""
MAX_SYMBOLS: Final = 8
MAX_NAME: Final = 300
"""Characters of a symbol; nobody documents a longer one, and nobody could be asked for it."""
_NAME: Final = r"[A-Za-z_][A-Za-z0-9_]*"
_DOTTED: Final = re.compile(rf"(?<![\w./@-]){_NAME}(?:\.{_NAME})+(?![\w/@])")
_QUOTED: Final = re.compile(rf"`+({_NAME}(?:\.{_NAME})*)(?:\(\))?`+")
_CALLED: Final = re.compile(rf"(?<![\w.]){_NAME}(?=\()")
_IMPORT: Final = re.compile(rf"^[\s>.`]*import\s+({_NAME}(?:\.{_NAME})*)(?:\s+as\s+{_NAME})?\s*`*$", re.MULTILINE)
_FROM: Final = re.compile(
    rf"^[\s>.`]*from\s+({_NAME}(?:\.{_NAME})*)\s+import\s+\(?({_NAME}(?:\s*,\s*{_NAME})*)\)?\s*`*$", re.MULTILINE
)
_ERROR: Final = re.compile(r"\b[A-Z][A-Za-z0-9]*(?:Error|Exception|Warning)\b")
_VERSION: Final = re.compile(rf"\b({_NAME})\s+v?(\d+(?:\.\d+)+)\b")
_DATA: Final = load_data("lakehouse.external", "tasks")
_WORD: Final = re.compile(r"[^\W_]+")
_HAN: Final = re.compile("[\u3400-\u9fff]")
_ENDINGS: Final = frozenset(_DATA["endings"].split())


def _phrases(rows: list[str]) -> tuple[str, ...]:
    return tuple(fold_text(phrase.strip()) for row in rows for phrase in row.split(","))


_DOCUMENTATION: Final = _phrases(_DATA["documentation"])
_REFACTORING: Final = _phrases(_DATA["refactoring"])


@dataclass(frozen=True)
class Symbol:
    """A name of code.

    Attributes:
        name: As written, without brackets.
        project: Whose it is said to be; None where nothing says so.
        version: Of the project, where one stands beside its name.
    """

    name: str
    project: str | None = None
    version: str | None = None


@dataclass(frozen=True)
class Asked:
    """What a task asks of documentation.

    Attributes:
        symbols: Each once, in the order of the text, eight at most.
        errors: Names of errors in it.
        wants_documentation: Whether it asks for documentation outright.
        is_refactoring: Whether it only changes the form of code.
    """

    symbols: tuple[Symbol, ...] = ()
    errors: tuple[str, ...] = ()
    wants_documentation: bool = False
    is_refactoring: bool = False


def asked_of(task: str, projects: Collection[str] = ()) -> Asked:
    """What a task asks of documentation.

    Args:
        task: In anybody's words; its first 4,000 characters count.
        projects: Names that a version beside them is the version of, beside the first part of a symbol's own name.
    """
    text = task[:MAX_READ]
    versions = {fold_text(found[1]): found[2] for found in _VERSION.finditer(text)}
    told = [(project, versions[project]) for project in projects if project in versions]
    names = dict.fromkeys(name for _, name in sorted(_names(text)) if len(name) <= MAX_NAME)
    whole = [name for name in names if not any(other.endswith(f".{name}") for other in names)]
    spoken = f" {' '.join(_WORD.findall(fold_text(text)))} "
    return Asked(
        symbols=tuple(_symbol(name, versions, told) for name in whole[:MAX_SYMBOLS]),
        errors=tuple(dict.fromkeys(_ERROR.findall(text))),
        wants_documentation=_says(spoken, _DOCUMENTATION),
        is_refactoring=_says(spoken, _REFACTORING),
    )


def _names(text: str) -> Iterator[tuple[int, str]]:
    """Each name with its place, in no order."""
    for found in _DOTTED.finditer(text):
        if found[0].rpartition(".")[2].casefold() not in _ENDINGS:
            yield found.start(), found[0]
    for found in _QUOTED.finditer(text):
        if found[1].rpartition(".")[2].casefold() not in _ENDINGS or "." not in found[1]:
            yield found.start(1), found[1]
    for found in _CALLED.finditer(text):
        yield found.start(), found[0]
    for found in _IMPORT.finditer(text):
        yield found.start(1), found[1]
    for found in _FROM.finditer(text):
        for name in found[2].split(","):
            yield found.start(2), f"{found[1]}.{name.strip()}"


def _symbol(name: str, versions: Mapping[str, str], projects: Sequence[tuple[str, str]]) -> Symbol:
    """The symbol, with the version that stands beside its own first part, or beside the one project that is named."""
    first = fold_text(name.partition(".")[0])
    if first in versions:
        return Symbol(name, version=versions[first])
    return Symbol(name, *projects[0]) if len(projects) == 1 else Symbol(name)


def _says(spoken: str, phrases: tuple[str, ...]) -> bool:
    return any(phrase in spoken if _HAN.match(phrase) else f" {phrase} " in spoken for phrase in phrases)
