"""Hits in words: the context string for a prompt, and the citations behind its numbers.

Rule of this file: pure. Numbers are given last, from one list that makes both text and citations. Remembered text is
data: one line each, so that no memory can look like a line of ours.
"""

import math
import re
from collections.abc import Sequence
from typing import Final

from lakehouse.retrieval.ranking import Hit
from schemas.retrieval import Citation, CitationMetadata

HEADING: Final = "KNOWLEDGE CONTEXT:"
LINE: Final = re.compile(r"^(\d+)\. \[score: ([01]\.\d\d)\] (.*)$")
CHARACTERS_A_TOKEN: Final = 4
"""Of ordinary prose, as model vendors give it; a letter of a script without spaces counts as one token."""
_ONE_LINE: Final[dict[int, str | None]] = {
    **dict.fromkeys([*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029], " "),
    **dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)]),
}
"""Control characters and line ends are blanks; marks that turn the direction of writing are dropped."""


def citations_of(hits: Sequence[Hit], max_tokens: int | None = None) -> tuple[Citation, ...]:
    """One citation a hit, in order, ranks from 1.

    Args:
        hits: Best first.
        max_tokens: Of the context that will be made of them. Only whole items are taken; one that does not fit is
            passed over, and a shorter one behind it may still fit.
    """
    left = math.inf if max_tokens is None else max_tokens - tokens_of(HEADING)
    taken: list[Citation] = []
    for hit in hits:
        cited = _citation(hit, len(taken) + 1)
        needed = tokens_of("\n" + _line(cited))
        if needed <= left:
            left -= needed
            taken.append(cited)
    return tuple(taken)


def context_of(citations: Sequence[Citation]) -> str:
    """``KNOWLEDGE CONTEXT:`` and a numbered, scored line for each citation; "" when there are none."""
    return "\n".join([HEADING, *map(_line, citations)]) if citations else ""


def items_in(context: str) -> list[tuple[int, float, str]]:
    """Rank, score and text of each line of a context: ``context_of`` backwards.

    Raises:
        ValueError: It is no context.
    """
    heading, *lines = context.split("\n") if context else [HEADING]
    found = [LINE.fullmatch(line) for line in lines]
    if heading != HEADING or None in found:
        raise ValueError("this is no knowledge context")
    return [(int(line[1]), float(line[2]), line[3]) for line in found if line is not None]


def tokens_of(text: str) -> int:
    """About how many tokens a text is: exact counts depend on the model that reads it."""
    wide = sum(ord(character) > 0x2E7F for character in text)  # noqa: PLR2004 - where scripts without spaces begin
    return wide + math.ceil((len(text) - wide) / CHARACTERS_A_TOKEN)


def one_line(text: str) -> str:
    """The text with every run of white space, line ends and control characters of any kind, as one space."""
    return " ".join(text.translate(_ONE_LINE).split())


def _line(cited: Citation) -> str:
    return f"{cited.rank}. [score: {cited.score:.2f}] {one_line(cited.content)}"


def _citation(hit: Hit, rank: int) -> Citation:
    return Citation(
        id=hit.item.cited,
        content=hit.item.text,
        score=round(hit.score, 3),
        source=source_of(hit),
        rank=rank,
        metadata=CitationMetadata(
            semantic_score=None if hit.semantic is None else round(hit.semantic, 3),
            keyword_score=round(hit.coverage, 3) if hit.coverage else None,
            hybrid_score=round(hit.hybrid, 3),
            rerank_score=None if hit.rerank is None else round(hit.rerank, 3),
        ),
    )


def source_of(hit: Hit) -> str:
    """Where it was said: the session and turn, as far as they are known."""
    item = hit.item
    turn = item.sources[-1] if item.sources else None
    command = item.row.event.command_id if item.kind == "knowledge" else None
    parts = [("session", item.session_id), ("turn", turn), ("command", command)]
    return "/".join(f"{name}:{value}" for name, value in parts if value) or f"memory:{item.id}"
