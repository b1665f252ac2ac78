"""The facts of one turn, in the light of the turns before it.

Rule of this file: each sentence ends in a fact or in a skip with its reason; nothing falls through. Same turn, same
context, same answer.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from schemas.conversation import Turn
from schemas.facts import PREVIEW_CHARACTERS, Extraction, Skip
from streams.extract import significance
from streams.extract.answers import answer_text, joined
from streams.extract.antecedents import Said, bare_value, corrected, pronoun_of, with_antecedent
from streams.extract.blocks import Block, blocks_of, without_outer_quotes
from streams.extract.claims import Claim
from streams.extract.clauses import clauses_of
from streams.extract.code import Code, commands_in
from streams.extract.cues import CUES, spoken
from streams.extract.dates import resolve_dates
from streams.extract.dialogue import agreed, agrees, answered, last_of_other, question_of, sentences_said
from streams.extract.drafts import Draft, fact_of
from streams.extract.language import language_of
from streams.extract.openers import Opened, opened
from streams.extract.reading import read_claim, speaker_of
from streams.extract.sentences import sentences_of

EXTRACTOR: Final = "rules/1"
MAX_CHARACTERS: Final = 20_000
"""Of a message that are read; the rest is one skip."""
MAX_FACTS: Final = 100
MAX_CONTEXT: Final = 6
_ALPHANUMERIC = re.compile(r"\w+")


@dataclass
class _Notes:
    """What was found so far in one turn."""

    turn: Turn
    speaker: str
    language: str
    drafts: list[Draft] = field(default_factory=list)
    skips: list[Skip] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)
    """In this turn so far."""
    context: Sequence[Turn] = ()

    @cached_property
    def said_before(self) -> list[Said]:
        """What the same speaker said in the turns before; read only when a sentence needs it."""
        own = [turn for turn in self.context if (turn.role, turn.name) == (self.turn.role, self.turn.name)]
        return [said for turn in own for said in _said(turn)]

    @property
    def before(self) -> list[Said]:
        """What the same speaker said up to here, oldest first."""
        return [*self.said_before, *self.said]

    @property
    def source(self) -> str:
        return self.turn.turn_id or ""

    def skip(self, text: str, reason: str) -> None:
        preview = text.strip()
        self.skips.append(Skip(text=preview[:PREVIEW_CHARACTERS], reason=reason))


def extract(turn: Turn, context: Sequence[Turn], *, record_id: str) -> Extraction:
    """What is worth remembering of a turn.

    Args:
        turn: The masked turn.
        context: The last turns of the same scope and session, oldest first.
        record_id: Of the turn's record; the facts' ids are made of it.

    Returns:
        Facts in the order of the text, and skips with their reasons. ``masked`` is left to whoever masked the turn.
    """
    turn = turn.identified()
    drafts, skips = read_turn(turn, context)
    kept, over = drafts[:MAX_FACTS], drafts[MAX_FACTS:]
    skips += [
        Skip(text=draft.text[:PREVIEW_CHARACTERS], reason="more facts than one message may hold") for draft in over
    ]
    facts = tuple(fact_of(draft, record_id, index, turn.timestamp) for index, draft in enumerate(kept))
    return Extraction(facts=facts, skipped=tuple(skips), extractor=EXTRACTOR)


def read_turn(turn: Turn, context: Sequence[Turn]) -> tuple[list[Draft], list[Skip]]:
    """The drafts and skips of an identified turn."""
    content = turn.content[:MAX_CHARACTERS]
    notes = _Notes(turn, speaker_of(turn), "und", context=context[-MAX_CONTEXT:])
    if turn.role in {"system", "tool"}:
        notes.skip(turn.content, significance.ROLE.format(role=turn.role))
        return notes.drafts, notes.skips
    blocks = blocks_of(without_outer_quotes(content))
    notes.language = language_of(" ".join(block.text for block in blocks if block.kind == "prose"))
    before = last_of_other(turn, context)
    if turn.role == "assistant":
        _read_assistant(notes, blocks, before)
    else:
        _read_user(notes, blocks, before)
    if len(turn.content) > MAX_CHARACTERS:
        notes.skip(
            turn.content[MAX_CHARACTERS : MAX_CHARACTERS + PREVIEW_CHARACTERS],
            significance.CUT.format(limit=MAX_CHARACTERS),
        )
    return notes.drafts, notes.skips


def _said(turn: Turn) -> list[Said]:
    speaker, source = speaker_of(turn), turn.identified().turn_id or ""
    return [
        Said(sentence, read_claim(opened(sentence).text, language, speaker), language, source)
        for sentence, language in sentences_said(turn)
        if significance.reason_against(sentence, language) is None
    ]


def _skip_others(notes: _Notes, blocks: Sequence[Block]) -> None:
    for block in blocks:
        if block.kind == "quote":
            notes.skip(block.text, significance.QUOTE)
        elif block.kind == "echo":
            notes.skip(block.text, significance.ECHO)


def _read_assistant(notes: _Notes, blocks: Sequence[Block], before: Turn | None) -> None:
    """Of the assistant's words only what answers a question by code or command is a fact by itself."""
    _skip_others(notes, blocks)
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


def _answer(notes: _Notes, question: str, sentences: list[str], code: Code, before: Turn) -> None:
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


def _read_user(notes: _Notes, blocks: Sequence[Block], before: Turn | None) -> None:
    """Of the user's words everything is a fact that has no reason against it."""
    first = True
    asks = False
    for block in blocks:
        if block.kind != "prose":
            _skip_others(notes, [block])
            continue
        for sentence in sentences_of(block.text, notes.language):
            asks = (
                asks
                or significance.is_question(sentence, notes.language)
                or spoken("request", sentence, notes.language)
            )
            if not (first and before is not None and _with_turn_before(notes, sentence, before)):
                _read_sentence(notes, sentence)
            first = False
    codes = [block.code for block in blocks if block.code is not None]
    if codes:
        _attach(notes, codes, asks=asks)


def _attach(notes: _Notes, codes: list[Code], *, asks: bool) -> None:
    """Code that a user shows belongs to what the message says; under a question it is only shown."""
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
    introduced = [skip for skip in notes.skips if skip.reason == significance.INTRODUCTION]
    text, _ = answer_text(None, [skip.text.rstrip(":") for skip in introduced], code)
    if not text:
        for piece in codes:
            notes.skip(piece.text, significance.CODE)
        return
    notes.skips = [skip for skip in notes.skips if skip not in introduced]
    notes.drafts.append(
        Draft(text, Claim(), notes.turn.role, notes.language, (notes.source,), "instruction", code, told=text)
    )


def _with_turn_before(notes: _Notes, sentence: str, before: Turn) -> bool:
    """Whether the first sentence is an agreement or an answer; then its facts are taken."""
    if agrees(sentence) and before.role == "assistant":
        drafts = agreed(notes.turn, before, sentence)
        if drafts:
            notes.drafts.extend(drafts)
            return True
    draft = answered(notes.turn, before, sentence, notes.language)
    if draft is not None:
        notes.drafts.append(draft)
        return True
    return False


def _read_sentence(notes: _Notes, sentence: str) -> None:
    reason = significance.reason_against(sentence, notes.language)
    if reason in {significance.ORDER, significance.ECHO, significance.META, significance.GREETING}:
        notes.skip(sentence, reason)
        return
    tail = significance.asked_on(sentence)
    if tail is not None and read_claim(opened(sentence[:tail]).text, notes.language, notes.speaker).is_read:
        notes.skip(sentence[tail:].lstrip(" ,"), significance.QUESTION)
        _read_sentence(notes, sentence[:tail])
        return
    told = opened(sentence)
    if told.forget:
        _retraction(notes, sentence, told)
        return
    if told.text != sentence or reason is not None:
        reason = significance.reason_against(told.text, notes.language)
        if told.correction and reason in {significance.THIN, significance.REACTION}:
            reason = None
    if reason is not None:
        notes.skip(sentence, reason)
        return
    if told.correction:
        _correction(notes, sentence, told)
        return
    for clause in clauses_of(told.text, notes.language):
        thin = significance.reason_against(clause, notes.language)
        if thin == significance.ONLY_MASK:
            notes.skip(clause, thin)
        else:
            _statement(notes, clause, sentence)


def _statement(notes: _Notes, text: str, sentence: str) -> None:
    claim = read_claim(text, notes.language, notes.speaker)
    if not claim.is_read and significance.is_fragment(text, notes.language):
        notes.skip(sentence, significance.THIN)
        return
    sources: tuple[str, ...] = (notes.source,)
    resolved = True
    pronoun = pronoun_of(text) if notes.language in {"en", "und"} else None
    if pronoun is not None:
        found = with_antecedent(pronoun, notes.before, notes.speaker)
        resolved = found is not None
        if found is not None:
            text, claim = found.text, found.claim
            sources = tuple(dict.fromkeys([found.source, notes.source]))
    _keep(
        notes,
        Draft(
            text,
            claim,
            notes.turn.role,
            notes.language,
            sources,
            significance.mood_of(text, claim),
            resolved=resolved,
            told=sentence,
        ),
    )


def _correction(notes: _Notes, sentence: str, told: Opened) -> None:
    claim = read_claim(told.text, notes.language, notes.speaker)
    sources: tuple[str, ...] = (notes.source,)
    text = sentence
    if claim.subject in {None, "it", "that", "this", "he", "she", "they"} or not claim.is_read:
        found = corrected(told.text, notes.before, notes.speaker)
        if found is not None:
            lead = told.correction.rstrip()
            text, claim = f"{lead} {_lowered(found.text)}", found.claim
            sources = tuple(dict.fromkeys([found.source, notes.source]))
        elif (value := bare_value(told.text)) is not None:
            claim = Claim("it", "is", value, claim.polarity)
    same = [draft for draft in notes.drafts if draft.claim.is_read and _same_key(draft.claim, claim)]
    for draft in same:
        notes.drafts.remove(draft)
        notes.skip(draft.told or draft.text, significance.CORRECTED)
    if same and text == sentence:
        text = told.text
    _keep(
        notes,
        Draft(
            text, claim, notes.turn.role, notes.language, sources, significance.mood_of(told.text, claim), told=sentence
        ),
    )


def _lowered(text: str) -> str:
    first = text.split(maxsplit=1)[0] if text.split() else ""
    return text[0].lower() + text[1:] if first in {"The", "My", "Our", "A", "An", "This"} else text


def _same_key(one: Claim, other: Claim) -> bool:
    return one.subject == other.subject and one.attribute == other.attribute


def _retraction(notes: _Notes, sentence: str, told: Opened) -> None:
    claim = significance.forgotten(told.text, notes.language, notes.speaker)
    _keep(notes, Draft(sentence, claim, notes.turn.role, notes.language, (notes.source,), "retraction", told=sentence))


def _keep(notes: _Notes, draft: Draft) -> None:
    """Keep a draft unless the message said it before; dates are resolved last."""
    words = _ALPHANUMERIC.findall(draft.text.casefold())
    for earlier in notes.drafts:
        same_claim = draft.claim.is_read and draft.claim == earlier.claim and draft.mood == earlier.mood
        if same_claim or words == _ALPHANUMERIC.findall(earlier.text.casefold()):
            notes.skip(draft.told or draft.text, significance.REPEATED)
            return
    notes.said.append(Said(draft.text, draft.claim, draft.language, notes.source))
    dated = resolve_dates(draft.text, notes.turn.timestamp, draft.language)
    notes.drafts.append(replace(draft, text=dated))
