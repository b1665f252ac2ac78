"""What an answer means: what is asked with, what is kept, why not and until when."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from lakehouse.external.answers import (
    Answer,
    Asked,
    Fault,
    asked,
    conditions,
    fault_of,
    retry_after,
    validators,
    wait_of,
)
from lakehouse.external.hosts import Limits
from lakehouse.external.source import Failed, Site
from schemas.knowledge import MAX_URL, PageState

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
LIMITS = Limits()
SITE = Site("sphinx", "flask", "https://docs.example.org/", version="3.0")
URL = "https://docs.example.org/api.html"
DATE = "Sun, 01 Mar 2026 11:00:00 GMT"
HASH = "a" * 64
DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)


def known(**fields: Any) -> PageState:
    return PageState(url=URL, source="sphinx", project="flask", **fields)


CONDITIONS = {
    "nothing known": (None, {}),
    "by tag": (known(etag='"v1"', last_modified=DATE, content_hash=HASH), {"If-None-Match": '"v1"'}),
    "by weak tag": (known(etag='W/"v1"', content_hash=HASH), {"If-None-Match": 'W/"v1"'}),
    "by date": (known(last_modified=DATE, content_hash=HASH), {"If-Modified-Since": DATE}),
    "no validator": (known(content_hash=HASH), {}),
    "no copy": (known(etag='"v1"', last_modified=DATE), {}),
    "a tag that cannot be sent": (
        known(etag='"ü"', last_modified=DATE, content_hash=HASH),
        {"If-Modified-Since": DATE},
    ),
    "a tag with a line end": (known(etag='"a"\r\nX: y', content_hash=HASH), {}),
    "a date with a line end": (known(last_modified="now\r\nX: y", content_hash=HASH), {}),
}


@pytest.mark.parametrize(("state", "headers"), CONDITIONS.values(), ids=CONDITIONS)
def test_a_request_is_conditional_where_a_copy_is_kept(state: PageState | None, headers: dict[str, str]) -> None:
    assert conditions(asked(SITE, URL, state)) == headers


def test_validators_that_could_not_be_sent_are_not_kept() -> None:
    good = Answer(200, {"etag": '"v2"', "last-modified": DATE})
    bad = Answer(200, {"etag": "v2", "last-modified": "é"})

    assert validators(good) == {"etag": '"v2"', "last_modified": DATE}
    assert validators(bad) == validators(Answer(200, {})) == {}


def test_a_body_that_came_replaces_all_that_was_known() -> None:
    before = known(etag='"v1"', last_modified=DATE, content_hash=HASH, negative_until=NOW, reason="it failed")

    state = asked(SITE, URL, before).fetched(Answer(200, {"etag": '"v2"'}, b"text"), NOW)

    assert (state.etag, state.last_modified, state.version) == ('"v2"', None, "3.0")
    assert state.content_hash not in {None, HASH}
    assert (state.fetched_at, state.checked_at, state.status) == (NOW, NOW, 200)
    assert (state.negative_until, state.reason) == (None, None)


def test_what_holds_keeps_its_copy_and_the_validators_that_are_not_repeated() -> None:
    before = known(etag='"v1"', last_modified=DATE, content_hash=HASH, fetched_at=NOW - DAY, checked_at=NOW - DAY)

    state = asked(SITE, URL, before).held(Answer(304, {}), NOW)

    assert (state.etag, state.last_modified, state.content_hash) == ('"v1"', DATE, HASH)
    assert (state.fetched_at, state.checked_at, state.status) == (NOW - DAY, NOW, 304)


def test_what_is_gone_is_not_asked_about_by_what_it_was() -> None:
    state = asked(SITE, URL, known(etag='"v1"', content_hash=HASH)).gone(404, NOW, LIMITS).state

    assert (state.etag, state.content_hash, state.negative_until) == (None, None, NOW + DAY)
    assert state.reason == "there is no such page (status 404)"


def test_a_failure_leaves_what_is_kept_as_it_is() -> None:
    before = known(etag='"v1"', content_hash=HASH, checked_at=NOW - DAY)

    failed = asked(SITE, URL, before).failed(Fault("it is away", away=True), NOW, LIMITS)

    assert (failed.state.etag, failed.state.content_hash, failed.state.checked_at) == ('"v1"', HASH, NOW - DAY)
    assert (failed.state.negative_until, failed.reason, failed.permanent) == (NOW + MINUTE, "it is away", False)


@pytest.mark.parametrize(
    ("fault", "pause"),
    [
        (Fault("away", away=True), MINUTE),
        (Fault("refused", permanent=True), DAY),
        (Fault("wait", retry_after_s=5), MINUTE),
        (Fault("wait", retry_after_s=600), timedelta(minutes=10)),
    ],
)
def test_a_page_is_not_asked_for_again_until_there_is_hope(fault: Fault, pause: timedelta) -> None:
    failed = asked(SITE, URL, None).failed(fault, NOW, LIMITS)

    assert failed.state.negative_until == NOW + pause
    assert failed.retry_after_s == fault.retry_after_s


def test_a_site_without_a_version_leaves_the_known_one() -> None:
    bare = Site("sphinx", "flask", "https://docs.example.org/")

    assert asked(bare, URL, known(version="2.9")).state().version == "2.9"
    assert asked(SITE, URL, known(version="2.9")).state().version == "3.0"


@pytest.mark.parametrize("url", ["", "https://docs.example.org/" + "a" * MAX_URL])
def test_an_address_that_fits_no_state_is_blocked_all_the_same(url: str) -> None:
    blocked = asked(SITE, url, None).blocked("it is no address", NOW, LIMITS)

    assert (blocked.reason, blocked.state.negative_until) == ("it is no address", NOW + DAY)


FAULTS: dict[str, tuple[int, dict[str, str], str, bool, bool, float | None]] = {
    "unauthorised": (401, {}, "refuses this page (status 401)", True, False, None),
    "forbidden": (403, {}, "refuses this page (status 403)", True, False, None),
    "for legal reasons": (451, {}, "refuses this page", True, False, None),
    "bad request": (400, {}, "does not take this request", True, False, None),
    "too busy": (429, {}, "is too busy", False, False, None),
    "too busy, wait": (429, {"retry-after": "120"}, "asks to wait 120 s", False, False, 120.0),
    "broken": (500, {}, "a fault of its own (status 500)", False, True, None),
    "down, wait": (503, {"retry-after": "30"}, "asks to wait 30 s (status 503)", False, True, 30.0),
    "limit of requests": (
        403,
        {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(NOW.timestamp() + 90)},
        "asks to wait 90 s",
        False,
        False,
        90.0,
    ),
    "wait for ever": (503, {"retry-after": "1e300"}, "asks to wait 86400 s", False, True, 86400.0),
    "nothing": (204, {}, "without a page (status 204)", False, False, None),
    "a wait without a refusal": (206, {"retry-after": "5"}, "without a page", False, False, None),
    "choices": (300, {}, "without a page", False, False, None),
}


@pytest.mark.parametrize("case", FAULTS.values(), ids=FAULTS)
def test_each_status_has_its_reason(case: tuple[int, dict[str, str], str, bool, bool, float | None]) -> None:
    status, headers, why, permanent, away, wait_s = case

    fault = fault_of(Answer(status, headers), "docs.example.org", NOW, LIMITS)

    assert why in str(fault)
    assert str(fault).startswith("docs.example.org ")
    assert (fault.permanent, fault.away, fault.retry_after_s, fault.status) == (permanent, away, wait_s, status)


WAITS = {
    "seconds": ({"retry-after": "7"}, 7.0),
    "a date": ({"retry-after": format_datetime(NOW + MINUTE, usegmt=True)}, 60.0),
    "a date without a zone": ({"retry-after": "Sun, 01 Mar 2026 12:01:00 -0000"}, 60.0),
    "a date that has passed": ({"retry-after": format_datetime(NOW - DAY, usegmt=True)}, 0.0),
    "nonsense": ({"retry-after": "soon"}, None),
    "less than nothing": ({"retry-after": "-5"}, None),
    "endless": ({"retry-after": "inf"}, None),
    "nothing": ({}, None),
    "a reset though some are left": ({"x-ratelimit-remaining": "3", "x-ratelimit-reset": "2e9"}, None),
    "a reset that has passed": ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "5"}, 0.0),
    "none left, and no reset": ({"x-ratelimit-remaining": "0"}, None),
}


@pytest.mark.parametrize(("headers", "seconds"), WAITS.values(), ids=WAITS)
def test_what_a_host_asks_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == seconds


def test_a_page_that_came_asks_nobody_to_wait() -> None:
    assert wait_of(Answer(200, {"retry-after": "60"}), NOW, LIMITS) is None


def test_the_kind_of_a_body_is_its_type_without_parameters() -> None:
    answer = Answer(200, {"content-type": "Text/HTML ; charset=utf-8"})

    assert (answer.kind, answer.content_type) == ("text/html", "Text/HTML ; charset=utf-8")
    assert (Answer(200, {}).kind, Answer(200, {}).content_type) == ("", "")


def test_only_a_copy_counts_as_one() -> None:
    states = [None, known(etag='"v1"'), known(content_hash=HASH)]

    assert [Asked(SITE, URL, state).has_copy for state in states] == [False, False, True]


def test_a_failure_tells_its_reason_twice_for_those_who_see_only_the_state() -> None:
    failed = asked(SITE, URL, None).failed(Fault("it is away"), NOW, LIMITS)

    assert isinstance(failed, Failed)
    assert failed.state.reason == failed.reason == "it is away"
