"""Asking one shard with a question's vector by hand: the product's engine, with an embedder told what to say."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from lakehouse.retrieval.config import RAGConfig
from lakehouse.retrieval.engine import Retrieval, Retrieved
from lakehouse.store import Lake, Shard
from schemas.errors import Unavailable
from schemas.retrieval import SearchRequest
from tests.unit.lakehouse.conftest import SHAPE

CONFIG = RAGConfig()
NOW = datetime(2025, 6, 1, tzinfo=UTC)


class ToldEmbedder:
    """Gives one vector for every text; None stands for an embedder that fails."""

    id = SHAPE.embedder
    dimension = SHAPE.dimension

    def __init__(self, vector: Any | None) -> None:
        self.vector = vector

    async def embed(self, texts: Sequence[str]) -> Any:
        if self.vector is None:
            raise Unavailable("there is no embedder")
        return np.stack([self.vector for _ in texts])

    async def close(self) -> None:
        """Nothing is open."""


def engine(shard: Shard, vector: Any | None) -> Retrieval:
    """An engine over one shard that embeds every question as this vector."""
    lake = Lake("memory", None, SHAPE)
    lake._shards[shard.partition] = shard
    return Retrieval(lake, ToldEmbedder(vector), lambda: NOW, config=CONFIG)


async def search(shard: Shard, request: SearchRequest, vector: Any | None) -> Retrieved:
    """What the engine answers."""
    return await engine(shard, vector).search(request)
