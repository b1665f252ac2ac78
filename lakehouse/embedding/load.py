"""From a model's name to an embedder: find it, have it exported if it never was, open it.

Rule of this file: no torch in this process. The export runs in a process of its own (``__main__.py``), which ends with
this one's patience or cancellation. A loading that is told no is told so at once and says what to do.
"""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import NoReturn

from lakehouse.embedding.engine import Engine
from lakehouse.embedding.exported import Manifest, export_folder, read_export
from lakehouse.embedding.model import find_model, model_id, pooling_of
from lakehouse.embedding.onnx_embedder import OnnxEmbedder
from schemas.errors import Misconfigured, Unavailable

EXPORT_TIMEOUT_S = 900.0
"""For the whole export, a minute at most for the bundled model; waiting for another process's export included."""

_TOLD_ON_FAILURE = 2000  # characters of the exporter's last words
_SOURCE_ROOT = Path(__file__).parents[2]


async def load_embedder(name: str, cache: Path, *, threads: int, cache_size: int) -> OnnxEmbedder:
    """Open a model for embedding; the first time ever it is exported, which takes half a minute and needs torch.

    Args:
        name: ``all-MiniLM-L6-v2`` (bundled), a folder, or a name in the local Hugging Face cache.
        cache: Where exports are kept, shared by all processes.
        threads: Threads of one run; more than 1 on busy cores is slower.
        cache_size: Texts whose vectors are kept in memory; 0 keeps none.

    Raises:
        Misconfigured: The model is not there or cannot be exported, what exporting needs is not installed, or there
            can be no cache.
        Unavailable: The export or the opening failed by the machine: disk, memory, time.
    """
    model, identity, manifest = await asyncio.to_thread(_look_up, name, cache)
    folder = export_folder(cache, identity)
    if manifest is None:
        _make(folder)
        await _export_in_a_child(model, name, folder)
        manifest = await asyncio.to_thread(read_export, folder, identity)
    if manifest is None:
        raise Unavailable(f"The export of {name} in {folder} is not whole")
    engine, grouped = await asyncio.to_thread(_open, folder, manifest, threads)
    return OnnxEmbedder(engine, identity, grouped=grouped, cache_size=cache_size)


def _look_up(name: str, cache: Path) -> tuple[Path, str, Manifest | None]:
    model = find_model(name)
    pooling_of(model)  # refuses at once what the export would refuse after half a minute
    identity = model_id(name, model)
    return model, identity, read_export(export_folder(cache, identity), identity)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Misconfigured(f"CACHE: the folder for exported models, {folder}, cannot be made: {error}") from error


def _open(folder: Path, manifest: Manifest, threads: int) -> tuple[Engine, bool]:
    engine = Engine(folder, manifest, threads=threads)
    return engine, engine.groups_are_exact()


async def _export_in_a_child(model: Path, name: str, folder: Path) -> None:
    command = (sys.executable, "-m", "lakehouse.embedding", str(model), name, str(folder))
    # Passed on, not read. The root in front, so that the child finds this very code wherever it is started.
    path = os.pathsep.join(filter(None, (str(_SOURCE_ROOT), os.environ.get("PYTHONPATH"))))
    child = await asyncio.create_subprocess_exec(
        *command,
        env={**os.environ, "PYTHONPATH": path, "PYTHONSAFEPATH": "1"},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(EXPORT_TIMEOUT_S):
            await _follow(child, name)
    except TimeoutError as error:
        raise Unavailable(f"The export of {name} took longer than {EXPORT_TIMEOUT_S:.0f} s") from error
    finally:
        if child.returncode is None:
            child.kill()
        await child.wait()


async def _follow(child: asyncio.subprocess.Process, name: str) -> None:
    """Show the child's progress on stderr until it ends; its own stderr is noise unless it fails."""
    assert child.stdout is not None
    assert child.stderr is not None
    noise = asyncio.ensure_future(child.stderr.read())
    try:
        async for line in child.stdout:
            said = json.loads(line)
            if "progress" in said:
                sys.stderr.write(f"{said['progress']}\n")
            else:
                _refuse(said)
        if await child.wait():
            last_words = (await noise).decode(errors="replace")[-_TOLD_ON_FAILURE:]
            raise Unavailable(f"The export of {name} failed with code {child.returncode}: {last_words}")
    finally:
        noise.cancel()


def _refuse(said: dict[str, str]) -> NoReturn:
    if "misconfigured" in said:
        raise Misconfigured(said["misconfigured"])
    raise Unavailable(said["unavailable"])
