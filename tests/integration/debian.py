"""Whole documentations, as Debian packs them: fetched once with its own client, unpacked and never installed."""

import subprocess
from pathlib import Path

from schemas.errors import Unavailable

TIMEOUT_S = 300


def documentation(package: str, cache: Path) -> Path:
    """The folder ``usr/share/doc`` of a package.

    Args:
        package: Its name, such as "python3.11-doc".
        cache: Where packages are kept, unpacked.

    Raises:
        Unavailable: It could not be had; the message says why.
    """
    folder = cache / "docs" / package
    if not (folder / "usr").is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        _run(["apt-get", "download", "-q", package], folder)
        for archive in folder.glob("*.deb"):
            _run(["dpkg", "-x", archive.name, "."], folder)
            archive.unlink()
    return folder / "usr" / "share" / "doc"


def _run(command: list[str], folder: Path) -> None:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{command[0]} could not be run: {error}") from error
    if done.returncode:
        raise Unavailable(f"{' '.join(command)}: {done.stderr.strip()}")
