"""A fault server and a client of it, for each test."""

from collections.abc import AsyncIterator

import pytest

from tests.llm.calling import Endpoint
from tests.llm.fault_server import FaultServer


@pytest.fixture
async def server() -> AsyncIterator[FaultServer]:
    async with FaultServer() as found:
        yield found


@pytest.fixture
async def endpoint(server: FaultServer) -> AsyncIterator[Endpoint]:
    found = Endpoint(server.url)
    yield found
    await found.client.close()
