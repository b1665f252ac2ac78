"""One export of the bundled model for all tests of this folder."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from lakehouse.embedding.load import load_embedder
from lakehouse.embedding.model import BUNDLED
from lakehouse.embedding.onnx_embedder import OnnxEmbedder


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("embedder-cache")

    async def export() -> None:
        await (await load_embedder(BUNDLED, folder, threads=1, cache_size=0)).close()

    asyncio.run(export())
    return folder


@pytest_asyncio.fixture
async def embedder(cache: Path) -> AsyncIterator[OnnxEmbedder]:
    """The bundled model, without a cache: every text is computed."""
    embedder = await load_embedder(BUNDLED, cache, threads=1, cache_size=0)
    yield embedder
    await embedder.close()
