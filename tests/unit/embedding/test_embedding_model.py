"""Where a model is found, what is refused, and what its identity hangs on."""

import json
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from lakehouse.embedding.model import BUNDLED, find_model, model_id, pooling_of
from schemas.errors import Misconfigured

MODULES = [
    {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
    {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
    {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
]
DENSE = {"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"}

POOLING_CONFIGS = [
    ({"pooling_mode": "mean"}, "mean"),
    ({"pooling_mode": "cls"}, "cls"),
    ({"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}, "mean"),
    ({"pooling_mode_cls_token": True}, "cls"),
    ({"pooling_mode_max_tokens": True}, "max"),
    ({}, "mean"),
]
REFUSED_POOLINGS: list[tuple[dict[str, Any], str]] = [
    ({"pooling_mode": "lasttoken"}, "lasttoken"),
    ({"pooling_mode_weightedmean_tokens": True}, "weightedmean"),
    ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True}, r"cls\+mean"),
]
MISSING = ["modules.json", "config.json", "model.safetensors"]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "tiny"
    (folder / "1_Pooling").mkdir(parents=True)
    (folder / "modules.json").write_text(json.dumps(MODULES))
    (folder / "config.json").write_text("{}")
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode": "mean"}')
    (folder / "model.safetensors").write_bytes(b"weights")
    (folder / "README.md").write_text("a model")
    return folder


@pytest.fixture(autouse=True)
def _no_hub_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))


def test_the_bundled_model_is_found_by_its_name() -> None:
    found = find_model(BUNDLED)

    assert (found / "model.safetensors").is_file()
    assert find_model(f"sentence-transformers/{BUNDLED}") == found
    assert pooling_of(found) == "mean"


def test_a_folder_is_found_by_its_path(model: Path) -> None:
    assert find_model(str(model)) == model


@pytest.mark.parametrize("asked", ["some/model", "sentence-transformers/model", "model"])
def test_a_model_in_the_hub_cache_is_found_by_name(asked: str, model: Path, tmp_path: Path) -> None:
    owner = "some" if asked.startswith("some") else "sentence-transformers"
    repository = tmp_path / "hub" / f"models--{owner}--model"
    commit = "0123456789abcdef0123456789abcdef01234567"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text(commit)
    shutil.copytree(model, repository / "snapshots" / commit)

    assert find_model(asked) == repository / "snapshots" / commit


@pytest.mark.parametrize("name", ["no/such-model", "no-such-model", "/no/such/folder", "../none", "a/b/c", "\x00"])
def test_a_missing_model_is_said_within_two_seconds_with_what_to_do(name: str) -> None:
    started = time.perf_counter()

    with pytest.raises(Misconfigured, match=f"Name a folder.*{BUNDLED}"):
        find_model(name)
    assert time.perf_counter() - started < 2


@pytest.mark.parametrize("file", MISSING)
def test_a_model_without_one_of_its_files_is_refused_by_that_file(file: str, model: Path) -> None:
    (model / file).unlink()

    with pytest.raises(Misconfigured, match=r"modules\.json|config\.json|weights"):
        find_model(str(model))


@pytest.mark.parametrize("broken", ["", "{", "[]", "{}", "[1]"])
def test_a_broken_list_of_modules_is_refused(broken: str, model: Path) -> None:
    (model / "modules.json").write_text(broken)

    with pytest.raises(Misconfigured, match=r"modules\.json"):
        find_model(str(model))


@pytest.mark.parametrize(("config", "pooling"), POOLING_CONFIGS)
def test_the_pooling_is_read_from_old_and_new_configurations(config: dict[str, Any], pooling: str, model: Path) -> None:
    (model / "1_Pooling" / "config.json").write_text(json.dumps(config))

    assert pooling_of(model) == pooling


@pytest.mark.parametrize(("config", "named"), REFUSED_POOLINGS)
def test_another_pooling_is_refused_by_name(config: dict[str, Any], named: str, model: Path) -> None:
    (model / "1_Pooling" / "config.json").write_text(json.dumps(config))

    with pytest.raises(Misconfigured, match=f"pools by {named};"):
        pooling_of(model)


def test_a_model_with_other_modules_is_refused_by_their_names(model: Path) -> None:
    (model / "modules.json").write_text(json.dumps([*MODULES[:2], DENSE]))

    with pytest.raises(Misconfigured, match="Transformer, Pooling, Dense"):
        pooling_of(model)


def test_the_identity_is_that_of_the_files_wherever_they_are(model: Path, tmp_path: Path) -> None:
    copy = tmp_path / "elsewhere" / "tiny"
    shutil.copytree(model, copy)
    (copy / "README.md").write_text("another text about it")

    assert model_id(str(copy), copy) == model_id("some/tiny", model)
    assert model_id("some/tiny", model).startswith("tiny-")


@pytest.mark.parametrize("file", ["model.safetensors", "config.json", "1_Pooling/config.json"])
def test_other_weights_or_configuration_of_the_same_size_are_another_identity(file: str, model: Path) -> None:
    before = model_id("tiny", model)
    (model / file).write_bytes((model / file).read_bytes()[::-1])

    assert model_id("tiny", model) != before


def test_the_identity_holds_no_odd_characters(model: Path) -> None:
    assert model_id("a/b c:d", model).startswith("b-c-d-")
