"""A memory's fingerprint: two lakes that know the same, with the same history, have the same digest.

Rule of this file: pure. It covers every version of every memory, and leaves out what names a place rather than a fact:
scope, derived ids, offsets, vectors, and NONE rows, which change nothing.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass

from lakehouse.versions import MemoryRow

_LEFT_OUT = {
    "eventId", "scope", "sequence", "schemaVersion", "factId", "commandId", "sourceTurnIds", "decision", "embedder",
    "status",
}  # fmt: skip


@dataclass(frozen=True)
class Digest:
    """What a digest covers, and the digest itself."""

    digest: str
    """SHA-256 in hexadecimal."""
    scopes: int
    memories: int
    """Current ones."""
    versions: int


def digest_of(rows: Iterable[MemoryRow]) -> Digest:
    """Digest of the rows of any number of scopes, in any order."""
    scopes: dict[str, list[str]] = {}
    memories = 0
    for row in rows:
        if row.status == "none":
            continue
        memories += row.status == "current"
        scopes.setdefault(row.event.scope.key, []).append(_canonical(row))
    whole = hashlib.sha256()
    for told in sorted("\n".join(sorted(versions)) for versions in scopes.values()):
        whole.update(hashlib.sha256(told.encode()).digest())
    return Digest(whole.hexdigest(), len(scopes), memories, sum(map(len, scopes.values())))


def _canonical(row: MemoryRow) -> str:
    told = {key: value for key, value in row.event.to_wire().items() if key not in _LEFT_OUT}
    times = (row.valid_from, row.valid_to, row.superseded_at)
    told["row"] = [row.status, *(moment.isoformat() if moment else None for moment in times)]
    return json.dumps(told, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
