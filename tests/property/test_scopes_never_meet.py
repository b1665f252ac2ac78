"""Ten thousand questions of any kind to twenty scopes of one lake: not one is answered with what another scope said."""

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from lakehouse.retrieval.config import RAGConfig
from lakehouse.retrieval.engine import Retrieval
from lakehouse.store import Lake, Shard
from lakehouse.turn_table import InputRow
from schemas.conversation import Scope
from schemas.facts import TurnRecord, turn_record_id
from schemas.retrieval import SearchRequest
from tests.unit.lakehouse.asking import ToldEmbedder
from tests.unit.lakehouse.conftest import SHAPE, START, Story, unit_vector

TURN = TurnRecord.decode((Path(__file__).parents[1] / "data" / "golden" / "turn-record.v1.json").read_bytes())
USERS = ["ann", "ann'", "an", "a_n", "an%", "%n", "o'neil", "x' OR '1'='1", 'a"b', "c:\\d", "a\nb", "\U0001f642",
         "ANN", "ann/shop", "shop/ann", "ann\u200b", "\uff41\uff4e\uff4e", "a" * 256, "') OR (scope != '",
         "scope"]  # fmt: skip
PROJECTS = ["shop", "shop/ann", "sh%p", "shop'"]
WORDS = ["tea", "Rome", "city", "marker", "' OR ''='", "NOT (a", "*", "Ann", "it", "绿茶"]
REQUESTS = 10_000
QUESTIONS = 40
"""Different ones; each scope is asked most of them, and some again, so that what is kept of others lies ready."""
NOT_PLAIN = 0.1
"""Share of those about other moments or with filters: each reads the table."""


def scopes() -> list[Scope]:
    return [Scope(project_id=PROJECTS[n % len(PROJECTS)], user_id=user) for n, user in enumerate(USERS)]


async def filled(shard: Shard) -> dict[str, str]:
    """Facts that hold, were replaced, were forgotten and turns of every scope, each with its scope's marker."""
    rows: list[Any] = []
    turns: list[InputRow] = []
    markers: dict[str, str] = {}
    for number, scope in enumerate(scopes()):
        told, mark = Story(scope), f"marker{number:02}x"
        markers[scope.key] = mark
        for text in ("likes tea in Rome", "city is Rome", "Ann drinks 绿茶", "'; DROP it"):
            rows += told.add(f"{text} {mark}", tags=("a", "b"), source_session_id="s", subject="Ann")
        rows += [*told.update(2, f"city is Oslo {mark}"), *told.delete(3), *told.nothing(f"no {mark}")]
        for offset in range(3):
            said: dict[str, Any] = {
                "turn_id": f"t{offset}",
                "scope": scope,
                "session_id": "s",
                "content": f"tea {offset} in Rome {mark}",
            }
            record = {
                "record_id": turn_record_id(scope, f"t{offset}"),
                "turn": TURN.turn.model_copy(update=said),
                "source": TURN.source.model_copy(update={"offset": 3 * number + offset}),
            }
            turns.append(InputRow(TURN.model_copy(update=record), unit_vector(said["content"])))
    await shard.commit_memories(rows)
    await shard.commit_inputs(turns)
    return markers


def any_question(dice: random.Random, markers: list[str]) -> dict[str, Any]:
    """A question of any kind; what it asks for may well be another scope's."""
    told: dict[str, Any] = {
        "query": " ".join([*dice.sample(WORDS, dice.randint(1, 2)), dice.choice(markers)]),
        "top_k": dice.choice([1, 5, 50]),
        "similarity_threshold": dice.choice([0.0, 0.0, 0.3, 1.0]),
        "mode": dice.choice(["hybrid", "semantic", "keyword"]),
        "kinds": dice.choice([("knowledge",), ("episode",), ("knowledge", "episode"), ("external", "knowledge")]),
    }
    if dice.random() < 0.1:
        told["history"] = [{"role": "user", "content": f"I told {dice.choice(markers)} to ' OR ''='"}]
    if dice.random() < 0.1:
        told["used"] = [dice.choice(["1", "t1", "' OR 1=1 --", dice.choice(markers)])]
    if dice.random() < NOT_PLAIN:
        moments = [START + timedelta(minutes=dice.randint(-1, 30)), START + timedelta(hours=dice.randint(-1, 30))]
        told |= dice.choice(
            [
                {"as_of": moments[0]},
                {"known_at": moments[1]},
                {"as_of": moments[0], "known_at": moments[1]},
                {"filters": {"tags": [dice.choice(["a", "x' OR '1'='1", "%"])]}},
                {"filters": {"sessionId": dice.choice(["s", "' OR ''='"]), "since": START}},
                {"filters": {"domain": dice.choice(["%", "' OR ''='"])}},
            ]
        )
    return told


async def test_no_request_is_ever_answered_with_a_row_of_another_scope(tmp_path: Path) -> None:
    lake = await Lake.make(str(tmp_path / "lake"), SHAPE)
    markers = await filled(await lake.shard(0))
    dice, now = random.Random(5), datetime(2025, 6, 1, tzinfo=UTC)
    readers = [
        Retrieval(lake, ToldEmbedder(vector), lambda: now, config=RAGConfig(cache_rows=rows))
        for vector, rows in (
            (np.eye(8, dtype=np.float32)[0], 50_000),
            (unit_vector("tea"), 100),
        )
    ]
    strangers = [Scope(project_id="shop", user_id=user) for user in ("annn", "*n", "' OR ''='", "\U0001f643")]
    asked, answered = scopes() + strangers, Counter[str]()
    questions = [any_question(dice, list(markers.values())) for _ in range(QUESTIONS)]

    for number in range(REQUESTS):
        scope = dice.choice(asked)
        request = SearchRequest(scope=scope, **dice.choice(questions))
        found = await readers[number % 50 == 0].search(request)
        for hit in (*found.hits, *found.rejected):
            assert hit.item.text.endswith(markers.get(scope.key, "nobody's")), request
        answered[scope.key] += len(found.hits)

    assert set(markers) == {key for key, count in answered.items() if count}
