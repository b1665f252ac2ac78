"""``memlake bench quality``: what the product understands and decides, held against gold and against plain methods.

Rule of this package: the product's own pipeline runs in this process, with the real embedder, without Kafka and
without network; it is never told the gold. Sets of other people are read from a folder and never kept; our own golden
conversations lie beside the code.
"""

from streams.bench.quality.sets import NAMES, measure

__all__ = ["NAMES", "measure"]
