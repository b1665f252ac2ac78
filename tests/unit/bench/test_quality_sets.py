"""Each evaluation set on a made-up sample of its format: what is asked, what is counted, what is noted."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from schemas.conversation import Turn
from schemas.facts import Extraction, Fact
from streams.bench.figures import Figure
from streams.bench.folder import lines_of, sets_in
from streams.bench.quality import beam, halumem_dialogues, halumem_points, msc, preference_events, prefeval
from streams.bench.quality.minds import RULES, Mind
from streams.bench.quality.run import Run
from streams.bench.vectors import Vectors
from streams.decide import Decision, DecisionOptions, Neighbour
from tests.contract.world import WordEmbedder

SETS = sets_in(Path(__file__).parents[2] / "data" / "quality")
Figures = dict[str, Figure]


def run(**changed: Any) -> Run:
    return Run(Vectors(WordEmbedder()), errors=9, **changed)


def by_metric(figures: Sequence[Figure]) -> Figures:
    return {figure.metric: figure for figure in figures}


async def nearest_is_updated(fact: Fact, neighbours: Sequence[Neighbour], options: DecisionOptions) -> Decision:
    """Whatever is nearest is replaced; where nothing is known, it is new."""
    target = neighbours[0].id if neighbours else None
    return Decision("UPDATE" if neighbours else "ADD", target, fact.text, 0.5, "nearest", "similarity")


async def everything_is_deleted(fact: Fact, neighbours: Sequence[Neighbour], options: DecisionOptions) -> Decision:
    """Whatever is nearest goes."""
    if not neighbours:
        return Decision("ADD", None, fact.text, 0.5, "new", "similarity")
    return Decision("DELETE", neighbours[0].id, neighbours[0].text, 0.5, "nearest", "similarity")


async def nothing_is_read(turn: Turn, context: Sequence[Turn], record_id: str) -> Extraction:
    return Extraction(extractor="none")


class TestMemoryPoints:
    async def test_interference_is_no_point_and_marks_are_taken_off_originals(self) -> None:
        (person,) = lines_of(SETS.users[0])
        first, second = halumem_points.sessions_of(person)

        assert [point.is_update for point in (*first.points, *second.points)] == [False, False, False, True, True]
        assert second.points[1].replaces == ("Nora Vind's monthly income is 800 crowns",)

    async def test_what_an_update_replaces_is_in_the_store_though_the_file_has_no_point_of_it(self) -> None:
        (person,) = lines_of(SETS.users[0])
        _, second = halumem_points.sessions_of(person)

        unknown = halumem_points.unknown_originals(second, {"Nora Vind's job title is clerk"})

        assert [point.text for point in unknown] == ["Nora Vind's monthly income is 800 crowns"]
        assert all(point.at < second.points[0].at and not point.is_update for point in unknown)

    async def test_the_nearest_memory_as_target_is_right_for_both_updates(self) -> None:
        found = by_metric(await halumem_points.measure(run(mind=Mind(RULES.extract, nearest_is_updated)), SETS.users))

        # All but the very first point are taken for updates: two rightly, two wrongly.
        assert found["halumem_update_recall"].value == 1.0
        assert found["halumem_update_precision"].value == 0.5
        assert found["halumem_update_f1"].n == 5
        assert (found["halumem_target_right"].value, found["halumem_target_right"].n) == (1.0, 2)
        assert found["halumem_target_shown"].value == 1.0
        assert found["halumem_update.always_add_f1"].value == 0.0

    async def test_a_point_of_which_nothing_is_read_is_no_update_and_is_counted(self) -> None:
        told = run(mind=Mind(nothing_is_read, nearest_is_updated))

        found = by_metric(await halumem_points.measure(told, SETS.users))

        assert (found["halumem_unread"].value, found["halumem_update_f1"].value) == (1.0, 0.0)
        assert "nothing was extracted" in told.wrong["halumem_target_right"][0]

    async def test_each_session_is_in_one_part_and_both_see_the_whole_store(self) -> None:
        parts = [by_metric(await halumem_points.measure(run(split=split), SETS.users)) for split in ("tune", "report")]

        assert sum(part["halumem_update_f1"].n for part in parts if part) == 5


class TestPreferenceEvents:
    async def test_deleting_everything_finds_every_deletion(self) -> None:
        told = run(mind=Mind(RULES.extract, everything_is_deleted))

        found = by_metric(await preference_events.measure(told, SETS.preference_events))

        assert found["halumem_delete_decided_recall"].value == 1.0
        assert found["halumem_delete_decided_precision"].value == pytest.approx(1 / 3)
        assert (found["halumem_change_seen"].value, found["halumem_change_seen"].n) == (1.0, 3)

    async def test_a_plain_request_to_forget_is_seen_by_the_rules(self) -> None:
        found = by_metric(await preference_events.measure(run(), SETS.preference_events))

        decided = [found[f"halumem_delete_decided_{part}"].value for part in ("precision", "recall")]
        assert decided == [1.0, 1.0]

    async def test_what_is_told_is_read_without_a_decision(self) -> None:
        told = run(mind=Mind(nothing_is_read, RULES.decide))

        found = by_metric(await preference_events.measure(told, SETS.preference_events))

        assert (found["halumem_delete_f1"].n, found["halumem_delete_decided_f1"].value) == (3, 0.0)
        assert found["halumem_delete_f1"].baseline is not None

    async def test_what_an_event_brought_about_is_known_to_the_next(self) -> None:
        (person,) = lines_of(SETS.preference_events[0])
        happenings = preference_events.happenings_of(person)

        assert happenings[0].after == happenings[2].before
        assert [one.after is None for one in happenings] == [False, True, False]


class TestDialogues:
    async def test_facts_of_the_user_are_found_and_a_false_variant_is_not_stored(self) -> None:
        found = by_metric(await halumem_dialogues.measure(run(), SETS.users))

        assert (found["halumem_interference_stored"].value, found["halumem_interference_stored"].n) == (0.0, 1)
        assert found["halumem_interference_stated"].value == 0.0
        assert found["halumem_facts_60_recall"].n == 5
        assert found["halumem_facts_60_recall"].value > 0

    async def test_a_variant_that_is_taken_from_the_assistant_is_counted(self) -> None:
        async def credulous(turn: Turn, context: Sequence[Turn], record_id: str) -> Extraction:
            return await RULES.extract(turn.model_copy(update={"role": "user"}), context, record_id)

        told = run(mind=Mind(credulous, RULES.decide))

        found = by_metric(await halumem_dialogues.measure(told, SETS.users))

        assert found["halumem_interference_stated"].value == 1.0
        assert found["halumem_interference_stored"].value == 1.0
        assert "Terna" in told.wrong["halumem_interference_stored"][0]

    def test_a_name_is_read_as_the_first_person(self) -> None:
        voice = halumem_dialogues.voice_of("Name: Nora Vind; Gender: Female")

        assert voice("Nora Vind's boat sank, so Nora swam.") == "my boat sank, so I swam."
        assert halumem_dialogues.voice_of("nothing known")("Nora swam.") == "Nora swam."


class TestUtterances:
    async def test_the_gate_is_judged_by_utterance(self) -> None:
        told = run()

        found = by_metric(await msc.measure(told, SETS.dialogues))

        assert found["msc_gate_recall"].value == 1.0
        assert found["msc_gate_f1"].n == 4
        assert found["msc_gate_recall"].baseline == 1.0

    async def test_a_reader_of_nothing_misses_all(self) -> None:
        found = by_metric(await msc.measure(run(mind=Mind(nothing_is_read, RULES.decide)), SETS.dialogues))

        assert (found["msc_gate_recall"].value, found["msc_gate_precision"].value) == (0.0, 0.0)

    def test_gold_facts_are_told_apart(self) -> None:
        assert msc.gold_facts({"persona_text": "I have a son. My son is in junior high."}) == [
            "I have a son.",
            "My son is in junior high.",
        ]
        assert msc.gold_facts({"text": "Hello"}) == []


async def test_stated_preferences_are_extracted_whole() -> None:
    found = by_metric(await prefeval.measure(run(), SETS.preferences))

    assert [found[f"prefeval_{name}"].value for name in ("extracted", "as_preference", "whole")] == [1.0, 1.0, 1.0]
    assert found["prefeval_extracted"].baseline == 0.0


class TestPairs:
    async def test_a_change_is_recognised_and_the_new_value_is_current(self) -> None:
        found = by_metric(await beam.measure(run(), SETS.chats))

        assert (found["beam_update_recognised"].value, found["beam_update_recognised"].n) == (1.0, 1)
        assert found["beam_update_current"].value == 1.0

    async def test_pairs_are_ordered_by_the_chat_and_incomplete_ones_are_none(self) -> None:
        questions: Any = [
            {"question": "?", "source_chat_ids": {"first_statement": [6], "second_statement": [2]}},
            {"question": "?", "source_chat_ids": {"first_statement": [6], "second_statement": []}},
            {"question": "?", "source_chat_ids": {"first_statement": [6], "second_statement": [6]}},
            {"question": "?", "source_chat_ids": [6, 2]},
        ]

        (pair,) = beam.pairs_of(questions, "first_statement", "second_statement")

        assert (pair.earlier, pair.later) == (frozenset({2}), frozenset({6}))

    def test_marks_of_the_plan_are_taken_off(self) -> None:
        told = [
            {"id": 0, "role": "user", "content": "I row. ->-> 1,1"},
            {"id": 1, "role": "user", "content": "->-> 1,2"},
        ]
        chat: Any = [{"turns": [told]}]

        assert beam.messages_of(chat) == {0: ("user", "I row.")}
