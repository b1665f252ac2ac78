"""When an export counts: all of it is there, is of this model and format, and is unharmed."""

import json
from pathlib import Path

import pytest

from lakehouse.embedding.exported import (
    FORMAT,
    MANIFEST_FILE,
    ONNX_FILE,
    TOKENIZER_FILE,
    Manifest,
    file_sha256,
    read_export,
)

ID = "tiny-0123456789ab"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / ONNX_FILE).write_bytes(b"graph")
    (tmp_path / TOKENIZER_FILE).write_text("{}")
    manifest = Manifest(
        format=FORMAT,
        model_id=ID,
        dimension=4,
        max_tokens=8,
        pooling="mean",
        onnx_sha256=file_sha256(tmp_path / ONNX_FILE),
        tokenizer_sha256=file_sha256(tmp_path / TOKENIZER_FILE),
        versions={},
    )
    (tmp_path / MANIFEST_FILE).write_text(manifest.model_dump_json())
    return tmp_path


def test_a_whole_export_counts(folder: Path) -> None:
    manifest = read_export(folder, ID)

    assert manifest is not None
    assert manifest.dimension == 4


@pytest.mark.parametrize("file", [ONNX_FILE, TOKENIZER_FILE, MANIFEST_FILE])
def test_an_export_with_a_missing_file_does_not_count(file: str, folder: Path) -> None:
    (folder / file).unlink()

    assert read_export(folder, ID) is None


@pytest.mark.parametrize("file", [ONNX_FILE, TOKENIZER_FILE, MANIFEST_FILE])
def test_an_export_with_a_harmed_file_does_not_count(file: str, folder: Path) -> None:
    content = (folder / file).read_bytes()
    (folder / file).write_bytes(bytes([content[0] ^ 1]) + content[1:])

    assert read_export(folder, ID) is None


@pytest.mark.parametrize("changed", [{"format": FORMAT + 1}, {"more": 1}, {"dimension": None}], ids=str)
def test_an_export_of_another_format_does_not_count(changed: dict[str, object], folder: Path) -> None:
    told = json.loads((folder / MANIFEST_FILE).read_text())
    (folder / MANIFEST_FILE).write_text(json.dumps(told | changed))

    assert read_export(folder, ID) is None


def test_an_export_of_another_model_does_not_count(folder: Path) -> None:
    assert read_export(folder, "other-0123456789ab") is None
