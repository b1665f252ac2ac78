"""What a worker tells about itself over HTTP."""

import json

import pytest

from streams.metrics import Metrics
from tests.integration.conftest import Deploy
from tests.integration.stage import Deployment, eventually, scopes, until

pytestmark = pytest.mark.broker


@pytest.fixture(scope="module")
def running(deploy_once: Deploy) -> Deployment:
    return deploy_once(maintain_idle_s=1)


def test_before_it_is_ready_health_is_503_and_says_that_it_starts(running: Deployment) -> None:
    worker = running.start(wait=False)
    status, text = running.get("/health")
    assert status == 503
    told = json.loads(text)
    assert (told["status"], told["reasons"], told["partitions"]) == ("starting", [], [])
    worker.wait_ready()


def test_once_it_has_its_partitions_health_is_200_and_says_which(running: Deployment) -> None:
    status, text = running.get("/health")
    assert status == 200
    told = json.loads(text)
    assert (told["status"], told["reasons"], told["partitions"]) == ("ready", [], [0, 1])
    assert told["loopDelayMs"] < 5000


async def test_health_tells_how_far_each_agent_is(running: Deployment) -> None:
    async with running.client(scopes(2)[0]) as memory:
        await memory.publish_and_wait("I moved to Porto.")
        await memory.ask("Where do I live?")

    async def handled() -> bool:
        told = running.health()
        return {name: agent["handled"] for name, agent in told["agents"].items()} == {
            "intake": 1,
            "remember": 1,
            "answer": 1,
        } and told["lag"] == 0

    await until(handled)


def test_every_metric_is_there_with_its_meaning(running: Deployment) -> None:
    lag = f'memlake_lag_messages{{partition="0",topic="{running.topic("turns")}"}}'
    eventually(lambda: lag in running.get("/metrics")[1])
    status, text = running.get("/metrics")
    assert status == 200
    for metric in Metrics().registry.collect():
        assert f"# HELP {metric.name}" in text
    assert 'memlake_handled_total{agent="intake"} 1.0' in text
    assert 'memlake_events_total{event="ADD"} 1.0' in text
    assert "Porto" not in text


def test_an_idle_worker_maintains_its_tables_and_counts_it(running: Deployment) -> None:
    assert eventually(lambda: running.metric("memlake_maintenance_total")) >= 1


def test_any_other_path_is_not_found(running: Deployment) -> None:
    assert running.get("/")[0] == 404


def test_a_worker_without_partitions_is_ready_too(running: Deployment) -> None:
    """As many workers as there are partitions, and one more that waits to take over."""
    for _ in range(2):
        running.start()
    idle = eventually(lambda: [number for number in range(3) if running.health(number)["partitions"] == []])
    assert len(idle) == 1
    assert running.get("/health", idle[0])[0] == 200
