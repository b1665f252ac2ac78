"""Relative dates resolved on the day they were spoken, in the speaker's zone; the words stay, the date joins them.

Rule of this file: only what a small table knows is resolved (``dates.yaml``), and only as exactly as it was told: a day
becomes a date, "last month" a month. The clock is the turn's own timestamp. Tables are matched in small letters, so
that what was matched is a key of the table.
"""

import calendar
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from streams.extract.lowered import lowered
from streams.ruledata import load

_DAYS_IN_WEEK = 7
_RESOLVED = re.compile(r"\s*[\uff08(]\d{4}")
_GROUP = re.compile(r"\(\?P<\w+>")
Resolver = Callable[[re.Match[str], date], str]


@dataclass(frozen=True)
class _Table:
    pattern: re.Pattern[str]
    resolve: Resolver


@dataclass(frozen=True)
class _Tongue:
    tables: tuple[_Table, ...]
    past: _Table | None
    any: re.Pattern[str]
    """Finds something in every text in which one of the tables does: most sentences tell no time."""


def resolve_dates(text: str, spoken_at: datetime, language: str, *, happened: bool = False) -> str:
    """The text with a date in parentheses behind each relative one.

    Args:
        text: One sentence.
        spoken_at: When it was said, with the speaker's zone.
        language: ISO 639-1; an unknown one is read as English.
        happened: Whether it is told of something that happened: then a bare weekday is the last one.
    """
    tongue = _TONGUES.get(language, _TONGUES["en"])
    if tongue.any.search(lowered(text)) is None:
        return text
    day = spoken_at.date()
    for table in tongue.tables:
        text = _resolved(table, text, day)
    return _resolved(tongue.past, text, day) if happened and tongue.past is not None else text


def _resolved(table: _Table, text: str, day: date) -> str:
    """The text with the dates of one table."""
    pieces, place = [], 0
    for match in table.pattern.finditer(lowered(text)):
        pieces += [text[place : match.end()], _date_of(table.resolve, day, match)]
        place = match.end()
    return "".join([*pieces, text[place:]])


def _date_of(resolve: Resolver, day: date, match: re.Match[str]) -> str:
    """The date to stand behind what was told; empty where it is there already or there is none."""
    if _RESOLVED.match(match.string, match.end()):
        return ""
    try:
        date_told = resolve(match, day)
    except (OverflowError, ValueError):  # the calendar ends in 9999
        return ""
    return f" ({date_told})" if date_told else ""


def _tongue(spec: Mapping[str, Any], *, spaced: bool) -> _Tongue:
    tables, past = _tables(spec, spaced=spaced), _past_table(spec, r"\b" if spaced else "")
    patterns = [table.pattern.pattern for table in (*tables, *([past] if past is not None else ()))]
    return _Tongue(tables, past, re.compile("|".join(_GROUP.sub("(?:", pattern) for pattern in patterns)))


def _tables(spec: Mapping[str, Any], *, spaced: bool) -> tuple[_Table, ...]:
    edge = r"\b" if spaced else ""
    build = (
        ("days", _day_table),
        ("weekdays", _weekday_table),
        ("last_unit", _stretch_table),
        ("numbers", _span_table),
    )
    return tuple(make(spec, edge) for key, make in build if key in spec)


def _day_table(spec: Mapping[str, Any], edge: str) -> _Table:
    words = list(spec["days"].items())

    def resolve(match: re.Match[str], day: date) -> str:
        offset = next(int(number) for (_, number), group in zip(words, match.groups(), strict=True) if group)
        return (day + timedelta(days=offset)).isoformat()

    return _Table(re.compile(f"{edge}(?:{'|'.join(f'({word})' for word, _ in words)}){edge}"), resolve)


def _weekday_table(spec: Mapping[str, Any], edge: str) -> _Table:
    names = "|".join(spec["weekdays"])
    gap = r"\s+" if edge else ""
    before = _groups(spec, {"last": "last", "next": "next", "this": "this"})
    after = _groups(spec, {"last_after": "last", "next_after": "next"}, suffix="_after")
    ways = [f"(?:{before}){gap}(?P<day>{names})"]
    if after:
        ways.insert(0, f"(?P<day_before>{names}){gap}(?:{after})")

    def resolve(match: re.Match[str], day: date) -> str:
        found = {name.removesuffix("_after"): told for name, told in match.groupdict().items() if told}
        wanted = int(spec["weekdays"][found.get("day", found.get("day_before", ""))])
        monday = day - timedelta(days=day.weekday())
        if "this" in found:
            meant = monday + timedelta(days=wanted)
            return meant.isoformat() if meant >= day else ""
        if "by_week" in spec:
            return (monday + timedelta(weeks=-1 if "last" in found else 1, days=wanted)).isoformat()
        if "last" in found:
            return _last(wanted, day).isoformat()
        return (day + timedelta(days=(wanted - day.weekday() - 1) % _DAYS_IN_WEEK + 1)).isoformat()

    return _Table(re.compile(f"{edge}(?:{'|'.join(ways)}){edge}"), resolve)


def _groups(spec: Mapping[str, Any], keys: Mapping[str, str], suffix: str = "") -> str:
    """Alternatives, one named group for each key that has words."""
    return "|".join(f"(?P<{name}{suffix}>{'|'.join(spec[key])})" for key, name in keys.items() if spec.get(key))


def _last(weekday: int, day: date) -> date:
    """The last such day before a day."""
    return day - timedelta(days=(day.weekday() - weekday - 1) % _DAYS_IN_WEEK + 1)


def _past_table(spec: Mapping[str, Any], edge: str) -> _Table | None:
    """A bare weekday of what happened: "I sold it on Tuesday"."""
    words = "|".join(spec.get("past", []))
    if not words:
        return None
    names = "|".join(spec["weekdays"])
    told = "|".join([*spec.get("last_after", []), *spec.get("next_after", [])])
    edge += rf"(?!\s+(?:{told}))" if told else ""

    def resolve(match: re.Match[str], day: date) -> str:
        return _last(int(spec["weekdays"][match["day"]]), day).isoformat()

    return _Table(re.compile(rf"\b(?:{words})\s+(?P<day>{names}){edge}"), resolve)


def _stretch_table(spec: Mapping[str, Any], edge: str) -> _Table:
    rows = spec["last_unit"]

    def resolve(match: re.Match[str], day: date) -> str:
        offset, unit = rows[match.group()]
        if unit == "week":
            year, week, _ = (day + timedelta(days=int(offset))).isocalendar()
            return f"{year}-W{week:02}"
        if unit == "month":
            return _months_later(day, int(offset)).isoformat()[:7]
        return f"{day.year + int(offset):04}"

    longest = sorted(rows, key=len, reverse=True)
    ahead = f"(?!{spec['not_before']})" if "not_before" in spec else ""
    return _Table(re.compile(f"{edge}(?:{'|'.join(longest)}){edge}{ahead}"), resolve)


def _span_table(spec: Mapping[str, Any], edge: str) -> _Table:
    counts = "|".join([r"\d{1,4}", *spec["numbers"]])
    months, years = set(spec["months"]), set(spec["years"])
    units = "|".join(sorted([*spec["units"], *months, *years], key=len, reverse=True))

    def part(name: str) -> str:
        form: str = spec[name]
        counted = form.replace("{count}", f"(?P<{name}_count>{counts})")
        return f"(?P<{name}>{counted.replace('{unit}', f'(?P<{name}_unit>{units})')})"

    parts = [part(name) for name in ("ago", "ahead")]

    def resolve(match: re.Match[str], day: date) -> str:
        name = "ago" if match["ago"] else "ahead"
        told, unit = match[f"{name}_count"], match[f"{name}_unit"]
        count = (int(told) if told.isdigit() else int(spec["numbers"][told])) * (-1 if name == "ago" else 1)
        if unit in months:
            return _months_later(day, count).isoformat()[:7]
        if unit in years:
            return f"{day.year + count:04}"
        return (day + timedelta(days=count * int(spec["units"][unit]))).isoformat()

    return _Table(re.compile(f"{edge}(?:{'|'.join(parts)}){edge}"), resolve)


def _months_later(day: date, months: int) -> date:
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


_UNSPACED = frozenset({"zh", "ja", "ko"})
_TONGUES = {
    name: _tongue(spec, spaced=name not in _UNSPACED) for name, spec in load("extract", "dates")["languages"].items()
}
