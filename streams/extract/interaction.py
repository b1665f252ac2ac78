"""The facts of an extract-and-operate command: its texts read as the turns of a conversation.

Rule of this file: it cuts transcripts into turns; what a turn says is read elsewhere.
"""

import re
from datetime import datetime

from schemas.commands import Command, texts_of
from schemas.conversation import Role, Scope, Turn, is_blank
from schemas.facts import PREVIEW_CHARACTERS, Extraction, Skip
from streams.extract.blocks import blocks_of, without_outer_quotes
from streams.extract.dialogue import question_of
from streams.extract.drafts import Draft, fact_of
from streams.extract.lowered import lowered
from streams.extract.profiles import ALL, Profile, sorted_by
from streams.extract.significance import TOO_MANY
from streams.extract.turns import EXTRACTOR, MAX_CONTEXT, MAX_FACTS, read_turn

MAX_TURNS = 500
"""Speeches of one command that are read; the rest is one skip."""
_ROLES: dict[str, Role] = {
    "user": "user",
    "human": "user",
    "me": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "bot": "assistant",
    "agent": "assistant",
    "system": "system",
    "tool": "tool",
}
_SPEECH = re.compile(rf"^[ \t>*_#]{{0,6}}({'|'.join(_ROLES)})[*_]{{0,2}}\s*[:\uff1a][*_]{{0,2}}[ \t]*", re.MULTILINE)


def extract_interaction(
    command: Command, *, record_id: str, recorded_at: datetime, profile: Profile = ALL
) -> Extraction:
    """What is worth remembering of a command's interaction.

    A text may be a transcript with "User:" and "Assistant:" lines, with or without quotation marks round each speech;
    one without such lines is the user's, or the assistant's where it answers the question before it by code. Source
    ids are the command's record id with the number of the speech.

    Args:
        command: The masked command, of operation ``extract_and_operate``.
        record_id: Of the command's record; the facts' ids are made of it.
        recorded_at: When the broker took it in: the time of what is told where the command tells none.
        profile: What is worth it: "all", "technical" or "personal".
    """
    turns, over = turns_of(command, record_id=record_id, recorded_at=recorded_at)
    drafts: list[Draft] = []
    skips: list[Skip] = []
    for number, turn in enumerate(turns):
        found, skipped = read_turn(turn, turns[max(0, number - MAX_CONTEXT) : number])
        drafts.extend(found)
        skips.extend(skipped)
    if over is not None:
        skips.append(Skip(text=over[:PREVIEW_CHARACTERS], reason=f"beyond the {MAX_TURNS} speeches that are read"))
    drafts, unfit = sorted_by(profile, drafts)
    skips += unfit
    skips += [Skip(text=draft.text[:PREVIEW_CHARACTERS], reason=TOO_MANY) for draft in drafts[MAX_FACTS:]]
    spoken_at = command.timestamp or recorded_at
    facts = tuple(fact_of(draft, record_id, index, spoken_at) for index, draft in enumerate(drafts[:MAX_FACTS]))
    return Extraction(facts=facts, skipped=tuple(skips), extractor=EXTRACTOR)


def turns_of(command: Command, *, record_id: str, recorded_at: datetime) -> tuple[list[Turn], str | None]:
    """The speeches of a command as turns of one conversation, and the first that is beyond those that are read.

    Args:
        command: The masked command.
        record_id: Of its record; the turns' ids are made of it.
        recorded_at: When the broker took it in.
    """
    scope = command.scope or Scope(project_id="-", user_id="-")
    topic = command.context.conversation_topic if command.context else None
    texts = texts_of(command.interaction or ())
    speeches = [speech for text in texts for speech in speeches_of(text)]
    nobody_is_named = not any(_SPEECH.search(text) for text in texts)
    turns: list[Turn] = []
    for number, (role, content) in enumerate(speeches[:MAX_TURNS]):
        turn = Turn(
            turn_id=f"{record_id}#{number}",
            scope=scope,
            role=role,
            content=content,
            timestamp=command.timestamp or recorded_at,
            conversation_topic=topic,
        )
        if nobody_is_named and turns and _answers_by_code(turns[-1], turn):
            turn = turn.model_copy(update={"role": "assistant"})
        turns.append(turn)
    return turns, speeches[MAX_TURNS][1] if len(speeches) > MAX_TURNS else None


def _answers_by_code(before: Turn, turn: Turn) -> bool:
    """Whether a text is the assistant's though nobody is named for it: people do not answer themselves by code."""
    asked = before.role == "user" and question_of(before) is not None
    return asked and any(block.code is not None for block in blocks_of(turn.content))


def speeches_of(text: str) -> list[tuple[Role, str]]:
    """A text as speeches: (role, content), in order; blank ones are left out."""
    marks = list(_SPEECH.finditer(lowered(text)))
    if not marks:
        return [] if is_blank(text) else [("user", text)]
    opening = text[: marks[0].start()]
    speeches: list[tuple[Role, str]] = [] if _is_preamble(opening) else [("user", opening)]
    for mark, following in zip(marks, [*marks[1:], None], strict=True):
        content = text[mark.end() : following.start() if following else len(text)]
        speeches.append((_ROLES[mark.group(1)], without_outer_quotes(content.strip())))
    return [(role, content) for role, content in speeches if not is_blank(content)]


def _is_preamble(text: str) -> bool:
    """Whether what stands before the first speech is only a heading or blank."""
    return is_blank(text) or all(
        not line.strip() or line.lstrip().startswith(("#", "-", "=")) for line in text.split("\n")
    )
