"""``memlake bench quality`` as its users have it, with the real embedder; the golden conversations hold a floor."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from streams.deployment import environment
from streams.settings import Settings

SAMPLES = Path(__file__).parents[1] / "data" / "quality"
FIELDS = ["bench", "metric", "value", "unit", "baseline", "ratio", "min", "max", "n"]
SETS = ("golden", "halumem", "halumem-dialogues", "beam", "msc", "prefeval")
FLOORS = {"golden_event_right": 0.8, "golden_facts_found": 0.95, "golden_target_right": 0.6}
CEILINGS = {"golden_facts_invented": 0.08, "golden_duplicates": 0.26}
TIMEOUT_S = 600


def quality(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "streams", "bench", "quality", *arguments]
    env = environment(Settings.from_env(os.environ))
    return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False, env=env)


@pytest.fixture(scope="module")
def figures() -> dict[str, dict[str, Any]]:
    """One run over all sets of the samples and the golden conversations."""
    told = quality("--data", str(SAMPLES), *(word for name in SETS for word in ("--set", name)), "--json")
    assert told.returncode == 0, told.stderr
    rows = [json.loads(line) for line in told.stdout.splitlines()]
    assert all(list(row) == FIELDS and row["bench"] == "quality" for row in rows)
    return {row["metric"]: row for row in rows}


@pytest.mark.parametrize("metric", FLOORS)
def test_the_golden_conversations_are_judged_no_worse_than_before(
    figures: dict[str, dict[str, Any]], metric: str
) -> None:
    assert figures[metric]["value"] >= FLOORS[metric]


@pytest.mark.parametrize("metric", CEILINGS)
def test_the_golden_conversations_leave_no_more_behind_than_before(
    figures: dict[str, dict[str, Any]], metric: str
) -> None:
    assert figures[metric]["value"] <= CEILINGS[metric]


def test_every_set_of_the_folder_has_its_figures(figures: dict[str, dict[str, Any]]) -> None:
    wanted = {
        "halumem_update_f1", "halumem_target_right", "halumem_delete_f1", "halumem_interference_stored",
        "halumem_facts_60_recall", "beam_update_recognised", "msc_gate_f1", "msc_facts_50_f1", "prefeval_extracted",
    }  # fmt: skip

    assert wanted <= set(figures)
    assert all(0 <= figures[metric]["value"] <= 1 for metric in wanted)


def test_a_set_that_the_folder_lacks_is_named_and_no_failure(tmp_path: Path) -> None:
    told = quality("--data", str(tmp_path), "--set", "msc", "--set", "beam", "--json")

    assert (told.returncode, told.stdout) == (0, "")
    assert "msc" in told.stderr
    assert "beam" in told.stderr


def test_wrong_cases_go_to_stderr_and_a_table_to_stdout() -> None:
    told = quality("--data", str(SAMPLES), "--set", "halumem", "--split", "all", "--errors", "1", "--markdown")

    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith("| metric | value |")
    assert "| halumem_update_f1 |" in told.stdout


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--set", "nosuch"], "golden"),
        (["--split", "half"], "report"),
        (["--json", "--markdown", "--set", "golden"], "--markdown"),
        (["--data", "/nosuch"], "/nosuch"),
    ],
)
def test_wrong_usage_is_told(arguments: list[str], named: str) -> None:
    told = quality(*arguments)

    assert (told.returncode, told.stdout) == (2, "")
    assert named in told.stderr


def test_a_model_that_is_not_set_cannot_be_asked() -> None:
    told = quality("--llm", "--set", "golden", "--limit", "1")

    assert (told.returncode, told.stdout) == (1, "")
    assert "MEMLAKE_LLM_URL" in told.stderr
