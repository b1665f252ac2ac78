"""How alike two texts are, as one absolute score.

Rule of this file: pure. Similarity is 1 - cosine distance, 0 … 1; thresholds compare with it and with nothing relative.
"""

DIGITS = 4
"""Similarities are rounded before anything compares them: the last bits depend on the machine."""


def similarity_of_distance(distance: float) -> float:
    """1 - cosine distance, clamped to 0 … 1 and rounded."""
    return round(min(1.0, max(0.0, 1.0 - distance)), DIGITS)
