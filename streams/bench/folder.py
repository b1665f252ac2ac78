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
from streams.formats import locomo

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
        conversations: JSON lists of LoCoMo's samples with their questions; ``X.corrected.json`` beside ``X.json`` is
            another reading of the same questions and none of them.
        haystacks: JSON of LongMemEval's questions, each with the sessions that it is asked about.
    """

    users: tuple[Path, ...] = ()
    preference_events: tuple[Path, ...] = ()
    dialogues: tuple[Path, ...] = ()
    preferences: tuple[Path, ...] = ()
    chats: tuple[Path, ...] = ()
    conversations: tuple[Path, ...] = ()
    haystacks: tuple[Path, ...] = ()


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


def corrected(path: Path) -> Path:
    """Where another reading of a file's questions would lie."""
    return path.with_name(f"{path.stem}.corrected{path.suffix}")


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
    return next((kind for kind, fits in _HEADS.items() if fits(path, head)), None)


def _are_preferences(_: Path, head: bytes) -> bool:
    return head.lstrip().startswith(b"[") and b'"preference"' in head and b'"explanation"' in head


def _are_haystacks(_: Path, head: bytes) -> bool:
    return b'"question_type"' in head and (b'"answer_session_ids"' in head or b'"haystack_' in head)


def _are_conversations(path: Path, head: bytes) -> bool:
    if not head.lstrip().startswith(b"[") or (b'"qa"' not in head and b'"conversation"' not in head):
        return False
    if any(corrected(other) == path for other in path.parent.glob(f"*{path.suffix}")):
        return False
    told = json.loads(path.read_text(encoding="utf-8"))
    return bool(told) and all(locomo.fits(record) and "qa" in record for record in told)


_HEADS: dict[str, Callable[[Path, bytes], bool]] = {
    "preferences": _are_preferences,
    "haystacks": _are_haystacks,
    "conversations": _are_conversations,
}


_LINES: dict[str, Callable[[dict[str, Any]], bool]] = {
    "users": lambda first: any("memory_points" in session for session in first.get("sessions", ())),
    "preference_events": lambda first: "event_list" in first,
    "dialogues": lambda first: any("text" in said for said in first.get("dialog", ())),
}
