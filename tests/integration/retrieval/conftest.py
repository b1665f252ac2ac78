"""One tiny cross-encoder for all tests of this folder: random weights, always the same."""

import importlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

VOCABULARY = [
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    *"abcdefghijklmnopqrstuvwxyz.?",
    *(f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"),
]
MakeModel = Callable[..., Path]


@pytest.fixture(scope="session")
def torch_ready() -> Iterator[Any]:
    """Torch as these tests use it, imported once, which takes many seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        patch.setenv("TOKENIZERS_PARALLELISM", "false")
        torch = importlib.import_module("torch")
        torch.set_num_threads(1)
        yield torch


@pytest.fixture(scope="session")
def make_model(torch_ready: Any, tmp_path_factory: pytest.TempPathFactory) -> MakeModel:
    """Make a model of its own: ``config`` is written over its configuration."""

    def make(*, labels: int = 1, halves: bool = False, **config: Any) -> Path:
        transformers: Any = importlib.import_module("transformers")
        torch_ready.manual_seed(7)
        folder = tmp_path_factory.mktemp("cross-encoder")
        (folder / "vocab.txt").write_text("\n".join(VOCABULARY))
        shape = transformers.BertConfig(
            vocab_size=len(VOCABULARY),
            hidden_size=16,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=64,
            num_labels=labels,
            initializer_range=1.0,  # so that scores differ
        )
        model = transformers.BertForSequenceClassification(shape)
        (model.half() if halves else model).save_pretrained(folder)
        transformers.BertTokenizer(vocab_file=str(folder / "vocab.txt"), model_max_length=64).save_pretrained(folder)
        written = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(written | config))
        return folder

    return make


@pytest.fixture(scope="session")
def tiny(make_model: MakeModel) -> Path:
    return make_model()
