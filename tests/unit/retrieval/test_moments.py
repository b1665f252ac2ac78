"""The stretch of time that a question names, in five languages, told from the day of the question."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from lakehouse.retrieval.moments import Stretch, stretch_named

NOW = datetime(2023, 9, 20, 12, tzinfo=UTC)  # a Wednesday
NAMED: list[tuple[str, str, str]] = [
    ("What did I do in May 2023?", "2023-05-01", "2023-06-01"),
    ("Where was I in May?", "2023-05-01", "2023-06-01"),
    ("Where was I in December?", "2022-12-01", "2023-01-01"),
    ("on 7 May, 2023", "2023-05-07", "2023-05-08"),
    ("the 1st of June 2022", "2022-06-01", "2022-06-02"),
    ("May 7th", "2023-05-07", "2023-05-08"),
    ("on 24 December", "2022-12-24", "2022-12-25"),
    ("on 31 February 2023", "2023-02-01", "2023-03-01"),
    ("in 2021", "2021-01-01", "2022-01-01"),
    ("in Q3 2022", "2022-07-01", "2022-10-01"),
    ("on 2023-05-07", "2023-05-07", "2023-05-08"),
    ("in 2023-05", "2023-05-01", "2023-06-01"),
    ("yesterday", "2023-09-19", "2023-09-20"),
    ("last week", "2023-09-11", "2023-09-18"),
    ("this month", "2023-09-01", "2023-10-01"),
    ("last month", "2023-08-01", "2023-09-01"),
    ("next year", "2024-01-01", "2025-01-01"),
    ("this day", "2023-09-20", "2023-09-21"),
    ("last Friday", "2023-09-15", "2023-09-16"),
    ("last Wednesday", "2023-09-13", "2023-09-14"),
    ("this Friday", "2023-09-22", "2023-09-23"),
    ("next Wednesday", "2023-09-27", "2023-09-28"),
    ("three days ago", "2023-09-17", "2023-09-18"),
    ("2 weeks ago", "2023-09-03", "2023-09-10"),
    ("two months ago", "2023-07-01", "2023-08-01"),
    ("a year ago", "2022-01-01", "2023-01-01"),
    ("in the last 3 weeks", "2023-08-30", "2023-09-21"),
    ("the past two months", "2023-07-20", "2023-09-21"),
    ("between May and July 2022", "2022-05-01", "2022-08-01"),
    ("from November to February 2023", "2022-11-01", "2023-03-01"),
    ("between March 2022 and May 2022", "2022-03-01", "2022-06-01"),
    ("between October and February 2023", "2022-10-01", "2023-03-01"),
    ("since March", "2023-03-01", ""),
    ("after 2021", "2021-01-01", ""),
    ("before 2022", "", "2022-01-01"),
    ("until June", "", "2023-07-01"),
    ("in the last week of October 2022", "2022-10-01", "2022-11-01"),
    ("What happened in March 2022 that I told you in May 2023?", "2022-03-01", "2022-04-01"),
    ("vor drei Tagen", "2023-09-17", "2023-09-18"),
    ("letzte Woche im Büro", "2023-09-11", "2023-09-18"),
    ("im März", "2023-03-01", "2023-04-01"),
    ("am 7. Mai", "2023-05-07", "2023-05-08"),
    ("am 7.5.2023", "2023-05-07", "2023-05-08"),
    ("seit Januar 2023", "2023-01-01", ""),
    ("in den letzten zwei Wochen", "2023-09-06", "2023-09-21"),
    ("la semana pasada", "2023-09-11", "2023-09-18"),
    ("el viernes pasado", "2023-09-15", "2023-09-16"),
    ("el viernes que viene", "2023-09-22", "2023-09-23"),
    ("hace dos años", "2021-01-01", "2022-01-01"),
    ("en mayo de 2022", "2022-05-01", "2022-06-01"),
    ("¿Qué hice ayer?", "2023-09-19", "2023-09-20"),
    ("la semaine dernière", "2023-09-11", "2023-09-18"),
    ("il y a deux mois", "2023-07-01", "2023-08-01"),
    ("qu'est-ce que j'ai fait hier ?", "2023-09-19", "2023-09-20"),
    ("le 14 juillet", "2023-07-14", "2023-07-15"),
    ("les trois derniers jours", "2023-09-17", "2023-09-21"),
    ("2023年5月", "2023-05-01", "2023-06-01"),
    ("2023年5月7日我在哪里", "2023-05-07", "2023-05-08"),
    ("我五月在哪里", "2023-05-01", "2023-06-01"),
    ("上周我做了什么", "2023-09-11", "2023-09-18"),
    ("上周五", "2023-09-15", "2023-09-16"),
    ("三天前", "2023-09-17", "2023-09-18"),
    ("去年", "2022-01-01", "2023-01-01"),
    ("最近三个月", "2023-06-20", "2023-09-21"),
    ("2022年以后", "2022-01-01", ""),
    ("2022年以前", "", "2022-01-01"),
    ("昨天", "2023-09-19", "2023-09-20"),
]
NOT_NAMED = [
    "", "What is my name?", "May I ask you something?", "Ubuntu 22.04", "port 2023", "on 2023-02-31", "in 9999年",
    "Was ist hier los?", "99999-01-01", "Did they march together?",
]  # fmt: skip


@pytest.mark.parametrize(("query", "since", "until"), NAMED)
def test_a_question_names_a_stretch_of_time(query: str, since: str, until: str) -> None:
    first, last = (datetime.fromisoformat(day).replace(tzinfo=UTC) if day else None for day in (since, until))

    assert stretch_named(query, NOW) == Stretch(first, last)


@pytest.mark.parametrize("query", NOT_NAMED)
def test_a_question_without_a_time_names_none(query: str) -> None:
    assert stretch_named(query, NOW) is None


def test_days_are_those_of_the_zone_in_which_it_is_asked() -> None:
    zone = ZoneInfo("Asia/Tokyo")
    late = datetime(2023, 9, 20, 23, tzinfo=UTC).astimezone(zone)

    assert stretch_named("today", late) == Stretch(
        datetime(2023, 9, 21, tzinfo=zone), datetime(2023, 9, 22, tzinfo=zone)
    )
