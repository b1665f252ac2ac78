"""Hits in words: the context string for a prompt, and the citations behind its numbers.

Rule of this file: pure. Numbers are given last, from one list that makes both text and citations. Remembered text is
data: one line each, so that no memory can look like a line of ours.
"""

from collections.abc import Sequence

from lakehouse.ranking import Hit
from schemas.retrieval import Citation, CitationMetadata

HEADING = "KNOWLEDGE CONTEXT:"
_ONE_LINE: dict[int, str | None] = {
    **dict.fromkeys([*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029], " "),
    **dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)]),
}
"""Control characters and line ends are blanks; marks that turn the direction of writing are dropped."""


def citations_of(hits: Sequence[Hit]) -> tuple[Citation, ...]:
    """One citation a hit, in order, ranks from 1."""
    return tuple(_citation(hit, rank) for rank, hit in enumerate(hits, 1))


def context_of(citations: Sequence[Citation]) -> str:
    """``KNOWLEDGE CONTEXT:`` and a numbered, scored line for each citation; "" when there are none."""
    if not citations:
        return ""
    lines = [f"{cited.rank}. [score: {cited.score:.2f}] {one_line(cited.content)}" for cited in citations]
    return "\n".join([HEADING, *lines])


def one_line(text: str) -> str:
    """The text with every run of white space, line ends and control characters of any kind, as one space."""
    return " ".join(text.translate(_ONE_LINE).split())


def _citation(hit: Hit, rank: int) -> Citation:
    event = hit.row.event
    return Citation(
        id=str(event.id),
        content=event.text,
        score=round(hit.score, 3),
        source=source_of(hit),
        rank=rank,
        metadata=CitationMetadata(
            semantic_score=round(hit.similarity, 3) if hit.by_vector else None,
            keyword_score=round(hit.coverage, 3) if hit.by_keyword else None,
            hybrid_score=round(hit.hybrid, 3),
        ),
    )


def source_of(hit: Hit) -> str:
    """Where it was said: the session and turn, as far as they are known."""
    event = hit.row.event
    turn = event.source_turn_ids[-1] if event.source_turn_ids else None
    parts = [("session", event.source_session_id), ("turn", turn), ("command", event.command_id)]
    return "/".join(f"{name}:{value}" for name, value in parts if value) or f"memory:{event.id}"
