"""The reranker around its model: deadlines, refusal, hanging, the end; and folders that hold no cross-encoder."""

import asyncio
import json
import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lakehouse.embedding.model import BUNDLED, find_model
from lakehouse.retrieval.config import POOL
from lakehouse.retrieval.reranking import (
    MOST_WAITING,
    CrossEncoderReranker,
    find_cross_encoder,
    load_reranker,
    score_of,
)
from schemas.errors import Misconfigured, Unavailable

ROOT = Path(__file__).parents[3]
SHORT_S = 5.0  # nothing here takes that long unless it hangs
GOOD: dict[str, Any] = {"architectures": ["BertForSequenceClassification"], "id2label": {"0": "LABEL_0"}}


class Gate:
    """A model whose logit is the text's number, and which answers only while the gate is open."""

    def __init__(self) -> None:
        self.read: list[str] = []
        self.reached = threading.Semaphore(0)
        self.open = threading.Event()

    def __call__(self, query: str, text: str) -> float:
        self.read.append(text)
        self.reached.release()
        assert self.open.wait(60)
        return float(text)


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate()
    yield gate
    gate.open.set()


def _soon() -> float:
    return time.monotonic() + 0.05


def _later() -> float:
    return time.monotonic() + SHORT_S


async def _reach(gate: Gate) -> None:
    assert await asyncio.to_thread(gate.reached.acquire, timeout=SHORT_S)


@pytest.mark.parametrize(
    ("logit", "score"), [(0.0, 0.5), (1.0, 0.7311), (-1.0, 0.2689), (8.4, 0.9998), (1e9, 1.0), (-1e9, 0.0)]
)
def test_a_score_is_the_logistic_function_of_the_logit_to_four_digits(logit: float, score: float) -> None:
    assert score_of(logit) == score


async def test_each_text_has_its_score_in_order(gate: Gate) -> None:
    gate.open.set()
    reranker = CrossEncoderReranker(gate, "gate")

    assert await reranker.rerank("q", ["0", "-1", "1"], deadline=_later()) == [0.5, 0.2689, 0.7311]
    await reranker.close()


async def test_question_and_texts_are_read_by_the_recipe_of_what_is_embedded() -> None:
    read: list[str] = []

    def spy(query: str, text: str) -> float:
        read.extend((query, text))
        return 0.0

    reranker = CrossEncoderReranker(spy, "spy")

    await reranker.rerank(" caf\u0065\u0301\n", ["a\u00a0 b\ud800"], deadline=_later())

    assert read == ["caf\u00e9", "a b\ufffd"]
    await reranker.close()


async def test_a_blank_text_is_not_read_and_has_nothing(gate: Gate) -> None:
    gate.open.set()
    reranker = CrossEncoderReranker(gate, "gate")

    assert await reranker.rerank("q", ["", "1", "\u200b"], deadline=_later()) == [0.0, 0.7311, 0.0]
    assert gate.read == ["1"]
    await reranker.close()


async def test_one_whose_deadline_has_passed_is_not_served_even_if_nothing_is_asked(gate: Gate) -> None:
    reranker = CrossEncoderReranker(gate, "gate", clock=lambda: 100.0)

    for texts in (["1"], []):
        with pytest.raises(Unavailable, match="in time"):
            await reranker.rerank("q", texts, deadline=100.0)
    assert gate.read == []
    await reranker.close()


async def test_no_texts_have_no_scores_even_while_the_model_hangs(gate: Gate) -> None:
    reranker = CrossEncoderReranker(gate, "gate")
    hanging = asyncio.create_task(reranker.rerank("q", ["1"], deadline=_later()))
    await _reach(gate)

    assert await reranker.rerank("q", [], deadline=_later()) == []
    gate.open.set()
    await hanging
    await reranker.close()


async def test_work_ends_with_the_pair_in_hand_when_its_deadline_has_passed(gate: Gate) -> None:
    reranker = CrossEncoderReranker(gate, "gate")

    with pytest.raises(Unavailable, match="in time"):
        await reranker.rerank("q", ["1"] * 50, deadline=_soon())
    gate.open.set()
    await reranker.rerank("q", ["2"], deadline=_later())

    assert gate.read == ["1", "2"]
    await reranker.close()


async def test_work_ends_at_its_deadline_even_if_the_event_loop_is_too_busy_to_say_so() -> None:
    now = 0.0

    def takes_a_second(query: str, text: str) -> float:
        nonlocal now
        now += 1
        return 0.0

    reranker = CrossEncoderReranker(takes_a_second, "slow", clock=lambda: now)

    with pytest.raises(Unavailable, match="in time"):
        await reranker.rerank("q", ["1"] * 50, deadline=3.0)
    assert now == 3.0
    await reranker.close()


async def test_when_twenty_calls_hang_the_next_is_refused_and_after_they_end_the_next_is_served(gate: Gate) -> None:
    reranker = CrossEncoderReranker(gate, "gate")
    calls = [asyncio.create_task(reranker.rerank("q", ["1"] * POOL, deadline=_soon())) for _ in range(20)]

    told = [str(answer) for answer in await asyncio.gather(*calls, return_exceptions=True)]

    assert sum("in time" in one for one in told) == 1 + MOST_WAITING
    assert sum("too much to do" in one for one in told) == 19 - MOST_WAITING
    with pytest.raises(Unavailable, match="too much to do"):
        await reranker.rerank("q", ["1"] * POOL, deadline=_later())
    gate.open.set()
    await _until_served(reranker)
    assert gate.read == ["1", "2"]
    await reranker.close()


async def _until_served(reranker: CrossEncoderReranker) -> None:
    """The hanging call is dropped when it comes back, which it may not yet have done."""
    async with asyncio.timeout(SHORT_S):
        while True:
            try:
                await reranker.rerank("q", ["2"], deadline=_later())
            except Unavailable:
                await asyncio.sleep(0)
            else:
                return


async def test_close_frees_whoever_waits_though_the_model_hangs(gate: Gate) -> None:
    reranker = CrossEncoderReranker(gate, "gate")
    calls = [asyncio.create_task(reranker.rerank("q", ["1"] * POOL, deadline=_later())) for _ in range(3)]
    await _reach(gate)

    await reranker.close()

    for told in await asyncio.gather(*calls, return_exceptions=True):
        assert isinstance(told, Unavailable)
        assert "closed" in str(told)
    with pytest.raises(Unavailable, match="closed"):
        await reranker.rerank("q", ["1"], deadline=_later())
    await reranker.close()


HANGING = """
import asyncio, time
from lakehouse.retrieval.reranking import CrossEncoderReranker

async def main():
    reranker = CrossEncoderReranker(lambda query, text: time.sleep(600), "hangs")
    try:
        await reranker.rerank("q", ["1"], deadline=time.monotonic() + 0.05)
    except Exception as error:
        print(error)
    await reranker.close()

asyncio.run(main())
"""


def test_a_model_that_hangs_does_not_keep_the_process() -> None:
    shown = subprocess.run(
        [sys.executable, "-c", HANGING],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    assert (shown.stdout, shown.stderr) == ("The reranker did not answer in time\n", "")


@pytest.mark.parametrize("text", ["no number", "nan", "inf"])
async def test_a_model_that_fails_is_told_and_the_next_call_is_served(text: str, gate: Gate) -> None:
    gate.open.set()
    reranker = CrossEncoderReranker(gate, "gate")

    with pytest.raises(Unavailable):
        await reranker.rerank("q", ["1", text], deadline=_later())
    assert await reranker.rerank("q", ["0"], deadline=_later()) == [0.5]
    await reranker.close()


def _folder(path: Path, config: object = GOOD, *, modules: object = None, weights: str = "model.safetensors") -> Path:
    path.mkdir()
    (path / "config.json").write_text(json.dumps(config))
    if modules is not None:
        (path / "modules.json").write_text(json.dumps(modules))
    (path / weights).write_bytes(b"")
    return path


NO_CROSS_ENCODERS: list[tuple[dict[str, Any], str]] = [
    ({"config": GOOD | {"architectures": ["BertModel"]}}, "is no cross-encoder: its config.json names BertModel"),
    ({"config": {"id2label": {"0": "a"}}}, "names nothing"),
    ({"config": GOOD | {"id2label": {"0": "no", "1": "yes"}}}, "gives 2 labels"),
    ({"config": {"architectures": GOOD["architectures"]}}, "gives 2 labels"),
    ({"config": {"architectures": GOOD["architectures"], "num_labels": 3}}, "gives 3 labels"),
    ({"modules": [{"idx": 0}, {"idx": 1}]}, "more than a classifier"),
    ({"modules": {"idx": 0}}, "modules.json cannot be read"),
    ({"config": []}, "config.json cannot be read"),
    ({"weights": "weights.txt"}, "has no weights"),
]


@pytest.mark.parametrize(("made", "told"), NO_CROSS_ENCODERS, ids=[told for _, told in NO_CROSS_ENCODERS])
def test_what_is_no_cross_encoder_with_one_score_is_refused_by_the_settings_name(
    made: dict[str, Any], told: str, tmp_path: Path
) -> None:
    with pytest.raises(Misconfigured, match=told) as refused:
        find_cross_encoder(str(_folder(tmp_path / "model", **made)))

    assert str(refused.value).startswith("RERANKER: ")


@pytest.mark.parametrize("config", [GOOD, {"architectures": GOOD["architectures"], "num_labels": 1}], ids=str)
def test_a_classifier_with_one_score_is_found(config: dict[str, Any], tmp_path: Path) -> None:
    folder = _folder(tmp_path / "model", config, modules=[{"idx": 0}], weights="pytorch_model.bin")

    assert find_cross_encoder(str(folder)) == folder.resolve()


def test_a_model_of_embeddings_is_refused() -> None:
    with pytest.raises(Misconfigured, match="is no cross-encoder"):
        find_cross_encoder(str(find_model(BUNDLED)))


def test_a_folder_that_is_empty_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=r"config\.json cannot be read"):
        find_cross_encoder(str(tmp_path))


@pytest.mark.parametrize("name", ["no/such-model", "no-such-model", "/no/such/folder"])
async def test_a_model_that_is_not_there_is_refused_with_what_to_do(name: str) -> None:
    with pytest.raises(Misconfigured, match=r"^RERANKER: there is no model .*hf download"):
        await load_reranker(name)


async def test_what_serves_it_and_is_not_installed_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)

    with pytest.raises(Misconfigured, match=r"^RERANKER: .*pip install memlake\[rerank\]"):
        await load_reranker(str(_folder(tmp_path / "model")))


def test_scores_of_finite_logits_are_shares() -> None:
    assert all(0 <= score_of(math.copysign(10.0**power, sign)) <= 1 for power in range(-9, 9) for sign in (1, -1))
