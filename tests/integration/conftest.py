"""One broker for all tests that need one, and deployments of their own on it."""

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from streams.broker import LocalBroker
from streams.settings import Settings
from tests.integration.stage import SHORT, Deployment

Deploy = Callable[..., Deployment]


@pytest.fixture(scope="session")
def bootstrap(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The broker that the tests share; that it does not start is a failure, not a reason to skip."""
    local = LocalBroker(Settings(home=tmp_path_factory.mktemp("broker"), broker_memory_mib=256))
    try:
        yield str(local.start().bootstrap)
    finally:
        local.stop(10)


def _deployments(bootstrap: str, factory: pytest.TempPathFactory) -> Iterator[Deploy]:
    made: list[Deployment] = []

    def deploy(**told: Any) -> Deployment:
        name = f"d{uuid.uuid4().hex[:8]}"
        folder = factory.mktemp(name)
        options = {**SHORT, "name": name, "home": folder, "broker": bootstrap, **told}
        made.append(Deployment(Settings.model_validate(options), folder))
        return made[-1]

    yield deploy
    for deployment in made:
        deployment.end()


@pytest.fixture
def deploy(bootstrap: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deploy]:
    """Makes deployments for one test; their workers end with it."""
    yield from _deployments(bootstrap, tmp_path_factory)


@pytest.fixture(scope="module")
def deploy_once(bootstrap: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deploy]:
    """Makes deployments that the tests of a module share."""
    yield from _deployments(bootstrap, tmp_path_factory)
