"""What people ask of a memory, apart from talking to it."""

from datetime import datetime
from typing import Annotated, ClassVar, Literal, Self

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    ValidationInfo,
    field_validator,
    model_validator,
)

from schemas.conversation import Name, Scope, is_blank
from schemas.identity import derived_id
from schemas.message import KEPT, Input, Instant, Message, Metadata, small_as_sent, utf8

Operation = Literal["extract_and_operate", "forget", "restore", "feedback", "maintain"]
Judgement = Literal["used", "helpful", "unhelpful", "withdrawn"]
JUDGEMENTS: tuple[Judgement, ...] = ("used", "helpful", "unhelpful", "withdrawn")
MAX_SIMILAR = 20
MAX_EXISTING = 100
"""Memories that a caller may tell of: each is embedded, and held against each fact of the call."""
MAX_JUDGED = 100
"""Memories that one feedback may judge."""
MAX_JUDGED_QUERY = 10_000
"""Characters of a question that is judged: as many as one may have that is asked."""
TURN_CITED = "turn:"
MAX_NUMBER = 2**53 - 1
"""Ids and revisions are whole numbers that every language's JSON reads as they are."""
OWN_FIELDS: dict[Operation, frozenset[str]] = {
    "extract_and_operate": frozenset({"interaction", "existing_memories", "context", "options", "memory_metadata"}),
    "forget": frozenset({"id", "everything"}),
    "restore": frozenset({"id", "revision"}),
    "feedback": frozenset({*JUDGEMENTS, "query"}),
    "maintain": frozenset(),
}
"""Fields that an operation has, beside those that all have."""

Number = Annotated[int, Field(strict=True, ge=1, le=MAX_NUMBER)]


def turn_cited(turn_id: str) -> str:
    """How results and citations name a turn: never as a memory, though the turn's own id may be digits."""
    return f"{TURN_CITED}{turn_id}"


def memory_cited(told: str) -> int | None:
    """The memory that a result or citation names by its id; None for the id of an episode or external document."""
    if not (told.isascii() and told.isdecimal()) or len(told) > len(str(MAX_NUMBER)):
        return None
    number = int(told)
    return number if str(number) == told and 1 <= number <= MAX_NUMBER else None


def _as_cited(value: object) -> object:
    if not isinstance(value, str):
        return value
    number = memory_cited(value)
    if number is None:
        raise ValueError("must be the id of a memory: episodes and external documents are not judged")
    return number


Digits = Annotated[str, Field(pattern="^[1-9][0-9]{0,15}$")]
Cited = Annotated[Number, BeforeValidator(_as_cited, json_schema_input_type=Number | Digits)]
"""A memory, by its number or as results and citations write it."""
Judged = Annotated[tuple[Cited, ...], Field(max_length=MAX_JUDGED)]


class ExistingMemory(Input):
    """A memory that the caller knows of: a candidate of this call only."""

    id: Annotated[str, Field(min_length=1, max_length=256)]
    text: Annotated[str, Field(min_length=1, max_length=20_000)]
    metadata: Metadata | None = None

    @field_validator("text")
    @classmethod
    def _says_something(cls, value: str) -> str:
        if is_blank(value):
            raise ValueError("must hold some text")
        return value


class CallContext(Input):
    """Where the interaction comes from. Whose memory it goes to is said by the command's scope alone."""

    session_id: Name | None = None
    user_id: Name | None = None
    project_id: Name | None = None
    conversation_topic: Annotated[str, Field(max_length=1024)] | None = None


class Options(Input):
    """How to decide."""

    similarity_threshold: Annotated[float, Field(strict=True, ge=0, le=1)] = 0.8
    max_similar_results: Annotated[int, Field(strict=True, ge=1, le=MAX_SIMILAR)] = 5
    use_llm_decisions: Annotated[bool, Field(strict=True, alias="useLLMDecisions")] = False
    enable_delete_operations: Annotated[bool, Field(strict=True)] = False


class CallMetadata(Input):
    """What is stored beside each memory of the call; fields of your own are kept as they are."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, JsonValue]

    project_id: Name | None = None
    user_id: Name | None = None
    environment: Annotated[str, Field(max_length=256)] | None = None

    @model_validator(mode="after")
    def _is_small(self, info: ValidationInfo) -> "CallMetadata":
        small_as_sent(self.to_wire(), info)
        return self


class Command(Message):
    """A request that changes a memory. ``scope`` is needed by all but ``maintain``, which goes to a partition.

    ``forget`` retires the memory ``id``, or with ``all`` every current memory of the scope. ``restore`` makes the text
    of a revision of the memory ``id`` current again: of the one that was forgotten, or of the ``revision`` named.
    ``feedback`` says which results were ``used``, ``helpful`` or ``unhelpful``, and takes earlier judgements back
    (``withdrawn``): those of the ``query``, or without one all of the memory's.
    """

    model_config = ConfigDict(extra="forbid")
    kind: ClassVar[str] = "command"

    command_id: Name | None = None
    op: Operation
    scope: Scope | None = None
    timestamp: Instant | None = None
    """Event time of what is told, forgotten or restored; without it, the moment the broker took it in."""

    # forget, restore
    id: Number | None = None
    """The memory."""
    everything: Annotated[bool | None, Field(strict=True, alias="all")] = None
    """Every current memory of the scope, instead of one."""
    revision: Number | None = None

    # feedback
    used: Judged | None = None
    """Memories that an answer was made with. One that is also helpful or unhelpful counts as that."""
    helpful: Judged | None = None
    unhelpful: Judged | None = None
    withdrawn: Judged | None = None
    """Memories of which nothing shall count that was judged before."""
    query: Annotated[str, Field(max_length=MAX_JUDGED_QUERY)] | None = None
    """The question that they were results of."""

    # extract_and_operate
    interaction: str | tuple[str, ...] | None = None
    existing_memories: Annotated[tuple[ExistingMemory, ...], Field(max_length=MAX_EXISTING)] = ()
    context: CallContext | None = None
    options: Options = Options()
    memory_metadata: CallMetadata | None = None

    @field_validator("interaction")
    @classmethod
    def _says_something(cls, value: str | tuple[str, ...] | None) -> str | tuple[str, ...] | None:
        if value is None:
            return None
        if all(is_blank(text) for text in texts_of(value)):
            raise ValueError("must hold some text")
        for text in texts_of(value):
            utf8(text)
        return value

    @field_validator("query")
    @classmethod
    def _asks_something(cls, value: str | None) -> str | None:
        if value is not None and is_blank(value):
            raise ValueError("must hold some text, or be left out")
        return value if value is None else utf8(value)

    @field_validator("everything")
    @classmethod
    def _is_true(cls, value: bool | None) -> bool | None:
        if value is False:
            raise ValueError("must be true, or left out")
        return value

    @model_validator(mode="after")
    def _has_what_its_operation_needs(self, info: ValidationInfo) -> "Command":
        if self.op == "maintain":
            if self.scope is not None:
                raise ValueError("scope: maintain has none; it is sent to a partition")
        elif self.scope is None:
            raise ValueError(f"scope: {self.op} needs one")
        if info.context is not KEPT:
            self._has_nothing_of_another()
            self._judges_clearly()
        if self.op == "extract_and_operate" and self.interaction is None:
            raise ValueError(f"interaction: {self.op} needs one")
        if self.op == "restore" and self.id is None:
            raise ValueError("id: restore needs the id of a memory")
        if self.op == "forget" and self.id is None and self.everything is None:
            raise ValueError("id: forget needs the id of a memory, or all: true")
        if self.id is not None and self.everything is not None:
            raise ValueError("all: forget takes either an id or all: true, not both")
        return self

    def _has_nothing_of_another(self) -> None:
        """Refuse what the operation would ignore."""
        own = OWN_FIELDS[self.op]
        for name in sorted(frozenset().union(*OWN_FIELDS.values()) - own):
            field = type(self).model_fields[name]
            if getattr(self, name) != field.default:
                raise ValueError(f"{field.alias}: {self.op} has none")

    def _judges_clearly(self) -> None:
        """Refuse feedback on nothing, on too much, or of two minds."""
        if self.op == "feedback" and not self.judgements:
            raise ValueError(f"helpful: feedback needs the id of a memory, in one of {', '.join(JUDGEMENTS)}")
        seen: dict[int, Judgement] = {}
        for name in JUDGEMENTS:
            for memory_id in getattr(self, name) or ():
                before = seen.setdefault(memory_id, name)
                if before != name and (before != "used" or name == "withdrawn"):
                    raise ValueError(f"{name}: memory {memory_id} is told as {before} already")
            if len(seen) > MAX_JUDGED:
                raise ValueError(f"{name}: feedback judges at most {MAX_JUDGED} memories")

    @property
    def judgements(self) -> dict[int, Judgement]:
        """What feedback says of each memory that it names, by id; to be judged says more than to be used."""
        return {memory_id: name for name in JUDGEMENTS for memory_id in getattr(self, name) or ()}

    def identified(self, recorded_at: datetime) -> Self:
        """The same command with its id: its own, or one made of all it says and when the broker took it in.

        Args:
            recorded_at: So that the same thing asked again later is asked again, and not taken for a repeat.
        """
        if self.command_id is not None:
            return self
        moment = recorded_at.isoformat()
        return self.model_copy(update={"command_id": derived_id("command", self.to_wire(), moment)})


def texts_of(interaction: str | tuple[str, ...]) -> tuple[str, ...]:
    """The texts of an interaction, in order."""
    return (interaction,) if isinstance(interaction, str) else interaction
