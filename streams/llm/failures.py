"""Why a model gave nothing that can be used.

Rule of this file: reasons are a closed list, since they label metrics and stand in records. No reason and no detail
ever holds what somebody or the model said.

    ModelFailed            give up: the rules answer
    └── ContextExceeded    ask again with less text
"""

from typing import Literal

Reason = Literal[
    "not configured",
    "unreachable",
    "timeout",
    "busy",
    "quota",
    "server error",
    "broken reply",
    "too large",
    "redirected",
    "not authorised",
    "not found",
    "request refused",
    "context exceeded",
    "no answer",
    "refused",
    "cut off",
    "invalid answer",
    "circuit open",
    "budget spent",
    "too much text",
    "delete not asked for",
    "no recorded answer",
]
AWAY: frozenset[Reason] = frozenset(
    {
        "unreachable",
        "timeout",
        "busy",
        "quota",
        "server error",
        "broken reply",
        "too large",
        "redirected",
        "not authorised",
        "not found",
    }
)
"""Reasons that speak against the endpoint rather than against one request: they count for the breaker."""


class ModelFailed(Exception):  # noqa: N818 - named by what it says, as the errors of ``schemas``
    """The model gave nothing that can be used."""

    def __init__(self, reason: Reason, detail: str = "", *, lasts: bool = False) -> None:
        """Say why.

        Args:
            reason: One of the list.
            detail: For the operator: a status, a class of error; nothing that was said.
            lasts: The endpoint itself says that it will be so for a while.
        """
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.lasts = lasts


class ContextExceeded(ModelFailed):
    """The text is longer than the model's context: ask with less."""

    def __init__(self) -> None:
        super().__init__("context exceeded")


def degraded(reason: Reason) -> str:
    """How a record or a report tells it."""
    return f"llm: {reason}"
