"""``weekly_analysis``: how external knowledge was used, and how it fared.

Rule of this file: pure. A report is a function of the look-ups and of what happened between two moments: told again
after a replay it is the same. Shares are of 1; where there is nothing to divide by they are None, never 0.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from statistics import fmean, median
from typing import Final, Protocol

from pydantic import JsonValue

from lakehouse.external.events import Happening
from lakehouse.external.policy import percentile
from schemas.knowledge import Lookup, LookupOutcome, UsageReport

DAYS: Final = 7
MOST_USED: Final = 20
MOST_GAPS: Final = 50
ASKED_AGAIN: Final = 2
"""Times that something is asked for in vain before it is a gap."""
KEPT: Final[frozenset[LookupOutcome]] = frozenset({"fresh", "stale"})
ANSWERED: Final[frozenset[LookupOutcome]] = frozenset({"hit", "fresh", "stale"})
IN_VAIN: Final[frozenset[LookupOutcome]] = frozenset({"negative", "miss", "budget", "unresolved", "blocked", "failed"})
PERCENTILES: Final = (50, 95, 99)
_DIGITS: Final = 4
Line = dict[str, JsonValue]


class Log(Protocol):
    """Where look-ups and happenings are kept."""

    async def lookups(self, since: datetime, until: datetime) -> Mapping[str, Lookup]:
        """The look-ups from one moment to before another, by id."""

    async def happened(self, since: datetime, until: datetime) -> Sequence[Happening]:
        """What happened from one moment to before another."""


async def weekly_analysis(log: Log, *, until: datetime, days: int = DAYS) -> UsageReport:
    """How external knowledge was used in the last days.

    Args:
        log: Where look-ups and happenings are kept.
        until: The end, which is not in it; timezone-aware.
        days: How many before it.

    Raises:
        Unavailable: The lake cannot be read.
    """
    since = until - timedelta(days=days)
    return usage_report(
        list((await log.lookups(since, until)).values()),
        await log.happened(since, until),
        since=since,
        until=until,
    )


def usage_report(
    lookups: Sequence[Lookup], happened: Sequence[Happening], *, since: datetime, until: datetime
) -> UsageReport:
    """The report on some look-ups and on what happened between two moments."""
    reached = [one for one in lookups if one.stage != "project"]
    outcomes = Counter(one.outcome for one in reached)
    return UsageReport(
        since=since,
        until=until,
        cache_hit_rate=_share(sum(outcomes[outcome] for outcome in KEPT), len(reached)),
        most_used_docs=tuple(most_used(lookups)),
        sources_by_usage=tuple(by_source(lookups, happened)),
        knowledge_gaps=tuple(gaps(lookups)),
        avg_query_time_ms=_mean([one.milliseconds for one in lookups]),
        further={
            "lookups": len(lookups),
            "lookups_by_outcome": dict(sorted(Counter(one.outcome for one in lookups).items())),
            "fresh_share": _share(outcomes["fresh"], len(reached)),
            "stale_share": _share(outcomes["stale"], len(reached)),
            "negative_share": _share(outcomes["negative"], len(reached)),
            "budget_misses": outcomes["budget"],
            "query_time_ms": {stage: _times(times) for stage, times in _by_stage(lookups)},
            "happenings": dict(sorted(Counter(one.action for one in happened).items())),
        },
    )


def most_used(lookups: Iterable[Lookup], limit: int = MOST_USED) -> list[Line]:
    """The documents that were given most often, by their number of look-ups."""
    given: dict[str, list[Lookup]] = {}
    for one in lookups:
        if one.document_id is not None:
            given.setdefault(one.document_id, []).append(one)
    lines: list[Line] = [
        {
            "document_id": key,
            "name": Counter(one.query for one in asked).most_common(1)[0][0],
            "source": asked[-1].source,
            "project": asked[-1].project,
            "lookups": len(asked),
            "last": max(one.at for one in asked).isoformat(),
        }
        for key, asked in sorted(given.items())
    ]
    return sorted(lines, key=lambda line: -_number(line["lookups"]))[:limit]


def by_source(lookups: Sequence[Lookup], happened: Sequence[Happening]) -> list[Line]:
    """What each source gave and what it took, by what it gave.

    Of each: look-ups that it answered, requests to its hosts, bytes, share of "not modified", share of changed pages
    among those that hosts answered for, failures, refusals, and the median time of a request in ms.
    """
    sources = {one.source for one in lookups if one.source} | {one.source for one in happened if one.source}
    lines = [
        _source(
            source, [one for one in lookups if one.source == source], [one for one in happened if one.source == source]
        )
        for source in sorted(sources)
    ]
    return sorted(lines, key=lambda line: -_number(line["served"]))


def gaps(lookups: Iterable[Lookup], limit: int = MOST_GAPS) -> list[Line]:
    """What was asked for at least twice and never answered, the most wanted first: times asked x agents who asked."""
    asked: dict[tuple[str, str], list[Lookup]] = {}
    for one in lookups:
        asked.setdefault((one.project or "", one.query), []).append(one)
    lines: list[Line] = []
    for (project, query), found in sorted(asked.items()):
        vain = [one for one in found if one.outcome in IN_VAIN]
        if len(vain) < ASKED_AGAIN or any(one.outcome in ANSWERED for one in found):
            continue
        lines.append(
            {
                "query": query,
                "project": project or None,
                "asked": len(vain),
                "agents": len({one.agent for one in vain}),
                "outcomes": dict(sorted(Counter(one.outcome for one in vain).items())),
                "last": max(one.at for one in vain).isoformat(),
            }
        )
    return sorted(lines, key=lambda line: -_number(line["asked"]) * _number(line["agents"]))[:limit]


def _source(source: str, lookups: Sequence[Lookup], happened: Sequence[Happening]) -> Line:
    asked = [one for one in happened if one.asked]
    actions = Counter(one.action for one in asked)
    answered = actions["FETCHED"] + actions["UPDATED"] + actions["NOT_MODIFIED"]
    times = [one.milliseconds for one in asked if one.milliseconds is not None]
    return {
        "source": source,
        "lookups": len(lookups),
        "served": sum(one.outcome in ANSWERED for one in lookups),
        "fetches": len(asked),
        "bytes": sum(one.bytes or 0 for one in asked),
        "not_modified_share": _share(actions["NOT_MODIFIED"], answered),
        "updated_share": _share(actions["UPDATED"], answered),
        "failures": actions["FETCH_FAILED"],
        "blocked": sum(one.action == "BLOCKED" for one in happened),
        "new_deprecations": sum(one.action == "DEPRECATED" for one in happened),
        "median_fetch_ms": round(median(times), 3) if times else None,
    }


def _by_stage(lookups: Iterable[Lookup]) -> list[tuple[str, list[float]]]:
    times: dict[str, list[float]] = {}
    for one in lookups:
        times.setdefault(one.stage, []).append(one.milliseconds)
    return sorted(times.items())


def _times(times: Sequence[float]) -> Line:
    shown: Line = {f"p{percent}": percentile(times, percent / 100) for percent in PERCENTILES}
    return {"n": len(times), "mean": _mean(times), **shown}


def _mean(times: Sequence[float]) -> float | None:
    return round(fmean(times), 3) if times else None


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, _DIGITS) if whole else None


def _number(value: JsonValue) -> int:
    assert isinstance(value, int)
    return value
