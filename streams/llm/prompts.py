"""What a model is asked: the same words each time, then the data, and a schema made for the question.

Rule of this file: instructions stand in the system message, what anybody said in the user message, as JSON between two
tags whose name hangs on what stands between them, so that no text can close them. Texts are data (``prompts.yaml``).
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from streams.llm.shapes import decision_schema, extraction_schema
from streams.llm.transcript import Line, cleaned
from streams.ruledata import load

Kind = Literal["extraction", "decision"]
CANDIDATE_CHARACTERS: Final = 300
"""Of a known memory that are shown."""
FACT_CHARACTERS: Final = 1_000
"""Of a new fact that are shown."""
_FINGERPRINT: Final = 12
"""Hexadecimal digits that tell one question from another."""
_TEXTS = load("llm", "prompts")


@dataclass(frozen=True)
class Question:
    """One request to a model.

    Attributes:
        kind: Also the name of its schema.
        system: Instructions.
        user: The data.
        schema: What the answer must look like.
    """

    kind: Kind
    system: str
    user: str
    schema: Mapping[str, Any]

    @property
    def system_with_schema(self) -> str:
        """Instructions for an endpoint that takes no schema."""
        told = json.dumps(self.schema, ensure_ascii=False)
        return f"{self.system}\n\n{_TEXTS['in_words'].replace('{schema}', told)}"

    def corrective(self, fault: str) -> str:
        """What a model is told whose answer does not fit."""
        text: str = _TEXTS[self.kind]["corrective"]
        return text.replace("{fault}", fault)


def prompt_id(kind: Kind, asked: Sequence[str]) -> str:
    """Name and version of a prompt with a fingerprint of what is asked by it."""
    return f"{kind}/{_TEXTS[kind]['version']}#{_fingerprint(asked)}"


def extraction_question(window: Sequence[Line], turns: int, codes: int) -> Question:
    """Ask for the facts of some lines.

    Args:
        window: The lines.
        turns: How many turns the whole conversation has.
        codes: How many pieces of code were taken out of it.
    """
    rows = [
        {"turn": line.number, "role": line.role} | ({"new": True} if line.is_new else {}) | {"text": line.text}
        for line in window
    ]
    return _question("extraction", rows, extraction_schema(turns, codes))


def decision_question(fact: str, candidates: Sequence[str]) -> Question:
    """Ask what a fact does to some known memories.

    Args:
        fact: The new fact.
        candidates: Texts of the memories, numbered from 0.
    """
    rows: list[dict[str, Any]] = [
        {"known": number, "text": cleaned(text)[:CANDIDATE_CHARACTERS]} for number, text in enumerate(candidates)
    ]
    rows.append({"new": cleaned(fact)[:FACT_CHARACTERS]})
    return _question("decision", rows, decision_schema(len(candidates)))


def _question(kind: Kind, rows: Sequence[Mapping[str, Any]], schema: Mapping[str, Any]) -> Question:
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    tag = f"data-{_fingerprint(lines)}"
    return Question(kind, _TEXTS[kind]["system"], "\n".join([f"<{tag}>", *lines, f"</{tag}>"]), schema)


def _fingerprint(parts: Sequence[str]) -> str:
    return hashlib.sha256("\x00".join(parts).encode()).hexdigest()[:_FINGERPRINT]
