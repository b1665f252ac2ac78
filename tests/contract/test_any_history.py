"""The property that guards the product: what is known depends on what was said, and on nothing that happened since."""

import asyncio
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, note, settings
from hypothesis import strategies as st

from lakehouse.digest import digest_of
from lakehouse.episodes import is_forgotten
from lakehouse.versions import Change, ScopeMemory, fold
from schemas.conversation import Scope
from tests.contract.runs import Run, Step
from tests.contract.world import PARTITIONS, START, World, scope_in

SCOPES = (scope_in(0), scope_in(0, 1), scope_in(1))
SAID = (
    ("user", "My name is Anna Berger."),
    ("user", "I live in Lyon."),
    ("user", "I moved to Porto."),
    ("user", "No, I live in Bern, not in Lyon."),
    ("assistant", "Where do you live?"),
    ("user", "In Berlin."),
    ("assistant", "Do you have any allergies?"),
    ("user", "Yes, peanuts."),
    ("user", "I am allergic to peanuts."),
    ("user", "I am not allergic to peanuts anymore."),
    ("user", "I prefer tea over coffee."),
    ("user", "I don't like tea."),
    ("user", "My favourite colour is green. I work as a nurse."),
    ("user", "Actually, my favourite colour is blue."),
    ("user", "Please forget my favourite colour."),
    ("user", "Please forget where I live."),
    ("user", "Please forget that I am allergic to peanuts."),
    ("assistant", "The orders service listens on port 8080."),
    ("user", "The orders service listens on port 9090."),
    ("user", "Run `docker compose up -d` to start the stack."),
    ("user", "Thanks!"),
)

QUESTIONS = (4, 6)
FOLLOWS = {4: (5,), 6: (7,), 1: (2,), 12: (13,), 8: (16,)}
"""What is said right after what, beside what chance brings."""


@dataclass(frozen=True)
class Said:
    """One turn or command of a history.

    Attributes:
        scope: Index in ``SCOPES``.
        what: Index in ``SAID``.
        minute: Event time.
        way: As a turn, as a command, or again what this scope said at first; or a command that names the memory that
            ``what`` leads to: to forget it, all of them, to restore it, or one of its revisions, or to judge it.
        session: One of two.
    """

    scope: int
    what: int
    minute: int
    way: str = "turn"
    session: int = 0


SPEECHES = st.builds(
    lambda said: [replace(said, what=what) for what in (said.what, *FOLLOWS.get(said.what, ()))],
    st.builds(
        Said,
        st.sampled_from([0, 0, 0, 0, 1, 2]),
        st.sampled_from([*range(len(SAID)), *FOLLOWS, *QUESTIONS * 4]),
        st.integers(0, 6),
        st.sampled_from(
            ["turn"] * 8 + ["command", "again", "forget", "forget", "restore", "restore", "revision", "all", "judge"]
        ),
        st.sampled_from([0, 0, 0, 1]),
    ),
)
HISTORIES = st.lists(SPEECHES, min_size=2, max_size=9).map(lambda told: [said for speech in told for said in speech])
STEPS = st.lists(
    st.builds(
        Step,
        st.sampled_from(["intake", "intake", "remember"]),
        st.sampled_from([0, 0, 0, 1]),
        st.integers(1, 3),
        back=st.sampled_from([0, 0, 0, 1, 2]),
        old=st.sampled_from([False, False, True]),
        at=st.sampled_from([0, 3, 3, 4, 5, 1, 2, 6, 7]),
        when=st.sampled_from(["after", "after", "before", "midst"]),
        holds=st.sampled_from([False, False, True]),
        first=st.sampled_from(["", "", "", "", "restart", "forget"]),
    ),
    min_size=6,
    max_size=20,
)


@pytest.fixture(scope="module")
def empty() -> Iterator[World]:
    folder = Path(tempfile.mkdtemp())
    yield asyncio.run(World.make(folder / "empty"))
    shutil.rmtree(folder)


def id_of(said: Said) -> int:
    return 1 + said.what % 4


NAMING: dict[str, Callable[[Said], dict[str, Any]]] = {
    "forget": lambda said: {"op": "forget", "id": id_of(said)},
    "all": lambda said: {"op": "forget", "everything": True},
    "restore": lambda said: {"op": "restore", "id": id_of(said)},
    "revision": lambda said: {"op": "restore", "id": id_of(said), "revision": 1 + said.minute % 3},
    "judge": lambda said: {"op": "feedback", "helpful": (id_of(said),), "used": (1, 4), "query": "Why?"},
}


def tell(world: World, history: list[Said]) -> None:
    for number, said in enumerate(history):
        role, text = SAID[said.what]
        scope, moment = SCOPES[said.scope], START + timedelta(minutes=said.minute, hours=number % 2)
        turn: dict[str, Any] = {"role": role, "turn_id": f"t{number}", "session_id": f"s{said.session}"}
        if said.way == "again":
            first = next(index for index, other in enumerate(history) if other.scope == said.scope)
            turn["turn_id"] = f"t{first}"
        if said.way in NAMING:
            told = {"command_id": f"c{number}", "scope": scope, "ask": f"a{number}", **NAMING[said.way](said)}
            world.command(scope.partition(PARTITIONS), **told)
        elif said.way == "command":
            fields = {"command_id": f"c{number}", "op": "extract_and_operate", "scope": scope, "timestamp": moment}
            world.command(scope.partition(PARTITIONS), interaction=text, ask=f"a{number}", **fields)
        else:
            world.say(scope, text, timestamp=moment, ask=f"a{number}", **turn)


ASKED = [Said(0, 0, 0), Said(0, 4, 1), Said(0, 5, 2)]
"""A short answer, which is nothing without the question before it."""
LOST = [Said(0, 1, 0), Said(0, 0, 1, "forget"), Said(0, 2, 2), Said(0, 0, 3, "restore"), Said(0, 1, 4, "forget")]
"""The memory is forgotten, told anew as another, and restored; then one is forgotten that is not there."""
GONE = LOST[:2]
LATE = [Said(0, 0, 0, "forget"), Said(0, 0, 0, "all"), Said(0, 1, 0), Said(0, 0, 1), Said(0, 1, 2, "restore")]
"""Nothing is there to be forgotten yet."""
ONE, NEXT = Step("intake", 0, 1), Step("intake", 0, 1, old=True)


def failing(size: int) -> list[Step]:
    """The same records, handled again after each of the calls of the handler has failed in turn."""
    return [Step("remember", 0, size, at=at, when="after") for at in range(3, 9)]


@settings(max_examples=25, deadline=None)
@given(HISTORIES, STEPS, st.booleans())
@example(ASKED, [ONE, replace(ONE, at=3, when="after"), ONE, ONE], False)
@example(ASKED, [ONE, replace(ONE, first="restart"), NEXT, NEXT], False)
@example(ASKED, [ONE, ONE, replace(ONE, at=4, when="midst"), Step("remember", 0, 2, at=5, when="after")], True)
@example(LOST, [replace(ONE, size=5), *failing(2)], True)
@example(GONE, [replace(ONE, size=5), *failing(2)], False)
@example(
    LATE, [replace(ONE, size=5), Step("remember", 0, 3), replace(ONE, size=5, back=5), Step("remember", 0, 9)], True
)
def test_batches_deliveries_crashes_and_lingering_workers_change_nothing_in_the_end(
    empty: World, history: list[Said], steps: list[Step], ghosts_last: bool
) -> None:
    asyncio.run(compare(empty, history, steps, ghosts_last=ghosts_last))


async def compare(empty: World, history: list[Said], steps: list[Step], *, ghosts_last: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        straight, hard = empty.copied(Path(folder, "straight")), empty.copied(Path(folder, "hard"))
        for world in (straight, hard):
            tell(world, history)
        await straight.settle(await straight.worker())
        async with asyncio.timeout(60):
            await Run(hard).through(steps, ghosts_last=ghosts_last)

        expected, found = await straight.outcome(), await hard.outcome()

        assert found.inputs == expected.inputs
        assert found.facts == expected.facts
        assert found.changes == expected.changes
        assert found.rows == expected.rows
        assert found == expected
        await require_consistent(hard)


async def require_consistent(world: World) -> None:
    rows, events = await world.rows(), world.changes()
    copies = {(record.key, record.value) for record in world.topics.everywhere("changes")}
    by_scope: dict[str, list[Change]] = {}
    for event in events:
        by_scope.setdefault(event.scope.key, []).append(Change(event, "", 0))
    folded = [row for changes in by_scope.values() for row in fold(changes).values()]

    assert len({row.event.event_id for row in rows}) == len(rows)
    assert len({record_id for record_id, _ in await world.records()}) == len(await world.records())
    assert len(copies) == len(events)
    for changes in by_scope.values():
        assert [change.event.sequence for change in changes] == list(range(1, len(changes) + 1))
    plain = [replace(row, record_id="", facts_offset=0) for row in rows]
    assert sorted(plain, key=lambda row: row.event.event_id) == sorted(folded, key=lambda row: row.event.event_id)
    assert digest_of(rows) == digest_of(folded)
    await require_episodes_to_follow(world, by_scope)
    note(f"{len(rows)} rows")


async def require_episodes_to_follow(world: World, by_scope: dict[str, list[Change]]) -> None:
    """Made again from the audit log, the status of each episode is what the lake says."""
    for _, status, _, record in await world.inputs():
        if "turn" not in record:
            continue
        turn, memory = record["turn"], ScopeMemory()
        for change in by_scope.get(Scope(**turn["scope"]).key, ()):
            memory.apply(change)
        assert (status == "forgotten") == is_forgotten(memory, turn["turnId"], turn["content"])
