"""One door to the grammars: a sentence, its language and its speaker in, a claim out.

Rule of this file: it chooses the grammar and knows none.
"""

from schemas.conversation import Turn
from streams.extract.claims import SPEAKER, Claim
from streams.extract.english import polarity_of, read_english
from streams.extract.forms import LANGUAGES, read_by_forms
from streams.extract.reports import read_hidden
from streams.wording.reported import reported_change


def read_claim(text: str, language: str = "en", speaker: str = SPEAKER) -> Claim:
    """What a sentence claims.

    Args:
        text: One sentence.
        language: ISO 639-1; "und" is read as English, then by the forms of every other language.
        speaker: Who "I" is, as a subject.
    """
    report = reported_change(text, language)
    if report is not None and report.statement is not None:
        text = report.statement
    if language not in {"en", "und"}:
        return read_by_forms(text, language, speaker)
    claim = read_hidden(text, speaker) or read_english(text, speaker)
    if claim is None and language == "und":
        claim = next((read for other in LANGUAGES if (read := read_by_forms(text, other, speaker)).is_read), None)
    return claim or Claim(polarity=polarity_of(text))


def speaker_of(turn: Turn) -> str:
    """Who "I" is in a turn: its named speaker, else the user or the assistant."""
    if turn.name and turn.name.strip():
        return " ".join(turn.name.casefold().split())
    return SPEAKER if turn.role == "user" else turn.role
