"""Sentences with several claims cut into them, where that is safe.

Rule of this file: a cut is made only where both sides are claims by themselves and the second needs nothing of the
first: no word that stands for something in it, no thing that only the first makes one's own ("I rent a locker and my
code is 4411" is one memory). "Because" binds: what follows it qualifies what stands before. The words are data.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from streams.extract.claims import SPEAKER, Claim
from streams.extract.reading import read_claim
from streams.ruledata import load

MAX_SENTENCE: Final = 400
MIN_WORDS: Final = 3
"""Of each side, in a script with blanks."""
_FLAGS = re.IGNORECASE
_DATA = load("extract", "clauses")
_STANDING = frozenset(word for line in _DATA["standing"] for word in line.split())
_STANDING_WITHIN = re.compile(_DATA["standing_within"])
_ATTRIBUTES_OF_ANYBODY: Final = frozenset(
    {"name", "home", "job", "employer", "age", "birthplace", "birthday", "colour"}
)
_VERBAL: Final = ("to ", "is ", "did ", "can ", "could ", "will ", "would ", "must ", "should ", "may ", "might ")
_IN_PAIRS = re.compile(r",\s+[A-ZÄÖÜÉ][\w'-]*$|(?:^|\s)(?:between|both)\s[\w'-]+$")
"""The first of two that a joint joins: "…, Jan and I run a mill"."""
_UNSPACED: Final = frozenset({"zh"})


@dataclass(frozen=True)
class _Words:
    joint: re.Pattern[str]
    subject: re.Pattern[str]
    hangs: re.Pattern[str]
    leans: re.Pattern[str]
    governs: re.Pattern[str]
    carried: str
    carries: re.Pattern[str] | None


def _words(spec: dict[str, str]) -> _Words:
    carries = spec.get("carries")
    joint = f"{spec['joint']}|,\\s+(?={carries})" if carries else spec["joint"]
    patterns = {name: re.compile(spec[name], _FLAGS) for name in ("subject", "hangs", "leans", "governs")}
    return _Words(
        joint=re.compile(joint, _FLAGS),
        carried=spec.get("carried", ""),
        carries=re.compile(carries, _FLAGS) if carries else None,
        **patterns,
    )


_LANGUAGES = {language: _words(spec) for language, spec in _DATA["languages"].items()}


def clauses_of(sentence: str, language: str) -> list[str]:
    """The claims of a sentence, in order; one that cannot be cut is returned whole.

    Each is as told, but that a verb without a subject of its own gets that of the clause before ("and play the lute" is
    "I play the lute").

    Args:
        sentence: One sentence.
        language: ISO 639-1; "und" is cut as English.
    """
    return list(_clauses(sentence, "en" if language == "und" else language))


@lru_cache(maxsize=512)
def _clauses(sentence: str, language: str) -> tuple[str, ...]:
    words = _LANGUAGES.get(language)
    if words is None or len(sentence) > MAX_SENTENCE or "`" in sentence or words.leans.match(sentence):
        return (sentence,)
    for joint in words.joint.finditer(sentence):
        left, right = sentence[: joint.start()], sentence[joint.end() :]
        behind = _behind(words, left, right, language)
        if behind:
            return (left, *behind)
    return (sentence,)


def _behind(words: _Words, left: str, right: str, language: str) -> tuple[str, ...]:
    """The claims behind a joint, each told by itself; none where both sides belong together."""
    if language not in _UNSPACED and min(len(left.split()), len(right.split())) < MIN_WORDS - 1:
        return ()
    if _IN_PAIRS.search(left):
        return ()
    own = words.subject.match(right) is not None
    if not own:
        if not words.carries or not words.carries.match(right) or words.governs.search(left):
            return ()
        right = f"{words.carried}{'' if language in _UNSPACED else ' '}{right}"
    first = read_claim(left, language)
    if not first.is_read or (not own and first.subject != SPEAKER):
        return ()
    behind = _clauses(right, language)
    return behind if _is_safe(words, first, behind[0], language) else ()


def _is_safe(words: _Words, first: Claim, head: str, language: str) -> bool:
    second = read_claim(head, language)
    subject = second.subject or ""
    if not second.is_read or words.hangs.search(head) or _holds_joint(words, subject):
        return False
    if subject in {"he", "she"}:
        return first.subject not in {SPEAKER, "we", None, subject}
    if subject in {SPEAKER, "we"}:
        return _is_of_anybody(second) or _is_alike(first, second)
    owner, _, thing = subject.partition("'s ")
    if owner == SPEAKER:
        return second.attribute == "name" or _stands(thing)
    return first.subject not in {SPEAKER, "we"}


def _holds_joint(words: _Words, subject: str) -> bool:
    """Whether a subject is two: "the dog and my goat" is cut in the wrong place."""
    return words.joint.search(f"{subject} ") is not None


def _is_of_anybody(claim: Claim) -> bool:
    """Whether a claim of the speaker is about what people have whatever was said before."""
    attribute = claim.attribute or ""
    if attribute in _ATTRIBUTES_OF_ANYBODY or attribute.startswith(_VERBAL) or attribute == "is":
        return True
    return _stands(attribute)


def _stands(noun: str) -> bool:
    return bool(_STANDING & set(noun.split())) or _STANDING_WITHIN.search(noun) is not None


def _is_alike(first: Claim, second: Claim) -> bool:
    """Whether two claims are told in the same way of the same person: "my locker is 44 and my badge is 70"."""
    if first.subject != second.subject or (first.attribute or "").startswith(_VERBAL):
        return False
    one, other = first.value or "", second.value or ""
    return any(map(str.isdigit, one)) == any(map(str.isdigit, other))
