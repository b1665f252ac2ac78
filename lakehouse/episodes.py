"""Which episodes leave search with what is forgotten, and come back with what is restored.

Rule of this file: an episode's status is a function of its scope's memory and of its own text, so it can be made again
from the events at any time. It only ever hides what was said; the record of it stays.
"""

from collections.abc import Iterable

from lakehouse import keywords
from lakehouse.store import Shard
from lakehouse.turn_table import EPISODE, FORGOTTEN
from lakehouse.versions import FOUND_BY_SEARCH, ScopeMemory
from schemas.conversation import Scope
from schemas.memory import MemoryEvent


async def settle(shard: Shard, scope: Scope, memory: ScopeMemory, events: Iterable[MemoryEvent]) -> None:
    """Write the status of all episodes that these events may have changed; doing it again changes nothing.

    Args:
        shard: Of the scope.
        scope: Whose events they are.
        memory: The scope after them, or later still.
        events: In any order.

    Raises:
        Unavailable: The lake cannot be used.
    """
    moved = moved_by(memory, events)
    if not moved:
        return
    rows = await shard.episodes(scope, moved)
    for row in rows:
        row["status"] = FORGOTTEN if is_forgotten(memory, row["turn_id"], row["text"]) else EPISODE
        row["touched"] = moved[row["turn_id"]]
    await shard.commit_episodes(rows)


def moved_by(memory: ScopeMemory, events: Iterable[MemoryEvent]) -> dict[str, int]:
    """The turns whose status these events may have changed, each with the sequence of the last event that may have."""
    moved: dict[str, int] = {}
    for event in events:
        turns: Iterable[str] = event.source_turn_ids
        if event.event == "DELETE" or (event.event == "UPDATE" and event.by_command):
            turns = memory.sources(event.id)
        else:
            turns = (turn for turn in turns if not memory.told_in(turn).isdisjoint(memory.retired))
        moved.update((turn, max(event.sequence, moved.get(turn, 0))) for turn in turns)
    return moved


def is_forgotten(memory: ScopeMemory, turn_id: str, text: str) -> bool:
    """Whether an episode is out of search.

    It is when it told, repeated or asked to forget a memory that is forgotten now, unless it told something else that
    is still known and does not hold the words of what is forgotten.

    Args:
        memory: The scope's.
        turn_id: The turn.
        text: What it says.
    """
    told = memory.told_in(turn_id)
    forgotten = [memory_id for memory_id in told if memory_id in memory.retired]
    if not forgotten or len(forgotten) == len(told):
        return bool(forgotten)
    there = frozenset(keywords.index_terms(text))
    return any(_holds(there, memory, memory_id) for memory_id in forgotten)


def _holds(there: frozenset[str], memory: ScopeMemory, memory_id: int) -> bool:
    """Whether the words of one of a memory's versions are all there: those of its value, where it has one."""
    said = (row.event for row in memory.history(memory_id) if row.status in FOUND_BY_SEARCH)
    return any(keywords.coverage(keywords.query_terms(event.value or event.text), there) == 1.0 for event in said)
