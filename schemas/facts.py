"""What was understood of what was said: facts, what was skipped and why, and the ordered record of both.

``memlake.facts`` holds ``TurnRecord``, ``CommandRecord`` and ``Repeat``: the only input of the remember agent and each
scope's total order. Everything in it is masked already.
"""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from schemas.answers import ModelAnswer
from schemas.commands import Command
from schemas.conversation import Role, Scope, Turn
from schemas.errors import InvalidMessage
from schemas.identity import derived_id
from schemas.message import KEPT, Instant, Message, Part, header, parse_object

PREVIEW_CHARACTERS = 100

Share = Annotated[float, Field(ge=0, le=1)]
Polarity = Literal["affirmative", "negative"]
Mood = Literal["assertion", "preference", "plan", "instruction", "decision", "retraction"]
"""What the speaker does by saying it: tells what is, likes, intends, tells how to, agrees on, or asks to forget."""


class FactMetadata(Part):
    """Form of a fact's text, as the report of a turn tells it."""

    has_code_block: bool
    has_command: bool
    length: int
    """In characters."""


class Fact(Part):
    """One thing worth remembering, taken from one or more turns."""

    fact_id: str
    text: str
    tags: tuple[str, ...] = ()
    domain: str | None = None
    code_pattern: Annotated[str | None, Field(alias="code_pattern")] = None
    confidence: Share
    """How sure the extractor is that this is a fact and rightly read."""
    importance: Annotated[int, Field(ge=1, le=10)]
    role: Role
    """Whose words they are."""
    subject: str | None = None
    attribute: str | None = None
    value: str | None = None
    polarity: Polarity = "affirmative"
    mood: Mood = "assertion"
    language: str = "und"
    """ISO 639-1, or "und" where it could not be told."""
    source_turn_ids: tuple[str, ...]
    event_time: Instant
    metadata: FactMetadata

    @property
    def preview(self) -> str:
        """The first 100 characters, with "..." where something is cut."""
        return self.text if len(self.text) <= PREVIEW_CHARACTERS else self.text[:PREVIEW_CHARACTERS] + "..."


class Skip(Part):
    """Something that was said and is no fact."""

    text: str
    """Masked, and cut to a preview."""
    reason: str


class Masked(Part):
    """How many secrets of one class were masked."""

    secret: str
    count: int


class Source(Part):
    """Where on the input topics it stood."""

    topic: str
    partition: int
    offset: int


class Extraction(Part):
    """What an extractor made of one input."""

    facts: tuple[Fact, ...] = ()
    skipped: tuple[Skip, ...] = ()
    masked: tuple[Masked, ...] = ()
    extractor: str
    """Name and version of the rules, so that a replay can tell whether it would differ."""
    model: ModelAnswer | None = None
    """What a model said, where one was asked: with it a replay finds the same facts."""
    degraded: tuple[str, ...] = ()
    """What was asked for and could not be had; rules answered instead."""


class Record(Message):
    """What the three messages of ``memlake.facts`` have in common."""

    read_as: ClassVar[object] = KEPT

    record_id: str
    """Made of the input's own id: the same for each delivery of the same turn or command."""
    recorded_at: Instant
    """When the broker took the input in."""
    source: Source

    def key(self, nonce: str) -> str:
        """The record's key on ``facts``: unique, so that compaction drops nothing."""
        return f"{self.record_id}#{nonce}"


class TurnRecord(Record):
    """A masked turn with what was understood of it."""

    kind: ClassVar[str] = "turn-record"
    turn: Turn
    extraction: Extraction

    @property
    def scope(self) -> Scope:
        """The turn's scope."""
        return self.turn.scope


class Birth(Part):
    """How a memory began: by which fact, and with what text."""

    fact_id: str | None = None
    text: str


class CommandRecord(Record):
    """A masked command; with ``extract_and_operate``, what was understood of its text."""

    kind: ClassVar[str] = "command-record"
    command: Command
    extraction: Extraction
    birth: Birth | None = None
    """Of the memory that the command names by its id, where the lake knew it when the command came in: a replay with
    other decisions, and so with other ids, finds the memory by it."""
    births: dict[int, Birth] | None = None
    """The same of each of several memories, by the id that names it."""

    def birth_of(self, memory_id: int) -> Birth | None:
        """How a memory that the command names began; None where the lake did not know it."""
        return self.birth if self.births is None else self.births.get(memory_id)

    @property
    def scope(self) -> Scope | None:
        """The command's scope; ``maintain`` has none."""
        return self.command.scope


class Repeat(Record):
    """A turn or command came again at another offset: it is answered, and changes nothing."""

    kind: ClassVar[str] = "repeat"
    scope: Scope | None = None


AnyRecord = TurnRecord | CommandRecord | Repeat
RECORDS: dict[str, type[TurnRecord] | type[CommandRecord] | type[Repeat]] = {
    kind.kind: kind for kind in (TurnRecord, CommandRecord, Repeat)
}


def turn_record_id(scope: Scope, turn_id: str) -> str:
    """Record id of a turn: equal turn ids in two scopes are two turns."""
    return derived_id("record", "turn", scope.key, turn_id)


def command_record_id(scope: Scope | None, command_id: str, partition: int) -> str:
    """Record id of a command; one without a scope belongs to the partition it was sent to."""
    return derived_id("record", "command", scope.key if scope else partition, command_id)


def fact_id(record_id: str, index: int) -> str:
    """Id of the ``index``-th fact (from 0) of a record."""
    return derived_id("fact", record_id, index)


def decode_record(value: bytes | None, headers: list[tuple[str, bytes]]) -> AnyRecord:
    """Read a value of ``memlake.facts``; its ``ce_type`` says which of the three it is.

    Raises:
        InvalidMessage: The type is unknown or the value does not fit it.
    """
    told = (header(headers, "ce_type") or "").removeprefix("memlake.").rpartition(".v")[0]
    payload: dict[str, Any] = parse_object(value)
    if told not in RECORDS:
        raise InvalidMessage(f"ce_type: must name one of {', '.join(sorted(RECORDS))}", field="ce_type")
    return RECORDS[told].from_wire(payload)
