"""What stands after "is": a name, a number, a place, a time, a state.

Rule of this file: it says which attribute the value belongs to. A thing has one value of an attribute that is a noun;
where that cannot be told, the attribute starts with "is", and several can hold.
"""

import re

from streams.extract.claims import Claim
from streams.extract.english_nouns import NounPhrase, noun_phrase, without_determiner
from streams.extract.english_words import (
    ADJECTIVE_PHRASES,
    COLOURS,
    DETERMINERS,
    DIMENSIONS,
    NAME_NOUNS,
    PASTS,
    POSSESSIVES,
    PREPOSITIONS,
    PRONOUNS,
    TIMES,
    UNITS,
    is_name,
    is_number,
)

MAX_NAME_WORDS = 6
MAX_ADJECTIVE = max(len(phrase.split()) for phrase in ADJECTIVE_PHRASES)
TIME_WORDS = 2
"""Words of a phrase of which one must be a time: "the first Monday", but not "Oslo on Monday"."""
_CLOCK = re.compile(
    r"\d{1,2}:\d{2}|\d{1,2}\s?(?:am|pm|h)\b|\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b", re.IGNORECASE
)


def read_copula(phrase: NounPhrase, rest: list[str], speaker: str, *, past: bool, modal: str = "") -> Claim | None:
    """The claim of "<phrase> is <rest>".

    Args:
        phrase: Who or what.
        rest: The words after the verb, at least one.
        speaker: Who "I" is.
        past: Whether it *was* so: then a participle tells a happening.
        modal: An auxiliary such as "must"; empty where there is none.
    """
    rest = _joined(rest)
    lower = [word.casefold().strip(".,;:!?()\"'") for word in rest]
    lead = modal or "is"
    turned = _turned(phrase, rest, lower, speaker)
    if turned is not None:
        return turned
    if lower[0] in {"called", "named"} and len(rest) > 1:
        return Claim(phrase.whole, "name", without_determiner(" ".join(rest[1:])))
    if lower[-1] in DIMENSIONS and len(rest) > 1 and is_number(lower[0]):
        return Claim(phrase.whole, "age" if lower[-1] == "old" else f"is {lower[-1]}", " ".join(rest[:-1]))
    if lower[0] in PREPOSITIONS and len(rest) > 1:
        relation = "is when" if _is_time(lower[1:]) else f"{lead} {lower[0]}"
        return Claim(phrase.whole, relation, without_determiner(" ".join(rest[1:])))
    if _is_relation(lower):
        at = 2 if lower[0] in {"a", "an"} else 1
        attribute = f"{' '.join(lower[at - 1 : at + 1])}"
        attribute = f"did {attribute}" if past else f"{lead} {attribute}"
        return Claim(phrase.whole, attribute, without_determiner(" ".join(rest[at + 1 :])))
    return _identity(phrase, rest, lower, lead=lead)


def _joined(rest: list[str]) -> list[str]:
    """The words with an adjective of several words at their beginning as one: "up to date"."""
    for count in range(MAX_ADJECTIVE, 1, -1):
        phrase = " ".join(rest[:count])
        if phrase.casefold().strip(".,;:!?") in ADJECTIVE_PHRASES:
            return [phrase, *rest[count:]]
    return rest


def _is_time(words: list[str]) -> bool:
    bare = [word for word in words if word not in DETERMINERS]
    first = bare[:TIME_WORDS]
    if _CLOCK.match(" ".join(bare)) or any(word in TIMES for word in first):
        return True
    return len(bare) == 1 and is_number(bare[0])


def _is_relation(lower: list[str]) -> bool:
    """As in "allergic to celery", "written in C++", "a member of the club"."""
    at = 2 if lower[0] in {"a", "an"} else 1
    if len(lower) <= at + 1 or lower[at] not in PREPOSITIONS or lower[0] in POSSESSIVES:
        return False
    word = lower[at - 1]
    spelt = word.replace(" ", "").isalpha() and not is_number(word)
    return spelt and (at == 1 or lower[at] == "of") and word not in DETERMINERS


def _turned(phrase: NounPhrase, rest: list[str], lower: list[str], speaker: str) -> Claim | None:
    """As in "Pixel is the name of my dog", "Miso is my cat": the value came first."""
    if phrase.owner is not None or phrase.definite or phrase.thing in {speaker, *PRONOUNS.values()} or len(rest) < 2:  # noqa: PLR2004
        return None
    if lower[0] not in {"the", *POSSESSIVES} and "'s" not in lower[0]:
        return None
    other = noun_phrase(" ".join(rest).split(",", maxsplit=1)[0], speaker)
    if other is None or other.owner is None:
        return None
    if other.thing in NAME_NOUNS:
        return Claim(other.owner, "name", phrase.told)
    return Claim(other.owner, other.thing, phrase.told)


def _identity(phrase: NounPhrase, rest: list[str], lower: list[str], *, lead: str) -> Claim:
    value = without_determiner(" ".join(rest))
    if lower[0] in PASTS and len(rest) > 1:
        return Claim(phrase.whole, f"{lead} {lower[0]}", " ".join(rest[1:]))
    words = value.split()
    named = (
        is_number(words[0]) or any(is_name(word) for word in words[:MAX_NAME_WORDS]) or words[0].startswith(("'", '"'))
    )
    short = len(words) <= MAX_NAME_WORDS
    if len(words) == 1 and lower[-1] in COLOURS and not phrase.names_attribute:
        return Claim(phrase.whole, "colour", value)
    if lead == "is" and short and (named or phrase.names_attribute):
        if phrase.owner is not None:
            return Claim(phrase.owner, phrase.thing, value)
        compound = phrase.names_attribute and " " in phrase.thing
        counted = is_number(words[0]) and (len(words) == 1 or lower[-1] in UNITS)
        if phrase.definite or compound or counted:
            return Claim(phrase.thing, "identity", value)
    if lower[0] in {"a", "an"}:
        return Claim(phrase.whole, f"{lead} a", value)
    return Claim(phrase.whole, lead, value)
