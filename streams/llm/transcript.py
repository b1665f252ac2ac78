"""A conversation as a model may see it: code taken out, and nothing that could steer it or that nobody said.

Rule of this file: it hides and cuts, and changes no word. What is hidden here no fact of a model can stem from: orders
to the memory, text that came out of one, quotes of others, guesses, and requests to forget, which rules alone read.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from schemas.conversation import Role, Turn
from streams.extract import significance
from streams.extract.blocks import blocks_of, without_outer_quotes
from streams.extract.code import Code
from streams.extract.language import language_of
from streams.extract.openers import opened
from streams.extract.sentences import sentences_of
from streams.extract.turns import MAX_CHARACTERS
from streams.llm.shapes import code_mark

LINE_CHARACTERS: Final = 1_000
"""Of one turn that stand in one line; a longer turn has several lines of the same number."""
WINDOW_CHARACTERS: Final = 4_000
"""Of a conversation that one request shows."""
CONTEXT_CHARACTERS: Final = 600
"""Of an earlier turn that are shown, to say what a later one speaks of."""
OVERLAP: Final = 2
"""Lines that a request shows again of the one before."""
HIDDEN: Final = frozenset(
    {
        significance.ORDER,
        significance.ECHO,
        significance.META,
        significance.GREETING,
        significance.REACTION,
        significance.HYPOTHETICAL,
        significance.ONLY_MASK,
    }
)
"""Reasons for which a sentence is no fact, whoever reads it. A question may still hold one: "near my home in Lyon?"."""
_STEERING = frozenset({significance.ORDER, significance.ECHO})
_INVISIBLE = re.compile(
    "[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064"
    "\u2066-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""Signs that no reader sees and a model reads; joiners, which scripts and emoji need, stay."""


@dataclass(frozen=True)
class Spoken:
    """One turn as the model may see it.

    Attributes:
        sentences: Without those that are hidden; code is a mark among them.
        codes: Pieces of code that were taken out of this turn, by their marks.
    """

    turn: Turn
    number: int
    language: str
    sentences: tuple[str, ...]
    codes: tuple[tuple[str, Code], ...] = ()

    @property
    def text(self) -> str:
        """All that the model may see of it."""
        return " ".join(self.sentences)


@dataclass(frozen=True)
class Line:
    """A line of a transcript.

    Attributes:
        number: Of the turn.
        is_new: Whether facts are wanted of it; the others only say what it speaks of.
    """

    number: int
    role: Role
    text: str
    is_new: bool


def cleaned(text: str) -> str:
    """The text in one Unicode form, without signs that nobody sees."""
    return _INVISIBLE.sub("", unicodedata.normalize("NFC", text))


def spoken_in(turns: Sequence[Turn]) -> tuple[Spoken, ...]:
    """A conversation as the model may see it, turn by turn; codes are numbered through, from 1."""
    found: list[Spoken] = []
    for number, turn in enumerate(turns):
        found.append(_spoken(turn, number, sum(len(spoken.codes) for spoken in found)))
    return tuple(found)


def _spoken(turn: Turn, number: int, before: int) -> Spoken:
    if turn.role not in {"user", "assistant"}:
        return Spoken(turn, number, "und", ())
    blocks = blocks_of(without_outer_quotes(cleaned(turn.content[:MAX_CHARACTERS])))
    language = language_of(" ".join(block.text for block in blocks if block.kind == "prose"))
    sentences: list[str] = []
    codes: list[tuple[str, Code]] = []
    for block in blocks:
        if block.code is not None:
            codes.append((code_mark(before + len(codes) + 1), block.code))
            sentences.append(codes[-1][0])
        elif block.kind == "prose":
            sentences.extend(
                sentence for sentence in sentences_of(block.text, language) if not _is_hidden(sentence, language, turn)
            )
    return Spoken(turn, number, language, tuple(sentences), tuple(codes))


def _is_hidden(sentence: str, language: str, turn: Turn) -> bool:
    reason = significance.reason_against(sentence, language)
    if turn.role != "user":
        return reason in _STEERING
    told = opened(sentence)
    return reason in HIDDEN or told.forget or significance.reason_against(told.text, language) in HIDDEN


def lines_of(spoken: Sequence[Spoken], first_new: int) -> tuple[Line, ...]:
    """A conversation as lines.

    Args:
        spoken: Its turns.
        first_new: Number of the first turn that is no context.
    """
    lines: list[Line] = []
    for one in spoken:
        if one.number < first_new:
            text = one.text[:CONTEXT_CHARACTERS]
            lines += [Line(one.number, one.turn.role, text, is_new=False)] if text.strip() else []
            continue
        wanted = one.turn.role == "user"
        lines += [Line(one.number, one.turn.role, text, wanted) for text in _pieces(one.sentences)]
    return tuple(lines)


def _pieces(sentences: Sequence[str]) -> list[str]:
    """Sentences joined to pieces that fit a line; a longer sentence is cut."""
    pieces: list[str] = []
    for sentence in sentences:
        for start in range(0, len(sentence), LINE_CHARACTERS):
            part = sentence[start : start + LINE_CHARACTERS]
            if pieces and len(pieces[-1]) + len(part) < LINE_CHARACTERS:
                pieces[-1] += f" {part}"
            else:
                pieces.append(part)
    return pieces


def windows_of(lines: Sequence[Line]) -> list[tuple[Line, ...]]:
    """Lines in portions for one request each; one without new lines is left out."""
    windows: list[list[Line]] = []
    size = 0
    for line in lines:
        if not windows or (size + len(line.text) > WINDOW_CHARACTERS and any(known.is_new for known in windows[-1])):
            windows.append(_again(windows[-1]) if windows else [])
            size = sum(len(known.text) for known in windows[-1])
        windows[-1].append(line)
        size += len(line.text)
    return [tuple(window) for window in windows if any(line.is_new for line in window)]


def _again(lines: Sequence[Line]) -> list[Line]:
    """The last lines, as context of what follows."""
    return [Line(line.number, line.role, line.text, is_new=False) for line in lines[-OVERLAP:]]


def halves_of(window: Sequence[Line]) -> list[tuple[Line, ...]]:
    """A window as smaller ones: first without its context, then cut in two; empty where it cannot be smaller."""
    new = [line for line in window if line.is_new]
    if len(new) < len(window):
        return [tuple(new)]
    if len(new) < 2:  # noqa: PLR2004 - two halves
        return []
    middle = len(new) // 2
    return [tuple(new[:middle]), tuple(new[middle:])]
