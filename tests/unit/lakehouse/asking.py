"""Asking one shard with a question's vector by hand: the product's engine, with an embedder told what to say."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from lakehouse.retrieval.config import RAGConfig
from lakehouse.retrieval.engine import Retrieval, Retrieved
from lakehouse.store import Lake, Shard
from lakehouse.turn_table import InputRow
from schemas.conversation import Scope
from schemas.errors import Unavailable
from schemas.facts import TurnRecord, turn_record_id
from schemas.retrieval import SearchRequest
from tests.unit.lakehouse.conftest import SHAPE, Story

GOLDEN = Path(__file__).parents[2] / "data" / "golden"
TURN = TurnRecord.decode((GOLDEN / "turn-record.v1.json").read_bytes())
AXES = np.eye(SHAPE.dimension, dtype=np.float32)
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


def engine_of(lake: Lake, vector: Any = AXES[0], **config: Any) -> Retrieval:
    """An engine over a whole lake, of its own configuration."""
    return Retrieval(lake, ToldEmbedder(vector), lambda: NOW, config=RAGConfig(**config))


def asked(scope: Scope, query: str = "Who walks in which city?", **fields: Any) -> SearchRequest:
    """A question that lets everything through."""
    return SearchRequest.from_wire({"scope": scope, "query": query, "similarity_threshold": 0.0, "top_k": 50} | fields)


async def say(shard: Shard, told: Story, offset: int, text: str, role: str = "user") -> None:
    """Store a turn; its id is ``t`` and its offset."""
    turn_id = f"t{offset}"
    said = {"turn_id": turn_id, "content": text, "scope": told.scope, "session_id": "s", "role": role}
    record = TURN.model_copy(
        update={
            "record_id": turn_record_id(told.scope, turn_id),
            "turn": TURN.turn.model_copy(update=said),
            "source": TURN.source.model_copy(update={"offset": offset}),
        }
    )
    await shard.commit_inputs([InputRow(record, told.vector(text) if role == "user" else None)])
