"""The facts of one turn, in the light of the turns before it.

Rule of this file: each sentence ends in a fact or in a skip with its reason; nothing falls through. Same turn, same
context, same profile, same answer.
"""

from collections.abc import Sequence
from typing import Final

from schemas.conversation import Turn
from schemas.facts import PREVIEW_CHARACTERS, Extraction, Skip
from streams.extract import significance
from streams.extract.blocks import Block, blocks_of, without_outer_quotes
from streams.extract.cues import spoken
from streams.extract.dialogue import agreed, agrees, answered, chosen, last_of_other, question_of
from streams.extract.drafts import Draft, fact_of
from streams.extract.language import language_of
from streams.extract.notes import Notes
from streams.extract.parts import parts_of
from streams.extract.profiles import ALL, Profile, sorted_by
from streams.extract.reading import speaker_of
from streams.extract.sentences import sentences_of
from streams.extract.showing import attach, read_assistant, skip_others
from streams.extract.statements import read_part, read_sentence

EXTRACTOR: Final = "rules/2"
MAX_CHARACTERS: Final = 20_000
"""Of a message that are read; the rest is one skip."""
MAX_FACTS: Final = 100
MAX_CONTEXT: Final = 6


def extract(turn: Turn, context: Sequence[Turn], *, record_id: str, profile: Profile = ALL) -> Extraction:
    """What is worth remembering of a turn.

    Args:
        turn: The masked turn.
        context: The last turns of the same scope and session, oldest first.
        record_id: Of the turn's record; the facts' ids are made of it.
        profile: What is worth it: "all", "technical" or "personal".

    Returns:
        Facts in the order of the text, and skips with their reasons. ``masked`` is left to whoever masked the turn.
    """
    turn = turn.identified()
    drafts, skips = read_turn(turn, context)
    drafts, unfit = sorted_by(profile, drafts)
    kept, over = drafts[:MAX_FACTS], drafts[MAX_FACTS:]
    skips += unfit
    skips += [Skip(text=draft.text[:PREVIEW_CHARACTERS], reason=significance.TOO_MANY) for draft in over]
    facts = tuple(fact_of(draft, record_id, index, turn.timestamp) for index, draft in enumerate(kept))
    return Extraction(facts=facts, skipped=tuple(skips), extractor=EXTRACTOR)


def read_turn(turn: Turn, context: Sequence[Turn]) -> tuple[list[Draft], list[Skip]]:
    """The drafts and skips of an identified turn, whatever the profile."""
    content = turn.content[:MAX_CHARACTERS]
    notes = Notes(turn, speaker_of(turn), "und", context=context[-MAX_CONTEXT:])
    if turn.role in {"system", "tool"}:
        notes.skip(turn.content, significance.ROLE.format(role=turn.role))
        return notes.drafts, notes.skips
    blocks = blocks_of(without_outer_quotes(content))
    notes.language = language_of(" ".join(block.text for block in blocks if block.kind == "prose"))
    before = last_of_other(turn, context)
    notes.replies = before is not None
    notes.question = question_of(before) if before is not None and turn.role != "assistant" else None
    if turn.role == "assistant":
        read_assistant(notes, blocks, before)
    else:
        _read_user(notes, blocks, before)
    if len(turn.content) > MAX_CHARACTERS:
        notes.skip(
            turn.content[MAX_CHARACTERS : MAX_CHARACTERS + PREVIEW_CHARACTERS],
            significance.CUT.format(limit=MAX_CHARACTERS),
        )
    return notes.drafts, notes.skips


def _read_user(notes: Notes, blocks: Sequence[Block], before: Turn | None) -> None:
    """Of the user's words everything is a fact that has no reason against it."""
    first = True
    read: list[str] = []
    for block in blocks:
        if block.kind != "prose":
            skip_others(notes, [block])
            continue
        for sentence in sentences_of(block.text, notes.language):
            read.append(sentence)
            if first and before is not None:
                _with_turn_before(notes, sentence, before)
            else:
                read_sentence(notes, sentence)
            first = False
    codes = [block.code for block in blocks if block.code is not None]
    if codes:
        attach(notes, codes, asks=any(_asks(sentence, notes.language) for sentence in read))


def _asks(sentence: str, language: str) -> bool:
    return significance.is_question(sentence, language) or spoken("request", sentence, language)


def _with_turn_before(notes: Notes, sentence: str, before: Turn) -> None:
    """Read the first sentence, which may be an agreement or an answer."""
    if agrees(sentence) and before.role == "assistant":
        drafts = agreed(notes.turn, before, sentence)
        if drafts:
            for agreed_to in drafts:
                notes.keep(agreed_to)
            return
    choice = chosen(notes.turn, before, sentence, notes.language) if before.role == "assistant" else None
    if choice is not None:
        notes.keep(choice)
        return
    if notes.question is None:
        read_sentence(notes, sentence)
        return
    answer_due = True
    for part in parts_of(sentence, notes.language, answers=True):
        if part.reason is not None:
            notes.skip(part.text, part.reason)
            continue
        draft = answered(notes.turn, before, notes.question, part.text, notes.language) if answer_due else None
        answer_due = False
        if draft is not None:
            notes.keep(draft)
        elif part.text == sentence:
            read_sentence(notes, sentence)
        else:
            read_part(notes, part.text)
