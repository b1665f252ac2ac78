"""Items made by hand, with the columns that a row of the lake has, small unit vectors, and a question of all parts."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from lakehouse import keywords
from lakehouse.retrieval.items import Item, memory_item, turn_item
from lakehouse.retrieval.ranking import Question
from lakehouse.retrieval.words import WordIndex
from schemas.facts import TurnRecord
from schemas.memory import MemoryEvent

GOLDEN = Path(__file__).parents[2] / "data" / "golden"
EVENT = MemoryEvent.decode((GOLDEN / "memory-event.v1.json").read_bytes())
TURN = TurnRecord.decode((GOLDEN / "turn-record.v1.json").read_bytes())
START = datetime(2025, 1, 1, tzinfo=UTC)
AXES = np.eye(4, dtype=np.float32)


def unit(*numbers: float) -> Any:
    """The unit vector in a direction."""
    found = np.asarray(numbers, dtype=np.float64)
    return (found / np.linalg.norm(found)).astype(np.float32)


def near(cosine: float) -> Any:
    """A unit vector with this cosine to the first axis."""
    return unit(cosine, np.sqrt(max(0.0, 1 - cosine * cosine)), 0, 0)


def memory(  # noqa: PLR0917 - a row of a table
    number: int,
    text: str,
    minute: int = 0,
    sources: Sequence[str] = (),
    subject: str | None = None,
    language: str = "en",
    **event: Any,
) -> Item:
    """A current memory; its key is its number."""
    ids = {"id": number, "sequence": number, "event_id": str(number)}
    told = EVENT.model_copy(update={**ids, "text": text, "source_turn_ids": tuple(sources), **event})
    return memory_item(
        {
            **ids,
            "text": text,
            "subject": subject,
            "language": language,
            "source_session_id": told.source_session_id,
            "source_turn_ids": list(sources),
            "keywords": " ".join(keywords.index_terms(text)),
            "payload": told.encode().decode(),
            "record_id": "r",
            "facts_offset": 0,
            "status": "current",
            "valid_from": START + timedelta(minutes=minute),
            "valid_to": None,
            "superseded_at": None,
            "touched": number,
        }
    )


def turn(  # noqa: PLR0917 - a row of a table
    number: int,
    text: str,
    minute: int = 0,
    session: str | None = "s",
    name: str | None = None,
    language: str = "en",
    facts: int = 0,
) -> Item:
    """A turn at an offset; its id is ``t`` and the number, its key ``r`` and the number."""
    said = TURN.turn.model_copy(update={"turn_id": f"t{number}", "content": text, "session_id": session, "name": name})
    record = TURN.model_copy(update={"record_id": f"r{number}", "turn": said})
    return turn_item(
        {
            "record_id": f"r{number}",
            "status": "episode",
            "session_id": session,
            "turn_id": f"t{number}",
            "role": "user",
            "name": name,
            "text": text,
            "language": language,
            "facts": facts,
            "timestamp": START + timedelta(minutes=minute),
            "source_offset": number,
            "touched": 0,
            "record": record.encode().decode(),
            "keywords": " ".join(keywords.index_terms(text)),
        }
    )


def index_of(texts: list[tuple[list[str], str]]) -> WordIndex:
    """An index of the words of these texts, each with its language."""
    index = WordIndex()
    for terms, language in texts:
        index.add(terms, language)
    return index


ASKED = Question(
    vectors=[unit(1, 2, 0, 1), AXES[0]],
    terms=("ann", "walks"),
    words={"walks": 1.0, "chats": 0.5, "tea": 0.25},
    content=("walks",),
    names=frozenset({"ann"}),
)
