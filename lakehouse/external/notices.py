"""The notices of deprecation on a page: each belongs to what it stands on, and to nothing else on the page.

Rule of this file: pure. The word alone tells nothing. What counts is a box that Sphinx made of a directive, the list of
modules, or a paragraph that says of its own subject that it is deprecated. Where it stands tells of what; only then are
its words read.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final, Literal

from selectolax.lexbor import LexborNode

from lakehouse.external import markup
from lakehouse.external.notice_words import (
    About,
    Own,
    Reading,
    is_prose_notice,
    is_taken_back,
    reading_of,
    removed_in,
    replacements_of,
    since_of,
    versions_of,
)
from lakehouse.external.pages import Sections
from schemas.knowledge import QUOTE_CHARACTERS, EvidenceKind, Status

Place = Literal["object", "module", "section", "nowhere"]
"""What a box stands in: the description of a symbol, the text of a module, other text under a heading, none of them."""
_KINDS: Final = frozenset({"deprecated", "deprecated-removed", "soft-deprecated", "versionremoved"})
_BOXES: Final = ", ".join(f"div.{kind}" for kind in sorted(_KINDS))
_LABEL: Final = "span.versionmodified"
_MODULE: Final = "module-"
_PARAMETERS: Final = re.compile(r"(?:^|[,(\[])\s*\*{0,2}([A-Za-z_]\w*)(?![\w.])")
_FENCE: Final = re.compile(r" ?`{3,}")
_CERTAIN: Final = 1.0
_LESS_PLAIN: Final = 0.9
_PROSE: Final = 0.8


@dataclass(frozen=True)
class Notice:
    """One notice.

    Attributes:
        status: What it says.
        since: Version; None where it tells none.
        removed_in: Version in which it is or will be gone.
        replacements: What to use instead.
        about: Whether it is about the whole, about a parameter or way of using it, or about other things alone.
        parts: Parameters that it is about.
        quote: Its words, cut.
        kind: Whether it was a box or a paragraph.
        confidence: 0 … 1.
    """

    status: Status
    since: str | None
    removed_in: str | None
    replacements: tuple[str, ...]
    about: About
    parts: tuple[str, ...]
    quote: str
    kind: EvidenceKind
    confidence: float


@dataclass(frozen=True)
class Notices:
    """The notices of one page. All boxes are in it once for each symbol that shares the box.

    Attributes:
        objects: By anchor of the symbol.
        modules: By name, boxes and paragraphs in the text of a module; only those about the whole speak of the
            module.
        elsewhere: In text that belongs to no symbol.
        boxes: Number of boxes on the page, by what they stand in.
    """

    objects: Mapping[str, tuple[Notice, ...]]
    modules: Mapping[str, tuple[Notice, ...]]
    elsewhere: tuple[Notice, ...]
    boxes: Mapping[Place, int]


def notices_of(sections: Sections) -> Notices:
    """All notices of a page."""
    objects: dict[str, list[Notice]] = {}
    modules: dict[str, list[Notice]] = {}
    elsewhere: list[Notice] = []
    places: Counter[Place] = Counter()
    for box in filter(_is_outermost, sections.tree.css(_BOXES)):
        described, section = markup.object_around(box), markup.section_around(box)
        names = [] if described is None else [name for name in markup.names_of(described) if name.attributes.get("id")]
        module = "" if described is not None else _module_of(section)
        for name in names:
            objects.setdefault(name.attributes["id"] or "", []).extend(_of_box(box, _own(name)))
        if not names:
            kept = modules.setdefault(module, []) if module else elsewhere
            kept.extend(_of_box(box, Own(module, is_module=bool(module))))
        places["object" if names else "module" if module else "section" if section is not None else "nowhere"] += 1
    for anchor, notice in _of_objects(sections):
        objects.setdefault(anchor, []).append(notice)
    for module, notice in _of_modules(sections):
        modules.setdefault(module, []).append(notice)
    return Notices(_frozen(objects), _frozen(modules), tuple(elsewhere), places)


def _is_outermost(box: LexborNode) -> bool:
    """Whether it stands in no other box, whose words would be told twice."""
    return not any(node != box and node.tag == "div" and _KINDS & markup.classes(node) for node in markup.around(box))


def _frozen(found: Mapping[str, Sequence[Notice]]) -> dict[str, tuple[Notice, ...]]:
    return {name: tuple(notices) for name, notices in found.items() if notices}


def _own(name: LexborNode) -> Own:
    """The thing that a ``dt`` names: its anchor is its name, with a letter of the domain before it in some."""
    anchor = name.attributes.get("id") or ""
    signature = markup.flat(name)
    _, _, arguments = signature.partition("(")
    return Own(re.sub(r"^(?:c|cpp)\.", "", anchor), frozenset(_PARAMETERS.findall(f"({arguments}")))


def _module_of(section: LexborNode | None) -> str:
    """The module that a section tells of; empty where it is none."""
    if section is None:
        return ""
    own = section.attributes.get("id") or ""
    if own.startswith(_MODULE):
        return own.removeprefix(_MODULE)
    marks = (mark.attributes.get("id") or "" for mark in markup.children(section, "span"))
    return next((mark.removeprefix(_MODULE) for mark in marks if mark.startswith(_MODULE)), "")


def _of_box(box: LexborNode, own: Own) -> Iterator[Notice]:
    """What a box says of one thing; nothing where it takes a deprecation back."""
    label = box.css_first(_LABEL)
    told = "" if label is None else markup.flat(label)
    text = " ".join(markup.text_of(box, lambda node: "" if _is_label(node) else None).split())
    if is_taken_back(text):
        return
    words = markup.classes(box)
    versions = versions_of(told)
    status: Status = "soft_deprecated" if "soft-deprecated" in words else "deprecated"
    if "versionremoved" in words:
        status, versions = "removed", ("", *versions[:1])
    since, gone = (*versions, "", "")[:2]
    field = _field_around(box)
    reading = reading_of(text, own) if field is None else Reading("part", parts=_parts_around(box, field))
    quote = f"{told.rstrip(': ')}: {text}" if text and told else told or text
    yield _notice(reading, text, own, status=status, versions=(since, gone), quote=quote)


def _is_label(node: LexborNode) -> bool:
    return node.tag == "span" and "versionmodified" in markup.classes(node)


def _notice(
    reading: Reading,
    text: str,
    own: Own,
    *,
    status: Status,
    versions: tuple[str, str],
    quote: str,
    kind: EvidenceKind = "notice",
) -> Notice:
    confidence = _PROSE if kind == "prose" else _CERTAIN if reading.is_plain else _LESS_PLAIN
    return Notice(
        status=status,
        since=versions[0] or None,
        removed_in=versions[1] or removed_in(text),
        replacements=replacements_of(text, own),
        about=reading.about,
        parts=reading.parts,
        quote=_short(quote),
        kind=kind,
        confidence=confidence,
    )


def _short(quote: str) -> str:
    quote = _FENCE.sub("", quote)
    if len(quote) <= QUOTE_CHARACTERS:
        return quote
    return quote[: QUOTE_CHARACTERS - 1].rpartition(" ")[0] + "…"


def _field_around(box: LexborNode) -> LexborNode | None:
    """The list of fields, such as parameters, that a box stands in, inside of the description of its object."""
    for node in markup.around(box):
        if markup.is_description(node):
            return None
        if "field-list" in markup.classes(node):
            return node
    return None


def _parts_around(box: LexborNode, field: LexborNode) -> tuple[str, ...]:
    """The parameter that a box in a list of fields belongs to: what is set in bold before it."""
    for node in takewhile(lambda node: node != field, markup.around(box)):
        name = node if node.tag == "li" else _name_before(node) if node.tag == "dd" else None
        strong = None if name is None else name.css_first("strong")
        if strong is not None:
            told = re.split(r"[=:\s]", markup.flat(strong))[0].lstrip("*")
            return (told,) if told.isidentifier() else ()
    return ()


def _name_before(described: LexborNode) -> LexborNode | None:
    node = described.prev
    while node is not None and node.tag != "dt":
        node = node.prev
    return node


def _of_objects(sections: Sections) -> Iterator[tuple[str, Notice]]:
    """Paragraphs of descriptions that are notices, where no box says the same."""
    for name in sections.tree.css("dl > dt[id]"):
        described = markup.body_of(name)
        if described is None or name.parent is None or not markup.is_description(name.parent):
            continue
        if "eprecat" not in described.text(deep=True):
            continue
        own = _own(name)
        for paragraph in markup.children(described, "p"):
            text = " ".join(markup.text_of(paragraph, _nothing).split())
            if is_prose_notice(text, own):
                yield name.attributes.get("id") or "", _of_prose(text, own)
                break


def _of_modules(sections: Sections) -> Iterator[tuple[str, Notice]]:
    """Paragraphs at the beginning of a module's text that say of it that it is deprecated."""
    for section in sections.tree.css("section, div.section"):
        module = _module_of(section)
        own = Own(module, is_module=True)
        for paragraph in markup.children(section, "p") if module else ():
            text = " ".join(markup.text_of(paragraph, _nothing).split())
            if is_prose_notice(text, own) and reading_of(text, own).about == "whole":
                yield module, _of_prose(text, own)
                break


def _nothing(_: LexborNode) -> str | None:
    return None


def _of_prose(text: str, own: Own) -> Notice:
    versions = (since_of(text) or "", "")
    return _notice(Reading("whole"), text, own, status="deprecated", versions=versions, quote=text, kind="prose")


def deprecated_modules(sections: Sections) -> frozenset[str]:
    """The modules that the list of modules (``py-modindex.html``) marks as deprecated."""
    found = set()
    for link in sections.tree.css(f"tr a[href*='#{_MODULE}']"):
        row = next((node for node in markup.around(link) if node.tag == "tr"), None)
        if row is not None and row.css_first("td > strong") is not None:
            found.add((link.attributes["href"] or "").rpartition(f"#{_MODULE}")[2])
    return frozenset(found)
