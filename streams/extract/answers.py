"""Code and commands that answer a question, as one fact: the question's topic, the explanation, the names in the code.

Rule of this file: the text is made of words that were said and of names that the code defines or uses.
"""

import re
from collections.abc import Sequence

from streams.extract.claims import tidy
from streams.extract.code import MAX_CODE, Code
from streams.extract.significance import asked_on
from streams.ruledata import load

MAX_EXPLANATION = 400
"""Characters of explanation in the text."""
MAX_NAMES = 6
_POLITE = re.compile(load("extract", "dialogue")["asked_politely"], re.IGNORECASE)
_HOW = re.compile(r"^how (?:do|can|could|should|would|to)(?: (?:i|we|you|one))?\s+", re.IGNORECASE)


def topic_of(question: str) -> str:
    """What a question is about: "How do I X?" is "How to X"."""
    tail = asked_on(question)
    asked = tidy(question[:tail] if tail else question)
    asked = _POLITE.sub("", asked)
    match = _HOW.match(asked)
    return f"How to {asked[match.end() :]}" if match else asked


def joined(codes: Sequence[Code]) -> Code:
    """Several pieces of code, at least one, as one; a program goes before command lines."""
    first = min(codes, key=lambda code: code.is_shell)
    text = "\n\n".join(dict.fromkeys(code.text.strip() for code in codes if code.is_shell == first.is_shell))
    return Code(text[:MAX_CODE], first.language)


def answer_text(question: str | None, explanation: Sequence[str], code: Code) -> tuple[str, int]:
    """The text of the fact.

    Args:
        question: The question, where one was asked.
        explanation: Sentences said about the code, in order.
        code: The code.

    Returns:
        The text, and how many sentences of the explanation are in it.
    """
    names = _names(code)
    kept: list[str] = []
    for sentence in explanation:
        if kept and len(" ".join([*kept, sentence])) > MAX_EXPLANATION:
            break
        kept.append(sentence)
    head = topic_of(question) if question else ""
    if names:
        head = f"{head}: {names}" if head else names
    body = " ".join(kept)
    return (f"{head}. {body}" if head and body else head or body), len(kept)


def _names(code: Code) -> str:
    if code.is_shell:
        return ""
    defined, used = code.defined()[:MAX_NAMES], code.used()[:MAX_NAMES]
    used = tuple(name for name in used if name not in defined)
    if not defined and not used:
        return ""
    outer = defined[0] if defined else ""
    using = f"with {', '.join(used)}" if used else ""
    return f"{outer} {using}".strip()
