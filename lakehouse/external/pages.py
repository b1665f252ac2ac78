"""A page of documentation becomes sections: what it says of each symbol and under each heading, as plain text.

Rule of this file: pure. A section is what is told of one thing alone: of what is described inside it only the names
stand in it, and a heading's text ends where the next one begins.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from lakehouse.external import markup
from schemas.knowledge import SUMMARY_CHARACTERS, TEXT_BYTES

_MAIN: Final = ("[role=main]", "main", "article", "div.body", "div.document")
"""Where the text of a page is, the surest first."""
_FIELDS: Final = "field-list"
"""Parameters, what is returned, and the like."""
_HEADINGS: Final = "h1, h2, h3, h4, h5, h6"
_SENTENCE: Final = re.compile(r"(?<=[.!?])[)\"'\u201d\u2019]?\s+(?=[^\sa-z])")
"""Where one ends: before anything but a small letter, so that few abbreviations end one."""
_SHORT: Final = re.compile(r"(?:\b(?:e\.g|i\.e|etc|cf|vs|resp|approx|incl|fig|mr|dr|st|[a-z])\.)$", re.IGNORECASE)
_CODE_BLOCK: Final = re.compile(r"^(`{3,})\n.*?^\1$", re.DOTALL | re.MULTILINE)
_FENCE_LINE: Final = re.compile(r"^`{3,}$", re.MULTILINE)
_ROLE: Final = re.compile(r"[a-z][a-z0-9]*")


@dataclass(frozen=True)
class Section:
    """What a page says of one thing.

    Attributes:
        anchor: Of what names it; empty for the page as a whole.
        title: The symbol as it is called, or the heading, at most 500 characters.
        summary: The first sentences, at most 500 characters.
        text: At most 16 KiB as UTF-8; names first, code between fences.
    """

    anchor: str
    title: str
    summary: str
    text: str


class Sections:
    """The sections of one page. Each is made when it is asked for, and once.

    Attributes:
        tree: The page, cleaned.
    """

    def __init__(self, html: str) -> None:
        """Read a page."""
        self.tree: LexborHTMLParser = markup.cleaned(html)
        self._anchors: dict[str, LexborNode] = {}
        for node in self.tree.css("[id]"):
            self._anchors.setdefault(node.attributes["id"] or "", node)
        self._made: dict[int, Section | None] = {}

    def symbols(self) -> Iterator[tuple[str, Section]]:
        """Each symbol that the page describes by role and section, where the page itself tells the role."""
        for name in self.tree.css("dl > dt[id]"):
            assert name.parent is not None
            role = _role(name.parent)
            section = self.at(name.attributes["id"] or "") if role else None
            if role and section:
                yield role, section

    def at(self, anchor: str) -> Section | None:
        """What is told at an anchor: of a symbol, of that in whose description it stands, else under its heading.

        Args:
            anchor: As in an address; empty for the page as a whole, without what is under its inner headings.

        Returns:
            None where there is no such place, or nothing is told there.
        """
        node = self._anchors.get(anchor) if anchor else self._main()
        if node is None:
            return None
        described = markup.object_around(node) or _term_around(node)
        place = described or markup.section_around(node) or self._main()
        if place is None:
            return None
        if described is not None and described.tag == "dd":
            place = markup.names_of(described)[0]
        if place.mem_id not in self._made:
            self._made[place.mem_id] = _section(place)
        return self._made[place.mem_id]

    def _main(self) -> LexborNode | None:
        main = next(filter(None, map(self.tree.css_first, _MAIN)), self.tree.body)
        if main is None:  # a page of frames has no body
            return None
        return next(filter(markup.is_section, main.css("section, div.section")), main)


def _role(described: LexborNode) -> str | None:
    """Domain and kind of what a list describes, as Sphinx writes them into its class."""
    if not markup.is_description(described):
        return None
    words = [word for word in (described.attributes.get("class") or "").split() if _ROLE.fullmatch(word)]
    return ":".join(words[:2]) if len(words) > 1 else f"py:{words[0]}" if words else None


def _term_around(node: LexborNode) -> LexborNode | None:
    """The ``dt`` of a term of a glossary."""
    return next((inner for inner in markup.around(node) if inner.tag == "dt" and inner.attributes.get("id")), None)


def _section(place: LexborNode) -> Section | None:
    if place.tag == "dt":
        title = _signature(place)
        names = [_signature(name) for name in markup.names_of(place)]
        described = markup.body_of(place)
        told = "" if described is None else markup.text_of(described, _names_only)
    else:
        heading = place.css_first(_HEADINGS)
        title = "" if heading is None else markup.flat(heading)
        names = [title] if title else []
        told = markup.text_of(place, _names_only).removeprefix(title).lstrip()
    if place.tag == "dt" and described is not None and described.css_first(f".{_FIELDS}") is not None:
        prose = markup.text_of(described, _prose_only)
    else:
        prose = told
    if not title and not told:
        return None
    anchor = place.attributes.get("id") or ""
    text = _cut("\n\n".join(filter(None, ["\n".join(names), told])))
    return Section(
        anchor,
        (title or told.split("\n", 1)[0])[:SUMMARY_CHARACTERS],
        summary_of(prose[:TEXT_BYTES]) or title[:SUMMARY_CHARACTERS],
        text,
    )


def _signature(name: LexborNode) -> str:
    return markup.flat(name).removesuffix("[source]").rstrip()


def _names_only(node: LexborNode) -> str | None:
    """What is described inside of something stands there by name; what is under an inner heading does not."""
    if markup.is_section(node):
        return ""
    if markup.is_description(node):
        return "\n\n" + "\n".join(f"- `{_signature(name)}`" for name in markup.children(node, "dt")) + "\n\n"
    return None


def _prose_only(node: LexborNode) -> str | None:
    return "" if _FIELDS in markup.classes(node) else _names_only(node)


def summary_of(text: str) -> str:
    """The first sentences of a text, whole ones, without code and lists of names, in one line.

    Args:
        text: As of a section.

    Returns:
        At most 500 characters; a first sentence that is longer ends at a word, with "…".
    """
    prose = _CODE_BLOCK.sub("", text)
    lines = " ".join(line for line in prose.split("\n") if line and not line.startswith("- `")).strip()
    taken = ""
    for sentence in sentences_of(lines):
        longer = f"{taken} {sentence}".lstrip()
        if len(longer) > SUMMARY_CHARACTERS:
            break
        taken = longer
    if taken or not lines:
        return taken
    return lines[: SUMMARY_CHARACTERS - 1].rpartition(" ")[0].rstrip() + "…"


def sentences_of(text: str) -> Iterator[str]:
    """The sentences of a text, each as it stands."""
    start = 0
    for gap in _SENTENCE.finditer(text):
        sentence = text[start : gap.start()]
        if not _SHORT.search(sentence):
            yield text[start : gap.end()].strip()
            start = gap.end()
    if text[start:].strip():
        yield text[start:].strip()


def _cut(text: str) -> str:
    """As many whole lines as fit, with the fence closed that is open then."""
    encoded = text.encode()
    if len(encoded) <= TEXT_BYTES:
        return text
    room = encoded[: TEXT_BYTES - 64].decode(errors="ignore")
    kept = room.rpartition("\n")[0] or room
    fences = _FENCE_LINE.findall(kept)
    return f"{kept}\n{fences[-1]}" if len(fences) % 2 else kept
