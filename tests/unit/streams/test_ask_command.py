"""What ``memlake ask`` takes and how it shows an answer; what is asked over Kafka is tested with a broker."""

from datetime import UTC, datetime
from typing import Any

import pytest
from click.testing import CliRunner

from schemas.commands import memory_cited, turn_cited
from schemas.retrieval import PRESETS, Explanation, Reply, SearchMetadata, SearchRequest, SearchResult
from streams.cli import ask as command

NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
EXPLAINED = Explanation(
    semantic_score=0.61,
    keyword_score=0.5,
    hybrid_score=0.87,
    passed="its score 0.61 reaches the threshold 0.3",
    source_turn_ids=("t4",),
    revision=2,
    old_memory="I live in Lyon.",
)
WRONG = {
    "a preset and a number": ["x", "--preset", "balanced", "--top-k", "5"],
    "a preset and a threshold": ["x", "--preset", "balanced", "--threshold", "0.3"],
    "a preset that asks nothing": ["x", "--preset", "off"],
    "an unknown kind": ["x", "--kind", "dream"],
    "too much history": ["x", *["--history", "y"] * 101],
}


def reply(*results: SearchResult) -> Reply:
    figures = SearchMetadata(
        total_results=len(results),
        search_time=1,
        embedding_time=1,
        max_similarity=1,
        min_similarity=0,
        average_similarity=0.5,
    )
    return Reply(success=True, query="Where?", results=results, metadata=figures, timestamp=NOW)


def result(**fields: Any) -> SearchResult:
    told = {"id": "1", "text": "I moved to Oslo.", "tags": (), "timestamp": NOW, "similarity": 0.61, "score": 0.61}
    return SearchResult(**told | fields)


@pytest.mark.parametrize("arguments", WRONG.values(), ids=WRONG)
def test_wrong_usage_is_told_before_anything_is_asked(arguments: list[str]) -> None:
    done = CliRunner().invoke(command.ask, arguments)

    assert done.exit_code == 2
    assert "Usage:" in done.output


@pytest.mark.parametrize(("name", "top_k", "threshold"), [("high_precision", 3, 0.85), ("high_recall", 10, 0.15)])
def test_a_preset_says_both_numbers(name: str, top_k: int, threshold: float) -> None:
    with command.ask.make_context("ask", ["x", "--preset", name]) as context:
        assert command._how_much(context.params) == (top_k, threshold)
    with command.ask.make_context("ask", ["x", "--top-k", "7", "--threshold", "0.1"]) as context:
        assert command._how_much(context.params) == (7, 0.1)


def test_what_is_not_told_is_what_a_question_has_by_itself() -> None:
    defaults: dict[str | None, Any] = {option.name: option.default for option in command.ask.params}
    fields = SearchRequest.model_fields

    assert (defaults["top_k"], defaults["threshold"]) == (
        fields["top_k"].default,
        fields["similarity_threshold"].default,
    )
    assert tuple(defaults["kinds"]) == fields["kinds"].default
    assert (PRESETS["balanced"], PRESETS["off"]) == (command.CHOICES["balanced"], None)


def test_an_explanation_is_a_row_with_all_that_made_it_a_result(capsys: pytest.CaptureFixture[str]) -> None:
    turn = result(id="turn:7", text="Oslo!", score=0.4, explanation=EXPLAINED.model_copy(
        update={"semantic_score": None, "rerank_score": 0.4, "revision": None, "old_memory": None}
    ))  # fmt: skip
    command.show_results(reply(result(explanation=EXPLAINED), turn), explain=True)

    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split() == list(command.EXPLAINED)
    told = " ".join(" ".join(rows).split())
    for piece in ("1 1 0.61 0.61 0.50 0.87", "t4", "2, was:", "2 turn:7 0.40 0.50 0.87 0.40"):
        assert piece in told


def test_without_it_a_row_says_what_is_known_and_when_it_was_said(capsys: pytest.CaptureFixture[str]) -> None:
    command.show_results(reply(result()), explain=False)

    head, row = capsys.readouterr().out.splitlines()
    assert head.split() == ["id", "similarity", "text", "said"]
    assert row.split() == ["1", "0.61", "I", "moved", "to", "Oslo.", "2026-03-02", "09:30"]


@pytest.mark.parametrize("explain", [False, True])
def test_nothing_known_is_no_table(explain: bool, capsys: pytest.CaptureFixture[str]) -> None:
    command.show_results(reply(), explain=explain)

    assert capsys.readouterr() == ("", "nothing is known about that\n")


def test_a_result_without_an_explanation_still_has_its_row(capsys: pytest.CaptureFixture[str]) -> None:
    command.show_results(reply(result()), explain=True)

    assert capsys.readouterr().out.splitlines()[1].split() == ["1", "1", "0.61", "0.61", "I", "moved", "to", "Oslo."]


@pytest.mark.parametrize("turn_id", ["7", "memory", "turn:7", "7" * 256])
def test_a_turn_is_never_named_like_a_memory(turn_id: str) -> None:
    assert memory_cited(turn_cited(turn_id)) is None
    assert SearchRequest.from_wire(
        {"scope": {"projectId": "p", "userId": "u"}, "query": "x", "used": [turn_cited(turn_id)]}
    )
