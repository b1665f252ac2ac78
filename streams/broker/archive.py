"""Archives of loaded classes, which halve the work of a start.

Rule of this file: an archive is a gift, never a need. Whatever is wrong with the cache, Java starts without one. A
file's name says for which Java and jars it is, and holds its checksum, so that a foreign or damaged one is never mapped
into the broker.

How it goes: a base archive of Java's own classes (the bundled runtime has none) is dumped before the first start; the
first broker that ends by itself leaves its classes in a ``.part`` file, which ``adopt`` gives its final name.
"""

import hashlib
import os
import secrets
import subprocess
import time
import zlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

KEPT = 6
"""Archives kept, newest first: other versions of Java or of the jars may use the same cache."""
STALE_S = 3600.0
DUMP_TIMEOUT_S = 60.0
_DUMP = "-XX:ArchiveClassesAtExit="


def java_options(folder: Path, java: Path, class_path: Sequence[Path]) -> list[str]:
    """Options that use the archives of this folder, or let the broker leave one when it ends.

    Args:
        folder: Where archives are kept; made if need be.
        java: The Java that will run.
        class_path: Its jars, in order.

    Returns:
        None of them where the folder cannot be used.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for part in folder.glob("*.part"):
            if time.time() - part.stat().st_mtime > STALE_S:
                part.unlink()
        runtime = _digest([java.parent.parent / "release", java.parent.parent / "lib" / "modules"])
        base = _sound(folder, f"java-{runtime}") or _dump_base(folder, java, f"java-{runtime}")
        if base is None:
            return []
        key = f"kafka-{_digest([base, *class_path])}"
        classes = _sound(folder, key)
        if classes is not None:
            return [f"-XX:SharedArchiveFile={base}{os.pathsep}{classes}"]
        return [f"-XX:SharedArchiveFile={base}", f"{_DUMP}{folder / key}.{secrets.token_hex(4)}.part"]
    except OSError:
        return []


def part_of(command_line: Sequence[str]) -> Path | None:
    """The file that a Java with these arguments leaves when it ends; None for none."""
    return next((Path(part.removeprefix(_DUMP)) for part in command_line if part.startswith(_DUMP)), None)


def adopt(part: Path) -> Path | None:
    """Give an archive that its Java has finished its final name.

    Returns:
        The archive; None where there is none, or another is there already.
    """
    key = part.name.split(".", 1)[0]
    with suppress(OSError):
        if not part.stat().st_size or _sound(part.parent, key) is not None:
            part.unlink()
            return None
        archive = part.with_name(f"{key}.{_checksum(part)}.jsa")
        part.rename(archive)
        kept = sorted(part.parent.glob("*.jsa"), key=lambda path: path.stat().st_mtime, reverse=True)
        for old in kept[KEPT:]:
            old.unlink()
        return archive
    return None


def _dump_base(folder: Path, java: Path, key: str) -> Path | None:
    part = folder / f"{key}.{secrets.token_hex(4)}.part"
    command = [str(java), "-Xshare:dump", f"-XX:SharedArchiveFile={part}", "-XX:+UseSerialGC", "-Xlog:disable"]
    with suppress(subprocess.SubprocessError):
        subprocess.run(  # noqa: S603 - our own Java
            command, stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=DUMP_TIMEOUT_S
        )
    adopt(part)
    return _sound(folder, key)


def _sound(folder: Path, key: str) -> Path | None:
    """The archive of this key whose content is what its name says; others of the key are removed."""
    for archive in folder.glob(f"{key}.*.jsa"):
        if archive.name == f"{key}.{_checksum(archive)}.jsa":
            return archive
        archive.unlink(missing_ok=True)
    return None


def _checksum(path: Path) -> str:
    value = 0
    with path.open("rb") as content:
        while block := content.read(1 << 20):
            value = zlib.crc32(block, value)
    return f"{value:08x}"


def _digest(paths: Sequence[Path]) -> str:
    """What Java compares before it takes an archive: which files, how long, how old."""
    told = [f"{path}|{path.stat().st_size}|{path.stat().st_mtime_ns}" for path in paths]
    return hashlib.sha256("\n".join(told).encode()).hexdigest()[:16]
