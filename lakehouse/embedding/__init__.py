"""Texts to vectors: where the model is, its one-time export, and the embedder that serves it.

Rule of this package: it takes plain arguments, opens no socket, and only ``export.py`` imports torch, in a process of
its own. ``load.load_embedder`` is the way in; ``text.embedding_text`` is the only recipe for what is embedded.
"""
