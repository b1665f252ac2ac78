"""What a command does to the memories that it names: forget, restore, feedback.

Rule of this file: pure. A command tells nothing new, so what it leaves is as new or old as the newest statement that it
acts on (``told_at``); it takes effect at its own time, though never before what it changes. Feedback changes nothing.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from lakehouse.versions import FOUND_BY_SEARCH, Change, MemoryRow, ScopeMemory
from schemas.commands import Judgement
from schemas.facts import AnyRecord, CommandRecord
from schemas.memory import DecisionBasis, Feedback, MemoryEvent, event_id, step_id
from schemas.retrieval import ErrorReply

OPERATIONS = ("forget", "restore", "feedback")
SAID: Mapping[Judgement, str] = {
    "used": "An answer was made with it.",
    "helpful": "Judged helpful.",
    "unhelpful": "Judged unhelpful.",
    "withdrawn": "What was judged before is taken back.",
}


def names_memories(record: AnyRecord) -> TypeGuard[CommandRecord]:
    """Whether a record is a command that changes memories by name, not by what is told."""
    return isinstance(record, CommandRecord) and record.command.op in OPERATIONS


def named(record: CommandRecord, memory: ScopeMemory) -> tuple[int, ...]:
    """The memories that a command names, by id; each of them gets one event.

    Returns:
        All current ones for ``all``, those judged for feedback; else the one memory, or none where it or the revision
        asked for is unknown.
    """
    command = record.command
    if command.everything:
        return tuple(row.event.id for row in memory.current)
    if command.op == "feedback":
        return tuple(_judged(record, memory))
    rows = memory.history(_meant(record, command.id or 0, memory))
    if command.revision is not None:
        rows = tuple(row for row in rows if row.event.revision == command.revision)
    return (rows[0].event.id,) if rows else ()


def _meant(record: CommandRecord, memory_id: int, memory: ScopeMemory) -> int:
    """The memory that is meant by an id: the one that began as it did, where ids were given otherwise; 0 for none."""
    birth = record.birth_of(memory_id)
    if birth is None or birth.fact_id is None:
        return memory_id
    return memory.told_by(birth.fact_id) or 0


def _judged(record: CommandRecord, memory: ScopeMemory) -> dict[int, Judgement]:
    """What feedback says of each memory that is there; the first thing where two of its ids mean one memory."""
    found: dict[int, Judgement] = {}
    for memory_id, value in record.command.judgements.items():
        meant = _meant(record, memory_id, memory)
        if memory.history(meant):
            found.setdefault(meant, value)
    return found


def absence(record: AnyRecord, events: Sequence[MemoryEvent] = ()) -> ErrorReply | None:
    """What to answer about memories that a command names and that are not there.

    Args:
        record: What was asked for.
        events: All that came of it.

    Returns:
        None where nothing is missing, and for a record that names no memory.
    """
    if not names_memories(record) or record.command.everything:
        return None
    command = record.command
    if events and command.op != "feedback":
        return None
    fields: Mapping[int, str] = command.judgements or {command.id or 0: "id"}
    known = {event.id for event in events}
    missing = [memory_id for memory_id in fields if memory_id not in known]
    if not missing:
        return None
    revision = "" if command.revision is None else f" with a revision {command.revision}"
    what = f"memory {', '.join(map(str, missing))}{revision} of {record.scope.key if record.scope else ''}"
    return ErrorReply(code="not_found", message=f"there is no {what}", field=fields[missing[0]])


def change_by(record: CommandRecord, memory_id: int, memory: ScopeMemory, facts_offset: int) -> Change:
    """The scope's next event: what a command does to one of the memories that it names.

    Args:
        record: The command.
        memory_id: One of ``named``.
        memory: The scope before it.
        facts_offset: Where the record stands.
    """
    rows = memory.history(memory_id)
    now = memory.current_of(memory_id)
    last = now or max((row for row in rows if row.status == "deleted"), key=lambda row: row.event.sequence)
    made: dict[str, Any] = {
        "event_id": event_id(step_id(record.record_id, memory_id)),
        "sequence": memory.sequence + 1,
        "timestamp": max(record.command.timestamp or record.recorded_at, last.valid_from),
        "told_at": last.told_at,
        "recorded_at": record.recorded_at,
        "fact_id": None,
        "command_id": record.command.command_id,
        "decision": DecisionBasis(threshold=0),
    }
    if record.command.op == "forget":
        told = _forgotten(now, last, len(rows) + 1)
    elif record.command.op == "feedback":
        told = _said(_judged(record, memory)[memory_id], record.command.query, last)
    else:
        told = _restored(_revision(record.command.revision, rows, last), now, memory, len(rows) + 1)
    source, fields, vector = told
    event = source.event.model_copy(update=made | fields)
    return Change(event, record.record_id, facts_offset, vector)


Told = tuple[MemoryRow, dict[str, Any], Any]
"""The version that an event speaks of, what else it says, and its vector."""


def _forgotten(now: MemoryRow | None, last: MemoryRow, revision: int) -> Told:
    if now is None:
        return last, _nothing("It was forgotten already."), None
    fields = {
        "event": "DELETE",
        "revision": revision,
        "old_memory": now.event.text,
        "mood": "retraction",
        "confidence": 1.0,
        "reasoning": "Asked to forget it, by command.",
        "quality_source": "heuristic",
    }
    return now, fields | _NO_CONVERSATION, None


def _said(value: Judgement, query: str | None, last: MemoryRow) -> Told:
    feedback = Feedback(value=value, query=query).to_wire()
    return last, _nothing(SAID[value]) | {"metadata": {"feedback": feedback}}, None


def _restored(wanted: MemoryRow, now: MemoryRow | None, memory: ScopeMemory, revision: int) -> Told:
    if now is not None and _content(now.event) == _content(wanted.event):
        return now, _nothing("It is current already."), None
    if now is None:
        twin = next((row for row in memory.current if row.event.text == wanted.event.text), None)
        if twin is not None:
            return twin, _nothing(f"The same is known as memory {twin.event.id} already."), None
    fields = {
        "event": "UPDATE",
        "revision": revision,
        "old_memory": now.event.text if now else None,
        "status": "current",
        "reasoning": f"Restored as it was in revision {wanted.event.revision}, by command.",
    }
    return wanted, fields, wanted.vector


def _revision(number: int | None, rows: tuple[MemoryRow, ...], last: MemoryRow) -> MemoryRow:
    """The version whose text is wanted. One that forgot, named or not, stands for what it forgot."""
    row = last if number is None else next(row for row in rows if row.event.revision == number)
    if row.status != "deleted":
        return row
    before = (one for one in rows if one.event.sequence < row.event.sequence and one.event.status == "current")
    return max((one for one in before if one.status in FOUND_BY_SEARCH), key=lambda one: one.event.sequence)


_NO_CONVERSATION: dict[str, Any] = {
    "source_turn_ids": (),
    "source_session_id": None,
    "agent_id": None,
    "metadata": None,
}


def _nothing(reason: str) -> dict[str, Any]:
    return {
        "event": "NONE",
        "revision": None,
        "old_memory": None,
        "status": "current",
        "confidence": 1.0,
        "reasoning": reason,
        "quality_source": "heuristic",
    } | _NO_CONVERSATION


_CONTENT = ("text", "tags", "code_pattern", "subject", "attribute", "value", "polarity", "mood", "role")


def _content(event: MemoryEvent) -> tuple[Any, ...]:
    return tuple(getattr(event, name) for name in _CONTENT)
