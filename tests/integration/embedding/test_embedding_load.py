"""Loading: without torch, without the network, quickly, and with a clear word when it cannot be."""

import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from lakehouse.embedding.exported import ONNX_FILE, export_folder
from lakehouse.embedding.load import load_embedder
from lakehouse.embedding.model import BUNDLED
from lakehouse.embedding.onnx_embedder import OnnxEmbedder
from schemas.errors import Misconfigured, Unavailable
from tests.barred import BARRED

ROOT = Path(__file__).parents[3]

# Loads and embeds with every way to another host barred; prints what it took.
ALONE = (
    BARRED
    + """
import asyncio, json, sys, time

async def main():
    from pathlib import Path
    from lakehouse.embedding import load_embedder
    embedder = await load_embedder(sys.argv[1], Path(sys.argv[2]), threads=1, cache_size=10)
    vectors = await embedder.embed(["I live in Braga now."])
    await embedder.close()
    return vectors.shape

shape = asyncio.run(main())
heavy = sorted({"torch", "transformers", "sentence_transformers", "onnx", "huggingface_hub"} & sys.modules.keys())
print(json.dumps({"shape": shape, "attempts": attempts, "heavy": heavy, "cpu_s": time.process_time()}))
"""
)


def test_an_exported_model_is_loaded_without_torch_or_network_in_two_seconds(cache: Path, tmp_path: Path) -> None:
    shown = subprocess.run(
        [sys.executable, "-c", ALONE, BUNDLED, str(cache)],
        env={**os.environ, "HF_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    told = json.loads(shown.stdout)

    assert told["shape"] == [1, 384]
    assert told["attempts"] == []
    assert told["heavy"] == []
    assert told["cpu_s"] < 2  # of the processor, as others may be busy with it
    assert shown.stderr == ""


async def test_a_missing_model_is_said_within_two_seconds(tmp_path: Path) -> None:
    started = time.perf_counter()

    with pytest.raises(Misconfigured, match="there is no model"):
        await load_embedder("no/such-model", tmp_path, threads=1, cache_size=0)
    assert time.perf_counter() - started < 2


async def test_what_the_export_needs_and_is_not_installed_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('torch is not installed')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    with pytest.raises(Misconfigured, match=r"pip install memlake\[export\] \(torch is not installed\)"):
        await load_embedder(BUNDLED, tmp_path / "cache", threads=1, cache_size=0)


async def test_an_exporter_that_dies_is_unavailable_with_its_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "torch.py").write_text("import os\nprint('out of something', flush=True)\nos._exit(9)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    with pytest.raises(Unavailable, match=r"code 9: .*out of something"):
        await load_embedder(BUNDLED, tmp_path / "cache", threads=1, cache_size=0)


async def test_a_cache_that_cannot_be_made_is_said_before_anything_is_exported(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")

    with pytest.raises(Misconfigured, match="CACHE"):
        await load_embedder(BUNDLED, tmp_path / "cache", threads=1, cache_size=0)


async def test_an_exporter_ends_with_the_patience_of_its_caller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = tmp_path / "pid"
    (tmp_path / "torch.py").write_text(
        f"import os, pathlib, time\npathlib.Path({str(told)!r}).write_text(str(os.getpid()))\ntime.sleep(600)"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    loading = asyncio.ensure_future(load_embedder(BUNDLED, tmp_path / "cache", threads=1, cache_size=0))
    async with asyncio.timeout(60):
        while not told.exists() or not told.read_text():  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.05)

    loading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await loading

    with pytest.raises(ProcessLookupError):
        os.kill(int(told.read_text()), 0)


async def test_two_processes_that_export_at_once_and_over_a_harmed_file_end_with_one_whole_export(
    embedder: OnnxEmbedder, cache: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = export_folder(tmp_path, embedder.id.partition("/")[0])
    folder.mkdir(parents=True)
    for file in export_folder(cache, folder.name).iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    with (folder / ONNX_FILE).open("r+b") as graph:
        graph.truncate(40_000_000)

    both = await asyncio.gather(*(load_embedder(BUNDLED, tmp_path, threads=1, cache_size=0) for _ in range(2)))

    for loaded in both:
        vectors = await loaded.embed(["I live in Braga now."])
        np.testing.assert_allclose(vectors, await embedder.embed(["I live in Braga now."]), atol=1e-6)
        await loaded.close()
    shown = capfd.readouterr()
    assert shown.out == ""
    assert shown.err.count("Preparing the embedding model") == 1
    assert shown.err.count("Waiting for another process") == 1
    assert not (folder / "draft").exists()
