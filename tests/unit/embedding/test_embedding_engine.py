"""What is no vector is found out, and a model that cannot be opened or run is unavailable."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from lakehouse.embedding.embedder import Vectors
from lakehouse.embedding.engine import Engine, verified
from lakehouse.embedding.exported import FORMAT, ONNX_FILE, TOKENIZER_FILE, Manifest
from schemas.errors import InvalidMessage, Unavailable

GOOD = np.array([[1, 0, 0], [0, 0.6, 0.8]], np.float32)
BAD = [
    pytest.param(np.array([[1, 0, 0], [0, np.nan, 0.8]], np.float32), "norm nan", id="NaN"),
    pytest.param(np.array([[1, 0, 0], [0, np.inf, 0.8]], np.float32), "norm inf", id="infinite"),
    pytest.param(np.array([[1, 0, 0], [0, 0, 0]], np.float32), "norm 0", id="zeros"),
    pytest.param(np.array([[1, 0, 0], [0, 3, 4]], np.float32), "norm 5", id="not of norm 1"),
    pytest.param(GOOD[:, :2], r"\(2, 2\) instead of 2 vectors of 3", id="short"),
    pytest.param(GOOD[:1], r"\(1, 3\) instead of 2", id="too few"),
    pytest.param(GOOD[0], r"\(3,\) instead of", id="one-dimensional"),
    pytest.param(GOOD.astype(np.float64), "float32", id="float64"),
    pytest.param(None, "None instead of", id="None"),
]

TABLES = [
    pytest.param([[1, 0], [0, 1]], None, id="good"),
    pytest.param([[1, 0], [0, float("nan")]], "norm nan", id="NaN"),
    pytest.param([[1, 0], [0, 0]], "norm 0", id="zeros"),
    pytest.param([[1, 0, 0], [0, 1, 0]], "instead of", id="too long"),
    pytest.param([[1, 0]], "failed", id="a run that fails"),
]


def test_unit_vectors_pass() -> None:
    assert verified(GOOD, 2, 3) is GOOD


@pytest.mark.parametrize(("vectors", "said"), BAD)
def test_what_is_no_vector_is_unavailable(vectors: object, said: str) -> None:
    with pytest.raises(Unavailable, match=said):
        verified(vectors, 2, 3)


def _engine(folder: Path, table: list[list[float]]) -> Engine:
    """A model whose vector is the row of ``table`` at its first token."""
    tokenizer = Tokenizer(WordLevel({"a": 0, "b": 1, "?": 2}, unk_token="?"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(folder / TOKENIZER_FILE))
    numbers = [number for row in table for number in row]
    graph = helper.make_graph(
        [
            helper.make_node("Slice", ["input_ids", "zero", "one", "one"], ["first"]),
            helper.make_node("Squeeze", ["first", "one"], ["index"]),
            helper.make_node("Gather", ["table", "index"], ["vectors"]),
        ],
        "table",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "tokens"])],
        [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["batch", "dimension"])],
        [
            helper.make_tensor("table", TensorProto.FLOAT, [len(table), len(table[0])], numbers),
            helper.make_tensor("zero", TensorProto.INT64, [1], [0]),
            helper.make_tensor("one", TensorProto.INT64, [1], [1]),
        ],
    )
    opset = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=9), folder / ONNX_FILE)
    return Engine(folder, _manifest(), threads=1)


def _manifest() -> Manifest:
    return Manifest(
        format=FORMAT,
        model_id="table",
        dimension=2,
        max_tokens=4,
        pooling="cls",
        onnx_sha256="",
        tokenizer_sha256="",
        versions={},
    )


@pytest.mark.parametrize(("table", "said"), TABLES)
def test_what_a_model_gives_is_looked_at(table: list[list[float]], said: str | None, tmp_path: Path) -> None:
    engine = _engine(tmp_path, table)
    rows = [engine.tokenize("a"), engine.tokenize("b")]

    if said is None:
        assert engine.run(rows).tolist() == table
    else:
        with pytest.raises(Unavailable, match=said):
            engine.run(rows)


def test_a_text_is_cut_at_the_models_own_length(tmp_path: Path) -> None:
    assert _engine(tmp_path, [[1, 0]]).tokenize("a b a b a b a") == [0, 1, 0, 1]


def test_a_text_in_which_the_model_reads_nothing_is_invalid(tmp_path: Path) -> None:
    with pytest.raises(InvalidMessage, match="reads nothing"):
        _engine(tmp_path, [[1, 0]]).tokenize("  ")


def test_a_stopped_engine_is_unavailable(tmp_path: Path) -> None:
    engine = _engine(tmp_path, [[1, 0]])
    engine.stop()

    with pytest.raises(Unavailable):
        engine.run([[0]])


@pytest.mark.parametrize("file", [ONNX_FILE, TOKENIZER_FILE])
def test_a_model_that_cannot_be_opened_is_unavailable(file: str, tmp_path: Path) -> None:
    _engine(tmp_path, [[1, 0]])
    (tmp_path / file).write_bytes(b"no model")

    with pytest.raises(Unavailable, match="cannot be opened"):
        Engine(tmp_path, _manifest(), threads=1)


def test_a_machine_whose_groups_differ_is_found_out(tmp_path: Path) -> None:
    engine = _engine(tmp_path, [[1, 0], [0, 1], [1, 0]])

    class Drifting(Engine):
        def __init__(self) -> None:
            self.__dict__ |= engine.__dict__

        def run(self, rows: Sequence[Sequence[int]]) -> Vectors:
            return np.add(super().run(rows), 1e-6 * len(rows), dtype=np.float32)

    assert engine.groups_are_exact()
    assert not Drifting().groups_are_exact()
