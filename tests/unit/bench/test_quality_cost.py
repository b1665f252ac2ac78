"""What is timed and what is not, and that turns of every shape are read to their end."""

from datetime import UTC, datetime

import pytest

from streams.bench.quality import cost
from streams.bench.quality.memory import Memory
from streams.bench.quality.minds import RULES
from streams.bench.quality.run import TURNS, Run
from streams.bench.vectors import Vectors
from tests.contract.world import WordEmbedder

NOW = datetime(2026, 1, 1, tzinfo=UTC)


async def test_the_meter_changes_nothing_and_runs_on() -> None:
    meter = cost.Meter(RULES)
    plain, timed = (Memory(Vectors(WordEmbedder()), mind, TURNS) for mind in (RULES, meter.mind))

    for text in ("My boat is called Lunde.", "My boat is called Terna now."):
        told = [event.event for _, event in await timed.tell(await timed.hear(text, NOW))]
        assert told == [event.event for _, event in await plain.tell(await plain.hear(text, NOW))]

    assert meter.spent_ms > 0


def test_turns_of_every_shape_are_read_whatever_their_length() -> None:
    time_ms, memory = cost.longest(2_000, 1_000)

    assert (time_ms.metric, time_ms.n) == ("longest_turn_ms", len(cost.SHAPES))
    assert (memory.metric, memory.n) == ("long_turn_peak_mib", len(cost.SHAPES))
    assert memory.min > 0


async def test_an_embedding_is_measured_though_the_text_is_known() -> None:
    vectors = Vectors(WordEmbedder())
    await vectors.prepare(["I row.", "I row.", " "])

    assert list(vectors.by_text) == ["I row."]
    assert await vectors.cpu_ms("I row.") >= 0
    assert Run(vectors).judges("anything")


async def test_a_text_that_was_not_prepared_is_not_embedded_while_rules_are_timed() -> None:
    vectors = Vectors(WordEmbedder())
    await vectors.prepare(["I row."])
    prepared = Vectors(cost.Prepared(vectors.embedder, vectors.dimension))
    prepared.by_text.update(vectors.by_text)

    await prepared.prepare(["I row."])
    with pytest.raises(LookupError, match="I swim"):
        await prepared.prepare(["I row.", "I swim."])
