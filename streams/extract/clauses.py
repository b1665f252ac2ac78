"""Sentences with two claims cut in two, where that is safe.

Rule of this file: a cut is made only before "and" and a subject of its own, and only where both halves are claims by
themselves. "But" and "because" bind: what follows them qualifies what stands before.
"""

import re

from streams.extract.english import read_english

_AND = re.compile(r",?\s+and\s+(?=(?:I|we|my|our|the|his|her)\b)", re.IGNORECASE)
MAX_SENTENCE = 400


def clauses_of(sentence: str, language: str) -> list[str]:
    """The claims of a sentence, each as told; one that cannot be cut is returned whole.

    Args:
        sentence: One sentence.
        language: ISO 639-1; only English is cut.
    """
    if language not in {"en", "und"} or len(sentence) > MAX_SENTENCE or "`" in sentence:
        return [sentence]
    for cut in _AND.finditer(sentence):
        left, right = sentence[: cut.start()], sentence[cut.end() :]
        if len(left.split()) > 2 and read_english(left, "user") and _is_clause(right):  # noqa: PLR2004 - words
            return [left, *clauses_of(right, language)]
    return [sentence]


def _is_clause(text: str) -> bool:
    """Whether it is a claim of one subject: "the dog and my goat is old" is cut in the wrong place."""
    claim = read_english(text, "user")
    return claim is not None and " and " not in (claim.subject or "")
