"""The process that exports a model: ``python -m lakehouse.embedding MODEL NAME FOLDER``.

Rule of this file: stdout carries one JSON object a line for ``load.py`` and nothing else: ``{"progress": …}`` as it
goes, ``{"misconfigured": …}`` or ``{"unavailable": …}`` at the end if it failed. What the libraries say goes to stderr.
"""

import json
import os
import sys
import warnings
from pathlib import Path

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
        from lakehouse.embedding.export import export  # noqa: PLC0415 - after the settings, and it may not be installed

        export(Path(model), Path(folder), name=name, progress=lambda text: say("progress", text))
    except MemlakeError as error:
        say("misconfigured" if isinstance(error, Misconfigured) else "unavailable", str(error))
        return 1
    except OSError as error:
        say("unavailable", f"The export of {name} failed: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
