"""The evaluation sets of a folder, each found by its shape and not by where it lies.

Rule of this file: it finds files and knows what tells one kind from another; what is in them is read by the set's own
module. A file that is none of these kinds is left alone.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from schemas.errors import Misconfigured

HEAD: Final = 4096
"""Bytes at the beginning of a file by which one that is no JSON lines is told."""


@dataclass(frozen=True)
class Sets:
    """The files of a folder by kind, in the order of their paths.

    Attributes:
        users: JSON lines of people with ``sessions`` of ``memory_points`` and ``dialogue``.
        preference_events: JSON lines of people with an ``event_list`` of changed preferences.
        dialogues: JSON lines of a ``dialog`` with ``persona_text`` by utterance.
        preferences: JSON lists of ``{preference, question, explanation}``.
        chats: Folders of ``chat.json`` and ``probing_questions.json``.
    """

    users: tuple[Path, ...] = ()
    preference_events: tuple[Path, ...] = ()
    dialogues: tuple[Path, ...] = ()
    preferences: tuple[Path, ...] = ()
    chats: tuple[Path, ...] = ()


def sets_in(folder: Path) -> Sets:
    """Look through a folder and all that is in it.

    Raises:
        Misconfigured: It is no folder.
    """
    if not folder.is_dir():
        raise Misconfigured(f"--data: {folder} is no folder")
    found: dict[str, list[Path]] = {kind: [] for kind in Sets.__dataclass_fields__}
    for path in sorted(folder.rglob("*.json*")):
        kind = _kind_of(path)
        if kind is not None:
            found[kind].append(path.parent if kind == "chats" else path)
    return Sets(**{kind: tuple(paths) for kind, paths in found.items()})


def lines_of(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file of JSON lines."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)


def _kind_of(path: Path) -> str | None:
    if path.suffix == ".jsonl":
        first = next(lines_of(path), {})
        return next((kind for kind, fits in _LINES.items() if fits(first)), None)
    if path.name == "chat.json":
        return "chats" if (path.parent / "probing_questions.json").is_file() else None
    with path.open("rb") as file:
        head = file.read(HEAD)
    is_list = head.lstrip().startswith(b"[")
    return "preferences" if is_list and b'"preference"' in head and b'"explanation"' in head else None


_LINES: dict[str, Callable[[dict[str, Any]], bool]] = {
    "users": lambda first: any("memory_points" in session for session in first.get("sessions", ())),
    "preference_events": lambda first: "event_list" in first,
    "dialogues": lambda first: any("text" in said for said in first.get("dialog", ())),
}
