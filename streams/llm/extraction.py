"""Facts out of a model's answer, beside those that the rules read.

Rule of this file: pure; the first answer and a recorded one are read by the same functions. The model proposes, rules
dispose: what the rules have read stays as they read it, also where the model is silent; a proposal counts only where it
is grounded in what was said, and else it is a skip with its reason.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from schemas.answers import ModelAnswer
from schemas.commands import Command
from schemas.conversation import Turn
from schemas.facts import PREVIEW_CHARACTERS, Extraction, Fact, Skip
from streams.decide.words import words_of
from streams.extract import significance
from streams.extract.claims import Claim
from streams.extract.code import Code
from streams.extract.dates import resolve_dates
from streams.extract.drafts import Draft, fact_of
from streams.extract.interaction import turns_of
from streams.extract.profiles import ALL, Profile, sorted_by
from streams.extract.reading import read_claim, speaker_of
from streams.extract.turns import MAX_CONTEXT, MAX_FACTS, read_turn
from streams.llm.grounding import LONG, Ground, content_of, details_of, ground_of
from streams.llm.prompts import Question, extraction_question, prompt_id
from streams.llm.shapes import MAX_REQUESTS, READ_TEXT, ToldFact, recalled_facts
from streams.llm.transcript import Line, Spoken, lines_of, spoken_in, windows_of

EXTRACTOR: Final = "llm/1"
REWORDED: Final = "kept as the model words it"
WITHIN: Final = 0.8
"""Share of a proposal's words from which a statement that is kept says it already."""
COVERED: Final = 0.5
"""Share of a statement's words from which proposals say it instead, where the rules have not understood it."""
CRISP_WORDS: Final = 6
"""Words of a subject or a value; in a longer one a grammar has swallowed more than a claim."""
LOWEST_TRUST: Final = 0.7
"""What the confidence of a fact is multiplied with where as little of it was said as is allowed; 1 for all of it."""
_BINDING: Final = frozenset({"retraction", "decision"})
"""What a speaker does by saying it: asks to forget, or agrees. The rules alone read that."""
_LABEL = re.compile(r"^\W*(?:user|human|speaker)\s*[:\uff1a]\s*(?=\S)", re.IGNORECASE)
_PRONOUNS: Final = frozenset({"it", "this", "that", "he", "she", "they"})


@dataclass(frozen=True)
class Material:
    """The texts of one record.

    Attributes:
        record_id: The facts' ids are made of it.
        turns: Masked and identified; context first.
        first_new: Number of the first turn that is no context.
        spoken_at: Event time of the facts.
        profile: What is worth remembering.
    """

    record_id: str
    turns: tuple[Turn, ...]
    first_new: int
    spoken_at: datetime
    profile: Profile = ALL


@dataclass(frozen=True)
class _Proposal:
    draft: Draft
    ground: Ground

    @property
    def number(self) -> int:
        return self.ground.spoken.number


@dataclass(frozen=True)
class Inquiry:
    """What is asked about one record.

    Attributes:
        prompt: Id of the prompt with a fingerprint of all that is asked.
        windows: Lines of one request each; none where nothing is left to ask about.
        is_cut: Whether there was more than may be asked.
    """

    material: Material
    prompt: str
    windows: tuple[tuple[Line, ...], ...]
    codes: int
    is_cut: bool = False

    def question(self, window: Sequence[Line]) -> Question:
        """The request for one window."""
        return extraction_question(window, len(self.material.turns), self.codes)


def material_of(turn: Turn, context: Sequence[Turn], record_id: str, profile: Profile = ALL) -> Material:
    """The texts of a turn's record.

    Args:
        turn: The masked turn.
        context: The last turns of the same scope and session, oldest first.
        record_id: Of the turn's record.
        profile: What is worth remembering.
    """
    turns = tuple(one.identified() for one in (*context[-MAX_CONTEXT:], turn))
    return Material(record_id, turns, len(turns) - 1, turn.timestamp, profile)


def material_of_command(command: Command, record_id: str, recorded_at: datetime, profile: Profile = ALL) -> Material:
    """The texts of a command's record: its interaction, speech by speech.

    Args:
        command: The masked command, of operation ``extract_and_operate``.
        record_id: Of the command's record.
        recorded_at: When the broker took it in.
        profile: What is worth remembering.
    """
    turns, _ = turns_of(command, record_id=record_id, recorded_at=recorded_at)
    return Material(record_id, tuple(turns), 0, command.timestamp or recorded_at, profile)


def inquiry_of(material: Material) -> Inquiry:
    """What to ask about a record."""
    spoken = spoken_in(material.turns)
    lines = lines_of(spoken, material.first_new)
    windows = windows_of(lines)
    asked = [f"{line.number} {line.role} {line.is_new} {line.text}" for line in lines]
    codes = sum(len(one.codes) for one in spoken)
    return Inquiry(
        material,
        prompt_id("extraction", asked),
        tuple(windows[:MAX_REQUESTS]),
        codes,
        is_cut=len(windows) > MAX_REQUESTS,
    )


def understood(material: Material, told: ModelAnswer, rules: Extraction) -> Extraction:
    """The facts of a record, with a model's answer.

    Args:
        material: Its texts.
        told: What the model said, first-hand or recorded; or why it said nothing.
        rules: What the rules made of the same texts.

    Returns:
        What the rules made where there is no answer, marked as degraded.

    Raises:
        AnswerInvalid: The recorded answer is none of ours.
    """
    if told.answer is None:
        return _marked(rules, told)
    spoken = spoken_in(material.turns)
    proposals, refused = _proposals(recalled_facts(told.answer), material, spoken)
    drafts, skips = _settled(_drafts(material), proposals)
    kept, over = drafts[:MAX_FACTS], drafts[MAX_FACTS:]
    facts = tuple(_fact(row, material, index) for index, row in enumerate(kept))
    skipped = [skip for skip in rules.skipped if skip.reason != significance.TOO_MANY]
    skipped += [*refused, *skips, *(_skip(_draft_of(row), significance.TOO_MANY) for row in over)]
    found = rules.model_copy(update={"facts": facts, "skipped": tuple(skipped)})
    return _marked(found.model_copy(update={"extractor": f"{EXTRACTOR}+{rules.extractor}"}), told)


def _marked(found: Extraction, told: ModelAnswer) -> Extraction:
    """An extraction with what the model had to do with it."""
    missing = (told.degraded,) if told.degraded is not None else ()
    return found.model_copy(update={"model": told, "degraded": (*found.degraded, *missing)})


def _skip(draft: Draft, reason: str) -> Skip:
    return Skip(text=(draft.told or draft.text)[:PREVIEW_CHARACTERS], reason=reason)


def _drafts(material: Material) -> list[tuple[int, Draft]]:
    """What the rules read, each with the number of its turn."""
    found: list[tuple[int, Draft]] = []
    for number in range(material.first_new, len(material.turns)):
        context = material.turns[max(0, number - MAX_CONTEXT) : number]
        drafts, _ = sorted_by(material.profile, read_turn(material.turns[number], context)[0])
        found += [(number, draft) for draft in drafts]
    return found


def _proposals(
    told: Sequence[ToldFact], material: Material, spoken: Sequence[Spoken]
) -> tuple[list[_Proposal], list[Skip]]:
    """The proposals that are grounded, and what was refused and why."""
    proposals: list[_Proposal] = []
    refused: list[Skip] = []
    codes = {mark: code for one in spoken for mark, code in one.codes}
    for fact in told:
        text, code = _without_marks(fact, codes)
        ground = LONG if len(fact.text) > READ_TEXT else ground_of(text, fact.turn, spoken, material.first_new)
        if isinstance(ground, str):
            refused.append(Skip(text=text[:PREVIEW_CHARACTERS], reason=ground))
            continue
        draft = _draft(text, code, fact, ground)
        fit, unfit = sorted_by(material.profile, [draft])
        refused += unfit
        if fit and any(_says_the_same(draft, known.draft) for known in proposals):
            refused.append(_skip(draft, significance.REPEATED))
        elif fit:
            proposals.append(_Proposal(draft, ground))
    fullest = [one for one in proposals if not any(_is_part(one.draft, other.draft) for other in proposals)]
    refused += [_skip(one.draft, significance.REPEATED) for one in proposals if one not in fullest]
    return fullest, refused


def _is_part(one: Draft, other: Draft) -> bool:
    """Whether another statement says all that one says, and more."""
    mine, theirs = set(content_of(one.text)), set(content_of(other.text))
    return mine < theirs and words_of(one.text).negative == words_of(other.text).negative


def _without_marks(fact: ToldFact, codes: dict[str, Code]) -> tuple[str, Code | None]:
    """A fact's text without marks of code and of who speaks, and the code that it names."""
    named = [mark for mark in codes if mark in fact.text or mark == fact.code_pattern]
    text = _LABEL.sub("", fact.text)
    for mark in named:
        text = " ".join(text.replace(mark, " ").split())
    return text, codes[named[0]] if named else None


def _draft(text: str, code: Code | None, fact: ToldFact, ground: Ground) -> Draft:
    turn, language = ground.spoken.turn, ground.spoken.language
    claim = read_claim(text, language, speaker_of(turn))
    said = {word.casefold() for word in words_of(ground.spoken.text).all}
    sources = [one.turn.turn_id or "" for one in (ground.lender, ground.spoken) if one is not None]
    return Draft(
        resolve_dates(text, turn.timestamp, language),
        claim,
        turn.role,
        language,
        tuple(dict.fromkeys(sources)),
        significance.mood_of(text, claim),
        code,
        resolved=not _is_open(claim),
        told=text,
        tags=tuple(tag.casefold() for tag in fact.tags if tag.casefold() in said and len(tag) > 1),
    )


def _is_open(claim: Claim) -> bool:
    """Whether it still speaks of "it" without saying of what."""
    return claim.subject in _PRONOUNS


def _says_the_same(one: Draft, other: Draft) -> bool:
    same_claim = one.claim.is_read and one.claim == other.claim
    mine, theirs = words_of(one.text), words_of(other.text)
    same_words = content_of(one.text) == content_of(other.text) != () and mine.negative == theirs.negative
    return same_claim or same_words or mine.all == theirs.all


def _settled(
    drafts: Sequence[tuple[int, Draft]], proposals: Sequence[_Proposal]
) -> tuple[list[tuple[int, Draft | _Proposal]], list[Skip]]:
    """What is kept of both, in the order of the turns, and what is not.

    Args:
        drafts: Of the rules, each with the number of its turn.
        proposals: Of the model, whose silence about a statement says nothing.
    """
    left = list(proposals)
    kept: list[tuple[int, Draft | _Proposal]] = []
    skips: list[Skip] = []
    for number, draft in drafts:
        near = [one for one in left if one.number == number]
        within = [one for one in near if _is_within(one.draft, [draft])]
        if _is_taken_apart(draft, [one.draft for one in within]):
            continue
        if not _is_held(draft) and _is_covered(draft, [one.draft for one in near]):
            skips.append(_skip(draft, REWORDED))
            continue
        kept.append((number, draft))
        left = [one for one in left if one not in within]
    stated = {number: [draft for at, draft in kept if at == number and isinstance(draft, Draft)] for number, _ in kept}
    kept += [(one.number, one) for one in left if not _is_within(one.draft, stated.get(one.number, ()))]
    return sorted(kept, key=lambda row: row[0]), skips


def _is_held(draft: Draft) -> bool:
    """Whether the rules have understood it, so that no proposal can take its place but its own parts."""
    claim = draft.claim
    is_crisp = max(len(words_of(part or "").all) for part in (claim.subject, claim.value)) <= CRISP_WORDS
    is_read = claim.is_read and is_crisp and draft.resolved and not _is_open(claim)
    return is_read or draft.code is not None or draft.mood in _BINDING or len(draft.sources) > 1


def _is_within(proposal: Draft, statements: Sequence[Draft]) -> bool:
    """Whether statements say already what is proposed."""
    if any(_says_the_same(proposal, statement) for statement in statements):
        return True
    wanted = content_of(proposal.text)
    there = {word for statement in statements for word in words_of(statement.text).all}
    return bool(wanted) and sum(word in there for word in wanted) / len(wanted) >= WITHIN


def _is_taken_apart(draft: Draft, parts: Sequence[Draft]) -> bool:
    """Whether several statements, each of them read, say together every word of one."""
    if draft.code is not None or draft.mood in _BINDING or len(parts) < 2 or len(draft.sources) > 1:  # noqa: PLR2004
        return False
    there = {word for part in parts for word in words_of(part.text).all}
    return all(part.claim.is_read for part in parts) and there.issuperset(content_of(draft.text))


def _is_covered(draft: Draft, proposals: Sequence[Draft]) -> bool:
    """Whether proposals say what a statement says, with all of its figures and names."""
    wanted = content_of(draft.text)
    there = {word for proposal in proposals for word in words_of(proposal.text).all}
    if not wanted or details_of(draft.text) - there:
        return False
    return sum(word in there for word in wanted) / len(wanted) >= COVERED


def _draft_of(row: tuple[int, Draft | _Proposal]) -> Draft:
    return row[1].draft if isinstance(row[1], _Proposal) else row[1]


def _fact(row: tuple[int, Draft | _Proposal], material: Material, index: int) -> Fact:
    fact = fact_of(_draft_of(row), material.record_id, index, material.spoken_at)
    one = row[1]
    if isinstance(one, Draft):
        return fact
    sure = LOWEST_TRUST + (1 - LOWEST_TRUST) * one.ground.share
    return fact.model_copy(update={"confidence": round(fact.confidence * sure, 2)})
