"""What ``bench quality`` judges in one process is what the agents would have done with the same turns."""

from datetime import timedelta
from pathlib import Path

from streams.bench.quality.golden import Case, all_cases
from streams.bench.quality.memory import Memory
from streams.bench.quality.minds import RULES
from streams.bench.quality.run import TURNS
from streams.bench.vectors import Vectors
from tests.contract.world import START, WordEmbedder, World, scope_in

HERE = scope_in(0)
TOLD = ("event", "id", "revision", "text", "old_memory", "subject", "attribute", "value", "confidence", "reasoning")


def cases() -> list[Case]:
    """A few of each language, those with most kinds of events first."""

    def kinds(case: Case) -> int:
        return len({event for said in case.turns for one in said.expect for event in one.events})

    ordered = sorted(all_cases(), key=lambda case: (-kinds(case), case.id))
    return [case for number, case in enumerate(ordered) if number % 14 == 0]


async def test_a_conversation_has_the_same_events_as_in_the_agents(tmp_path: Path) -> None:
    told = 0
    for number, case in enumerate(cases()):
        world = await World.make(tmp_path / str(number))
        memory = Memory(Vectors(WordEmbedder()), RULES, TURNS)
        ours = []
        for minute, said in enumerate(case.turns):
            at = said.at or START + timedelta(minutes=minute)
            world.say(HERE, said.text, role=said.role, timestamp=at, turn_id=f"t{minute}")
            ours += [event for _, event in await memory.tell(await memory.hear(said.text, at, role=said.role))]
        await world.settle(await world.worker())

        theirs = world.changes()
        assert [[getattr(event, name) for name in TOLD] for event in ours] == [
            [getattr(event, name) for name in TOLD] for event in theirs
        ]
        told += len(ours)
    assert told > 12
