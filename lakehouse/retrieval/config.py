"""What retrieval is told beforehand: budgets and features.

Rule of this file: values only, checked when they are made.
"""

from dataclasses import dataclass, fields, replace
from typing import Final

from lakehouse.retrieval.cache import TTL_S
from lakehouse.retrieval.understanding import EVERYTHING, Switches
from schemas.errors import Misconfigured

POOL: Final = 50
"""Candidates that a reranker reads at most."""
MOST_ROWS: Final = 20_000
"""Of one scope and kind that are kept in memory; a larger one is searched in its table."""
USUAL: Final = replace(EVERYTHING, synonyms=False, decomposition=False, symbols=False)
"""More words and parts gain on some questions and lose on others: see ``docs/quality.md``."""


@dataclass(frozen=True)
class RAGConfig:
    """Budgets of a retrieval service.

    Attributes:
        timeout_s: For one answer, all in all.
        embedding_share: Of the time that is left, what embedding may take; then words alone are searched.
        cache_ttl_s: How long an answer is given again while nothing has changed.
        cache_entries: Answers kept.
        cache_rows: Rows of recently asked scopes kept in memory.
        most_rows: Rows of one scope above which it is searched in its tables.
        rerank_pool: Candidates that a reranker reads, 1 … 50.
        context_tokens: Length of a context at most, in tokens as ``context.tokens_of`` counts them.
        switches: What is done with a question before it is searched for.
        recency: Whether of two that say much the same the newer stands first.
        feedback: Whether what was called helpful before stands a little higher.
    """

    timeout_s: float = 5.0
    embedding_share: float = 0.5
    cache_ttl_s: float = TTL_S
    cache_entries: int = 1_000
    cache_rows: int = 50_000
    most_rows: int = MOST_ROWS
    rerank_pool: int = POOL
    context_tokens: int = 2_000
    switches: Switches = USUAL
    recency: bool = True
    feedback: bool = True

    def __post_init__(self) -> None:
        for name in ("timeout_s", "embedding_share", "most_rows", "rerank_pool", "context_tokens"):
            if getattr(self, name) <= 0:
                raise Misconfigured(f"{name} is {getattr(self, name)}: it must be more than 0")
        if self.rerank_pool > POOL:
            raise Misconfigured(f"rerank_pool is {self.rerank_pool}: at most {POOL} candidates are reranked")


def searched_with(told: str) -> tuple[Switches, bool, bool]:
    """The switches, recency and feedback, with what is named in a list separated by commas switched on.

    Raises:
        Misconfigured: A name is unknown.
    """
    on = {name.strip() for name in told.split(",") if name.strip()}
    switches = {switch.name for switch in fields(Switches)}
    known = switches | {"recency", "feedback"}
    if not on <= known:
        raise Misconfigured(f"SEARCH_WITH: {', '.join(sorted(on - known))} is none of {', '.join(sorted(known))}")
    return Switches(**{name: name in on for name in switches}), "recency" in on, "feedback" in on
