"""The engine: tokenizer and exported model, in the calling thread.

Rule of this file: one call at a time (``thread.py`` sees to it), one tokenizer call per text (so that its library
starts no threads), and no padding ever: texts run together only if they have equally many tokens. Then a row comes
out bit for bit as it does alone, whatever it is run with; ``pooled`` in ``export.py`` is written for this, and
``groups_are_exact`` asks the machine at hand.

Third-party exceptions end here: what onnxruntime or the tokenizer raises is ``Unavailable``.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from lakehouse.embedding.embedder import Vectors
from lakehouse.embedding.exported import ONNX_FILE, TOKENIZER_FILE, Manifest
from schemas.errors import InvalidMessage, Unavailable

_CHARS_PER_TOKEN = 64  # what lies beyond that many characters a token cannot reach the model, and is not tokenised
_NORM_TOLERANCE = 1e-3
_PROBE_LENGTHS = (3, 8, 21)  # tokens; kernels differ most at few rows
_PROBE_GROUP = 5


class Engine:
    """Runs one exported model on the CPU in fp32."""

    def __init__(self, folder: Path, manifest: Manifest, *, threads: int) -> None:
        """Open an export that ``read_export`` found whole.

        Args:
            folder: Where it is.
            manifest: Its manifest.
            threads: Threads of one run, at least 1.

        Raises:
            Unavailable: This onnxruntime or tokenizers cannot open it.
        """
        self.dimension = manifest.dimension
        self._max_chars = manifest.max_tokens * _CHARS_PER_TOKEN
        self._options = onnxruntime.RunOptions()
        try:
            self._session = onnxruntime.InferenceSession(
                folder / ONNX_FILE, _session_options(threads), providers=["CPUExecutionProvider"]
            )
            self._tokenizer = Tokenizer.from_file(str(folder / TOKENIZER_FILE))
        except Exception as error:  # onnxruntime's exceptions have no base of their own
            raise Unavailable(f"The exported model in {folder} cannot be opened: {error}") from error
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(manifest.max_tokens)
        self._special_tokens = self._tokenizer.num_special_tokens_to_add(is_pair=False)

    def tokenize(self, text: str) -> list[int]:
        """Token ids of one text, special ones included, cut at the model's own length.

        Raises:
            InvalidMessage: The model reads nothing in it.
            Unavailable: The tokenizer failed.
        """
        try:
            ids: list[int] = self._tokenizer.encode(text[: self._max_chars]).ids
        except Exception as error:  # the tokenizer raises bare exceptions
            raise Unavailable(f"The tokenizer failed: {error}") from error
        if len(ids) <= self._special_tokens:
            raise InvalidMessage(f"The model reads nothing in {text[:80]!r}")
        return ids

    def run(self, rows: Sequence[Sequence[int]]) -> Vectors:
        """Embed rows of equally many tokens.

        Returns:
            One unit vector a row, ``(len(rows), dimension)``.

        Raises:
            Unavailable: The run failed or was stopped, or a vector is not finite, of another length or not of norm 1.
        """
        try:
            (vectors,) = self._session.run(None, {"input_ids": np.array(rows, dtype=np.int64)}, self._options)
        except Exception as error:  # as above
            raise Unavailable(f"The embedding model failed: {error}") from error
        return verified(vectors, len(rows), self.dimension)

    def groups_are_exact(self) -> bool:
        """Whether rows run together come out bit for bit as alone, on this machine.

        Takes about 0.1 s. It is a property of the kernels that onnxruntime picks for this CPU.
        """
        known = self._tokenizer.get_vocab_size()
        for length in _PROBE_LENGTHS:
            rows = (np.arange(_PROBE_GROUP * length) * 7919 % known).reshape(_PROBE_GROUP, length).tolist()
            together = self.run(rows)
            if not all(np.array_equal(together[i], self.run([rows[i]])[0]) for i in (0, _PROBE_GROUP - 1)):
                return False
        return True

    def stop(self) -> None:
        """Make the run in hand, and every later one, end at once with ``Unavailable``; callable from any thread."""
        self._options.terminate = True


def _session_options(threads: int) -> "onnxruntime.SessionOptions":
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # idle threads leave the cores to others
    options.log_severity_level = 3  # errors only
    return options


def verified(vectors: object, rows: int, dimension: int) -> Vectors:
    """The vectors, if each is one.

    Raises:
        Unavailable: They are not ``rows`` vectors of ``dimension`` finite float32, each of norm 1 (± 0.001).
    """
    if not isinstance(vectors, np.ndarray) or vectors.shape != (rows, dimension) or vectors.dtype != np.float32:
        shape = getattr(vectors, "shape", None)
        raise Unavailable(f"The embedding model gave {shape} instead of {rows} vectors of {dimension} float32")
    norms = np.linalg.norm(vectors, axis=1)
    if not np.all(np.abs(norms - 1) <= _NORM_TOLERANCE):  # false for NaN too
        raise Unavailable(f"The embedding model gave a vector of norm {norms[np.argmax(np.abs(norms - 1))]}, not 1")
    return vectors
