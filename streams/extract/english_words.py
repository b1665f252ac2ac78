"""English words by class, with their inflections; the words are data (``english.yaml``).

Rule of this file: it knows single words, no sentences.
"""

import re
from functools import lru_cache
from typing import Final

from streams.ruledata import load

DATA = load("extract", "english")


def _words(name: str) -> frozenset[str]:
    return frozenset(DATA[name])


DETERMINERS = _words("determiners")
POSSESSIVES: dict[str, str] = DATA["possessives"]
PRONOUNS: dict[str, str] = DATA["pronouns"]
CLAUSE_SUBJECTS = _words("clause_subjects")
COPULAS = _words("copulas")
AUXILIARIES = _words("auxiliaries")
MODALS = _words("modals")
ADVERBS = _words("adverbs")
ORDERING = _words("ordering")
PREPOSITIONS = _words("prepositions")
PARTICLES = _words("particles")
ADJECTIVE_PHRASES = _words("adjective_phrases")
DIMENSIONS = _words("dimensions")
UNITS = _words("units")
COLOURS = _words("colours")
TIMES = _words("times")
ATTRIBUTE_NOUNS = _words("attribute_nouns")
ATTRIBUTE_MODIFIERS = _words("attribute_modifiers")
NAME_NOUNS = _words("name_nouns")
CHANGES = re.compile(
    rf"\b(?:{'|'.join(map(re.escape, sorted(DATA['changes'], key=len, reverse=True)))})\b", re.IGNORECASE
)
RETURNED = re.compile(DATA["returned"], re.IGNORECASE)
VERBS = frozenset(DATA["verbs"].split())
_IRREGULAR = dict(pair.split(":") for pair in DATA["irregular"].split())
_VOWELS: Final = "aeiou"


def _third(verb: str) -> str:
    if verb.endswith(("s", "sh", "ch", "x", "z", "o")):
        return f"{verb}es"
    if verb.endswith("y") and verb[-2] not in _VOWELS:
        return f"{verb[:-1]}ies"
    return f"{verb}s"


def _stems(verb: str) -> tuple[str, ...]:
    """What -ed and -ing are put to: both the plain and the doubled consonant, whichever is spelt."""
    if verb.endswith("e") and not verb.endswith("ee"):
        return (verb[:-1],)
    if len(verb) > 2 and verb[-1] not in "aeiouwxy" and verb[-2] in _VOWELS and verb[-3] not in _VOWELS:  # noqa: PLR2004
        return (verb, verb + verb[-1])
    return (verb,)


def _inflections() -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    third: dict[str, str] = {}
    past: dict[str, str] = dict(_IRREGULAR)
    progressive: dict[str, str] = {}
    for verb in sorted(VERBS):
        third[_third(verb)] = verb
        for stem in _stems(verb):
            past[f"{stem[:-1]}ied" if stem.endswith("y") and stem[-2] not in _VOWELS else f"{stem}ed"] = verb
            progressive[f"{stem}ing"] = verb
    past.pop("has", None)
    third["has"] = "have"
    progressive.update({"lying": "lie", "dying": "die", "being": "be"})
    return third, past, progressive


THIRD, PASTS, PROGRESSIVES = _inflections()

_NUMBER = re.compile(
    r"\d[\d.,:/]*\w{0,3}|(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen"
    r"|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|half)"
    r"(?:-\w+)?",
    re.IGNORECASE,
)


def is_number(word: str) -> bool:
    """Whether a word is a number, in digits or spelt."""
    return _NUMBER.fullmatch(word.strip(".,;:!?()")) is not None


def is_name(word: str) -> bool:
    """Whether a word looks like a name or an identifier: a capital, a digit, or a sign inside."""
    bare = word.strip(".,;:!?()\"'")
    return bool(bare) and (
        any(letter.isupper() for letter in bare)
        or any(letter.isdigit() for letter in bare)
        or bool(re.search(r"\w[-_./:@]\w", bare))
        or "`" in word
    )


@lru_cache(maxsize=4096)
def singular(noun: str) -> str:
    """A noun's singular by rule, for comparing heads."""
    if noun.endswith("ies") and len(noun) > 4:  # noqa: PLR2004 - "ties"
        return f"{noun[:-3]}y"
    if noun.endswith("s") and not noun.endswith(("ss", "us", "is")) and len(noun) > 3:  # noqa: PLR2004
        return noun[:-1]
    return noun
