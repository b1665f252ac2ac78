"""``memlake bench retrieval`` as its users have it, with the real embedder."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from streams.deployment import environment
from streams.settings import Settings

SAMPLES = Path(__file__).parents[1] / "data" / "retrieval"
FIELDS = ["bench", "metric", "value", "unit", "baseline", "ratio", "min", "max", "n"]
TIMEOUT_S = 300


THEIRS = ("--set", "locomo", "--set", "longmemeval", "--set", "beam")


def retrieval(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "streams", "bench", "retrieval", *arguments]
    env = environment(Settings.from_env(os.environ))
    return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False, env=env)


def test_every_system_has_its_figures_and_a_picture_is_drawn(tmp_path: Path) -> None:
    told = retrieval("--data", str(SAMPLES), *THEIRS, "--json", "--plot", str(tmp_path / "found.png"))

    assert told.returncode == 0, told.stderr
    rows = [json.loads(line) for line in told.stdout.splitlines()]
    assert all(list(row) == FIELDS and row["bench"] == "retrieval" for row in rows)
    by_metric = {row["metric"]: row for row in rows}
    for of in ("locomo", "longmemeval", "beam"):
        for system in ("", ".bm25", ".dense", ".rrf", ".lancedb_hybrid"):
            assert 0 < by_metric[f"{of}_recall_at_10{system}"]["value"] <= 1
        assert by_metric[f"{of}_recall_at_10"]["baseline"] is not None
        assert f"{of}_gain_at_10" in by_metric
    assert by_metric["current_value_first"]["n"] == 2
    assert by_metric["degraded"]["value"] == 0
    assert (tmp_path / "found.png").stat().st_size > 0


def test_plain_methods_alone_in_a_table_with_wrong_cases_beside() -> None:
    told = retrieval("--data", str(SAMPLES), "--plain", "--set", "beam", "--limit", "1", "--errors", "1", "--markdown")

    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith("| metric | value |")
    assert "| beam_recall_at_10.bm25 |" in told.stdout
    assert "beam_recall_at_10 |" not in told.stdout


def test_a_set_that_the_folder_lacks_is_named_and_no_failure(tmp_path: Path) -> None:
    told = retrieval("--data", str(tmp_path), *THEIRS, "--plain", "--json")

    assert (told.returncode, told.stdout) == (0, "")
    assert all(name in told.stderr for name in ("locomo", "longmemeval", "beam"))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ([], "--data"),
        (["--data", str(SAMPLES), "--set", "nosuch"], "locomo"),
        (["--data", str(SAMPLES), "--kinds", "rumours"], "facts"),
        (["--data", str(SAMPLES), "--json", "--markdown"], "--markdown"),
        (["--data", str(SAMPLES), "--limit", "0"], "--limit"),
    ],
)
def test_wrong_usage_is_told(arguments: list[str], named: str) -> None:
    told = retrieval(*arguments)

    assert (told.returncode, told.stdout) == (2, "")
    assert named in told.stderr
