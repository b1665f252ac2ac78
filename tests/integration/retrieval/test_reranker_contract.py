"""What every reranker does, asked of the one we serve and of the model's own library; and both side by side."""

import asyncio
import importlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytest_asyncio

from lakehouse.embedding.text import embedding_text
from lakehouse.retrieval.config import POOL
from lakehouse.retrieval.reranking import Reranker, load_reranker
from schemas.errors import Misconfigured, Unavailable
from tests.barred import BARRED
from tests.integration.retrieval.conftest import MakeModel

pytestmark = pytest.mark.filterwarnings("ignore")  # torch's and its friends' own

ROOT = Path(__file__).parents[3]
LONG_S = 60.0
QUERY = "where does ann live now?"
TEXTS = [
    "i live in braga now.",
    "my favourite colour is green.",
    "我现在住在上海。",
    "x = 1",
    "🙂 see you at the beach",
    "",
    "half of a pair \ud83d",
    "very long " * 400,
]
SIGMOID, IDENTITY = "torch.nn.modules.activation.Sigmoid", "torch.nn.modules.linear.Identity"


def _later() -> float:
    return time.monotonic() + LONG_S


class Reference:
    """The classifier by transformers alone, behind the reranker's contract, a pair at a time."""

    id = "reference"

    def __init__(self, folder: Path) -> None:
        transformers: Any = importlib.import_module("transformers")
        self._tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        self._model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).float().eval()
        self._closed = False

    async def rerank(self, query: str, texts: Sequence[str], *, deadline: float) -> list[float]:
        scores = []
        for text in texts:
            if self._closed or time.monotonic() >= deadline:
                raise Unavailable
            pair = embedding_text(query), embedding_text(text)
            read = self._tokenizer(*pair, truncation=True, return_tensors="pt")
            logit = self._model(**read).logits.item()
            scores.append(round(1 / (1 + float(np.exp(-logit))), 4) if pair[1] else 0.0)
        return scores

    async def close(self) -> None:
        self._closed = True


@pytest_asyncio.fixture(params=["cross-encoder", "reference"])
async def any_reranker(request: pytest.FixtureRequest, tiny: Path) -> AsyncIterator[Reranker]:
    made: Reranker = await load_reranker(str(tiny)) if request.param == "cross-encoder" else Reference(tiny)
    yield made
    await made.close()


async def test_a_reranker_gives_each_text_one_score_that_is_a_share_to_four_digits(any_reranker: Reranker) -> None:
    scores = await any_reranker.rerank(QUERY, TEXTS, deadline=_later())

    assert len(scores) == len(TEXTS)
    assert all(0 <= score <= 1 and score == round(score, 4) for score in scores)
    assert len(set(scores)) > 2


async def test_a_reranker_gives_a_text_the_same_score_whatever_stands_beside_it(any_reranker: Reranker) -> None:
    together = await any_reranker.rerank(QUERY, TEXTS, deadline=_later())
    backwards = await any_reranker.rerank(QUERY, TEXTS[::-1] + TEXTS, deadline=_later())

    alone = [(await any_reranker.rerank(QUERY, [text], deadline=_later()))[0] for text in TEXTS]

    assert together == alone
    assert backwards == alone[::-1] + alone


async def test_a_reranker_gives_a_blank_text_nothing(any_reranker: Reranker) -> None:
    assert await any_reranker.rerank(QUERY, ["", " \n", TEXTS[0]], deadline=_later()) == [
        0.0,
        0.0,
        *await any_reranker.rerank(QUERY, TEXTS[:1], deadline=_later()),
    ]


async def test_a_reranker_gives_no_scores_for_no_texts(any_reranker: Reranker) -> None:
    assert await any_reranker.rerank(QUERY, [], deadline=_later()) == []


async def test_a_reranker_whose_deadline_has_passed_is_unavailable_and_serves_the_next(any_reranker: Reranker) -> None:
    with pytest.raises(Unavailable):
        await any_reranker.rerank(QUERY, TEXTS, deadline=time.monotonic())

    assert len(await any_reranker.rerank(QUERY, TEXTS, deadline=_later())) == len(TEXTS)


async def test_calls_at_once_do_not_mix(any_reranker: Reranker) -> None:
    async def score(text: str) -> list[float]:
        return await any_reranker.rerank(QUERY, [text] * 2, deadline=_later())

    together = await asyncio.gather(*map(score, TEXTS[:3]))

    assert together == [await score(text) for text in TEXTS[:3]]


async def test_a_closed_reranker_is_unavailable(any_reranker: Reranker) -> None:
    await any_reranker.close()
    await any_reranker.close()

    with pytest.raises(Unavailable):
        await any_reranker.rerank(QUERY, TEXTS, deadline=_later())


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"sentence_transformers": {"activation_fn": SIGMOID}},
        {"sentence_transformers": {"activation_fn": IDENTITY}},
        {"sbert_ce_default_activation_function": SIGMOID},
        {"sbert_ce_default_activation_function": IDENTITY},
    ],
    ids=str,
)
async def test_a_score_is_the_sigmoid_of_the_logit_once_whatever_activation_the_model_names(
    config: dict[str, Any], make_model: MakeModel
) -> None:
    folder = make_model(**config)
    reranker = await load_reranker(str(folder))

    assert await reranker.rerank(QUERY, TEXTS, deadline=_later()) == await Reference(folder).rerank(
        QUERY, TEXTS, deadline=_later()
    )
    await reranker.close()


@pytest.mark.parametrize("activation", ["Sigmoid", "Identity"])
async def test_a_model_as_its_library_saves_it_has_the_same_scores(
    activation: str, tiny: Path, torch_ready: Any, tmp_path: Path
) -> None:
    from sentence_transformers import CrossEncoder

    original = CrossEncoder(str(tiny), device="cpu", activation_fn=getattr(torch_ready.nn, activation)())
    original.save_pretrained(str(tmp_path / "saved"))
    reranker = await load_reranker(str(tmp_path / "saved"))

    assert (tmp_path / "saved" / "modules.json").is_file()
    assert await reranker.rerank(QUERY, TEXTS, deadline=_later()) == await Reference(tiny).rerank(
        QUERY, TEXTS, deadline=_later()
    )
    await reranker.close()


async def test_a_model_kept_in_halves_is_computed_with_in_whole_numbers(make_model: MakeModel) -> None:
    folder = make_model(halves=True)
    reranker = await load_reranker(str(folder))

    assert await reranker.rerank(QUERY, TEXTS, deadline=_later()) == await Reference(folder).rerank(
        QUERY, TEXTS, deadline=_later()
    )
    await reranker.close()


async def test_a_reranker_is_named_by_what_its_model_is(tiny: Path, make_model: MakeModel, tmp_path: Path) -> None:
    shutil.copytree(tiny, tmp_path / tiny.name)
    folders = [tiny, tmp_path / tiny.name, make_model(halves=True)]
    rerankers = [await load_reranker(str(folder)) for folder in folders]
    same, copied, other = (reranker.id for reranker in rerankers)

    assert same == copied != other
    assert same.startswith(f"{tiny.name}-")
    for reranker in rerankers:
        await reranker.close()


async def test_a_model_with_two_labels_is_refused(make_model: MakeModel) -> None:
    with pytest.raises(Misconfigured, match="gives 2 labels"):
        await load_reranker(str(make_model(labels=2)))


async def test_weights_that_cannot_be_read_are_refused_by_the_settings_name(tiny: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny, tmp_path / "broken")
    (folder / "model.safetensors").write_bytes(b"no weights")

    with pytest.raises(Misconfigured, match=r"^RERANKER: the cross-encoder in .* cannot be loaded"):
        await load_reranker(str(folder))


# Loads and reranks with every way to another host barred and no word about threads; prints what it took.
ALONE = (
    BARRED
    + """
import asyncio, json, os, sys, time
from lakehouse.retrieval.reranking import load_reranker
heavy = sorted({"torch", "transformers", "sentence_transformers"} & sys.modules.keys())

async def main():
    reranker = await load_reranker(sys.argv[1])
    import torch
    scores = await reranker.rerank("q", ["a text"] * 50, deadline=time.monotonic() + 60)
    await reranker.close()
    return len(scores), torch.get_num_threads()

scores, threads = asyncio.run(main())
print(json.dumps({"scores": scores, "threads": threads, "attempts": attempts, "heavy": heavy}))
"""
)


def test_a_reranker_is_loaded_without_the_network_says_nothing_and_keeps_to_one_thread(
    tiny: Path, tmp_path: Path
) -> None:
    free = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "OMP_"))}
    shown = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ALONE, str(tiny)],
        env={**free, "HF_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=200,
        check=True,
    )

    assert json.loads(shown.stdout) == {"scores": POOL, "threads": 1, "attempts": [], "heavy": []}
    assert shown.stderr == ""
