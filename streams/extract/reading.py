"""One door to the grammars: a sentence, its language and its speaker in, a claim out.

Rule of this file: it chooses the grammar and knows none.
"""

from collections.abc import Iterator

from schemas.conversation import Turn
from streams.extract.claims import SPEAKER, Claim
from streams.extract.english import polarity_of, read_english
from streams.extract.english_words import AUXILIARIES, COPULAS, PASTS, THIRD, VERBS
from streams.extract.forms import LANGUAGES, read_by_forms
from streams.extract.remembered import remembered
from streams.extract.reports import read_hidden
from streams.wording.reported import reported_change

MAX_PHRASE = 8
"""Words."""


@remembered
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
        claim = next((read for read in _read_elsewhere(text, speaker) if _is_of_speaker(read, speaker)), None)
    return claim or Claim(polarity=polarity_of(text))


def _read_elsewhere(text: str, speaker: str) -> Iterator[Claim]:
    return (read_by_forms(text, other, speaker) for other in LANGUAGES)


def _is_of_speaker(claim: Claim, speaker: str) -> bool:
    """Whether a claim is about the speaker: the forms of a wrong language seldom are."""
    return claim.is_read and (claim.subject == speaker or (claim.subject or "").startswith(f"{speaker}'s "))


def speaker_of(turn: Turn) -> str:
    """Who "I" is in a turn: its named speaker, else the user or the assistant."""
    if turn.name and turn.name.strip():
        return " ".join(turn.name.casefold().split())
    return SPEAKER if turn.role == "user" else turn.role


def is_phrase(text: str) -> bool:
    """Whether an English text of a few words has no verb that could make it a sentence."""
    words = [word.strip(".,;:!?").casefold() for word in text.split()]
    verbs = (COPULAS, AUXILIARIES, THIRD, PASTS, VERBS)
    return 1 < len(words) <= MAX_PHRASE and not any(word in known for word in words for known in verbs)
