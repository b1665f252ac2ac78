"""The sources of documentation, each behind ``Source``.

Rule of this package: a new kind of documentation is a module here and a line in ``sources``.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from lakehouse.external.source import Fetch, Source
from lakehouse.external.sources.bcd import BcdSource
from lakehouse.external.sources.changelog import ChangelogSource, Symbols
from lakehouse.external.sources.github import GitHubSource
from lakehouse.external.sources.llms_txt import LlmsTxtSource
from lakehouse.external.sources.node import NodeSource
from lakehouse.external.sources.pypi import PyPISource
from lakehouse.external.sources.sphinx import SphinxSource

SPHINX: Final = ("python_docs", "sphinx")
"""Ids under which documentation that Sphinx made is read: Python's own is trusted more."""
SOURCES: Final = (
    BcdSource.id,
    ChangelogSource.id,
    GitHubSource.id,
    LlmsTxtSource.id,
    NodeSource.id,
    PyPISource.id,
    *SPHINX,
)
"""Ids of all that there are."""


def sources(fetch: Fetch, clock: Callable[[], datetime], symbols: Symbols = lambda _: ()) -> dict[str, Source]:
    """All sources, by id.

    Args:
        fetch: Asks hosts.
        clock: Now, timezone-aware.
        symbols: All symbols that are known of a site's project: of whom its changelog can speak.
    """
    found: tuple[Source, ...] = (
        BcdSource(fetch, clock),
        ChangelogSource(fetch, clock, symbols),
        GitHubSource(fetch, clock),
        LlmsTxtSource(fetch, clock),
        NodeSource(fetch, clock),
        PyPISource(fetch, clock),
        *(SphinxSource(fetch, clock=clock, name=name) for name in SPHINX),
    )
    return {source.id: source for source in found}
