"""What is shown: code and commands, with the sentences that explain them.

Rule of this file: code is a fact only with something said about it; whoever only asks about code has told nothing.
"""

from collections.abc import Sequence
from dataclasses import replace

from schemas.conversation import Turn
from schemas.facts import Skip
from streams.extract import significance
from streams.extract.answers import answer_text, joined
from streams.extract.blocks import Block
from streams.extract.claims import Claim
from streams.extract.code import Code, commands_in
from streams.extract.cues import CUES, spoken
from streams.extract.dialogue import question_of
from streams.extract.drafts import Draft
from streams.extract.notes import Notes
from streams.extract.sentences import sentences_of
from streams.extract.stance import speaks_of_self


def skip_others(notes: Notes, blocks: Sequence[Block]) -> None:
    """Note what is quoted from others and what came out of a memory."""
    for block in blocks:
        if block.kind == "quote":
            notes.skip(block.text, significance.QUOTE)
        elif block.kind == "echo":
            notes.skip(block.text, significance.ECHO)


def read_assistant(notes: Notes, blocks: Sequence[Block], before: Turn | None) -> None:
    """Of the assistant's words only what answers a question by code or command is a fact by itself."""
    skip_others(notes, blocks)
    shown = [block.code for block in blocks if block.code is not None]
    sentences = [
        sentence for block in blocks if block.kind == "prose" for sentence in sentences_of(block.text, notes.language)
    ]
    commands = [command for sentence in sentences for command in commands_in(sentence)]
    question = question_of(before) if before is not None else None
    if before is not None and question is not None and (shown or commands):
        told = shown or [Code("\n".join(commands), "bash")]
        _answer(notes, question, sentences, joined(told), before)
        return
    for piece in shown:
        notes.skip(piece.text, significance.CODE)
    for sentence in sentences:
        reason = significance.reason_against(sentence, notes.language)
        if spoken("proposal", sentence, notes.language):
            reason = significance.SUGGESTION
        notes.skip(sentence, reason or significance.UNCONFIRMED)


def _answer(notes: Notes, question: str, sentences: list[str], code: Code, before: Turn) -> None:
    explanation: list[str] = []
    for sentence in sentences:
        reason = significance.reason_against(sentence, notes.language)
        if reason is None or (reason == significance.INTRODUCTION and _names_something(sentence)):
            explanation.append(sentence)
        else:
            notes.skip(sentence, reason)
    text, used = answer_text(question, explanation, code)
    for sentence in explanation[used:]:
        notes.skip(sentence, "beyond what one fact holds")
    sources = (before.identified().turn_id or "", notes.source)
    notes.drafts.append(Draft(text, Claim(), notes.turn.role, notes.language, sources, "instruction", code, told=text))


def _names_something(sentence: str) -> bool:
    return CUES["meta"].opens(sentence) is None


def _introduces(skip: Skip, language: str) -> bool:
    """Whether what was skipped says whose code it is: "here's how we connect:"."""
    if skip.reason == significance.META:
        return skip.text.rstrip().endswith((":", "\uff1a")) and speaks_of_self(skip.text, language)
    return skip.reason == significance.INTRODUCTION


def attach(notes: Notes, codes: list[Code], *, asks: bool) -> None:
    """Join code that a user shows to what the message says; under a question it is only shown."""
    if asks:
        for piece in codes:
            notes.skip(piece.text, significance.CODE)
        return
    code = joined(codes)
    if notes.drafts:
        names, _ = answer_text(None, (), code)
        last = notes.drafts[-1]
        text = last.text if not names or names in last.text else f"{last.text} ({names})"
        notes.drafts[-1] = replace(last, code=code, text=text)
        return
    introduced = [skip for skip in notes.skips if _introduces(skip, notes.language)]
    text, _ = answer_text(None, [skip.text.rstrip(":") for skip in introduced], code)
    if not text:
        for piece in codes:
            notes.skip(piece.text, significance.CODE)
        return
    notes.skips = [skip for skip in notes.skips if skip not in introduced]
    notes.drafts.append(
        Draft(text, Claim(), notes.turn.role, notes.language, (notes.source,), "instruction", code, told=text)
    )
