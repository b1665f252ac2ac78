"""The process that exports a model: ``python -m lakehouse.embedding MODEL NAME FOLDER``.

Rule of this file: stdout carries one JSON object a line for ``load.py`` and nothing else: ``{"progress": …}`` as it
goes, ``{"misconfigured": …}`` or ``{"unavailable": …}`` at the end if it failed. What the libraries say goes to stderr.
"""

import json
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

from lakehouse.embedding.exported import alone, read_export
from lakehouse.embedding.model import model_id
from schemas.errors import MemlakeError, Misconfigured

# Read by the libraries when they are imported: no network, no bars, no threads beside the one that works.
_LIBRARY_SETTINGS = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "OMP_NUM_THREADS": "1",
    "TQDM_DISABLE": "1",
    "CUDA_VISIBLE_DEVICES": "",
}


def main(arguments: list[str]) -> int:
    """Export; 0 if it is there now, 1 if not."""
    model, name, folder = arguments
    spoken = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)  # whatever prints, prints to stderr

    def say(kind: str, text: str) -> None:
        spoken.write(json.dumps({kind: text}) + "\n")

    os.environ.update(_LIBRARY_SETTINGS)
    warnings.simplefilter("ignore")
    try:
        _export_once(Path(model), name, Path(folder), lambda text: say("progress", text))
    except MemlakeError as error:
        say("misconfigured" if isinstance(error, Misconfigured) else "unavailable", str(error))
        return 1
    except OSError as error:
        say("unavailable", f"The export of {name} failed: {error}")
        return 1
    return 0


def _export_once(model: Path, name: str, folder: Path, progress: Callable[[str], object]) -> None:
    """Export unless it is there; of several processes one works and the others wait, without loading torch."""
    with alone(folder, lambda: progress(f"Waiting for another process that prepares the embedding model {name}")):
        if read_export(folder, model_id(name, model)) is not None:
            return
        progress(f"Preparing the embedding model {name}: done once, about half a minute")
        from lakehouse.embedding.export import export  # noqa: PLC0415 - heavy, and it may not be installed

        export(model, folder, name=name, progress=progress)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
