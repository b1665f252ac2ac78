"""What happened to a person's preferences: was one taken back (DELETE) or changed (UPDATE), and which.

Rule of this file: a person's preferences are the store, each told in the first person ("I like …" or "I dislike …",
then the reason); what happened is told as a turn, deleting allowed. After each event the store is what gold says.

Gold is the direction of the change, and it is asked for twice. *Read*: whether the rules take what is told, held
against the preference that it is about, for a withdrawal; that is what words of removal or a trained classifier answer
too. *Decided*: whether the turn, told to the product, ends a known preference: by a DELETE, or by an UPDATE that says
the opposite or that it is withdrawn. Nobody asked to delete anything, so a DELETE is not to be expected.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from streams.bench.figures import Figure
from streams.bench.folder import lines_of
from streams.bench.quality import baselines
from streams.bench.quality.memory import Memory, Weighed
from streams.bench.quality.run import TURNS, Run
from streams.bench.quality.scores import counted, mean, retrieval, share
from streams.decide.preferences import attitude_of

START = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
DIRECTIONS = ("Modify", "Delete")


@dataclass(frozen=True)
class Happening:
    """One event of a person's list.

    Attributes:
        told: What happened, in the person's words.
        before: The preference that it changes, as it is told.
        after: What it is changed to; None where it is taken back.
    """

    told: str
    before: str
    after: str | None


@dataclass
class Judged:
    """All cases of one person.

    Attributes:
        read: (a withdrawal as the rules read it, gold DELETE) by event.
        decided: (a known preference was ended, gold DELETE).
        cues: (a word of removal, gold DELETE).
        changes: Whether it was seen at all that something known is changed.
        target: Of what was said to be changed, whether it is the right preference.
        reached: Whether the right preference was changed or deleted, over all events.
        nearest: Whether the nearest memory is the right preference.
    """

    read: list[tuple[bool, bool]] = field(default_factory=list)
    decided: list[tuple[bool, bool]] = field(default_factory=list)
    cues: list[tuple[bool, bool]] = field(default_factory=list)
    changes: list[bool] = field(default_factory=list)
    target: list[bool] = field(default_factory=list)
    reached: list[bool] = field(default_factory=list)
    nearest: list[bool] = field(default_factory=list)


async def measure(run: Run, paths: tuple[Path, ...]) -> list[Figure]:
    """DELETE against UPDATE, and the preference that each means; words of removal beside."""
    people = [person for path in paths for person in lines_of(path) if run.judges(person["uuid"])][: run.limit]
    judged = []
    for person in people:
        happenings = happenings_of(person)
        await run.vectors.prepare(text for one in happenings for text in (one.told, one.before))
        judged.append(await _judged(run, happenings))
    cues = sum((counted(one.cues) for one in judged), start=counted([]))
    by_nearest = mean(right for one in judged for right in one.nearest)
    return [
        *retrieval("halumem_delete", [one.read for one in judged], cues),
        *retrieval("halumem_delete_decided", [one.decided for one in judged], cues),
        *retrieval("halumem_delete.removal_cues", [one.cues for one in judged], parts=False),
        *share("halumem_change_seen", [one.changes for one in judged]),
        *share("halumem_change_reached", [one.reached for one in judged], by_nearest),
        *share("halumem_change_target", [one.target for one in judged], by_nearest),
    ]


def happenings_of(person: dict[str, Any]) -> list[Happening]:
    """The events of a person that change or take back a preference, in order; one that names none is left out."""
    return [
        Happening(
            event["event_description"],
            _told(event["before_preference"]),
            None if event["update_direction"] == "Delete" else _told(event["after_preference"]),
        )
        for event in person["event_list"]
        if event["update_direction"] in DIRECTIONS and event["before_preference"]["memory_points"]
    ]


def _told(preference: dict[str, Any]) -> str:
    return " ".join(
        f"I {point['type']} {point['specific_item'].rstrip('.')}. {point['reason']}"
        for point in preference["memory_points"]
    )


async def _judged(run: Run, happenings: Sequence[Happening]) -> Judged:
    """The store begins with every preference that no event brings about."""
    store = _Store(run, Memory(run.vectors, run.mind, TURNS))
    brought = {one.after for one in happenings}
    for one in happenings:
        if one.before not in brought:
            await store.put(one.before, START)
    judged = Judged()
    for number, one in enumerate(happenings, 1):
        now = START + number * DAY
        await store.put(one.before, now - DAY / 2)
        record = await store.memory.read(one.told, now)
        _judge(run, judged, one, await store.memory.weigh_all(record), store)
        nearest = max(store.preferences, key=lambda known: run.vectors.between(one.told, known))
        judged.nearest.append(nearest == one.before)
        await store.take(one.before, now)
        if one.after is not None:
            await store.put(one.after, now)
    return judged


@dataclass
class _Store:
    """The preferences that hold, each with the memories that say it."""

    run: Run
    memory: Memory
    preferences: dict[str, list[int]] = field(default_factory=dict)

    async def put(self, preference: str, at: datetime) -> None:
        if preference not in self.preferences:
            await self.run.vectors.prepare([preference])
            self.preferences[preference] = await self.memory.keep(await self.memory.read(preference, at))

    async def take(self, preference: str, at: datetime) -> None:
        for memory_id in self.preferences.pop(preference):
            await self.memory.retire(memory_id, at)


def _judge(run: Run, judged: Judged, one: Happening, weighed: list[Weighed], store: _Store) -> None:
    gold = one.after is None
    changes = [fact for fact in weighed if fact.decision.event in {"UPDATE", "DELETE"}]
    read = attitude_of(one.told, one.before) == "withdrawn"
    judged.read.append((read, gold))
    judged.decided.append((any(_withdraws(fact) for fact in changes), gold))
    judged.cues.append((baselines.says_removal(one.told), gold))
    judged.changes.append(bool(changes))
    meant = set(store.preferences[one.before])
    right = any(fact.decision.target in meant for fact in changes)
    judged.reached.append(right)
    if changes:
        judged.target.append(right)
    if read != gold:
        run.note("halumem_delete_f1", _case(one, weighed))
    if not right:
        run.note("halumem_change_reached", _case(one, weighed))


def _withdraws(fact: Weighed) -> bool:
    """Whether a known preference is no longer held: deleted, or said to be otherwise."""
    if fact.decision.event == "DELETE" or fact.target is None:
        return fact.decision.event == "DELETE"
    return fact.fact.polarity != fact.target.polarity or attitude_of(fact.fact.text, fact.target.text) == "withdrawn"


def _case(one: Happening, weighed: list[Weighed]) -> str:
    told = [f"{'DELETE' if one.after is None else 'UPDATE'} | {one.told}", f"    before: {one.before}"]
    if one.after is not None:
        told.append(f"    after: {one.after}")
    if not weighed:
        told.append("    nothing was extracted")
    for each in weighed:
        fact = each.fact
        told.append(f"    fact: {fact.text} [{fact.subject} | {fact.attribute} | {fact.value} | {fact.mood}]")
        told.append(
            f"      {each.decision.event}: {each.target.text if each.target else ''} ({each.decision.reasoning})"
        )
        if each.nearest is not None:
            told.append(f"      nearest: {each.nearest.text} ({each.nearest.similarity:.3f})")
    return "\n".join(told)
