"""What people say: the scope it belongs to, and the turn as clients send it."""

import unicodedata
from datetime import datetime
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AwareDatetime, ConfigDict, Field, StringConstraints, field_validator

from schemas.identity import derived_id, partition_of, scope_key
from schemas.message import Input, Message, Metadata, in_utc, utf8

Role = Literal["user", "assistant", "system", "tool"]
Name = Annotated[str, StringConstraints(min_length=1, max_length=256)]

_SHOWN = frozenset("LNPS")
"""First letters of the categories that show something: letters, numbers, punctuation, symbols; no lone marks."""
_FILLERS = frozenset("\u115f\u1160\u2800\u3164\uffa0\ufffd")
"""Letters and patterns that are drawn as nothing, and what stands for a letter that got lost."""


def is_blank(text: str) -> bool:
    """Whether a text shows nothing: white space, characters without width, marks on nothing, in any order.

    An embedding model has a vector even for nothing, and it is a little like everything.
    """
    return not any(unicodedata.category(char)[0] in _SHOWN and char not in _FILLERS for char in text)


def names_somebody(value: str) -> str:
    """The name of a project or a user, as it is.

    Raises:
        ValueError: It is blank or a pattern.
    """
    if is_blank(value) or value in {"*", "%"}:
        raise ValueError("must name one project and one user: not blank, '*' or '%'")
    return utf8(value)


class Scope(Input):
    """The isolation boundary and the partition key: whose memory it is. Both parts are needed, neither is a pattern."""

    project_id: Name
    user_id: Name

    _named = field_validator("project_id", "user_id")(names_somebody)

    @property
    def key(self) -> str:
        """``projectId/userId``, each percent-encoded."""
        return scope_key(self.project_id, self.user_id)

    def partition(self, partitions: int) -> int:
        """The partition of this scope, the same on every scope-keyed topic."""
        return partition_of(self.key, partitions)


class Turn(Message):
    """One thing said in a conversation, as clients send it."""

    model_config = ConfigDict(extra="forbid")
    kind: ClassVar[str] = "turn"

    turn_id: Name | None = None
    scope: Scope
    session_id: Name | None = None
    agent_id: Name | None = None
    role: Role
    name: Name | None = None
    """The speaker, as in chat completions."""
    content: str
    timestamp: AwareDatetime
    """When it was said. The zone is kept: "tomorrow" depends on it."""
    conversation_topic: Annotated[str, Field(max_length=1024)] | None = None
    metadata: Metadata | None = None

    @field_validator("content")
    @classmethod
    def _says_something(cls, value: str) -> str:
        if is_blank(value):
            raise ValueError("must not be blank")
        return utf8(value)

    @field_validator("timestamp")
    @classmethod
    def _is_a_moment_in_utc(cls, value: datetime) -> datetime:
        in_utc(value)
        return value

    def identified(self) -> Self:
        """The same turn with its id: its own, or one made of scope, session, role, time and content."""
        if self.turn_id is not None:
            return self
        moment = self.timestamp.isoformat()
        return self.model_copy(
            update={"turn_id": derived_id("turn", self.scope.key, self.session_id, self.role, moment, self.content)}
        )
