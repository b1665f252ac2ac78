"""How exactly two similarities are told apart.

Rule of this file: pure. Similarity is 1 - cosine distance, 0 … 1, an absolute score: thresholds compare with it and
with nothing relative.
"""

DIGITS = 4
"""Similarities are rounded before anything compares them: the last bits depend on the machine."""
