"""The golden conversations: how they are read, how a turn and an ending are judged, and that the judge can say no."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from schemas.conversation import Turn
from schemas.facts import Extraction
from streams.bench.quality import golden
from streams.bench.quality.deciders import PLAIN, always_add, by_cipher, by_cosine
from streams.bench.quality.minds import RULES, Mind
from streams.bench.quality.run import Run
from streams.bench.vectors import Vectors
from tests.contract.world import WordEmbedder

TOLD: dict[str, Any] = {
    "version": "1",
    "language": "en",
    "cases": [
        {
            "id": "boat",
            "turns": [
                {"say": "Hello!"},
                {"say": "My boat is called Lunde.", "expect": [{"ADD": "Lunde"}]},
                {"say": "My boat is called Lunde.", "expect": [{"NONE": "Lunde", "of": "Lunde"}]},
                {"say": "My boat is called Terna now.", "expect": [{"UPDATE|ADD": ["boat", "Terna"], "of": "Lunde"}]},
            ],
            "current": 1,
            "holds": ["Terna"],
            "gone": ["Lunde"],
        }
    ],
}


def run() -> Run:
    return Run(Vectors(WordEmbedder()), errors=9)


async def judged(mind: Mind, told: dict[str, Any] = TOLD, one: Run | None = None) -> golden.Judged:
    found = await golden.judged_by(one or run(), list(golden.cases_of(told)), mind, notes=True)
    return found["en"]


def test_every_file_is_read_and_every_language_has_many_turns() -> None:
    turns = Counter(case.language for case in golden.all_cases() for _ in case.turns)

    assert set(turns) == {"de", "en", "es", "fr", "other", "zh"}
    assert all(count >= 60 for language, count in turns.items() if language != "other")
    assert len(golden.all_cases()) >= 100


def test_every_kind_of_outcome_is_asked_for_in_every_language() -> None:
    asked = {
        (case.language, event)
        for case in golden.all_cases()
        for said in case.turns
        for expected in said.expect
        for event in expected.events
    }

    for language in ("de", "en", "es", "fr", "zh"):
        assert {event for one, event in asked if one == language} == set(golden.EVENTS)


@pytest.mark.parametrize(
    ("fault", "changed"),
    [
        ("is not known", {"says": "typo"}),
        ("is no event", {"expect": [{"UPSERT": "x"}]}),
        ("quote it", {"expect": [{"ADD": 43}]}),
        ("too many", {"expect": [{"ADD": "x", "UPDATE": "y"}]}),
    ],
)
def test_what_a_file_may_not_say_is_refused(fault: str, changed: dict[str, Any]) -> None:
    told = {"language": "en", "cases": [{"id": "x", "turns": [{"say": "x"} | changed]}]}

    with pytest.raises(ValueError, match=fault):
        list(golden.cases_of(told))


async def test_who_does_all_right_is_right_in_everything() -> None:
    one = await judged(RULES)

    assert (one.found, one.event, one.target) == ([True] * 3, [True] * 3, [True] * 2)
    assert (one.invented, one.silent, one.surplus, one.state) == ([False] * 3, [True], [False], [True])


async def test_who_only_adds_keeps_duplicates_and_what_is_old() -> None:
    told = run()

    one = await judged(Mind(RULES.extract, always_add), one=told)

    assert (one.event, one.target) == ([True, False, True], [False, False])
    assert (one.surplus, one.state) == ([True, True, False], [False])
    assert "WRONG" in told.wrong["golden"][0]


async def test_who_keeps_a_greeting_invents() -> None:
    async def all_of_it(turn: Turn, context: Sequence[Turn], record_id: str) -> Extraction:
        content = turn.content.replace("Hello!", "I say hello.")
        return await RULES.extract(turn.model_copy(update={"content": content}), context, record_id)

    one = await judged(Mind(all_of_it, RULES.decide))

    assert (one.silent, one.invented.count(True)) == ([False], 1)


async def test_who_reads_nothing_finds_nothing() -> None:
    async def nothing(turn: Turn, context: Sequence[Turn], record_id: str) -> Extraction:
        return Extraction(extractor="none")

    one = await judged(Mind(nothing, RULES.decide))

    assert (one.found, one.event, one.target, one.state) == ([False] * 3, [False] * 3, [False] * 2, [False])


async def test_plain_deciders_go_by_the_nearest_memory_alone() -> None:
    assert list(PLAIN.values()) == [by_cipher, by_cosine, always_add]
    by_likeness = await judged(Mind(RULES.extract, by_cosine))

    assert by_likeness.event[:2] == [True, True]
    assert by_likeness.target[0]


async def test_the_figures_name_plain_deciders_and_languages() -> None:
    figures = await golden.measure(Run(Vectors(WordEmbedder()), limit=3), ())

    metrics = {figure.metric for figure in figures}
    assert {"golden_event_right", "golden_event_right.cipher", "golden_event_right.always_add"} <= metrics
    assert {"golden_facts_found", "golden_facts_invented", "golden_duplicates"} <= metrics
    assert any(metric.startswith("golden_event_right/") for metric in metrics)
