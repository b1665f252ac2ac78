"""Bytes of a page become text: what it says of its letters is tried first, and what stays unreadable is refused.

Rule of this file: pure. In this order: a byte order mark, the header, the page's own declaration, and only then what
the bytes look like (UTF-8 if they are, else Western European). What is declared is not replaced by a guess: a page that
is not what it says is refused rather than read wrong. One exception: Latin-1 is what many hosts say of everything, and
bytes beyond ASCII that are valid UTF-8 are that by design and not by accident.
"""

import codecs
import re
from collections.abc import Iterator
from typing import Final

MAX_UNREADABLE: Final = 0.01
"""Of the characters: more that have no meaning, and the page is refused."""
DECLARED_WITHIN: Final = 4096
"""Bytes at the beginning of a page in which it may declare its letters."""
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""The longer first: that of UTF-32 begins with that of UTF-16."""
_HEADER: Final = re.compile(r";\s*charset\s*=\s*[\"']?([\w.:+-]+)", re.IGNORECASE)
_META: Final = re.compile(rb"<meta\s[^>]*?charset\s*=\s*[\"']?\s*([\w.:+-]+)", re.IGNORECASE)
_XML: Final = re.compile(rb"\s*<\?xml\s[^>]*?encoding\s*=\s*[\"']([\w.:+-]+)", re.IGNORECASE)
_MEANT: Final = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "utf-8-sig": "utf-8",
    "utf-16": "utf-16-le",
    "utf-32": "utf-32-le",
}
"""What the web means by a name, as Python calls both: in each the second holds the first and more."""
_WESTERN: Final = "cp1252"
_KNOWN: Final = re.compile(
    r"utf-8|utf-(16|32)-[lb]e|iso8859-\d+|cp(866|874|932|949|125\d)|koi8-[ru]|mac-(roman|cyrillic)"
    r"|gb18030|big5hkscs|euc_jp|iso2022_jp"
)
"""As Python calls them; it has others, such as escapes and UTF-7, that nobody writes pages in."""
_UNREADABLE: Final = re.compile("[\ufffd\x00-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f]")
"""Replaced characters, and control characters that no text has."""


class Unreadable(ValueError):  # noqa: N818 - named by what it says, as in schemas.errors
    """Bytes that are not the text that they are said to be; the message says what was tried."""


def text_of(body: bytes, content_type: str = "") -> str:
    """Read a page.

    Args:
        body: As it came, unpacked.
        content_type: Header of that name; its ``charset`` counts. Declarations inside are looked for in HTML and XML,
            and where no type is told.

    Returns:
        The text, without byte order mark. Up to 1 % of it may be U+FFFD.

    Raises:
        Unreadable: More than 1 % of it has no meaning in what is declared, or in anything.
    """
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            return _checked(body[len(mark) :].decode(encoding, errors="replace"), encoding)
    names = list(dict.fromkeys(_declared(body, content_type)))
    for name in names:
        text = body.decode(name, errors="replace")
        if _is_readable(text):
            return (name == _WESTERN and _as_utf8(body)) or text
    undeclared = _as_utf8(body)
    if undeclared is not None:
        return _checked(undeclared, "utf-8")
    return _checked(body.decode(names[0] if names else _WESTERN, errors="replace"), ", ".join(names) or _WESTERN)


def _declared(body: bytes, content_type: str) -> Iterator[str]:
    """Encodings that the header and the page name, as far as they are known."""
    header = _HEADER.search(content_type)
    if header is not None:
        yield from _known(header[1])
    kind = content_type.partition(";")[0].strip().lower()
    if not kind or "html" in kind or "xml" in kind:
        begin = body[:DECLARED_WITHIN]
        inside = _XML.match(begin) or _META.search(begin)
        if inside is not None:
            name = inside[1].decode("ascii", errors="replace")
            # what could be read as ASCII so far is no UTF-16
            yield from _known("utf-8" if name.lower().startswith(("utf-16", "utf-32")) else name)


def _known(label: str) -> Iterator[str]:
    try:
        name = codecs.lookup(label).name
    except LookupError:
        return
    meant = _MEANT.get(name, name)
    if _KNOWN.fullmatch(meant):
        yield meant


def _as_utf8(body: bytes) -> str | None:
    try:
        return body.decode()
    except UnicodeDecodeError:
        return None


def _is_readable(text: str) -> bool:
    return len(_UNREADABLE.findall(text)) <= MAX_UNREADABLE * len(text)


def _checked(text: str, tried: str) -> str:
    if not _is_readable(text):
        raise Unreadable(f"more than {MAX_UNREADABLE:.0%} of it has no meaning as {tried}")
    return text
