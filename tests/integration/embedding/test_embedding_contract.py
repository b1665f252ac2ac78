"""What every embedder does, asked of the one we serve and of sentence-transformers itself; and exports of other models.

Imports torch, which takes many seconds.
"""

import asyncio
import importlib
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytest_asyncio

from lakehouse.embedding.check_texts import CHECK_TEXTS
from lakehouse.embedding.embedder import Embedder, Vectors
from lakehouse.embedding.engine import Engine
from lakehouse.embedding.exported import ONNX_FILE, export_folder, read_export
from lakehouse.embedding.load import load_embedder
from lakehouse.embedding.model import BUNDLED, find_model, model_id
from lakehouse.embedding.text import RECIPE, embedding_text
from schemas.conversation import is_blank
from schemas.errors import InvalidMessage, Misconfigured, Unavailable

pytestmark = pytest.mark.filterwarnings("ignore")  # torch's and its friends' own

TEXTS = [
    "I live in Braga now.",
    "My favourite colour is green.",
    "我现在住在上海。",
    "x = 1",
    "🙂 see you at the beach",
]
VOCABULARY = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    *"abcdefghijklmnopqrstuvwxyz.?",
    *(f"##{c}" for c in "abcdeiou"),
]
MODULE = "sentence_transformers.models."


class Reference:
    """sentence-transformers behind the embedder's contract, one text at a time."""

    def __init__(self, model: Path) -> None:
        from sentence_transformers import SentenceTransformer

        self._model = SentenceTransformer(str(model), device="cpu", local_files_only=True)
        self.id = f"{model_id(BUNDLED, model)}/sentence-transformers/{RECIPE}"
        self.dimension = 384
        self._closed = False

    async def embed(self, texts: Sequence[str]) -> Vectors:
        if self._closed:
            raise Unavailable
        if any(map(is_blank, texts)):
            raise InvalidMessage
        made = [embedding_text(text) for text in texts]
        vectors = self._model.encode(made, batch_size=1) if made else np.empty((0, self.dimension), np.float32)
        return np.asarray(vectors, np.float32)

    async def close(self) -> None:
        self._closed = True


@pytest.fixture(scope="module")
def torch_ready() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        patch.setenv("TOKENIZERS_PARALLELISM", "false")
        import torch

        torch.set_num_threads(1)
        yield


@pytest_asyncio.fixture(params=["onnx", "reference"])
async def any_embedder(request: pytest.FixtureRequest, cache: Path, torch_ready: None) -> AsyncIterator[Embedder]:
    embedder: Embedder
    if request.param == "onnx":
        embedder = await load_embedder(BUNDLED, cache, threads=1, cache_size=3)
    else:
        embedder = Reference(find_model(BUNDLED))
    yield embedder
    await embedder.close()


async def test_an_embedder_gives_one_unit_vector_a_text_in_order(any_embedder: Embedder) -> None:
    vectors = await any_embedder.embed(TEXTS)

    assert vectors.shape == (len(TEXTS), any_embedder.dimension)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    for text, vector in zip(TEXTS, vectors, strict=True):
        assert np.dot((await any_embedder.embed([text]))[0], vector) >= 0.9999


async def test_an_embedder_gives_an_empty_array_for_no_texts(any_embedder: Embedder) -> None:
    vectors = await any_embedder.embed([])

    assert vectors.shape == (0, any_embedder.dimension)
    assert vectors.dtype == np.float32


async def test_an_embedder_refuses_a_blank_text(any_embedder: Embedder) -> None:
    with pytest.raises(InvalidMessage):
        await any_embedder.embed(["a", " \u200b"])


async def test_an_embedder_sees_no_difference_in_space_and_composition(any_embedder: Embedder) -> None:
    plain, spaced = await any_embedder.embed(["caf\u00e9 au lait", "  cafe\u0301\n au\u00a0lait "])

    np.testing.assert_array_equal(plain, spaced)


async def test_an_embedder_says_what_made_its_vectors(any_embedder: Embedder) -> None:
    model, _, rest = any_embedder.id.partition("/")

    assert model == model_id(BUNDLED, find_model(BUNDLED))
    assert rest.endswith(f"/{RECIPE}")


async def test_a_closed_embedder_is_unavailable(any_embedder: Embedder) -> None:
    await any_embedder.close()
    await any_embedder.close()

    with pytest.raises(Unavailable):
        await any_embedder.embed(["a"])


async def test_calls_at_once_do_not_mix(any_embedder: Embedder) -> None:
    together = await asyncio.gather(*(any_embedder.embed([text]) for text in TEXTS))

    np.testing.assert_allclose(np.concatenate(together), await any_embedder.embed(TEXTS), atol=1e-6)


@pytest.mark.usefixtures("torch_ready")
async def test_the_export_agrees_with_its_original_on_every_text(cache: Path) -> None:
    reference, embedder = Reference(find_model(BUNDLED)), await load_embedder(BUNDLED, cache, threads=1, cache_size=0)

    difference = np.abs(await reference.embed(CHECK_TEXTS) - await embedder.embed(CHECK_TEXTS)).max()

    assert difference <= 1e-6
    await embedder.close()


def _tiny_model(folder: Path, *, pooling: str, normalised: bool = True) -> Path:
    transformers: Any = importlib.import_module("transformers")
    (folder / "1_Pooling").mkdir(parents=True)
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY))
    config = transformers.BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
    )
    transformers.BertModel(config).save_pretrained(folder)
    transformers.BertTokenizer(vocab_file=str(folder / "vocab.txt"), model_max_length=64).save_pretrained(folder)
    kinds = ["Transformer", "Pooling", *(["Normalize"] if normalised else [])]
    modules = [
        {"idx": n, "name": str(n), "path": f"{n}_{kind}" if n else "", "type": MODULE + kind}
        for n, kind in enumerate(kinds)
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 32, "do_lower_case": false}')
    pooled: dict[str, Any] = {"word_embedding_dimension": 16, f"pooling_mode_{pooling}": True}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooled))
    return folder


@pytest.mark.usefixtures("torch_ready")
@pytest.mark.parametrize("pooling", ["mean_tokens", "cls_token", "max_tokens"])
@pytest.mark.parametrize("normalised", [True, False])
def test_a_model_of_each_pooling_is_exported_checked_and_exact_in_groups(
    pooling: str, normalised: bool, tmp_path: Path
) -> None:
    from lakehouse.embedding.export import export

    model = _tiny_model(tmp_path / "tiny", pooling=pooling, normalised=normalised)
    said: list[str] = []
    graph = export(model, tmp_path / "out", name="tiny", progress=said.append)

    manifest = read_export(tmp_path / "out", model_id("tiny", model))
    assert graph == tmp_path / "out" / ONNX_FILE
    assert manifest is not None
    assert (manifest.dimension, manifest.max_tokens) == (16, 32)
    assert Engine(graph.parent, manifest, threads=1).groups_are_exact()
    assert len(said) == 1


@pytest.mark.usefixtures("torch_ready")
async def test_an_export_that_differs_from_its_original_is_refused(cache: Path) -> None:
    from lakehouse.embedding.export import check

    identity = model_id(BUNDLED, find_model(BUNDLED))
    manifest = read_export(export_folder(cache, identity), identity)
    assert manifest is not None
    engine = Engine(export_folder(cache, identity), manifest, threads=1)
    wanted = np.concatenate([engine.run([engine.tokenize(text)]) for text in TEXTS])
    check(engine, TEXTS, wanted, identity)
    wanted[3, 7] += 2e-6

    with pytest.raises(Misconfigured, match="differs from the original"):
        check(engine, TEXTS, wanted, identity)


@pytest.mark.usefixtures("torch_ready")
def test_a_model_that_its_own_library_cannot_load_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    from lakehouse.embedding.export import export

    model = _tiny_model(tmp_path / "tiny", pooling="mean_tokens")
    (model / "model.safetensors").write_bytes(b"no weights")

    with pytest.raises(Misconfigured, match="cannot load"):
        export(model, tmp_path / "out", name="tiny")
    assert list((tmp_path / "out").iterdir()) == []
