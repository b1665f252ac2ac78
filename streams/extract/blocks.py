"""A message taken apart: prose, code, text quoted from others, and text that came out of a memory.

Rule of this file: every character that is not blank lands in exactly one block, in order.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from markdown_it import MarkdownIt

from streams.extract.code import MIN_RUN, Code, is_code_line, language_of_code, may_continue_code
from streams.extract.cues import CUES

Kind = Literal["prose", "code", "quote", "echo"]
_MARKDOWN = MarkdownIt("commonmark").disable(["code", "html_block", "lheading", "reference"])
"""Indented blocks are no code here: people indent for many reasons."""
_OUTER = (('"', '"'), ("“", "”"), ("„", "“"), ("«", "»"), ("「", "」"))


@dataclass(frozen=True)
class Block:
    """A part of a message.

    Attributes:
        kind: "prose", "code", "quote" (of others) or "echo" (of a memory).
        text: As told; for code without its fence.
        code: The code, where it is code.
    """

    kind: Kind
    text: str
    code: Code | None = None


def without_outer_quotes(text: str) -> str:
    """The text without one pair of quotation marks that stands round the whole of it."""
    stripped = text.strip()
    for left, right in _OUTER:
        if len(stripped) > 1 and stripped.startswith(left) and stripped.endswith(right):
            inner = stripped[1:-1]
            if (left not in inner and right not in inner) or ("\n" in inner and _pairs_up(inner, left, right)):
                return inner
    return text


def _pairs_up(text: str, left: str, right: str) -> bool:
    """Whether the quotation marks in a text are pairs of its own, the first of them an opening one."""
    first = text.find(left)
    if left != right:
        return text.count(left) == text.count(right) and first < text.find(right)
    return text.count(left) % 2 == 0 and not text[:first].strip() == text[:first] != ""


def blocks_of(text: str) -> tuple[Block, ...]:
    """Take a message apart."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    found: list[Block] = []
    place = 0
    for start, end, block in _marked(lines):
        found.extend(_plain(lines[place:start]))
        found.append(block)
        place = end
    found.extend(_plain(lines[place:]))
    return tuple(block for block in found if block.text.strip())


def _marked(lines: list[str]) -> Iterator[tuple[int, int, Block]]:
    """Fences and block quotes, with their line ranges."""
    if not any(line.lstrip().startswith((">", "```", "~~~")) for line in lines):
        return
    place = 0
    for token in _MARKDOWN.parse("\n".join(lines)):
        if token.map is None or token.map[0] < place:
            continue
        start, end = token.map
        if token.type == "fence":
            text = token.content.rstrip("\n")
            yield start, end, Block("code", text, Code(text, language_of_code(text, token.info)))
            place = end
        elif token.type == "blockquote_open":
            yield start, end, Block("quote", "\n".join(lines[start:end]))
            place = end


def _plain(lines: list[str]) -> Iterator[Block]:
    """Lines without markup: echoes, runs of code lines, and prose."""
    prose: list[str] = []
    place = 0
    while place < len(lines):
        end, kind = _echo_end(lines, place), "echo"
        if end == place:
            end, kind = _code_end(lines, place), "code"
        if end == place:
            prose.append(lines[place])
            place += 1
            continue
        yield Block("prose", "\n".join(prose))
        prose = []
        text = "\n".join(lines[place:end]).strip("\n")
        if kind == "echo":
            yield Block("echo", text)
        else:
            yield Block("code", text, Code(text, language_of_code(text)))
        place = end
    yield Block("prose", "\n".join(prose))


def _echo_end(lines: list[str], start: int) -> int:
    """Where a block that came out of a memory ends: at the first paragraph that is no list and no such heading."""
    if CUES["echo"].opens(lines[start].strip()) is None:
        return start
    end = start + 1
    last = end
    while end < len(lines):
        line = lines[end].strip()
        after_blank = not lines[end - 1].strip()
        listed = line.startswith(("-", "*", "•", "[")) or (line[:1].isdigit() and "." in line[:4])
        if line and after_blank and not listed and CUES["echo"].opens(line) is None:
            break
        end += 1
        if line:
            last = end
    return last


def _code_end(lines: list[str], start: int) -> int:
    """Where a run of code lines that starts here ends; ``start`` where none does."""
    if not is_code_line(lines[start]):
        return start
    end, last, hits = start, start, 0
    while end < len(lines) and may_continue_code(lines[end]):
        if is_code_line(lines[end]):
            hits += 1
            last = end + 1
        elif lines[end].strip() and lines[end].startswith((" ", "\t")):
            last = end + 1
        elif not lines[end].strip() and end + 1 < len(lines) and not may_continue_code(lines[end + 1]):
            break
        end += 1
    return last if hits >= MIN_RUN or (hits == last - start and hits > 1) else start
