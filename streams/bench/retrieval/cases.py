"""What is asked, of which turns, and which of them hold the answer.

Rule of this file: the shapes that every set is read into; a turn stands for its id.
"""

from dataclasses import dataclass
from datetime import datetime

from schemas.conversation import Turn


@dataclass(frozen=True)
class Change:
    """Two statements of one thing, of which the newer holds.

    Attributes:
        older: Ids of the turns that told what no longer holds.
        newer: Ids of the turns that told what holds.
    """

    older: frozenset[str]
    newer: frozenset[str]


@dataclass(frozen=True)
class Question:
    """One question with its evidence.

    Attributes:
        of: The set's name in the metrics.
        text: As it is asked.
        asked_at: When, with its zone.
        category: What kind of question it is.
        turns: Ids of the turns that hold the answer; may be empty where only sessions are known.
        sessions: Ids of the sessions that hold it; empty where only turns count.
        counts: Whether it is part of the set's mean.
        change: What it asks the current value of, where both statements are known.
    """

    of: str
    text: str
    asked_at: datetime
    category: str
    turns: frozenset[str]
    sessions: frozenset[str] = frozenset()
    counts: bool = True
    change: Change | None = None


@dataclass(frozen=True)
class Unit:
    """A conversation, a haystack or a chat, and what is asked of it.

    Attributes:
        name: What decides which part it is in; also the user of its turns' scope.
        turns: All that may be found, in the order in which it was said.
    """

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]
