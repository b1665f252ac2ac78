"""One broker for all tests that need one, and deployments of their own on it."""

import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from schemas.conversation import Scope
from streams.broker import LocalBroker
from streams.client import MemoryClient
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


@pytest.fixture(scope="session")
def shared(bootstrap: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """A deployment with a worker that nothing ever happens to, for all tests that only use it."""
    for deploy in _deployments(bootstrap, tmp_path_factory):
        deployment = deploy()
        deployment.start()
        yield deployment
        assert deployment.workers[0].end() == 0


@pytest.fixture
def scope() -> Scope:
    """A scope that nobody has used yet."""
    return Scope(project_id="tests", user_id=f"u-{uuid.uuid4()}")


@pytest.fixture
async def memory(shared: Deployment, scope: Scope) -> AsyncIterator[MemoryClient]:
    """A client of that scope."""
    async with shared.client(scope) as client:
        yield client
