"""The errors, one for each thing the caller can do about it.

    MemlakeError
    ├── InvalidMessage   the message is at fault    → dead letter, go on
    ├── Unavailable      the environment is at fault → retry in place, consumption pauses, health says so
    ├── Conflict         somebody else was faster    → read again, decide again
    └── Misconfigured    the operator must act       → stop before consuming

Third-party exceptions become one of these where they enter. A docstring is the default message and names the remedy.
"""


class MemlakeError(Exception):
    """Something went wrong in memlake."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (self.__doc__ or "").strip())


class InvalidMessage(MemlakeError):  # noqa: N818 - named by what it says, as the tree above
    """The message cannot be understood: correct the named field and send it again."""

    def __init__(self, message: str | None = None, *, field: str | None = None) -> None:
        """Say what is wrong.

        Args:
            message: What is wrong and what would be right.
            field: Dotted wire name of the field at fault, where one is.
        """
        super().__init__(message)
        self.field = field


class Unavailable(MemlakeError):  # noqa: N818
    """Broker, lake, model or disk cannot be reached just now: it is tried again until it can."""


class Conflict(MemlakeError):  # noqa: N818
    """Somebody else changed the same thing first: read it again and decide again."""


class Misconfigured(MemlakeError):  # noqa: N818
    """The settings or the state on disk do not fit: change them as told and start again."""
