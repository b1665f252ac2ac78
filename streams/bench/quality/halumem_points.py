"""Memory points of a person in order: which of them change what was known, and what they change.

Rule of this file: each point is told as a user's statement at its time, and decided on before a store that gold says:
every earlier point is a memory of its own, so that one wrong decision spoils no other. A second run lets the product's
own decisions stand.

A file may be an excerpt whose updates replace points that it does not hold. Those are put into the store just before
the session whose update names them: they were known by then, and not sooner than that is certain.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from streams.bench.figures import Figure
from streams.bench.folder import lines_of
from streams.bench.quality import baselines
from streams.bench.quality.memory import Memory, Weighed
from streams.bench.quality.run import TURNS, Run
from streams.bench.quality.scores import mean, retrieval, share
from streams.decide import Decision

_MARKS = re.compile(r"^(?:\[[^\]]*\])+\s*")
MOMENT = "%b %d, %Y, %H:%M:%S"


@dataclass(frozen=True)
class Point:
    """One memory point.

    Attributes:
        replaces: Texts of the points it changes; empty for a new one.
    """

    text: str
    at: datetime
    source: str
    replaces: tuple[str, ...]

    @property
    def is_update(self) -> bool:
        """Whether gold says that it changes what was known."""
        return bool(self.replaces)


@dataclass(frozen=True)
class Session:
    """The points of one session, and the name of the unit that it is."""

    unit: str
    points: tuple[Point, ...]


@dataclass
class Judged:
    """All cases of one person.

    Attributes:
        update: (said UPDATE, gold UPDATE) by point.
        free: The same with the product's own decisions standing.
        target: Whether the target of a gold update is right, the store being gold's.
        likeliest: Whether the memory that the rules rank first is right, whatever they decided.
        nearest: Whether the nearest memory of the gold store is right.
        shown: Whether a right one was among the candidates.
        scored: (cosine to the nearest, gold UPDATE).
        cipher: (Cipher says UPDATE, gold UPDATE).
        cues: (words of change, gold UPDATE).
        lost: Of new points, whether all of it was taken for known already.
        unread: Whether nothing was extracted of a point.
    """

    update: list[tuple[bool, bool]] = field(default_factory=list)
    free: list[tuple[bool, bool]] = field(default_factory=list)
    target: list[bool] = field(default_factory=list)
    likeliest: list[bool] = field(default_factory=list)
    nearest: list[bool] = field(default_factory=list)
    shown: list[bool] = field(default_factory=list)
    scored: list[tuple[float, bool]] = field(default_factory=list)
    cipher: list[tuple[bool, bool]] = field(default_factory=list)
    cues: list[tuple[bool, bool]] = field(default_factory=list)
    lost: list[bool] = field(default_factory=list)
    unread: list[bool] = field(default_factory=list)


async def measure(run: Run, paths: tuple[Path, ...]) -> list[Figure]:
    """UPDATE against ADD, and the target of each update; baselines beside."""
    judged = []
    for person in [person for path in paths for person in lines_of(path)][: run.limit]:
        sessions = list(sessions_of(person))
        one = Judged()
        await run.vectors.prepare(text for session in sessions for point in session.points for text in _texts(point))
        await _with_gold(run, one, sessions)
        await _freely(run, one, sessions)
        judged.append(one)
    return _figures(judged)


def sessions_of(person: dict[str, Any]) -> Iterator[Session]:
    """The sessions of a person with what was really said or inferred; the assistant's false variants are left out."""
    for number, session in enumerate(person["sessions"]):
        points = tuple(point_of(row) for row in session["memory_points"] if row["memory_source"] != "interference")
        yield Session(f"{person['uuid']}/{number}", points)


def point_of(row: dict[str, Any]) -> Point:
    """A memory point as the file tells it; marks of time and kind before an original's text are taken off."""
    originals = tuple(_MARKS.sub("", text) for text in row.get("original_memories") or ())
    is_update = str(row["is_update"]).casefold() == "true"
    moment = datetime.strptime(row["timestamp"], MOMENT).replace(tzinfo=UTC)
    return Point(row["memory_content"], moment, row["memory_source"], originals if is_update else ())


def _texts(point: Point) -> tuple[str, ...]:
    return (point.text, *point.replaces)


def unknown_originals(session: Session, known: set[str]) -> list[Point]:
    """What the session's updates replace and nobody told, as points of the moment before it."""
    found = []
    told = known | {point.text for point in session.points}
    for point in session.points:
        for text in point.replaces:
            if text not in told:
                told.add(text)
                found.append(Point(text, point.at - timedelta(seconds=1), point.source, ()))
    return found


async def _with_gold(run: Run, judged: Judged, sessions: list[Session]) -> None:
    """Decide on every point before the store of all earlier ones."""
    memory = Memory(run.vectors, run.mind, TURNS)
    earlier = _Earlier()
    for session in sessions:
        for point in (*unknown_originals(session, set(earlier.texts.values())), *session.points):
            record = await memory.read(point.text, point.at)
            if point in session.points and run.judges(session.unit):
                _judge(run, judged, point, await memory.weigh_all(record), earlier)
            for memory_id in await memory.keep(record):
                earlier.texts[memory_id] = point.text


@dataclass
class _Earlier:
    """Texts of the earlier points by the memories that hold them."""

    texts: dict[int, str] = field(default_factory=dict)

    def nearest_to(self, point: Point, run: Run) -> tuple[str | None, float]:
        """The earlier point that is most alike, by the points' own texts."""
        scored = [(run.vectors.between(point.text, text), text) for text in set(self.texts.values())]
        if not scored:
            return None, 0.0
        similarity, text = max(scored)
        return text, similarity


def _judge(run: Run, judged: Judged, point: Point, weighed: list[Weighed], known: "_Earlier") -> None:
    texts, nearest = known.texts, known.nearest_to(point, run)
    gold = point.is_update
    updates = [one for one in weighed if one.decision.event in {"UPDATE", "DELETE"}]
    judged.update.append((bool(updates), gold))
    judged.scored.append((nearest[1], gold))
    judged.cipher.append((baselines.cipher(point.text, *nearest) == "UPDATE", gold))
    judged.cues.append((baselines.says_change(point.text), gold))
    judged.unread.append(not weighed)
    if bool(updates) != gold:
        run.note("halumem_update_f1", _case(point, weighed, texts))
    if not gold:
        lost = bool(weighed) and all(one.decision.event == "NONE" for one in weighed)
        judged.lost.append(lost)
        if lost:
            run.note("halumem_add_lost", _case(point, weighed, texts))
        return
    right = any(texts.get(one.decision.target or 0) in point.replaces for one in updates)
    judged.target.append(right)
    judged.nearest.append(nearest[0] in point.replaces)
    judged.likeliest.append(any(texts.get(_first(one.decision) or 0) in point.replaces for one in weighed))
    shown = {texts.get(neighbour.id) for one in weighed for neighbour in one.neighbours}
    judged.shown.append(bool(shown & set(point.replaces)))
    if not judged.likeliest[-1]:
        run.note("halumem_target_right", _case(point, weighed, texts))


def _first(decision: Decision) -> int | None:
    """The memory that a decision changes, or ranks first of those it considered."""
    if decision.target is not None:
        return decision.target
    return decision.candidates[0][0] if decision.candidates else None


def _case(point: Point, weighed: list[Weighed], texts: dict[int, str]) -> str:
    told = [f"{'UPDATE' if point.is_update else 'ADD'} | {point.text}"]
    told += [f"    replaces: {text}" for text in point.replaces]
    if not weighed:
        told.append("    nothing was extracted")
    for one in weighed:
        fact = one.fact
        told.append(f"    fact: {fact.text} [{fact.subject} | {fact.attribute} | {fact.value} | {fact.polarity}]")
        target = texts.get(one.decision.target or 0)
        told.append(f"      {one.decision.event}: {target or ''} ({one.decision.reasoning})")
        known = next((near for near in one.neighbours if texts.get(near.id) in point.replaces), one.nearest)
        if known is not None:
            place = f"{known.similarity:.3f}, place {one.neighbours.index(known) + 1}"
            told.append(f"      shown: {known.text} [{known.subject} | {known.attribute} | {known.value}] ({place})")
    return "\n".join(told)


async def _freely(run: Run, judged: Judged, sessions: list[Session]) -> None:
    """The product's own decisions stand, with what they come to."""
    memory = Memory(run.vectors, run.mind, TURNS)
    told: set[str] = set()
    for session in sessions:
        for point in (*unknown_originals(session, told), *session.points):
            told.add(point.text)
            outcomes = await memory.tell(await memory.read(point.text, point.at))
            if point in session.points and run.judges(session.unit):
                said = any(event.event in {"UPDATE", "DELETE"} for _, event in outcomes)
                judged.free.append((said, point.is_update))


def _figures(judged: list[Judged]) -> list[Figure]:
    scored = [pair for one in judged for pair in one.scored]
    by_cosine = baselines.cosine_counts(scored)
    figures = [
        *retrieval("halumem_update", [one.update for one in judged], by_cosine["cosine_best"]),
        *retrieval("halumem_update_free", [one.free for one in judged], by_cosine["cosine_best"], parts=False),
    ]
    for name, threshold in (("cosine_811", baselines.FITTED_THRESHOLD), ("cosine_80", baselines.CIPHER_THRESHOLD)):
        by_threshold = [[(score >= threshold, gold) for score, gold in one.scored] for one in judged]
        figures += retrieval(f"halumem_update.{name}", by_threshold, parts=False)
    figures += retrieval("halumem_update.cipher", [one.cipher for one in judged], parts=False)
    figures += retrieval("halumem_update.change_cues", [one.cues for one in judged], parts=False)
    never = [[(False, gold) for _, gold in one.update] for one in judged]
    figures += retrieval("halumem_update.always_add", never, parts=False)
    by_nearest = mean(right for one in judged for right in one.nearest)
    figures += share("halumem_target_right", [one.likeliest for one in judged], by_nearest)
    figures += share("halumem_target_replaced", [one.target for one in judged])
    figures += share("halumem_target_shown", [one.shown for one in judged])
    figures += share("halumem_add_lost", [one.lost for one in judged])
    figures += share("halumem_unread", [one.unread for one in judged])
    return figures
