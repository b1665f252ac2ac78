"""From what was found to figures and a picture; and one run of all plain systems over the samples."""

import importlib.util
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from schemas.errors import Misconfigured
from streams.bench.figures import Figure
from streams.bench.folder import sets_in
from streams.bench.retrieval import beam, locomo, longmemeval, plotting
from streams.bench.retrieval.cases import Change, Question
from streams.bench.retrieval.sets import Run, outcomes_of
from streams.bench.retrieval.systems import Ranked
from streams.bench.retrieval.tally import Outcome, figures_of
from streams.bench.vectors import Vectors
from tests.contract.world import WordEmbedder

NOW = datetime(2026, 1, 1, tzinfo=UTC)
FILES = sets_in(Path(__file__).parents[2] / "data" / "retrieval")
SESSIONS = {"a": "one", "b": "one", "c": "two", "d": "two"}
A_IS_NEWER = Change(frozenset("c"), frozenset("a"))


def outcome(
    gold: str,
    *,
    category: str = "plain",
    counts: bool = True,
    change: Change | None = None,
    sessions: str = "",
    **found: str,
) -> Outcome:
    """One question whose gold turns are letters, and what each system found, letter by letter."""
    question = Question(
        "set", "?", NOW, category, frozenset(gold), frozenset(sessions.split()), counts=counts, change=change
    )
    ranked = {
        system: Ranked(list(turns), {"search_ms": float(len(turns))}, ("slow",) if turns == "d" else ())
        for system, turns in found.items()
    }
    return Outcome(question, ranked, SESSIONS)


def told(*outcomes: Outcome) -> dict[str, Figure]:
    return {figure.metric: figure for figure in figures_of(outcomes)}


class TestFigures:
    def test_the_product_has_the_plain_name_and_is_held_against_the_best_of_the_others(self) -> None:
        figures = told(outcome("ab", memlake="ab", bm25="a", rrf="d"), outcome("c", memlake="a", bm25="c", rrf="d"))

        ours = figures["set_recall_at_5"]
        assert (ours.bench, ours.unit, ours.value, ours.n) == ("retrieval", "share", 0.5, 2)
        assert [ours.baseline, ours.ratio] == pytest.approx([0.75, 2 / 3])
        assert (figures["set_recall_at_5.bm25"].value, figures["set_recall_at_5.bm25"].baseline) == (0.75, None)
        assert figures["set_recall_at_5.rrf"].value == 0.0

    def test_the_gain_is_counted_question_by_question_against_the_best(self) -> None:
        figures = told(*(outcome("ab", memlake="ab", bm25="a", rrf="d") for _ in range(4)))

        gain = figures["set_gain_at_10"]
        assert (gain.value, gain.min, gain.max, gain.n) == (0.5, 0.5, 0.5, 4)
        assert gain.baseline is None

    def test_without_the_product_there_is_no_gain_and_no_plain_name(self) -> None:
        figures = told(outcome("a", bm25="a"))

        assert [metric for metric in figures if "gain" in metric or "degraded" in metric] == []
        assert {metric.rpartition(".")[2] for metric in figures} == {"bm25"}

    def test_categories_have_their_own_and_what_stands_apart_is_not_in_the_mean(self) -> None:
        figures = told(outcome("a", bm25="a"), outcome("a", bm25="b", category="odd", counts=False))

        assert figures["set_recall_at_5.bm25"].value == figures["set_recall_at_5/plain.bm25"].value == 1.0
        assert (figures["set_recall_at_5/odd.bm25"].value, figures["set_recall_at_5.bm25"].n) == (0.0, 1)

    def test_sessions_are_counted_where_they_are_known_and_turns_where_they_are(self) -> None:
        figures = told(outcome("", bm25="abc", sessions="two"), outcome("a", bm25="ab"))

        assert (figures["set_session_recall_at_1.bm25"].value, figures["set_session_recall_at_1.bm25"].n) == (0.0, 1)
        assert figures["set_session_recall_at_3.bm25"].value == 1.0
        assert figures["set_recall_at_5.bm25"].n == 1

    def test_current_values_are_judged_beside_similarity_alone(self) -> None:
        figures = told(
            outcome("ac", memlake="a", dense="ca", bm25="ac", change=A_IS_NEWER),
            outcome("ac", memlake="ca", dense="ca", bm25="b", change=A_IS_NEWER),
            outcome("ac", memlake="a", dense="a", bm25="a"),
        )

        ours = figures["current_value_first"]
        assert (ours.value, ours.baseline, ours.n) == (0.5, 0.5, 2)
        assert figures["current_value_first.similarity"].value == 0.0
        assert figures["current_value_first/set"].value == 0.5
        assert "current_value_first.dense" not in figures

    def test_times_are_medians_and_the_search_is_held_against_lancedb(self) -> None:
        figures = told(
            outcome("a", memlake="a", lancedb_hybrid="ab"),
            outcome("a", memlake="abc", lancedb_hybrid="ab"),
            outcome("a", memlake="abc", lancedb_hybrid="ab"),
        )

        time = figures["search_ms"]
        assert (time.value, time.unit, time.min, time.max, time.baseline, time.ratio) == (3.0, "ms", 1.0, 3.0, 2.0, 1.5)
        assert figures["search_ms.lancedb_hybrid"].value == 2.0

    def test_answers_that_were_degraded_are_counted(self) -> None:
        assert told(outcome("a", memlake="d"), outcome("a", memlake="a"))["degraded"].value == 0.5


async def test_all_plain_systems_answer_over_every_sample() -> None:
    run = Run(Vectors(WordEmbedder()), "both", None, errors=1)
    units = [
        *locomo.units_of(FILES.conversations),
        *longmemeval.units_of(FILES.haystacks),
        *beam.units_of(FILES.chats),
    ]
    outcomes = [one for unit in units for one in await outcomes_of(run, unit)]

    figures = told(*outcomes)

    for name in ("bm25", "dense", "rrf", "lancedb_hybrid"):
        for of in ("locomo", "locomo_corrected", "longmemeval", "beam"):
            assert figures[f"{of}_recall_at_10.{name}"].value == 1.0  # none of them has more turns
        assert figures[f"longmemeval_session_recall_at_10.{name}"].value == 1.0
        assert figures[f"current_value_first.{name.replace('dense', 'similarity')}"].n == 2
    assert figures["locomo_recall_at_5/adversarial.bm25"].n == 1
    assert run.wrong == {}


async def test_evidence_that_was_not_found_is_noted_with_what_was() -> None:
    run = Run(Vectors(WordEmbedder()), "both", None, errors=1)
    (unit,) = locomo.units_of(FILES.conversations)
    turns = (*unit.turns, *(unit.turns[0].model_copy(update={"turn_id": f"same {n}"}) for n in range(12)))
    asked = tuple(question for question in unit.questions if question.category == "multi-hop")
    crowded = type(unit)(unit.name, turns, tuple(_asking(question, "Is there a goat ribbon?") for question in asked))

    await outcomes_of(run, crowded)

    (case,) = run.wrong["locomo_recall_at_10"]
    assert "gold at 14: Perrin: I grow orchids" in case
    assert "gold at no rank: Perrin: The greenhouse burned" in case
    assert "found: Odalys: My goat Bramble" in case


def _asking(question: Question, text: str) -> Question:
    return Question(question.of, text, question.asked_at, question.category, question.turns)


FIGURES: Sequence[Figure] = [
    Figure("retrieval", metric, 0.5, "share", None, None, 0.25, 0.75, 4)
    for metric in (
        "locomo_recall_at_5", "locomo_recall_at_10", "locomo_recall_at_5.bm25", "locomo_recall_at_10.bm25",
        "locomo_recall_at_5/temporal", "locomo_gain_at_5", "longmemeval_session_recall_at_3",
        "current_value_first", "current_value_first.similarity", "current_value_first/beam", "search_ms",
    )
]  # fmt: skip


class TestPicture:
    def test_a_panel_a_set_and_a_curve_a_system(self) -> None:
        curves = plotting.curves_of(FIGURES)

        assert {
            panel: {system: len(found) for system, found in systems.items()} for panel, systems in curves.items()
        } == {
            "locomo_recall": {"memlake": 2, "bm25": 2},
            "longmemeval_session_recall": {"memlake": 1},
            "current_value_first": {"memlake": 1, "similarity": 1},
        }

    @pytest.mark.parametrize("figures", [FIGURES, []], ids=["figures", "none"])
    def test_it_is_written(self, tmp_path: Path, figures: Sequence[Figure]) -> None:
        plotting.draw(figures, tmp_path / "found.png")

        assert (tmp_path / "found.png").read_bytes().startswith(b"\x89PNG")

    def test_an_unknown_format_is_told(self, tmp_path: Path) -> None:
        with pytest.raises(Misconfigured, match=r"\.png"):
            plotting.draw(FIGURES, tmp_path / "found.txt")

    def test_without_the_library_the_extra_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delitem(sys.modules, "matplotlib", raising=False)
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)

        with pytest.raises(Misconfigured, match=r"memlake\[bench\]"):
            plotting.require_library()
