"""What may answer a question: a version of a memory, or a turn as it was said.

Rule of this file: pure. An item is a row of a table with what ranking asks of it; the message that the row holds is
read only when the item is shown, since most never are.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, Final

from lakehouse import keywords
from lakehouse.retrieval.changes import tells_change
from lakehouse.versions import ROW_COLUMNS, MemoryRow
from schemas.commands import turn_cited
from schemas.facts import TurnRecord
from schemas.memory import MemoryEvent
from schemas.retrieval import Kind

USER: Final = "user"
"""By which name a scope knows whose memory it is."""


@dataclass(frozen=True)
class Item:
    """A row that may answer.

    Attributes:
        kind: "knowledge" or "episode".
        key: Of the row in its table.
        terms: What the text is found by, each once.
        language: ISO 639-1 of the text, or "und".
        who: Subject of the statement or speaker of the turn, case and accents aside; "user" of an unnamed user's turn.
        at: Event time.
        place: Order among the scope's rows of this kind.
        session_id: Where it was said.
        sources: Turns that told it; of a turn, itself.
        told: Whether it told something: true of a memory, and of a turn that facts were found in.
        columns: Of the row, without vector.
    """

    kind: Kind
    key: str
    terms: tuple[str, ...]
    language: str
    who: str | None
    at: datetime
    place: int
    session_id: str | None
    sources: tuple[str, ...]
    told: bool
    columns: Mapping[str, Any] = field(compare=False, repr=False)

    @cached_property
    def row(self) -> MemoryRow:
        """The version, of a memory."""
        return MemoryRow(
            event=MemoryEvent.decode(self.columns["payload"]), **{name: self.columns[name] for name in ROW_COLUMNS}
        )

    @cached_property
    def record(self) -> TurnRecord:
        """The record, of a turn."""
        return TurnRecord.from_wire(json.loads(self.columns["record"]))

    @property
    def id(self) -> str:
        """What the scope calls it: the memory's number, or the turn's id."""
        return str(self.columns["id"] if self.kind == "knowledge" else self.columns["turn_id"])

    @property
    def cited(self) -> str:
        """What results and citations call it: of the two kinds never the same."""
        return self.id if self.kind == "knowledge" else turn_cited(self.id)

    @cached_property
    def leaves_out_who(self) -> bool:
        """Whether it is about or by somebody whom its text does not name, as a speaker's own words are."""
        return self.who is not None and not set(self.who.split()) <= set(self.terms)

    @cached_property
    def tells_change(self) -> bool:
        """Whether it says that something is no more as it was."""
        return tells_change(self.text, self.language)

    @property
    def text(self) -> str:
        """What it says."""
        return str(self.columns["text"])


def is_found(columns: Mapping[str, Any]) -> bool:
    """Whether search finds a row: one without words, such as what a tool said, is kept but no answer."""
    return columns["keywords"] is not None


def memory_item(columns: Mapping[str, Any]) -> Item:
    """An item of a row of ``memories``."""
    return Item(
        kind="knowledge",
        key=columns["event_id"],
        terms=tuple(columns["keywords"].split()),
        language=columns["language"],
        who=_folded(columns["subject"]),
        at=columns["valid_from"],
        place=columns["sequence"],
        session_id=columns["source_session_id"],
        sources=tuple(columns["source_turn_ids"]),
        told=True,
        columns=columns,
    )


def turn_item(columns: Mapping[str, Any]) -> Item:
    """An item of a row of ``turns``."""
    return Item(
        kind="episode",
        key=columns["record_id"],
        terms=tuple(columns["keywords"].split()),
        language=columns["language"],
        who=_folded(columns["name"]) or (USER if columns["role"] == "user" else None),
        at=columns["timestamp"],
        place=columns["source_offset"],
        session_id=columns["session_id"],
        sources=(columns["turn_id"],),
        told=columns["facts"] > 0,
        columns=columns,
    )


def _folded(name: str | None) -> str | None:
    return keywords.fold_text(name).strip() or None if name else None


ITEM: Final[dict[Kind, Callable[[Mapping[str, Any]], Item]]] = {"knowledge": memory_item, "episode": turn_item}
KEY: Final[dict[Kind, str]] = {"knowledge": "event_id", "episode": "record_id"}
"""Column that holds an item's key."""
