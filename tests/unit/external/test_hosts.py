"""When a host is left alone, moment by moment."""

from datetime import UTC, datetime, timedelta

import pytest

from lakehouse.external.hosts import HostState, Limits

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def after(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


@pytest.fixture
def host() -> HostState:
    return HostState(failures=3, alone_s=60)


def failed(host: HostState, times: int = 3) -> HostState:
    for _ in range(times):
        assert host.admits(NOW)
        host.failed(NOW)
    return host


def test_after_failures_in_a_row_it_is_left_alone_and_not_before(host: HostState) -> None:
    failed(host, 2)
    assert host.alone_for(NOW) is None

    failed(host, 1)

    assert host.alone_for(after(20)) == timedelta(seconds=40)
    assert not host.admits(after(59))


def test_an_answer_in_between_begins_the_count_anew(host: HostState) -> None:
    failed(host, 2)
    host.answered(NOW)

    failed(host, 2)

    assert host.admits(NOW)


def test_afterwards_one_may_look_and_only_one(host: HostState) -> None:
    failed(host)

    assert [host.admits(after(60)), host.admits(after(60))] == [True, False]


def test_where_the_one_fails_it_is_left_alone_again_at_once(host: HostState) -> None:
    failed(host)
    assert host.admits(after(60))

    host.failed(after(61))

    assert host.alone_for(after(62)) == timedelta(seconds=59)


def test_where_the_one_is_answered_all_may_ask(host: HostState) -> None:
    failed(host)
    assert host.admits(after(60))

    host.answered(after(61))

    assert [host.admits(after(61)) for _ in range(3)] == [True] * 3


def test_where_the_one_goes_without_an_end_another_may_look(host: HostState) -> None:
    failed(host)
    assert host.admits(after(60))

    host.released()

    assert host.admits(after(60))


def test_it_is_left_alone_for_as_long_as_it_asks(host: HostState) -> None:
    host.asked_to_wait(NOW, 600)

    assert host.alone_for(after(599)) == timedelta(seconds=1)
    assert host.admits(after(600))


def test_an_answer_to_what_was_under_way_does_not_end_the_wait(host: HostState) -> None:
    host.asked_to_wait(NOW, 600)

    host.answered(after(1))

    assert not host.admits(after(2))


def test_a_clock_that_was_set_back_leaves_it_alone_for_no_longer(host: HostState) -> None:
    failed(host)

    assert host.alone_for(after(-3600)) is None


def test_registries_are_asked_one_request_after_another() -> None:
    limits = Limits(serial_hosts=frozenset({"packages.example"}))

    assert (limits.pace_of("packages.example").at_once, limits.pace_of("packages.example").per_s) == (1, 1.0)
    assert limits.pace_of("docs.python.org") == limits.pace
