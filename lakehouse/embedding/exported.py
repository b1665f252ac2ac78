"""What an export leaves on disk, and whether it is whole.

Rule of this file: an export counts only if its manifest is there, of this format and this model, and every file has
the SHA-256 that the manifest says. Anything else is as good as none, and is made again.
"""

import fcntl
import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

FORMAT = 1
"""Version of the exported graph. Another one may differ in the last bits, so it is part of the embedder's id."""

ONNX_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
MANIFEST_FILE = "export.json"


class Manifest(BaseModel):
    """What was exported, from what, with what."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    format: int
    """``FORMAT`` at the time of the export."""
    model_id: str
    """Identity of the model it was made from."""
    dimension: int
    """Length of a vector."""
    max_tokens: int
    """Tokens the model reads of a text, special ones included; the rest is cut off."""
    pooling: str
    """How one vector is made of the tokens' vectors."""
    onnx_sha256: str
    """Of the graph."""
    tokenizer_sha256: str
    """Of the tokenizer."""
    versions: dict[str, str]
    """Library → version that made the export; for the reader, never compared."""


def export_folder(cache: Path, model_id: str) -> Path:
    """Where the export of a model is kept."""
    return cache / "embedders" / model_id


def file_sha256(path: Path) -> str:
    """SHA-256 of a file, as hexadecimal digits.

    Raises:
        OSError: It cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_export(folder: Path, model_id: str) -> Manifest | None:
    """Read an export's manifest; None if there is no whole export of this model and format."""
    try:
        manifest = Manifest.model_validate_json((folder / MANIFEST_FILE).read_bytes())
        whole = (
            manifest.format == FORMAT
            and manifest.model_id == model_id
            and file_sha256(folder / ONNX_FILE) == manifest.onnx_sha256
            and file_sha256(folder / TOKENIZER_FILE) == manifest.tokenizer_sha256
        )
    except (OSError, ValidationError):
        return None
    return manifest if whole else None


@contextmanager
def alone(folder: Path, waiting: Callable[[], object]) -> Iterator[None]:
    """Hold an export's folder, which may have to be waited for; the hold goes with the process, however that ends.

    Args:
        folder: It must exist.
        waiting: Called once if another process holds it.

    Raises:
        OSError: The folder cannot be written.
    """
    with (folder / "lock").open("wb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
