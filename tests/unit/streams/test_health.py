"""Health is progress: each reason to be ill, and when an ill worker must be started again."""

from typing import Any

import pytest

from streams.health import Health, HealthPolicy

POLICY = HealthPolicy(unhealthy_after_s=20, exit_after_s=100, loop_delay_s=5)
NOW = 1000.0
WELL: dict[str, Any] = {"broker_seen": NOW, "beat": NOW, "partitions": (0, 1), "lag_moved": NOW}
REASONS: list[tuple[dict[str, Any], list[str]]] = [
    ({}, []),
    ({"beat": NOW - 5}, []),
    ({"beat": NOW - 6}, ["the event loop has stood still for 6 s"]),
    ({"broker_seen": NOW - 20}, []),
    ({"broker_seen": NOW - 21}, ["the broker has not answered for 21 s"]),
    ({"lag": 7, "lag_moved": NOW - 20}, []),
    ({"lag": 7, "lag_moved": NOW - 21}, ["7 messages wait and none was handled for 21 s"]),
    ({"lag": 0, "lag_moved": NOW - 5000}, []),
    (
        {"beat": NOW - 9, "broker_seen": NOW - 30, "lag": 1, "lag_moved": NOW - 40},
        [
            "the event loop has stood still for 9 s",
            "the broker has not answered for 30 s",
            "1 messages wait and none was handled for 40 s",
        ],
    ),
]


@pytest.mark.parametrize(("changed", "reasons"), REASONS, ids=lambda value: str(value)[:40])
def test_each_thing_that_is_wrong_is_a_reason(changed: dict[str, Any], reasons: list[str]) -> None:
    health = Health(POLICY, 0.0, **(WELL | changed))

    assert health.reasons(NOW) == reasons
    assert health.told(NOW)["status"] == ("unhealthy" if reasons else "ready")


def test_a_batch_that_takes_too_long_is_a_reason_that_says_what_it_waits_for() -> None:
    health = Health(POLICY, 0.0, **WELL)
    health.took("intake", NOW - 21, 3)
    health.took("answer", NOW - 3, 0)

    assert health.reasons(NOW) == ["intake has been at one batch of 3 for 21 s: still working"]
    health.waits("intake", "the lake is not where it was", 3)
    assert health.reasons(NOW) == ["intake has been at one batch of 3 for 21 s: the lake is not where it was"]
    health.done("intake", 5, NOW, 3)

    assert health.reasons(NOW) == []
    assert health.agent("intake").handled == 5
    assert health.agent("intake").waiting_for == {}


def test_handling_something_is_progress_for_those_who_wait() -> None:
    health = Health(POLICY, 0.0, **(WELL | {"lag": 9, "lag_moved": NOW - 100}))
    assert health.reasons(NOW)

    health.done("intake", 1, NOW, 0)

    assert health.reasons(NOW) == []


def test_a_worker_must_exit_when_it_has_been_ill_without_a_break_for_too_long() -> None:
    health = Health(POLICY, 0.0, **WELL)
    assert not health.must_exit(NOW)
    assert not health.must_exit(NOW + 30)
    assert not health.must_exit(NOW + 130)
    health.beat = health.broker_seen = NOW + 131
    assert not health.must_exit(NOW + 131)
    assert not health.must_exit(NOW + 160)
    assert not health.must_exit(NOW + 260)

    assert health.must_exit(NOW + 260.1)


def test_the_state_is_told_as_json() -> None:
    health = Health(POLICY, NOW - 50, **(WELL | {"partitions": None}))
    assert health.told(NOW)["status"] == "starting"
    health.partitions = (0, 3)
    health.took("intake", NOW, 0)
    health.waits("intake", "no broker", 0)
    health.lag = 4

    told = health.told(NOW + 0.25)

    assert told == {
        "status": "ready",
        "reasons": [],
        "partitions": [0, 3],
        "lag": 4,
        "loopDelayMs": 250.0,
        "agents": {"intake": {"handled": 0, "sinceLastS": 50.25, "waitingFor": "no broker"}},
    }
    health.partitions = ()
    assert health.told(NOW)["status"] == "ready"
    health.stopping = True
    assert health.told(NOW)["status"] == "stopping"
