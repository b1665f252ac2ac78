"""Code in release notes: what is marked as such becomes one private character each, and is read as a name.

Rule of this file: pure. It knows the marks of Markdown, reStructuredText and MyST, and nothing of sentences.
"""

import re
from dataclasses import dataclass
from typing import Final

from lakehouse.external.changelog_lines import DATA

_FIRST: Final = 0xE000
_MOST: Final = 0x18FF
SIGN: Final = "[\ue000-\uf8ff]"
_CODE: Final = re.compile(
    r":(?P<role>[\w:.+-]+):`(?P<of_role>[^`]+)`|\{(?P<myst>[\w:.+-]+)\}`(?P<of_myst>[^`]+)`"
    r"|``(?P<double>.+?)``|`(?P<link>[^`<]+?)\s*<[^`>]*>`_{1,2}|`(?P<single>[^`]+)`_{0,2}"
    r"|(?P<plain>(?<![\w/@.-])(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*\(\)|(?<![\w/@.-])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?![\w/])"
    r"|(?<![\w/@.-])[A-Za-z]*[A-Za-z0-9]_\w+)"
)
_MD_LINK: Final = re.compile(r"!?\[(?P<text>[^\]]*)\]\([^()\s]*(?:\([^()]*\)[^()\s]*)?\)")
_IMPORT: Final = re.compile(r"from\s+(?P<module>[\w.]+)\s+import\s+(?P<name>\w+)")
_NAME: Final = re.compile(
    r"[~!@.]?(?P<name>[A-Za-z_$][\w$]*(?:(?:\.|::|#)[A-Za-z_$][\w$]*)*)(?P<rest>\(.*|\s*=.*|)", re.DOTALL
)


@dataclass(frozen=True)
class Subject:
    """A symbol as a sentence names it.

    Attributes:
        name: As written, without arguments.
        owner: What it is said to be in or of; empty where nothing is said.
        is_parameter: Whether a parameter or a way of using it is meant.
    """

    name: str
    owner: str = ""
    is_parameter: bool = False


@dataclass(frozen=True)
class Marked:
    """A text with its code replaced by signs.

    Attributes:
        masked: The text; each piece of code is one character of ``SIGN`` in it.
        codes: What these stand for, in their order.
    """

    masked: str
    codes: tuple[str, ...]

    def codes_in(self, part: str) -> list[str]:
        """The code in a part of the masked text."""
        return [self.codes[ord(sign) - _FIRST] for sign in re.findall(SIGN, part)]


def marked(raw: str) -> Marked:
    """Replace all code in a text: what is marked as such, calls, dotted names and names with "_"."""
    codes: list[str] = []

    def mark(match: re.Match[str]) -> str:
        role = (match["role"] or match["myst"] or "").rpartition(":")[2]
        code = next(told for name, told in match.groupdict().items() if told and name not in {"role", "myst"})
        if (role and role not in DATA["symbol_roles"]) or len(codes) == _MOST:
            return ""
        titled = re.fullmatch(r".*<(?P<target>[^<>]+)>", code)
        codes.append(titled["target"] if role and titled else code)
        return chr(_FIRST + len(codes) - 1)

    plain = re.sub(SIGN, "", _MD_LINK.sub(r"\g<text>", raw)).replace("\u2019", "'")
    return Marked(_CODE.sub(mark, plain).replace("*", ""), tuple(codes))


def name_of(code: str) -> Subject | None:
    """The symbol that a piece of code names; None where it is more than a name.

    "Headers.getlist()" names itself, "verify=True" a parameter, "get(verify=True)" one of ``get``, and
    "from a import b" names ``a.b``.

    Args:
        code: Between its marks.
    """
    imported = _IMPORT.fullmatch(code.strip())
    if imported is not None:
        return Subject(f"{imported['module']}.{imported['name']}")
    match = _NAME.fullmatch(code.strip())
    return None if match is None else Subject(match["name"], is_parameter="=" in match["rest"])
