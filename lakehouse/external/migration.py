"""Whether a graph database is worth it, and what a migration to one has done.

Rule of this file: pure. Advice is only ever told: nothing here, and nobody who asks, starts a migration by itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

LEAST_HIT_RATE: Final = 0.7
MOST_AVERAGE_MS: Final = 100.0
LEAST_DAYS: Final = 7
LEAST_LOOKUPS: Final = 500
"""That reached the cache; fewer tell nothing of a rate."""

FEW_HITS: Final = (
    "Warm the cache before it is asked: fetch what the projects import, and the symbols of the report's gaps.",
    "Keep whole pages: one fetch then answers for every symbol of its page.",
    "Let a kind of document that seldom changes hold for more days; what is stale is served and refreshed anyway.",
)
"""What raises a hit rate. A graph database holds what the cache holds, so it raises none."""
SLOW: Final = ("Hold more documents in memory, in front of the lake, where one is found in microseconds.",)
"""What shortens a look-up. A graph database answers in several milliseconds, as the lake does."""
MIGRATE: Final = (
    "Only if questions about relations are wanted that the lake cannot answer: "
    "copy the metadata to Neo4j with `memlake knowledge migrate`."
)


@dataclass(frozen=True)
class MigrationAdvice:
    """What to do about a cache that is too slow or answers too little.

    Attributes:
        worth_it: Whether enough was measured and a limit is missed.
        reason: What was measured against which limits.
        cures: What to do, the cheapest first; the migration comes last, and only where it is worth it.
    """

    worth_it: bool
    reason: str
    cures: tuple[str, ...] = ()


def migration_advice(hit_rate: float | None, average_ms: float | None, *, days: float, lookups: int) -> MigrationAdvice:
    """Whether metadata should go to a graph database: below .7 hits or above 100 ms, and measured for long enough.

    Args:
        hit_rate: Look-ups that the cache answered, of those that reached it, 0 … 1; None where none did.
        average_ms: Of a look-up from end to end, milliseconds; None where there was none.
        days: Over which both were measured.
        lookups: That reached the cache in that time.

    Raises:
        ValueError: A figure is none of its kind.
    """
    if hit_rate is not None and not 0 <= hit_rate <= 1:
        raise ValueError(f"a hit rate is 0 to 1, not {hit_rate}")
    if any(not figure >= 0 for figure in (average_ms or 0.0, days, lookups)):
        raise ValueError("times and counts are not negative")
    if hit_rate is None or average_ms is None or days < LEAST_DAYS or lookups < LEAST_LOOKUPS:
        measured = f"{lookups} look-ups in {days:g} days reached the cache"
        return MigrationAdvice(
            worth_it=False, reason=f"Too little was measured: {measured}, {LEAST_LOOKUPS} in {LEAST_DAYS} are needed."
        )
    missed, cures = list[str](), list[str]()
    if hit_rate < LEAST_HIT_RATE:
        missed.append(f"the hit rate of {hit_rate:.3g} is below {LEAST_HIT_RATE:g}")
        cures += FEW_HITS
    if average_ms > MOST_AVERAGE_MS:
        missed.append(f"the average of {average_ms:.4g} ms is above {MOST_AVERAGE_MS:g} ms")
        cures += SLOW
    over = f"over {lookups} look-ups in {days:g} days"
    if not missed:
        told = f"a hit rate of {hit_rate:.3g} and an average of {average_ms:.4g} ms, {over}, are good enough"
        return MigrationAdvice(worth_it=False, reason=f"Not needed: {told}.")
    return MigrationAdvice(worth_it=True, reason=f"Measured {over}: {' and '.join(missed)}.", cures=(*cures, MIGRATE))


@dataclass(frozen=True)
class MigrationReport:
    """What a migration found and did.

    Attributes:
        dry_run: Whether nothing was written; ``written`` then says what would have been, and nothing was compared.
        documents: That were told, each id once.
        written: Of them, those that were new or had changed.
        kept: Of them, those that the graph held as they are.
        findings: That were told and are in the graph as relations.
        left_out: Findings that are no plain truth of a symbol, by status or scope.
        nodes_created: By this run.
        relations_created: By this run.
        missing: Ids of documents and relations that the graph does not hold.
        different: Ids of documents that it holds with another hash or other metadata.
        unlinked: Ids of documents without a symbol or a publisher.
        only_in_graph: Documents and relations that the graph holds and nobody told: of earlier migrations.
    """

    dry_run: bool
    documents: int
    written: int
    kept: int
    findings: int
    left_out: Mapping[str, int]
    nodes_created: int
    relations_created: int
    missing: tuple[str, ...] = ()
    different: tuple[str, ...] = ()
    unlinked: tuple[str, ...] = ()
    only_in_graph: int = 0

    @property
    def verified(self) -> bool:
        """Whether all that was told was found again, as it was told."""
        return not (self.dry_run or self.missing or self.different or self.unlinked)
