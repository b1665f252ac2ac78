"""The embedder as the rest of memlake knows it: texts to unit vectors.

Rule of this file: the contract only; ``onnx_embedder.py`` serves it.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Texts to unit vectors."""

    @property
    def id(self) -> str:
        """What made a vector: model, backend and text recipe. Vectors of different ids must never be compared."""

    @property
    def dimension(self) -> int:
        """Length of a vector."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts by the recipe of ``text.py``.

        Args:
            texts: None of them blank (see ``is_blank``). May be empty.

        Returns:
            float32, ``(len(texts), dimension)``: one row of norm 1 a text, in their order. The caller's own array.

        Raises:
            InvalidMessage: A text is blank: ask without it.
            Unavailable: The model failed, gave something that is no vector, or the embedder is closed.
        """

    async def close(self) -> None:
        """Give up what is in work, with ``Unavailable`` for its callers, and free the model. Idempotent."""
