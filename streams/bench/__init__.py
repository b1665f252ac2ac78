"""``memlake bench``: what the machine does with a real deployment, beside a baseline measured in the same run.

Rule of this room: figures are ratios against a baseline of the same run; nothing here is a test, no machine's figure
is a promise. A new benchmark is a module with ``measure`` and a line in ``BENCHES``.
"""

from collections.abc import Callable, Iterator

from streams.bench import age, asking, ingest, knowledge, latency, query, scopes
from streams.bench.figures import Figure
from streams.settings import Settings

BENCHES: dict[str, Callable[[Settings, int | None], Iterator[Figure]]] = {
    "latency": latency.measure,
    "ingest": ingest.measure,
    "query": query.measure,
    "age": age.measure,
    "scopes": scopes.measure,
    "asking": asking.measure,
    "knowledge": knowledge.measure,
}

__all__ = ["BENCHES", "Figure"]
