"""Claims that hide their copula: "status: green", "my rent went from 800 to 900".

Rule of this file: it says such a sentence as "X is Y" and lets the grammar read that; where the grammar cannot, there
is no claim.
"""

import re
from typing import Final

from streams.extract.claims import Claim, tidy
from streams.extract.english import read_english
from streams.wording.reported import Reported, reported_change

MAX_LABEL_WORDS: Final = 8
_LABEL = re.compile(r"^(?P<label>[^\W\d][^:.!?\n]{1,80}[^\W\d]):\s+(?P<value>\S[^\n]{0,200})$")
_AUXILIARY = re.compile(r"\s+(?:has|have|had|was|were|is|are|been|just|recently|now|also|got|gets)$", re.IGNORECASE)
_PARTICLE = re.compile(r"^(?:up|down|over|away|back|out|off)?$", re.IGNORECASE)
_DETERMINER = re.compile(r"^(?:the|a|an|this|that)\s", re.IGNORECASE)
_OWNER = re.compile(r"^(?:his|her|their|its)\s+", re.IGNORECASE)
_POSSESSIVE = re.compile(r"^(?:my|our)\s|['\u2019]s?\s", re.IGNORECASE)


def read_hidden(text: str, speaker: str) -> Claim | None:
    """The claim of a label or of a reported change, or None.

    Args:
        text: One English sentence.
        speaker: Who "I" is, as a subject.
    """
    report = reported_change(text, "en")
    if report is not None:
        return _noun_claim(_changed_thing(report), report.new, speaker)
    label = _LABEL.match(text.strip())
    if label is None or len(label["label"].split()) > MAX_LABEL_WORDS:
        return None
    return _noun_claim(label["label"], label["value"], speaker)


def _noun_claim(thing: str, value: str, speaker: str) -> Claim | None:
    """``thing`` is ``value``, where thing is somebody's: a bare noun could be anybody's."""
    if not _POSSESSIVE.search(thing):
        return None
    claim = read_english(f"{thing} is {tidy(value)}", speaker)
    if claim is None or claim.attribute is None or claim.value != tidy(value) or claim.attribute.startswith("is"):
        return None
    return claim


def _changed_thing(report: Reported) -> str:
    """What it is whose value changed: the object of the verb, else what stands ahead of the verb."""
    actor = report.actor
    while (shorter := _AUXILIARY.sub("", actor)) != actor:
        actor = shorter
    thing = report.thing.replace("_", " ")
    if _PARTICLE.match(thing):
        return actor
    if _POSSESSIVE.search(thing) or _DETERMINER.match(thing):
        return thing
    owner = re.split(r"['\u2019]s?\s", actor, maxsplit=1)[0]
    return f"{owner}'s {_OWNER.sub('', thing)}"
