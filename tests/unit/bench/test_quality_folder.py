"""Evaluation sets are found by their shape, wherever they lie in a folder."""

import shutil
from pathlib import Path

import pytest

from schemas.errors import Misconfigured
from streams.bench.folder import Sets, sets_in

SAMPLES = Path(__file__).parents[2] / "data" / "quality"


def test_each_kind_is_found_and_the_rest_left_alone() -> None:
    assert sets_in(SAMPLES) == Sets(
        users=(SAMPLES / "people.jsonl",),
        preference_events=(SAMPLES / "preference_events.jsonl",),
        dialogues=(SAMPLES / "session_1.jsonl",),
        preferences=(SAMPLES / "travel.json",),
        chats=(SAMPLES / "chats" / "7",),
    )


def test_neither_name_nor_place_of_a_file_matters(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    shutil.copy(SAMPLES / "people.jsonl", tmp_path / "deep" / "er" / "a.jsonl")
    shutil.copy(SAMPLES / "people.jsonl", tmp_path / "b.jsonl")

    assert sets_in(tmp_path) == Sets(users=(tmp_path / "b.jsonl", tmp_path / "deep" / "er" / "a.jsonl"))


@pytest.mark.parametrize("text", ["", "\n\n", "[]", '{"dialog": []}', '{"sessions": [{"memory_points": []}]}\n'])
def test_an_empty_file_is_no_failure(tmp_path: Path, text: str) -> None:
    (tmp_path / "empty.json").write_text(text)
    (tmp_path / "chat.json").write_text(text)

    assert sets_in(tmp_path) == Sets()


def test_what_is_no_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="no folder"):
        sets_in(tmp_path / "missing")
