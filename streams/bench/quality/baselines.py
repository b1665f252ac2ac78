"""Plain methods on the same cases, so that a figure can be judged.

Rule of this file: nothing of ours decides here. Words are data (``data/baselines.yaml``).
"""

import re
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any, Literal

import yaml

from schemas.memory import Event
from streams.bench.quality.scores import Counts, best_threshold, counted

CIPHER_THRESHOLD = 0.8
FITTED_THRESHOLD = 0.811
"""Cosine that once was best on 1,057 memory points of three people."""
CIPHER_SHAPES = 2
"""Signs of code from which Cipher takes a text for technical."""


Words = Literal["change", "removal", "first_person", "cipher_against", "cipher_technical"]


@cache
def _data() -> dict[str, Any]:
    text = resources.files("streams.bench.quality").joinpath("data", "baselines.yaml").read_text(encoding="utf-8")
    data: dict[str, Any] = yaml.safe_load(text)
    return data


@cache
def _pattern(name: Words) -> re.Pattern[str]:
    told = _data()[name]
    return re.compile(told if isinstance(told, str) else "|".join(told), re.IGNORECASE)


def says_change(text: str) -> bool:
    """Whether a text holds a word of change."""
    return _pattern("change").search(text) is not None


def says_removal(text: str) -> bool:
    """Whether a text holds a word of removal."""
    return _pattern("removal").search(text) is not None


def tells_of_self(sentence: str) -> bool:
    """Whether a sentence is no question and speaks in the first person."""
    return not sentence.rstrip().endswith("?") and _pattern("first_person").search(sentence) is not None


def cipher(text: str, nearest: str | None, similarity: float) -> Event:
    """Cipher's decision without a model: by the nearest memory alone.

    Args:
        text: The new fact.
        nearest: Text of the memory that is most alike; None where nothing is known.
        similarity: Its cosine, 0 … 1.
    """
    if nearest is None or similarity < CIPHER_THRESHOLD:
        return "ADD"
    if text == nearest:
        return "NONE"
    if len(text) > len(nearest):
        return "UPDATE"
    return "DELETE" if "not" in text and "not" not in nearest else "NONE"


def cipher_keeps(text: str) -> bool:
    """Whether Cipher's filter takes a text for knowledge: by patterns of words, technical words foremost."""
    against, technical = _pattern("cipher_against"), _pattern("cipher_technical")
    if against.search(text):
        return False
    shaped = sum(shape.search(text) is not None for shape in _shapes())
    return technical.search(text) is not None or shaped >= CIPHER_SHAPES


@cache
def _shapes() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(shape) for shape in _data()["cipher_shapes"])


def cosine_counts(scored: Sequence[tuple[float, bool]]) -> dict[str, Counts]:
    """What a cosine threshold reaches: fitted to these very cases, fitted elsewhere, and the usual one."""
    return {
        "cosine_best": best_threshold(scored)[1],
        "cosine_811": counted((score >= FITTED_THRESHOLD, yes) for score, yes in scored),
        "cosine_80": counted((score >= CIPHER_THRESHOLD, yes) for score, yes in scored),
    }
