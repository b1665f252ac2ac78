"""From what was understood to a fact: tags, confidence, importance, form.

Rule of this file: figures are computed from what is seen, never copied, and the same draft makes the same fact.
"""

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from schemas.conversation import Role
from schemas.facts import Fact, FactMetadata, Mood, fact_id
from streams.extract.claims import Claim
from streams.extract.code import MAX_CODE, Code, commands_in
from streams.extract.vocabulary import GENERAL, domain_of, tags_of
from streams.ruledata import load

MAX_TEXT: Final = 2000
"""Characters of a fact's text."""
BASE_CONFIDENCE: Final = 0.6
CLAIM_BONUS: Final = 0.2
ANCHOR_BONUS: Final = 0.1
CODE_BONUS: Final = 0.15
ASSISTANT_MALUS: Final = 0.05
UNRESOLVED_MALUS: Final = 0.25
BASE_IMPORTANCE: Final = 4

_DATA = load("extract", "importance")
_WEIGHTS: dict[str, int] = {name: int(weight) for name, weight in _DATA["attributes"].items()}
_MOODS: dict[str, int] = {name: int(weight) for name, weight in _DATA["moods"].items()}
_ANCHOR = re.compile(r"\d|`|://|\b\w+[._/-]\w+\b|(?<=[\w,] )[A-ZÄÖÜÀ-Ý]\w+")


@dataclass(frozen=True)
class Draft:
    """A fact before it has an id.

    Attributes:
        text: What is remembered.
        sources: Ids of the turns it was taken from, oldest first.
        resolved: False where it still speaks of "it" or "she" without saying whom.
    """

    text: str
    claim: Claim
    role: Role
    language: str
    sources: tuple[str, ...]
    mood: Mood = "assertion"
    code: Code | None = None
    resolved: bool = True
    told: str = ""
    """The sentence as it stood in the message."""
    tags: tuple[str, ...] = field(default=())
    """Tags besides those found in the text."""


def fact_of(draft: Draft, record_id: str, index: int, event_time: datetime) -> Fact:
    """The fact of a draft.

    Args:
        draft: What was understood.
        record_id: Of the turn or command.
        index: Place among the record's facts, from 0.
        event_time: When it was said.
    """
    text = draft.text[:MAX_TEXT]
    commands = commands_in(text)
    tags = tuple(dict.fromkeys([*tags_of(text, draft.code), *draft.tags]))
    pattern = draft.code.text[:MAX_CODE] if draft.code else ("\n".join(commands)[:MAX_CODE] or None)
    return Fact(
        fact_id=fact_id(record_id, index),
        text=text,
        tags=tags,
        domain=domain_of(tags),
        code_pattern=pattern,
        confidence=_confidence(draft, tags),
        importance=_importance(draft),
        role=draft.role,
        subject=draft.claim.subject,
        attribute=draft.claim.attribute,
        value=draft.claim.value,
        polarity=draft.claim.polarity,
        mood=draft.mood,
        language=draft.language,
        source_turn_ids=draft.sources,
        event_time=event_time,
        metadata=FactMetadata(
            has_code_block=draft.code is not None and not draft.code.is_shell,
            has_command=bool(commands) or (draft.code is not None and draft.code.is_shell),
            length=len(text),
        ),
    )


def _confidence(draft: Draft, tags: tuple[str, ...]) -> float:
    confidence = BASE_CONFIDENCE
    if draft.claim.is_read:
        confidence += CLAIM_BONUS
    if tags != (GENERAL,) or _ANCHOR.search(draft.text):
        confidence += ANCHOR_BONUS
    if draft.code is not None:
        confidence += CODE_BONUS
    if draft.role != "user":
        confidence -= ASSISTANT_MALUS
    if not draft.resolved:
        confidence -= UNRESOLVED_MALUS
    return round(min(max(confidence, 0.05), 0.95), 2)


def _importance(draft: Draft) -> int:
    weight = BASE_IMPORTANCE + _MOODS.get(draft.mood, 0) + _WEIGHTS.get(draft.claim.attribute or "", 0)
    if draft.code is not None:
        weight += 2
    if draft.claim.is_event:
        weight -= 1
    if not draft.resolved:
        weight -= 2
    return min(max(weight, 1), 10)
