"""The body of a 200 as a chat completion: what the model wrote, why it stopped, and what it cost.

Rule of this file: an endpoint may send anything with a 200; each shape is a completion or a typed failure.
"""

from dataclasses import dataclass
from typing import Any

from schemas.errors import InvalidMessage
from schemas.message import parse_object
from streams.llm.failures import Reason


@dataclass(frozen=True)
class Completion:
    """What a model wrote.

    Attributes:
        content: Not blank.
        is_cut: Whether it stopped because it had used up its tokens.
        tokens_in: Tokens of the request, where told.
        tokens_out: Tokens of the answer, where told.
    """

    content: str
    is_cut: bool
    tokens_in: int = 0
    tokens_out: int = 0


@dataclass(frozen=True)
class Unusable:
    """A 200 that answers nothing.

    Attributes:
        again: Whether asking once more may help.
        is_cut: Whether it stopped because it had used up its tokens.
    """

    reason: Reason
    detail: str
    again: bool = True
    is_cut: bool = False
    tokens_in: int = 0
    tokens_out: int = 0


def completion_of(body: bytes) -> Completion | Unusable:
    """Read the body of a 200."""
    try:
        payload = parse_object(body.decode("utf-8-sig"))
    except (InvalidMessage, UnicodeDecodeError) as error:
        return Unusable("broken reply", f"the body is no JSON object ({type(error).__name__})")
    if payload.get("error"):
        return Unusable("no answer", "an error came with status 200")
    choices = payload.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return Unusable("no answer", "there is no choice")
    tokens_in, tokens_out = (_count(payload.get("usage"), name) for name in ("prompt_tokens", "completion_tokens"))
    return _of_choice(choices[0], tokens_in, tokens_out)


def _of_choice(choice: dict[str, Any], tokens_in: int, tokens_out: int) -> Completion | Unusable:
    finish, message = choice.get("finish_reason"), choice.get("message")
    is_cut = finish == "length"
    if not isinstance(message, dict):
        return Unusable("no answer", "there is no message", tokens_in=tokens_in, tokens_out=tokens_out)
    if message.get("refusal") or finish == "content_filter":
        detail = "the model refused" if message.get("refusal") else "a filter stopped it"
        return Unusable("refused", detail, again=False, tokens_in=tokens_in, tokens_out=tokens_out)
    content = _text(message.get("content"))
    if not content.strip():
        reason: Reason = "cut off" if is_cut else "no answer"
        return Unusable(reason, "the content is empty", is_cut=is_cut, tokens_in=tokens_in, tokens_out=tokens_out)
    return Completion(content, is_cut, tokens_in, tokens_out)


def _text(content: Any) -> str:
    """The text of a content: a string, or parts of type text, of which there may be several."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _count(usage: Any, name: str) -> int:
    told = usage.get(name) if isinstance(usage, dict) else None
    return told if isinstance(told, int) and not isinstance(told, bool) and told >= 0 else 0
