"""What handlers work with: a frozen bundle made once, by the worker.

Rule of this file: no behaviour. Time is passed in, so that a test can hold it.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime

from lakehouse.embedding import Embedder
from lakehouse.known import KnownScopes
from lakehouse.store import Lake
from streams.faults import Faults
from streams.judging import Judge
from streams.masking import Masker
from streams.metrics import Metrics
from streams.settings import Settings
from streams.wire import Outbox


@dataclass(frozen=True)
class Ports:
    """The world of a handler.

    Attributes:
        masker: Hides secrets in all that comes in and in all that is told.
        judge: Asks a language model, where one is set.
        known: Scopes kept in memory by their writer.
        rules: One thread for rules that would hold up the event loop.
        clock: Now, timezone-aware; never used in a decision.
    """

    settings: Settings
    lake: Lake
    embedder: Embedder
    outbox: Outbox
    masker: Masker
    judge: Judge
    known: KnownScopes
    metrics: Metrics
    rules: ThreadPoolExecutor
    clock: Callable[[], datetime]
    faults: Faults
