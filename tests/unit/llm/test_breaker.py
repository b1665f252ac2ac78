"""When an endpoint is left alone, moment by moment."""

import pytest

from streams.llm.breaker import Breaker, BreakerPolicy

POLICY = BreakerPolicy(failures=3, cooloff_s=10)


@pytest.fixture
def breaker() -> Breaker:
    return Breaker(POLICY)


def opened(breaker: Breaker, now: float = 0.0) -> Breaker:
    for _ in range(POLICY.failures):
        breaker.failed(now)
    return breaker


def test_it_opens_after_failures_in_a_row_and_not_before(breaker: Breaker) -> None:
    breaker.failed(0)
    breaker.failed(0)
    assert breaker.state(0) == "closed"

    breaker.failed(0)

    assert (breaker.state(0), breaker.admits(0)) == ("open", False)


def test_a_success_between_failures_begins_the_count_anew(breaker: Breaker) -> None:
    for outcome in (breaker.failed, breaker.failed):
        outcome(0)
    breaker.succeeded()
    breaker.failed(0)

    assert breaker.admits(0)


def test_after_its_time_one_call_may_look_and_only_one(breaker: Breaker) -> None:
    opened(breaker)

    assert breaker.state(9.9) == "open"
    assert [breaker.admits(10), breaker.admits(10)] == [True, False]


def test_one_that_looked_and_failed_closes_it_for_the_whole_time_again(breaker: Breaker) -> None:
    opened(breaker)
    breaker.admits(10)

    breaker.failed(12)

    assert [breaker.state(moment) for moment in (12, 21.9, 22)] == ["open", "open", "half-open"]


def test_one_that_looked_and_succeeded_lets_all_others_in(breaker: Breaker) -> None:
    opened(breaker)
    breaker.admits(10)

    breaker.succeeded()

    assert [breaker.admits(10), breaker.admits(10)] == [True, True]


def test_one_that_looked_and_was_given_up_lets_another_look(breaker: Breaker) -> None:
    opened(breaker)
    breaker.admits(10)

    breaker.released()

    assert breaker.admits(10)


def test_a_call_that_began_before_and_fails_late_does_not_prolong_the_time(breaker: Breaker) -> None:
    opened(breaker, now=0)

    breaker.failed(9)

    assert breaker.state(10) == "half-open"


def test_what_will_go_on_failing_opens_it_at_once(breaker: Breaker) -> None:
    breaker.failed(5, at_once=True)

    assert (breaker.state(5), breaker.state(15)) == ("open", "half-open")
