"""Texts to vectors: where the model is, its one-time export, and the embedder that serves it.

Rule of this package: it takes plain arguments, opens no socket, and only ``export.py`` imports torch, in a process of
its own. ``load_embedder`` is the way in; ``embedding_text`` is the only recipe for what is embedded, and the embedder
applies it; a text that ``is_blank`` must not be asked for.
"""

from lakehouse.embedding.embedder import Embedder
from lakehouse.embedding.load import load_embedder
from lakehouse.embedding.text import embedding_text

__all__ = ["Embedder", "embedding_text", "load_embedder"]
