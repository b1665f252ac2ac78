"""Lines of a changelog become releases with their entries: Markdown's headings and those that are underlined.

Rule of this file: pure. It knows how such a file is laid out and nothing of what its sentences mean. A heading that
names no version ends a release, so that nothing is told of a version that is not named.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from lakehouse.external.releases import parsed
from lakehouse.ruledata import load_data

DATA: Final = load_data("lakehouse.external", "changelog")
_HASHES: Final = re.compile(r" {0,3}(?P<hashes>#{1,6})[ \t]+(?P<title>.*?)[ \t]*#*[ \t]*")
_LINE: Final = re.compile(r"(?P<sign>[=\-~^\"'`#*+.:_])(?P=sign){2,}[ \t]*")
_BOLD: Final = re.compile(r"(?:\*\*|__)(?P<title>[^*_]+?):?(?:\*\*|__):?")
_BULLET: Final = re.compile(r"(?P<indent>[ \t]*)(?P<sign>[-*+\u2022]|\d{1,3}[.)])(?P<gap>[ \t]+)(?P<text>\S.*)")
_MARKUP: Final = re.compile(r"(?P<indent>[ \t]*)\.\.(?:[ \t]+(?:(?:[\w-]+:)?(?P<name>[\w-]+)::)?[ \t]*(?P<rest>.*))?")
_FENCE: Final = re.compile(r"[ \t]*(?:```|~~~)")
_DATE: Final = re.compile(r"\d{4}-\d{1,2}-\d{1,2}[,:]?\s+")
_LINK: Final = re.compile(r"\[(?P<text>[^\]]*)\](?:\([^()\s]*\)|\[[^\]]*\])?")
_VERSION: Final = re.compile(r"(?i:v)?(?P<version>\d+(?:[!._+-]?\w+)*)(?P<rest>.*)")
_OPENING: Final = re.compile(r"\s*(?:\(.*|[-\u2013\u2014,:]\s*\d{4}.*)?")
_INNERMOST: Final = 7
"""Level of a line in bold letters that stands for a heading: below all others."""


@dataclass(frozen=True)
class Entry:
    """One thing that a release notes.

    Attributes:
        text: A bullet with the lines that go on with it, or a paragraph, in one line.
        version: Of the release, as it is written; None where it has none yet ("Unreleased").
        groups: Headings between the release's and this, outermost first.
        parents: Texts of the bullets that this one stands under, outermost first.
        directive: Name of the directive that says it; None where it is a sentence.
        about: The object that the directive stands in; None where none is named.
    """

    text: str
    version: str | None = None
    groups: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    directive: str | None = None
    about: str | None = None


@dataclass
class _Open:
    """What is being read."""

    indent: int
    lines: list[str]
    entry: Entry
    is_bullet: bool = False


@dataclass
class _Reader:
    """Reads line by line; entries come out in their order."""

    project: str
    entries: list[Entry] = field(default_factory=list)
    release_level: int | None = None
    version: str | None = None
    groups: list[tuple[int, str]] = field(default_factory=list)
    styles: list[str] = field(default_factory=list)
    open: list[_Open] = field(default_factory=list)
    objects: list[tuple[int, str]] = field(default_factory=list)
    paused: bool = False
    """Whether the line before was blank."""

    def heading(self, level: int, title: str) -> None:
        """Begin a release, or a group in one."""
        self.close(0)
        self.objects.clear()
        version = version_of_heading(title, self.project)
        if version is not None and (self.release_level is None or level <= self.release_level):
            self.release_level, self.version = level, version
            self.groups.clear()
            return
        self.groups = [group for group in self.groups if group[0] < level]
        if self.release_level is not None and level <= self.release_level:
            self.version = None
            self.groups.clear()
        self.groups.append((level, title))

    def level_of(self, style: str) -> int:
        """Underlines mean levels in the order in which they first come."""
        if style not in self.styles:
            self.styles.append(style)
        return self.styles.index(style) + 1

    def close(self, indent: int) -> None:
        """End what stands as far to the right as this, or further."""
        while self.open and self.open[-1].indent >= indent:
            done = self.open.pop()
            text = " ".join(" ".join(done.lines).split())
            self.entries.append(replace(done.entry, text=text))

    def begin(self, indent: int, text: str, *, is_bullet: bool, directive: str | None = None) -> None:
        """Begin an entry; it stands under the bullets that are left open."""
        self.close(indent)
        parents = tuple(" ".join(" ".join(one.lines).split()) for one in self.open if one.is_bullet)
        groups = tuple(title for _, title in self.groups)
        self.objects = [one for one in self.objects if one[0] < indent]
        about = self.objects[-1][1] if directive and self.objects else None
        entry = Entry("", self.version, groups, parents, directive, about)
        self.open.append(_Open(indent, [text], entry, is_bullet))

    def line(self, line: str) -> None:
        """Take up a line that is no heading."""
        indent = _width(line)
        bullet = _BULLET.fullmatch(line)
        if bullet is not None:
            self.begin(indent, bullet["text"], is_bullet=True)
        elif self.open and (not self.paused or indent > self.open[-1].indent):
            self.open[-1].lines.append(line.strip())
        else:
            self.begin(indent, line.strip(), is_bullet=False)
        self.paused = False


def entries_of(text: str, project: str = "") -> list[Entry]:
    """All that a changelog notes, in its order. What stands in boxes of code is left out.

    Args:
        text: Markdown or reStructuredText.
        project: Its name, which may stand before a version in a heading.
    """
    reader = _Reader(project)
    lines = [line.expandtabs(4).rstrip() for line in text.splitlines()]
    at, fenced = 0, False
    while at < len(lines):
        line = lines[at]
        fenced ^= _FENCE.match(line) is not None
        if fenced or _FENCE.match(line):
            at += 1
        elif not line:
            reader.paused, at = True, at + 1
        else:
            at += _take(reader, lines, at)
    reader.close(0)
    return _in_order(reader.entries)


def _take(reader: _Reader, lines: list[str], at: int) -> int:
    """Take up what begins at a line; how many lines that are."""
    line = lines[at]
    hashes, bold, markup = _HASHES.fullmatch(line), _BOLD.fullmatch(line), _MARKUP.fullmatch(line)
    if hashes is not None:
        reader.heading(len(hashes["hashes"]), hashes["title"])
        return 1
    for style, title, length in _underlined(lines, at):
        reader.heading(reader.level_of(style), title)
        return length
    if bold is not None:
        reader.heading(_INNERMOST, bold["title"])
        return 1
    if _LINE.fullmatch(line):
        reader.close(0)
        return 1
    if markup is not None:
        return _markup(reader, lines, at, markup)
    reader.line(line)
    return 1


def _underlined(lines: list[str], at: int) -> Iterator[tuple[str, str, int]]:
    """Style, title and length of a heading with a line under it, and perhaps one above."""
    line, after = lines[at], lines[at + 1 : at + 3]
    if _LINE.fullmatch(line) and len(after) > 1 and after[1] == line and after[0].strip():
        yield f"{line[0]}{line[0]}", after[0].strip(), 3
    elif (
        after and _LINE.fullmatch(after[0]) and not (line[0] == " " or _LINE.fullmatch(line) or _BULLET.fullmatch(line))
    ):
        yield after[0][0], line.strip(), 2


def _markup(reader: _Reader, lines: list[str], at: int, markup: re.Match[str]) -> int:
    """A directive or a comment, with all that is indented under it."""
    indent, name, rest = len(markup["indent"]), markup["name"], markup["rest"] or ""
    if name in DATA["object_directives"]:
        reader.close(indent)
        reader.objects = [one for one in reader.objects if one[0] < indent]
        reader.objects.append((indent, rest.partition("(")[0].strip()))
        reader.paused = True
        return 1
    end = at + 1
    while end < len(lines) and (not lines[end] or _width(lines[end]) > indent):
        end += 1
    if name in DATA["directives"]:
        inside = " ".join([rest, *(line.strip() for line in lines[at + 1 : end])])
        reader.begin(indent, inside, is_bullet=False, directive=name)
        reader.close(indent)
    reader.paused = True
    return end - at


def _width(line: str) -> int:
    return len(line) - len(line.lstrip())


def _in_order(entries: list[Entry]) -> list[Entry]:
    """Inner bullets end before outer ones: put each parent before its children again."""
    ordered: list[Entry] = []
    for entry in entries:
        at = len(ordered)
        while at and entry.text in ordered[at - 1].parents and ordered[at - 1].version == entry.version:
            at -= 1
        ordered.insert(at, entry)
    return ordered


def version_of_heading(title: str, project: str = "") -> str | None:
    """The version that a heading is about, as it is written; None where it is about something else.

    "Version 2.3.0", "v1.2 (2024-01-02)", "[26.1.0](…) - 2026-03-19" and "2024a" are; "Drop Python 3.8" is not.

    Args:
        title: Of the heading.
        project: Whose name may stand before the version.
    """
    told = _DATE.sub("", _LINK.sub(r"\g<text>", title).replace("*", "").replace("`", "").strip(), count=1)
    allowed = {*DATA["heading_words"], *re.split(r"[\s_-]+", project.casefold())}
    named = False
    while told and not _VERSION.match(told):
        word, _, told = told.partition(" ")
        if word.casefold().strip(":,-\u2013\u2014") not in allowed:
            return None
        named = True
    match = _VERSION.match(told)
    if match is None or parsed(match["version"]) is None:
        return None
    if match["version"].isdigit() and not named and _OPENING.fullmatch(match["rest"]) is None:
        return None
    return match["version"]
