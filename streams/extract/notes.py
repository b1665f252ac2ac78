"""What was found so far in one turn.

Rule of this file: it collects; what a sentence comes to is decided elsewhere.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from schemas.conversation import Turn
from schemas.facts import PREVIEW_CHARACTERS, Skip
from streams.extract import significance
from streams.extract.antecedents import Said
from streams.extract.dates import resolve_dates
from streams.extract.dialogue import sentences_said
from streams.extract.drafts import Draft
from streams.extract.openers import opened
from streams.extract.reading import read_claim, speaker_of

_ALPHANUMERIC = re.compile(r"\w+")


@dataclass
class Notes:
    """The drafts and skips of one turn in the making."""

    turn: Turn
    speaker: str
    language: str
    drafts: list[Draft] = field(default_factory=list)
    skips: list[Skip] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)
    """In this turn so far."""
    context: Sequence[Turn] = ()
    replies: bool = False
    """Whether the other side spoke just before."""
    question: str | None = None
    """What it asked, if anything."""

    @cached_property
    def said_before(self) -> list[Said]:
        """What the same speaker said in the turns before; read only when a sentence needs it."""
        own = [turn for turn in self.context if (turn.role, turn.name) == (self.turn.role, self.turn.name)]
        return [said for turn in own for said in _said(turn)]

    @property
    def before(self) -> list[Said]:
        """What the same speaker said up to here, oldest first."""
        return [*self.said_before, *self.said]

    @property
    def source(self) -> str:
        """The turn's id."""
        return self.turn.turn_id or ""

    def skip(self, text: str, reason: str) -> None:
        """Note that something is no fact."""
        preview = text.strip()
        self.skips.append(Skip(text=preview[:PREVIEW_CHARACTERS], reason=reason))

    def lose_thread(self) -> None:
        """Note that something else was spoken of, which is not kept: pronouns stand for nothing said before it."""
        self.said, self.said_before = [], []

    def keep(self, draft: Draft) -> None:
        """Keep a draft unless the message said it before; dates are resolved last."""
        if any(_repeats(draft, earlier) for earlier in self.drafts):
            self.skip(draft.told or draft.text, significance.REPEATED)
            return
        self.said.append(Said(draft.text, draft.claim, draft.language, self.source))
        dated = resolve_dates(draft.text, self.turn.timestamp, draft.language, happened=draft.claim.is_event)
        self.drafts.append(replace(draft, text=dated) if dated != draft.text else draft)


def _repeats(draft: Draft, earlier: Draft) -> bool:
    same_claim = draft.claim.is_read and draft.claim == earlier.claim and draft.mood == earlier.mood
    return same_claim or _words(draft.text) == _words(earlier.text)


def _words(text: str) -> list[str]:
    return _ALPHANUMERIC.findall(text.casefold())


def _said(turn: Turn) -> list[Said]:
    speaker, source = speaker_of(turn), turn.identified().turn_id or ""
    return [
        Said(sentence, read_claim(opened(sentence).text, language, speaker), language, source)
        for sentence, language in sentences_said(turn)
        if significance.reason_against(sentence, language) is None
    ]
