"""Old payloads become current ones when they are read; what was written is never rewritten.

Rule of this file: one function a step, ``upcast_<kind>_v<N>_v<N+1>``, from JSON object to JSON object, and one line in
``STEPS``. The golden payloads under ``tests/data/golden`` hold every version that was ever written.
"""

from collections.abc import Callable, Mapping
from typing import Any

from schemas.errors import InvalidMessage

Step = Callable[[dict[str, Any]], dict[str, Any]]

STEPS: dict[tuple[str, int], Step] = {}
"""(kind, version N) → the step from N to N + 1. No message has a second version yet."""


def upcast(
    kind: str, payload: Mapping[str, Any], current: int, steps: Mapping[tuple[str, int], Step] = STEPS
) -> dict[str, Any]:
    """Bring a payload to the current version, one step at a time.

    Args:
        kind: The message's kind.
        payload: A JSON object; without ``schemaVersion`` it is taken as current.
        current: The version this program writes.
        steps: The table of steps.

    Raises:
        InvalidMessage: The version is no whole number from 1, newer than ``current``, or a step is missing.
    """
    version = payload.get("schemaVersion", current)
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise InvalidMessage("schemaVersion: must be a whole number from 1", field="schemaVersion")
    if version > current:
        raise InvalidMessage(
            f"schemaVersion: {version} is newer than {current}, the newest this version of memlake reads: upgrade it",
            field="schemaVersion",
        )
    result = dict(payload)
    for number in range(version, current):
        step = steps.get((kind, number))
        if step is None:
            raise InvalidMessage(f"schemaVersion: {kind} v{number} cannot be read any more", field="schemaVersion")
        result = step(result) | {"schemaVersion": number + 1}
    return result
