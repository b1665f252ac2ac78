"""``memlake bench retrieval``: whether what was said is found again, beside plain methods on the same turns.

Rule of this package: every system gets the same turns and the same questions and is never told what they are asked
for; every text is embedded once in a run. Sets of other people are read from a folder and never kept.
"""

from streams.bench.retrieval import plotting
from streams.bench.retrieval.product import opened
from streams.bench.retrieval.sets import NAMES, measure

__all__ = ["NAMES", "measure", "opened", "plotting"]
