"""Episodes of what is forgotten: they leave search with it, come back with it, and stay what they are otherwise."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lakehouse import episodes
from lakehouse.maintenance import compact
from lakehouse.store import Shard
from lakehouse.turn_table import InputRow
from schemas.facts import CommandRecord, TurnRecord, turn_record_id

Story = Callable[[str], Any]
Unit = Callable[[str], Any]
GOLDEN = Path(__file__).parents[2] / "data" / "golden"
TURN = TurnRecord.decode((GOLDEN / "turn-record.v1.json").read_bytes())
COMMAND = CommandRecord.decode((GOLDEN / "command-record.v1-restore.json").read_bytes())
SAID = {
    "phone": "My phone number is 555 0142.",
    "again": "As I said, you reach me at 555 0142.",
    "both": "My phone number is 555 0142 and my dog is called Bruno.",
    "dog": "My dog is called Bruno.",
    "request": "Please forget my phone number.",
    "mixed": "Please forget my phone number. My cat is called Tom.",
    "open": "Please forget that my number is 555 0142. My cat is called Tom.",
}


class Talk:
    """One scope's turns and what they did, as a worker stores them."""

    def __init__(self, shard: Shard, told: Any, unit: Unit) -> None:
        self.shard, self.told, self.unit = shard, told, unit

    async def say(self, *turn_ids: str) -> None:
        rows = []
        for number, turn_id in enumerate(turn_ids):
            fields = {"turn_id": turn_id, "content": SAID[turn_id], "scope": self.told.scope, "session_id": "s"}
            told = {
                "record_id": turn_record_id(self.told.scope, turn_id),
                "turn": TURN.turn.model_copy(update=fields),
                "source": TURN.source.model_copy(update={"offset": number}),
            }
            rows.append(InputRow(TURN.model_copy(update=told), self.unit(turn_id)))
        await self.shard.commit_inputs(rows)

    async def settle(self, *commits: Any) -> None:
        """Settle as a worker does after one batch that caused these commits; the new row is a commit's first."""
        events = [rows[0].event for rows in commits]
        await episodes.settle(self.shard, self.told.scope, self.told.memory, events)

    async def found(self) -> set[str]:
        """The turns that a search would find."""
        rows = await self.shard.turns.query().select(["turn_id", "status"]).to_list()
        assert {row["status"] for row in rows} <= {"episode", "forgotten"}
        return {row["turn_id"] for row in rows if row["status"] == "episode"}


@pytest.fixture
def talk(shard: Shard, story: Story, unit: Unit) -> Talk:
    return Talk(shard, story("ann"), unit)


def phone(told: Any, *turn_ids: str) -> Any:
    return told.add(SAID["phone"], value="555 0142", source_turn_ids=turn_ids)


async def test_what_told_repeated_and_asked_to_forget_it_leaves_search_and_comes_back_with_it(talk: Talk) -> None:
    await talk.say("phone", "again", "dog", "request")
    phone(talk.told, "phone")
    talk.told.nothing(SAID["phone"], memory_id=1, source_turn_ids=("again",))
    talk.told.add(SAID["dog"], source_turn_ids=("dog",))
    assert await talk.found() == {"phone", "again", "dog", "request"}

    await talk.settle(talk.told.delete(1, source_turn_ids=("request",)))
    assert await talk.found() == {"dog"}

    await talk.settle(talk.told.restore(1, minute=20))
    assert await talk.found() == {"phone", "again", "dog", "request"}


async def test_all_revisions_of_what_is_forgotten_leave_search(talk: Talk) -> None:
    await talk.say("phone", "again", "dog")
    phone(talk.told, "phone")
    talk.told.update(1, "It is 555 0143 now.", value="555 0143", source_turn_ids=("again",))

    await talk.settle(talk.told.delete(1, source_turn_ids=()))

    assert await talk.found() == {"dog"}


@pytest.mark.parametrize(("turn_id", "is_found"), [("both", False), ("mixed", True), ("open", False)])
async def test_a_turn_that_told_something_else_as_well_is_found_unless_it_holds_what_is_forgotten(
    talk: Talk, turn_id: str, is_found: bool
) -> None:
    await talk.say(turn_id)
    phone(talk.told, "phone")
    told = talk.told.delete(1, source_turn_ids=(turn_id,))
    other = talk.told.add("My pet has a name.", source_turn_ids=(turn_id,))

    await talk.settle(told, other)
    assert await talk.found() == ({turn_id} if is_found else set())

    await talk.settle(talk.told.delete(2, source_turn_ids=()))
    assert await talk.found() == set()


async def test_what_has_no_value_is_looked_for_by_the_words_of_its_text(talk: Talk) -> None:
    await talk.say("dog", "mixed")
    for source in ("dog", "mixed"):
        talk.told.add("dog called Bruno", value=None, source_turn_ids=(source,))
        talk.told.add(f"beside {source}", value=None, source_turn_ids=(source,))

    await talk.settle(talk.told.delete(1), talk.told.delete(3))

    assert await talk.found() == {"mixed"}


async def test_settling_again_or_late_changes_nothing(talk: Talk) -> None:
    await talk.say("phone", "dog")
    phone(talk.told, "phone")
    forgotten = talk.told.delete(1, source_turn_ids=())
    await talk.settle(forgotten)
    restored = talk.told.restore(1, minute=20)
    await talk.settle(restored)
    rows = await talk.shard.episodes(talk.told.scope, ["phone"])

    await talk.settle(forgotten)
    await talk.settle(restored, forgotten)
    await talk.shard.commit_episodes([row | {"status": "forgotten", "touched": 2} for row in rows])
    await talk.shard.commit_episodes([])

    assert await talk.shard.episodes(talk.told.scope, ["phone"]) == rows
    assert await talk.found() == {"phone", "dog"}


async def test_an_episode_keeps_all_but_its_status_through_forgetting_and_compaction(talk: Talk, unit: Unit) -> None:
    await talk.say("phone")
    phone(talk.told, "phone")
    (before,) = await talk.shard.episodes(talk.told.scope, ["phone"])
    record_id = before["record_id"]
    records = await talk.shard.records([talk.told.scope], [record_id])

    await talk.settle(talk.told.delete(1))
    await compact(talk.shard, "turns", timedelta(milliseconds=1))

    (after,) = await talk.shard.episodes(talk.told.scope, ["phone"])
    changed = {name: after[name] for name in after if after[name] != before[name]}
    assert changed == {"status": "forgotten", "touched": 2}
    assert np.array_equal(np.array(after["vector"], dtype=np.float32), unit("phone"))
    assert await talk.shard.records([talk.told.scope], [record_id]) == records


async def test_taking_a_turn_in_again_does_not_bring_it_back(talk: Talk) -> None:
    await talk.say("phone")
    phone(talk.told, "phone")
    await talk.settle(talk.told.delete(1))

    await talk.say("phone")

    assert await talk.found() == set()


async def test_what_is_out_of_search_is_context_for_the_turns_after_it_all_the_same(talk: Talk) -> None:
    await talk.say("phone", "dog")
    phone(talk.told, "phone")
    before = await talk.shard.session(talk.told.scope, "s", 9, 5)

    await talk.settle(talk.told.delete(1))

    assert await talk.found() == {"dog"}
    assert await talk.shard.session(talk.told.scope, "s", 9, 5) == before


async def test_a_turn_that_was_never_stored_and_anothers_of_the_same_name_are_left_alone(
    shard: Shard, story: Story, unit: Unit
) -> None:
    ann, bo = Talk(shard, story("ann"), unit), Talk(shard, story("bo"), unit)
    await bo.say("phone")
    phone(ann.told, "phone", "never stored")
    phone(bo.told, "phone")

    await ann.settle(ann.told.delete(1))

    assert await bo.found() == {"phone"}
    assert await shard.turns.count_rows() == 1


def test_only_what_may_have_changed_is_looked_at(story: Story) -> None:
    told = story("ann")
    phone(told, "phone")
    added = told.add(SAID["dog"], source_turn_ids=("dog",))[0].event
    assert episodes.moved_by(told.memory, [added]) == {}

    deleted = told.delete(1, source_turn_ids=("request",))[0].event
    later = told.add("My cat is Tom.", source_turn_ids=("request", "cat"))[0].event

    assert episodes.moved_by(told.memory, [later, added, deleted]) == {"phone": 3, "request": 4}


async def test_a_command_that_found_nothing_to_change_is_known_as_idle_and_read_as_it_was(shard: Shard) -> None:
    scopes = [COMMAND.scope]
    await shard.commit_inputs([InputRow(COMMAND)])
    assert await shard.idle(scopes, [COMMAND.record_id]) == set()

    await shard.commit_inputs([InputRow(COMMAND, idle=True)])
    await shard.commit_inputs([InputRow(COMMAND)])

    assert await shard.idle(scopes, [COMMAND.record_id, "unknown"]) == {COMMAND.record_id}
    assert await shard.idle([TURN.scope.model_copy(update={"user_id": "bo"})], [COMMAND.record_id]) == set()
    assert await shard.records(scopes, [COMMAND.record_id]) == {COMMAND.record_id: COMMAND}


async def test_memories_are_known_by_the_events_that_began_them(shard: Shard, story: Story) -> None:
    told = story("ann")
    rows = [*told.add("a"), *told.add("b"), *told.update(2, "c"), *told.delete(2)]
    await shard.commit_memories(rows)

    assert await shard.first_events(told.scope, [2, 3]) == {2: rows[1].event}
    assert await shard.first_events(told.scope, {1: "x", 2: "y"}) == {1: rows[0].event, 2: rows[1].event}
    assert await shard.first_events(story("bo").scope, [2]) == {}
