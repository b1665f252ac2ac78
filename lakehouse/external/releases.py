"""Which version of a documentation fits a project best.

Rule of this file: pure. Versions are compared as versions ("1.10" is newer than "1.9"), never as text; what is no
version, such as "latest", is never taken for one.
"""

from collections.abc import Callable, Iterable
from typing import Literal, TypeVar

from packaging.version import InvalidVersion, Version

Fit = Literal["same", "series", "other", "unknown"]
"""Of a documentation: the wanted release, its series (3.11 for 3.11.4), another one, or one that has no number."""
FITTING: tuple[Fit, ...] = ("same", "series")
Told = TypeVar("Told")
_RANK: dict[Fit, int] = {"same": 0, "series": 1, "other": 2, "unknown": 3}


def parsed(version: str | None) -> Version | None:
    """The version; None where it is none."""
    try:
        return None if version is None else Version(version)
    except InvalidVersion:
        return None


def fit(version: str | None, wanted: str | None) -> Fit:
    """How a documentation's version fits the wanted one; where none is wanted, any does.

    Args:
        version: As the documentation names it.
        wanted: As the project pins it.
    """
    if wanted is None or version == wanted:
        return "same"
    mine, theirs = parsed(version), parsed(wanted)
    if mine is None or theirs is None:
        return "unknown"
    if mine == theirs:
        return "same"
    ours, pinned = mine.release, theirs.release
    shorter = min(len(ours), len(pinned))
    is_series = mine.epoch == theirs.epoch and ours[:shorter] == pinned[:shorter] and len(ours) != len(pinned)
    return "series" if is_series else "other"


def by_fit(items: Iterable[Told], version_of: Callable[[Told], str | None], wanted: str | None = None) -> list[Told]:
    """Those that fit best first.

    Where a version is wanted: that one, its series, then the newest that is no newer, then the next newer ones. Where
    none is: the newest release, then what comes before a release. What has no number comes last, by its name.

    Args:
        items: What has a version.
        version_of: Gives it.
        wanted: As the project pins it.
    """
    told = sorted(((version_of(item), item) for item in items), key=lambda pair: (pair[0] is None, pair[0] or ""))
    numbers, names = list[tuple[Version, Told]](), list[Told]()
    for version, item in told:
        number = parsed(version)
        if number is None:
            names.append(item)
        else:
            numbers.append((number, item))
    numbers.sort(key=lambda pair: pair[0], reverse=True)
    pinned = parsed(wanted)
    first, late = list[Told](), list[Told]()
    for number, item in numbers:
        is_late = number.is_prerelease if pinned is None else number > pinned
        (late if is_late else first).append(item)
    then = late if pinned is None else late[::-1]
    return sorted([*first, *then, *names], key=lambda item: _RANK[fit(version_of(item), wanted)])
