"""The stretch of time that a question names: "in May 2023", "last week", "vor drei Tagen", "2023年5月".

Rule of this file: pure. Only what a table knows is read (``moments.yaml``), in all languages at once, and only as
exactly as it was told; the clock is the time of the question.
"""

import calendar
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import partial
from typing import Any, Final

from lakehouse.keywords import fold_text
from lakehouse.retrieval.tokens import MAX_READ, is_han, read
from lakehouse.ruledata import load_data

_DAY: Final = timedelta(days=1)
_WEEK: Final = 7
Days = tuple[date, date]
"""From the first day to before the second."""


@dataclass(frozen=True)
class Stretch:
    """A stretch of time, open on the side that is None.

    Attributes:
        since: The moment it begins with.
        until: The moment before which it ends.
    """

    since: datetime | None
    until: datetime | None


@dataclass(frozen=True)
class _Rule:
    """How days are told, and which they are; ``alone`` is a month that only another before it makes one.

    With a ``language`` it holds only in that.
    """

    pattern: re.Pattern[str]
    resolve: Callable[[re.Match[str], date], Days]
    alone: bool = False
    language: str = ""


def stretch_named(query: str, now: datetime) -> Stretch | None:
    """The stretch of time that a question names, the first if it names several and they are not the ends of one.

    Args:
        query: The question; its first 2,000 characters are read.
        now: When it is asked, with the zone in which days are meant. A month or a day without a year is the last one.
    """
    text = fold_text(query[:MAX_READ])
    named = _named(text, now.date(), read(query).language)
    if not named:
        return None
    (start, end, (since, until)), others = named[0], named[1:]
    if others and _JOINED.fullmatch(text[end : others[0][0]]):
        return _stretch(_not_after(since, others[0][2][0]), others[0][2][1], now)
    ahead, behind = text[:start], text[end:]
    if _BEFORE.search(ahead) or _BEFORE_BEHIND.match(behind):
        return _stretch(None, since, now)
    if _UNTIL.search(ahead):
        return _stretch(None, until, now)
    if _SINCE.search(ahead) or _SINCE_BEHIND.match(behind):
        return _stretch(since, None, now)
    return _stretch(since, until, now)


def _stretch(since: date | None, until: date | None, now: datetime) -> Stretch:
    first, last = (
        datetime.combine(day, time.min, tzinfo=now.tzinfo) if day is not None else None for day in (since, until)
    )
    return Stretch(first, last)


def _named(text: str, today: date, language: str) -> list[tuple[int, int, Days]]:
    """Where days are named, in order; of those that overlap the first, then the longest."""
    found = [
        (match.start("told"), match.end("told"), rule, match)
        for rule in _RULES
        if rule.language in {"", language}
        for match in rule.pattern.finditer(text)
    ]
    kept: list[tuple[int, int, Days]] = []
    for start, end, rule, match in sorted(found, key=lambda row: (row[0], -row[1])):
        last = kept[-1][1] if kept else 0
        if start < last or (rule.alone and not (kept and _JOINED.fullmatch(text[last:start]))):
            continue
        try:
            kept.append((start, end, rule.resolve(match, today)))
        except (OverflowError, ValueError):  # no such day, or none in the calendar
            continue
    return kept


def _day(day: date) -> Days:
    return day, day + _DAY


def _month(year: int, month: int) -> Days:
    first = date(year, month, 1)
    return first, _later(first, 1)


def _later(day: date, months: int) -> date:
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def _not_after(day: date, other: date) -> date:
    """The day in the last year in which it is not after another."""
    if day <= other:
        return day
    moved = _later(day, 12 * (other.year - day.year))
    return moved if moved <= other else _later(moved, -12)


def _calendar_day(match: re.Match[str], today: date) -> Days:
    """A day, month or year by numbers and names; without a year the last one that is not to come."""
    told = match.groupdict()
    month = _MONTHS.get(told.get("name") or "") or int(told.get("month") or 0)
    day = int(told.get("day") or 0)
    if told.get("quarter"):
        first = date(int(told["year"]), 3 * int(told["quarter"]) - 2, 1)
        return first, _later(first, 3)
    if not month:
        return date(int(told["year"]), 1, 1), date(int(told["year"]) + 1, 1, 1)
    if told.get("year"):
        return _day(date(int(told["year"]), month, day)) if day else _month(int(told["year"]), month)
    days = _day(date(today.year, month, day)) if day else _month(today.year, month)
    return days if days[0] <= today else (_later(days[0], -12), _later(days[1], -12))


def _shifted_day(offsets: Mapping[str, str], match: re.Match[str], today: date) -> Days:
    return _day(today + int(offsets[match["told"]]) * _DAY)


def _shifted(words: "_Words", match: re.Match[str], today: date) -> Days:
    """The week, month, year or weekday before, of or after that of today."""
    count = int(words.shifts[match["shift"]])
    if match["weekday"]:
        wanted = words.weekdays[match["weekday"]]
        if not count:
            return _day(today + (wanted - today.weekday()) * _DAY)
        away = (wanted - today.weekday()) % _WEEK or _WEEK
        return _day(today + (away if count > 0 else away - _WEEK or -_WEEK) * _DAY)
    return _unit_around(words.units[match["unit"]], count, today)


def _unit_around(unit: str, count: int, today: date) -> Days:
    if unit == "day":
        return _day(today + count * _DAY)
    if unit == "week":
        monday = today - today.weekday() * _DAY + count * _WEEK * _DAY
        return monday, monday + _WEEK * _DAY
    if unit == "month":
        return _month(*_later(today, count).timetuple()[:2])
    return date(today.year + count, 1, 1), date(today.year + count + 1, 1, 1)


def _back(words: "_Words", match: re.Match[str], today: date) -> tuple[str, int, date]:
    count = int(match["count"]) if match["count"].isdigit() else int(words.numbers[match["count"]])
    unit = words.units[match["unit"]]
    if unit in {"day", "week"}:
        return unit, count, today - count * (1 if unit == "day" else _WEEK) * _DAY
    return unit, count, _later(today, -count * (1 if unit == "month" else 12))


def _ago(words: "_Words", match: re.Match[str], today: date) -> Days:
    """About that long ago: the day, the week around it, the month, the year."""
    unit, _, day = _back(words, match, today)
    if unit == "week":
        return day - _WEEK // 2 * _DAY, day + (_WEEK - _WEEK // 2) * _DAY
    return _unit_around(unit, 0, day)


def _recently(words: "_Words", match: re.Match[str], today: date) -> Days:
    return _back(words, match, today)[2], today + _DAY


def _one_of(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=lambda word: (-len(word), word)))


def _folded(words: Mapping[str, str]) -> dict[str, str]:
    return {fold_text(word): value for word, value in words.items()}


def _split(words: str) -> list[str]:
    return [fold_text(word.replace("_", " ")) for word in words.split()]


@dataclass(frozen=True)
class _Words:
    """Words of scripts with or without spaces, folded."""

    months: Mapping[str, int]
    weekdays: Mapping[str, int]
    units: Mapping[str, str]
    shifts: Mapping[str, str]
    numbers: Mapping[str, str]


def _words(spec: Mapping[str, Any]) -> _Words:
    return _Words(
        {word: number for number, row in enumerate(spec["months"], 1) for word in _split(row)},
        {word: number for number, row in enumerate(spec["weekdays"]) for word in _split(row)},
        {word: unit for unit, row in spec["units"].items() for word in _split(row)},
        _folded({**spec["shifts"], **spec.get("shifts_behind", {})}),
        _folded(spec["numbers"]),
    )


def _numbered() -> Iterator[_Rule]:
    """Dates by their numbers, in any language."""
    for pattern in (
        r"(?<!\d)(?P<told>(?P<year>\d{4})-(?P<month>\d{2})(?:-(?P<day>\d{2}))?)(?![\d-])",
        r"(?<![\d.])(?P<told>(?P<day>\d{1,2})\.\s?(?P<month>\d{1,2})\.\s?(?P<year>\d{4}))(?!\d)",
        r"\b(?P<told>q(?P<quarter>[1-4])[ /]?(?P<year>\d{4}))(?!\d)",
        r"(?<!\d)(?P<told>(?:(?P<year>\d{4})年)?(?P<month>\d{1,2})月(?:(?P<day>\d{1,2})[日号])?)",
        r"(?<!\d)(?P<told>(?P<year>\d{4})年)",
    ):
        yield _Rule(re.compile(pattern), _calendar_day)
    han = _one_of(_UNSPACED.months)
    yield _Rule(re.compile(rf"(?<!\d)(?P<told>(?:(?P<year>\d{{4}})年)?(?P<name>{han}))"), _calendar_day)


def _written(data: Mapping[str, Any]) -> Iterator[_Rule]:
    """Dates with the month's name, and years behind a word that makes them one."""
    month, of, within = (
        f"(?:{_one_of(words)})" for words in (_SPACED.months, _split(data["of"]), _split(data["within"]))
    )
    name = f"(?P<name>{month})"
    year = rf"(?:,? (?:{of} )?(?P<year>\d{{4}}))"
    for pattern in (
        rf"\b(?P<told>(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.|er)?(?: {of})? {name}\b{year}?)(?!\d)",
        rf"\b(?P<told>{name}\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b{year}?)(?!\d)",
        rf"\b(?P<told>{name}\.?{year})(?!\d)",
        rf"\b{within} (?:the |le |l')?(?P<told>{name})\b",
        rf"\b{within} (?:the year |ano |annee )?(?P<told>(?P<year>(?:19|20)\d\d))(?![\w.-])",
    ):
        yield _Rule(re.compile(pattern), _calendar_day)
    yield _Rule(re.compile(rf"\b(?P<told>{name})\b"), _calendar_day, alone=True)


def _relative(spec: Mapping[str, Any], words: _Words, *, spaced: bool) -> Iterator[_Rule]:
    """Days and stretches told from today."""
    edge, gap = (r"\b", " ") if spaced else ("", "")
    end = rf"\b(?! (?:{_one_of(_split(_DATA['of_whole']))}) (?:{_one_of(_SPACED.months)}|\d))" if spaced else ""
    ahead, behind = (_one_of(_folded(spec.get(key, {}))) for key in ("shifts", "shifts_behind"))
    week = "" if spaced else f"(?:{'|'.join(spec['week'])})"
    days = f"(?:{week}(?P<weekday>{_one_of(words.weekdays)})|(?P<unit>{_one_of(words.units)}))"
    offsets = _folded(spec["days"])
    yield _Rule(re.compile(f"{edge}(?P<told>{_one_of(offsets)}){edge}"), partial(_shifted_day, offsets))
    for language, words_of_one in spec.get("days_in", {}).items():
        told = _one_of(_folded(words_of_one))
        yield _Rule(
            re.compile(f"{edge}(?P<told>{told}){edge}"), partial(_shifted_day, _folded(words_of_one)), language=language
        )
    yield _Rule(re.compile(f"{edge}(?P<told>(?P<shift>{ahead}){gap}{days}){end}"), partial(_shifted, words))
    if behind:
        yield _Rule(re.compile(f"{edge}(?P<told>{days}{gap}(?P<shift>{behind})){end}"), partial(_shifted, words))
    count = rf"(?P<count>\d{{1,3}}|{_one_of(words.numbers)})"
    unit = f"(?P<unit>{_one_of(words.units)})"
    for key, resolve in (("ago", _ago), ("recently", _recently)):
        for form in spec[key]:
            told = form.replace("{count}", count).replace("{unit}", unit)
            yield _Rule(re.compile(f"{edge}(?P<told>{told}){end}"), partial(resolve, words))


def _ahead(words: str) -> re.Pattern[str]:
    """One of the words at the end of what stands before a date."""
    spaced = [word for word in _split(words) if not is_han(word)]
    unspaced = [word for word in _split(words) if is_han(word)]
    either = rf"\b(?:{_one_of(spaced)})(?: (?:the|le|el|dem|der))?\s+"
    return re.compile(f"(?:{either}{''.join(f'|{word}' for word in unspaced)})$")


_DATA: Final = load_data("lakehouse.retrieval", "moments")
_SPACED: Final = _words(_DATA)
_UNSPACED: Final = _words(_DATA["unspaced"])
_MONTHS: Final = {**_SPACED.months, **_UNSPACED.months}
_RULES: Final = (
    *_numbered(),
    *_written(_DATA),
    *_relative(_DATA, _SPACED, spaced=True),
    *_relative(_DATA["unspaced"], _UNSPACED, spaced=False),
)
_SINCE: Final = _ahead(_DATA["since"])
_BEFORE: Final = _ahead(_DATA["before"])
_UNTIL: Final = _ahead(_DATA["until"])
_JOINED: Final = re.compile(rf"\s*(?:{_one_of(_split(_DATA['joiners']))})\s*(?:the |le |el |dem |der )?")
_SINCE_BEHIND: Final = re.compile(_one_of(_split(_DATA["since_behind"])))
_BEFORE_BEHIND: Final = re.compile(_one_of(_split(_DATA["before_behind"])))
