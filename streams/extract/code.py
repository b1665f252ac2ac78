"""What is code, what language it is in, which names it defines, and what is a command.

Rule of this file: it looks at form, line by line; it never runs nor parses code in earnest.
"""

import re
from dataclasses import dataclass

from streams.ruledata import load

MAX_CODE = 4000
"""Characters of code that a fact keeps."""
MIN_RUN = 3
"""Lines that must look like code in a row before prose around them is believed to hold code."""

_DATA = load("extract", "code")
_LINE = re.compile("|".join(f"(?:{pattern})" for pattern in _DATA["lines"]))
_CONTINUATION = re.compile("|".join(f"(?:{pattern})" for pattern in _DATA["continuations"]))
_SIGNATURES = tuple((row["language"], re.compile(row["pattern"], re.MULTILINE)) for row in _DATA["signatures"])
_FORMS = re.compile("|".join(f"(?:{pattern})" for pattern in _DATA["forms"]))
_COMMAND = re.compile(_DATA["command"])
_SHELLS = frozenset(_DATA["shells"])
_DEFINED = re.compile(_DATA["defined"], re.MULTILINE)
_USED = re.compile(_DATA["used"])
_INFO = re.compile(r"[a-z][\w#+-]{0,20}")
_INLINE = re.compile(r"`([^`\n]{1,300})`")
_PROMPT = re.compile(r"^\s*[$%>#]\s+(\S.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Code:
    """A piece of code.

    Attributes:
        text: As told, without its fence.
        language: A short name such as "javascript", or None where it could not be told.
    """

    text: str
    language: str | None

    @property
    def is_shell(self) -> bool:
        """Whether it is a command line."""
        return self.language in _SHELLS

    def defined(self) -> tuple[str, ...]:
        """Names that it defines, in order, without repeats."""
        names = [next(filter(None, groups)) for groups in _DEFINED.findall(self.text)]
        return tuple(dict.fromkeys(name for name in names if len(name) > 1))

    def used(self) -> tuple[str, ...]:
        """Well-known kinds of names that it uses (hooks, decorators), in order, without repeats."""
        return tuple(dict.fromkeys(_USED.findall(self.text)))


def is_code_line(line: str) -> bool:
    """Whether a line looks like code rather than prose."""
    return bool(_LINE.search(line))


def may_continue_code(line: str) -> bool:
    """Whether a line can stand inside code: it is blank, only brackets, a chained call, or indented."""
    return not line.strip() or bool(_CONTINUATION.search(line)) or is_code_line(line)


def language_of_code(text: str, info: str = "") -> str | None:
    """The language of code, by its fence's info string, else by signatures.

    Args:
        text: The code.
        info: What stood after the fence.
    """
    told = info.strip().split(maxsplit=1)[0].strip("{}.").casefold() if info.strip() else ""
    if _INFO.fullmatch(told):
        return told
    return next((str(language) for language, pattern in _SIGNATURES if pattern.search(text)), None)


def is_command(text: str) -> bool:
    """Whether a text is a line for a shell."""
    return bool(_COMMAND.match(text.strip()))


def commands_in(text: str) -> tuple[str, ...]:
    """Command lines in prose: in backticks, or after a prompt."""
    inline = [part for part in _INLINE.findall(text) if is_command(part)]
    prompted = [line.strip() for line in _PROMPT.findall(text) if is_command(line)]
    return tuple(dict.fromkeys([*inline, *prompted]))


def has_form_of_code(text: str) -> bool:
    """Whether a text holds something in the form of code: a call, a path, a version, an option, a joined name."""
    return _FORMS.search(text) is not None
