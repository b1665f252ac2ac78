"""The export: a sentence-transformers model, once, to one graph for onnxruntime, checked against its original.

Rule of this file: the only one that imports torch, sentence_transformers or onnx, so it is never imported by a worker.
The graph takes token ids without padding and gives unit vectors; it has no attention mask, for there is nothing to
mask. A change to the graph is a new ``FORMAT`` in ``exported.py``.
"""

import importlib.metadata
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from lakehouse.embedding.check_texts import CHECK_TEXTS
from lakehouse.embedding.embedder import Vectors
from lakehouse.embedding.engine import Engine
from lakehouse.embedding.exported import (
    FORMAT,
    MANIFEST_FILE,
    ONNX_FILE,
    TOKENIZER_FILE,
    Manifest,
    file_sha256,
)
from lakehouse.embedding.model import model_id, pooling_of
from lakehouse.embedding.text import embedding_text
from schemas.errors import Misconfigured

try:
    import onnxscript  # noqa: F401 - used by torch, which says so only half way through
    import torch
    from sentence_transformers import SentenceTransformer
except ImportError as missing:
    raise Misconfigured(
        f"To export an embedding model, once, more must be installed: pip install memlake[export] ({missing})"
    ) from missing

TOLERANCE = 1e-6
"""Largest difference of any component from the original's, over all of ``CHECK_TEXTS``."""

_LIBRARIES = ("torch", "sentence-transformers", "transformers", "tokenizers", "onnx", "onnxscript", "onnxruntime")


def export(model: Path, into: Path, *, name: str, progress: Callable[[str], object] = lambda _: None) -> Path:
    """Export a model and check it; what was there before is replaced only if all is well.

    Args:
        model: Folder of the model, as found by ``find_model``.
        into: Folder of the export, of this model alone; the caller holds it by ``exported.alone``.
        name: What the model is called.
        progress: Told a line now and then.

    Returns:
        The graph's file. The tokenizer and the manifest stand beside it.

    Raises:
        Misconfigured: The model cannot be exported, or the export does not do what the original does.
        OSError: The folder cannot be written.
    """
    pooling = pooling_of(model)
    identity = model_id(name, model)
    draft = into / "draft"
    shutil.rmtree(draft, ignore_errors=True)  # a killed export's
    draft.mkdir(parents=True)
    try:
        _write_draft(model, draft, identity, pooling, progress)
        for file in (ONNX_FILE, TOKENIZER_FILE, MANIFEST_FILE):  # the manifest last: it makes the others count
            (draft / file).replace(into / file)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return into / ONNX_FILE


def _write_draft(model: Path, draft: Path, identity: str, pooling: str, progress: Callable[[str], object]) -> None:
    reference = _load(model)
    texts = [embedding_text(text) for text in CHECK_TEXTS]
    # Before the export, which leaves traces in the modules it went through.
    wanted: Vectors = reference.encode(texts, batch_size=1, normalize_embeddings=True, convert_to_numpy=True)
    _write_tokenizer(reference, draft / TOKENIZER_FILE)
    _write_graph(reference, pooling, draft / ONNX_FILE)
    manifest = Manifest(
        format=FORMAT,
        model_id=identity,
        dimension=wanted.shape[1],
        max_tokens=_max_tokens(reference),
        pooling=pooling,
        onnx_sha256=file_sha256(draft / ONNX_FILE),
        tokenizer_sha256=file_sha256(draft / TOKENIZER_FILE),
        versions={library: importlib.metadata.version(library) for library in _LIBRARIES},
    )
    progress(f"Comparing it with its original on {len(texts)} texts")
    check(Engine(draft, manifest, threads=1), texts, wanted, identity)
    (draft / MANIFEST_FILE).write_text(manifest.model_dump_json(indent=2), encoding="utf-8")


def _load(model: Path) -> SentenceTransformer:
    try:
        reference = SentenceTransformer(
            str(model), device="cpu", local_files_only=True, model_kwargs={"attn_implementation": "eager"}
        )
    except Exception as error:  # any of a dozen libraries, for any fault of the files
        raise Misconfigured(f"EMBEDDER: sentence-transformers cannot load {model}: {error}") from error
    reference.default_prompt_name = None  # the recipe adds nothing
    return reference.float().eval()


def _write_tokenizer(reference: SentenceTransformer, path: Path) -> None:
    backend = getattr(reference.tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise Misconfigured("EMBEDDER: the model has no fast tokenizer: it cannot be exported")
    backend.no_padding()
    backend.enable_truncation(_max_tokens(reference))
    path.write_text(backend.to_str(), encoding="utf-8")


def _max_tokens(reference: SentenceTransformer) -> int:
    if reference.max_seq_length is None:
        raise Misconfigured("EMBEDDER: the model does not say how many tokens it reads: it cannot be exported")
    return int(reference.max_seq_length)


class _Graph(torch.nn.Module):
    """Token ids of equally long texts to unit vectors."""

    _transformer: torch.nn.Module

    def __init__(self, reference: SentenceTransformer, pooling: str) -> None:
        super().__init__()
        transformer = reference[0].auto_model
        assert isinstance(transformer, torch.nn.Module)
        self._transformer = transformer
        self._pooling = pooling

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        """``(batch, tokens)`` to ``(batch, dimension)``."""
        vectors = pooled(self._transformer(input_ids=input_ids)[0], self._pooling)
        return torch.nn.functional.normalize(vectors, p=2, dim=1)


def pooled(tokens: torch.Tensor, pooling: str) -> torch.Tensor:
    """Make one vector of each text's token vectors, ``(batch, tokens, dimension)``.

    The mean is a product with a row of 1/n: onnxruntime's own ReduceMean adds in another order for one text than for
    several, and the last bits would depend on the batch.
    """
    match pooling:
        case "mean":
            weights = torch.ones_like(tokens[:, :, 0]).unsqueeze(1) / tokens.shape[1]
            return torch.matmul(weights, tokens).squeeze(1)
        case "cls":
            return tokens[:, 0]
        case "max":
            return tokens.amax(dim=1)
        case _:
            raise Misconfigured(f"EMBEDDER: pooling {pooling} cannot be exported")


def _write_graph(reference: SentenceTransformer, pooling: str, path: Path) -> None:
    words = reference.tokenizer(["two texts that are traced", "both as long as the other"])["input_ids"]
    shortest = min(map(len, words))
    example = torch.tensor([ids[:shortest] for ids in words])
    dynamic = torch.export.Dim.DYNAMIC
    try:
        with torch.no_grad():
            torch.onnx.export(
                _Graph(reference, pooling).eval(),
                (example,),
                path,
                input_names=["input_ids"],
                output_names=["vectors"],
                dynamic_shapes=({0: dynamic, 1: dynamic},),
                dynamo=True,
                external_data=False,
                verbose=False,
            )
    except OSError:  # a full disk is not the model's fault
        raise
    except Exception as error:  # the exporter's exceptions have no base of their own
        raise Misconfigured(f"EMBEDDER: this model cannot be exported: {error}") from error


def check(engine: Engine, texts: Sequence[str], wanted: Vectors, identity: str) -> None:
    """Hold an export against its original.

    Args:
        engine: The export, opened.
        texts: Made by the recipe.
        wanted: The original's unit vectors of them.
        identity: What the model is called in a refusal.

    Raises:
        Misconfigured: A component differs by more than ``TOLERANCE``.
    """
    for text, original in zip(texts, wanted, strict=True):
        difference = float(np.max(np.abs(engine.run([engine.tokenize(text)])[0] - original)))
        if difference > TOLERANCE:
            raise Misconfigured(
                f"EMBEDDER: the export of {identity} differs from the original by {difference:.1e} (at most "
                f"{TOLERANCE:.0e} is right) on {text[:60]!r}: it is not used"
            )
