"""Relative dates on the day they were spoken, and tags as words."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from streams.extract.code import Code, commands_in, language_of_code
from streams.extract.dates import resolve_dates
from streams.extract.language import language_of
from streams.extract.vocabulary import domain_of, tags_of

SATURDAY = datetime(2024, 3, 2, 23, 30, tzinfo=timezone(timedelta(hours=-5)))
DATES = [
    ("en", "My exam is tomorrow.", "My exam is tomorrow (2024-03-03)."),
    ("en", "I sold it last Friday.", "I sold it last Friday (2024-03-01)."),
    ("en", "I leave in 3 days.", "I leave in 3 days (2024-03-05)."),
    ("en", "I came two weeks ago.", "I came two weeks ago (2024-02-17)."),
    ("en", "It was last month.", "It was last month (2024-02)."),
    ("en", "It was last week.", "It was last week (2024-W08)."),
    ("en", "It was last year.", "It was last year (2023)."),
    ("en", "I leave next Friday.", "I leave next Friday (2024-03-08)."),
    ("en", "I came 4 months ago.", "I came 4 months ago (2023-11)."),
    ("en", "I came 3 years ago.", "I came 3 years ago (2021)."),
    ("fr", "Je pars lundi prochain.", "Je pars lundi prochain (2024-03-04)."),
    ("en", "My visa runs out in March.", "My visa runs out in March."),
    ("en", "It was yesterday (2024-03-01).", "It was yesterday (2024-03-01)."),
    ("de", "Ich komme übermorgen.", "Ich komme übermorgen (2024-03-04)."),
    ("de", "Das war vor drei Tagen.", "Das war vor drei Tagen (2024-02-28)."),
    ("es", "Llego mañana.", "Llego mañana (2024-03-03)."),
    ("fr", "Il part dans 2 jours.", "Il part dans 2 jours (2024-03-04)."),
    ("zh", "我上周五去。", "我上周五 (2024-02-23)去。"),
    ("zh", "我明天去。", "我明天 (2024-03-03)去。"),
]
TAGS = [
    ("React useEffect runs after every render", {"react", "useeffect"}),
    ("React Query has a cache for async state", {"react", "reactquery", "cache", "async"}),
    ("Redis is configured in config/redis.yaml", {"redis", "configuration"}),
    ("We use PostgreSQL and C++.", {"postgresql", "cpp"}),
    ("My dog is called Rex.", {"pet"}),
]
NOT_TAGS = [
    ("I searched on google.", "golang"),
    ("JavaScript is fine.", "java"),
    ("It is a digital clock.", "git"),
    ("The rapid response team", "api"),
    ("I go to the store and express my thanks.", "express"),
    ("The old rust on the gate", "rust"),
]
LANGUAGES = [
    ("en", "My tent is orange."),
    ("de", "Ich wohne in Ulm."),
    ("es", "Mi perra se llama Canela."),
    ("fr", "J'aime le thé."),
    ("zh", "我住在杭州。"),
    ("ja", "私は京都に住んでいます。"),
    ("ru", "Я не пью кофе."),
    ("und", "Zed"),
]


@pytest.mark.parametrize(("language", "text", "resolved"), DATES, ids=[text for _, text, _ in DATES])
def test_a_relative_date_is_resolved_where_it_was_spoken(language: str, text: str, resolved: str) -> None:
    assert resolve_dates(text, SATURDAY, language) == resolved


def test_a_date_beyond_the_calendar_stays_as_told() -> None:
    end = datetime(9999, 12, 31, tzinfo=UTC)

    assert resolve_dates("See you tomorrow.", end, "en") == "See you tomorrow."


@pytest.mark.parametrize(("text", "tags"), TAGS, ids=[text for text, _ in TAGS])
def test_a_text_has_the_tags_of_its_words(text: str, tags: set[str]) -> None:
    assert tags <= set(tags_of(text))


@pytest.mark.parametrize(("text", "tag"), NOT_TAGS, ids=[text for text, _ in NOT_TAGS])
def test_a_tag_is_never_found_inside_a_word_or_a_plain_word(text: str, tag: str) -> None:
    assert tag not in tags_of(text)


def test_a_text_without_words_of_the_trade_is_general() -> None:
    assert tags_of("Nothing of note") == ("general",)
    assert domain_of(("general",)) is None


def test_the_domain_is_that_of_most_tags() -> None:
    assert domain_of(("react", "hooks", "async")) == "frontend"
    assert domain_of(("redis",)) == "database"


@pytest.mark.parametrize(("language", "text"), LANGUAGES, ids=[text for _, text in LANGUAGES])
def test_a_language_is_told_also_of_short_texts(language: str, text: str) -> None:
    assert language_of(text) == language


def test_code_in_a_language_of_no_tag_adds_none() -> None:
    assert tags_of("The gate opens", Code("gate open", "brainfuck")) == ("general",)
    assert tags_of("The gate opens", Code("gate = 1", "python")) == ("python",)


def test_code_has_a_language_by_its_fence_or_its_look() -> None:
    assert language_of_code("whatever", "python title=x") == "python"
    assert language_of_code("const a = () => 1;") == "javascript"
    assert language_of_code("def f(x):\n    return x") == "python"
    assert language_of_code("nothing here") is None


def test_commands_stand_in_backticks_or_behind_a_prompt() -> None:
    assert commands_in("Run `npm install` now") == ("npm install",)
    assert commands_in("$ git push origin main") == ("git push origin main",)
    assert commands_in("The field `name` costs $ 5") == ()
