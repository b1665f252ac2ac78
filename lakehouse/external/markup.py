"""Foreign HTML becomes plain text: nothing that a reader would not see, and code as code.

Rule of this file: pure, and no recursion: how deep a page is nested is up to whoever wrote it. It knows HTML and the
marks that Sphinx sets, and nothing of what a page says.
"""

import re
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

_UNSEEN: Final = (
    "script, style, template, noscript, iframe, form, object, embed, svg, canvas, audio, video, button, select,"
    "textarea, input, dialog:not([open]), [hidden], [aria-hidden]:not([aria-hidden='false' i]), "
    "a.headerlink, a.viewcode-link, a.viewcode-back"
)
"""What is not part of the text; of Sphinx's own, the links beside headings."""
_HIDING: Final = re.compile(
    r"display:none|visibility:(?:hidden|collapse)|(?:font-size|opacity):[+-]?(?:0+\.?0*|\.0+)(?![\d.])|\\"
)
"""In a style without blanks and comments. A backslash writes letters as numbers: only to hide them from us."""
_COMMENT: Final = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_INVISIBLE: Final = re.compile(
    "[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u08e2\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Without a shape: zero-width, marks of direction, tags, variation selectors, fillers, controls."""
_SPACES: Final = re.compile(r"\s+")
_LINES: Final = re.compile(r"\n{3,}")
_FENCE: Final = re.compile(r"`{3,}")
_PARAGRAPHS: Final = frozenset(
    {
        "address",
        "article",
        "aside",
        "blockquote",
        "details",
        "div",
        "dl",
        "fieldset",
        "figure",
        "footer",
        "header",
        "h1",
    }
    | {"h2", "h3", "h4", "h5", "h6", "hr", "main", "nav", "ol", "p", "pre", "section", "table", "ul"}
)
_ROWS: Final = frozenset({"br", "caption", "dd", "dt", "figcaption", "li", "summary", "tr"})
_CODE: Final = frozenset({"code", "kbd", "samp", "tt"})
_CELLS: Final = frozenset({"td", "th"})
_HOLDERS: Final = frozenset({"dl", "ol", "table", "tbody", "tfoot", "thead", "tr", "ul"})
"""Between whose parts blanks mean nothing."""
_MARGIN: Final = frozenset({"li", "dd", "td", "th"})
"""What begins with a paragraph without a line between."""
DEEPEST: Final = 500
"""Nodes around a node that are looked at: each look must end, however deep a page is nested."""
MOST_OPEN: Final = 20_000
"""Elements that are open at once."""
_TAG: Final = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)")
_UNNESTED: Final = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
    | {"body", "dd", "dt", "head", "html", "li", "optgroup", "option", "p", "rp", "rt", "tbody", "td", "tfoot", "th"}
    | {"thead", "tr"}
)
"""What holds nothing, or ends where the next of its kind begins, and is often left open."""
_LISTS: Final = frozenset({"field-list", "simple", "footnote", "citation", "glossary", "option-list"})
"""Classes of definition lists that describe no object."""


def cleaned(html: str) -> LexborHTMLParser:
    """Read a page and take out what a reader does not see."""
    tree = LexborHTMLParser(html[: _readable(html)])
    for node in tree.css(_UNSEEN):
        node.decompose()
    for node in tree.css("[style]"):
        if is_hiding(node.attributes.get("style") or ""):
            node.decompose()
    return tree


def _readable(html: str) -> int:
    """How much of a page is read: all of it, or up to where it is nested deeper than any text is.

    The parser looks through all elements that are open at each tag, so a page of open ones would take minutes.
    """
    depth = 0
    for tag in _TAG.finditer(html):
        if tag[2].lower() not in _UNNESTED:
            depth = max(0, depth - 1) if tag[1] else depth + 1
        if depth > MOST_OPEN:
            return tag.start()
    return len(html)


def is_hiding(style: str) -> bool:
    """Whether an inline style makes a text unseen."""
    return _HIDING.search(_SPACES.sub("", _COMMENT.sub("", style)).lower()) is not None


def visible(text: str) -> str:
    """A text without characters that have no shape."""
    return _INVISIBLE.sub("", text)


def flat(node: LexborNode) -> str:
    """All text of a node in one line, code not marked."""
    return _SPACES.sub(" ", visible(node.text(deep=True))).strip()


def text_of(node: LexborNode, replaced: Callable[[LexborNode], str | None]) -> str:
    """What a node says, in lines; code between fences or backticks.

    Args:
        node: Of a page that was cleaned.
        replaced: Is asked of each element in it: what stands for it and all that is in it, or None for itself.
    """
    written: list[str] = []
    for opened, inner in _walk(node, replaced):
        written.append(inner if opened is None else _begin(opened))
    lines = (line.rstrip() for line in "".join(written).split("\n"))
    return _LINES.sub("\n\n", "\n".join(lines)).strip()


def _walk(top: LexborNode, replaced: Callable[[LexborNode], str | None]) -> Iterator[tuple[LexborNode | None, str]]:
    """In the order of reading: elements as they open, and texts."""
    left: list[LexborNode | str] = [top]
    while left:
        node = left.pop()
        if isinstance(node, str):
            yield None, node
        elif node.is_text_node:
            if not (_is_blank(node) and node.parent is not None and node.parent.tag in _HOLDERS):
                yield None, _SPACES.sub(" ", visible(node.text_content or ""))
        elif node.is_element_node:
            told = None if node is top else replaced(node)
            if told is None:
                told = _literal(node)
            if told is not None:
                yield None, told
                continue
            yield node, ""
            left += _inside(node)


def _inside(node: LexborNode) -> list[LexborNode | str]:
    """What is in an element, last first, and how it ends."""
    parent = node.parent
    is_last = parent is not None and parent.tag in _MARGIN and _is_edge(node, lambda one: one.next)
    left: list[LexborNode | str] = ["\n\n" if node.tag in _PARAGRAPHS and not is_last else ""]
    inner = node.last_child
    while inner is not None:
        left.append(inner)
        inner = inner.prev
    return left


def _literal(node: LexborNode) -> str | None:
    """Code as it stands; None for what is none."""
    if node.tag == "pre":
        code = visible(node.text(deep=True)).strip("\n")
        fence = "`" * max(3, *(len(found) + 1 for found in _FENCE.findall(code)), 3)
        return f"\n\n{fence}\n{code}\n{fence}\n\n"
    if node.tag == "span" and "classifier" in classes(node):
        return f" : {flat(node)}"
    if node.tag in _CODE:
        code = flat(node).replace("`", "'")
        return f"`{code}`" if code else ""
    return None


def _begin(node: LexborNode) -> str:
    """What stands before the text of an element."""
    tag = node.tag or ""
    if tag in _PARAGRAPHS:
        parent = node.parent
        is_first = parent is not None and parent.tag in _MARGIN and _is_edge(node, lambda one: one.prev)
        return "" if is_first else "\n\n"
    if tag in _CELLS:
        return "" if _is_edge(node, lambda one: one.prev) else " | "
    if tag in _ROWS:
        return "\n- " if tag == "li" else "\n"
    return ""


def _is_edge(node: LexborNode, on: Callable[[LexborNode], LexborNode | None]) -> bool:
    """Whether nothing but blanks stands on one side of a node."""
    beside = on(node)
    while beside is not None and beside.is_text_node and _is_blank(beside):
        beside = on(beside)
    return beside is None


def _is_blank(text: LexborNode) -> bool:
    return not (text.text_content or "").strip()


def classes(node: LexborNode) -> AbstractSet[str]:
    """The classes of a node."""
    return frozenset((node.attributes.get("class") or "").split())


def is_description(node: LexborNode) -> bool:
    """Whether a definition list describes objects, such as a function, and no terms or fields."""
    if node.tag != "dl" or _LISTS & classes(node):
        return False
    return any(_is_signature(name) for name in children(node, "dt"))


def _is_signature(name: LexborNode) -> bool:
    return bool(name.attributes.get("id")) or "sig" in classes(name)


def children(node: LexborNode, tag: str) -> Iterator[LexborNode]:
    """The elements of a kind directly in a node."""
    inner = node.first_child
    while inner is not None:
        if inner.tag == tag:
            yield inner
        inner = inner.next


def around(node: LexborNode) -> Iterator[LexborNode]:
    """A node and what it stands in, from the inside, 500 at most."""
    inner: LexborNode | None = node
    for _ in range(DEEPEST):
        if inner is None:
            return
        yield inner
        inner = inner.parent


def object_around(node: LexborNode) -> LexborNode | None:
    """The ``dd`` or ``dt`` of the nearest object whose description a node stands in; None where there is none."""
    for inner in around(node):
        if inner.tag in {"dd", "dt"} and inner.parent is not None and is_description(inner.parent):
            return inner
    return None


def names_of(described: LexborNode) -> list[LexborNode]:
    """The ``dt`` of an object, all near by that share one description, in order; of one of them or of their ``dd``."""
    before = described if described.tag == "dt" else described.prev
    after = described.next if described.tag == "dt" else None
    names = [*reversed([*_until_dd(before, lambda one: one.prev)]), *_until_dd(after, lambda one: one.next)]
    return [node for node in names if node.tag == "dt"]


def body_of(name: LexborNode) -> LexborNode | None:
    """The ``dd`` that describes what a ``dt`` names."""
    *_, last = _until_dd(name, lambda one: one.next)
    return last.next if last.next is not None and last.next.tag == "dd" else None


def _until_dd(node: LexborNode | None, on: Callable[[LexborNode], LexborNode | None]) -> Iterator[LexborNode]:
    """Nodes from one on to before the next ``dd``, 500 at most: a list of nothing but names would be read for each."""
    for _ in range(DEEPEST):
        if node is None or node.tag == "dd":
            return
        yield node
        node = on(node)


def is_section(node: LexborNode) -> bool:
    """Whether it is a part of a page with a heading of its own; older versions of Sphinx made them of ``div``."""
    return node.tag == "section" or (node.tag == "div" and "section" in classes(node))


def section_around(node: LexborNode) -> LexborNode | None:
    """The nearest section that a node stands in, itself among them."""
    return next(filter(is_section, around(node)), None)
