"""Where the data of this room's rules lies: YAML files beside the code, each read once.

Rule of this file: it knows which rooms have data; how data is read, ``lakehouse.ruledata`` knows.
"""

from typing import Any, Literal

from lakehouse.ruledata import VERSION, load_data

__all__ = ["VERSION", "load"]


def load(
    room: Literal["extract", "decide", "llm", "masking", "wording"], name: str, version: str = VERSION
) -> dict[str, Any]:
    """Read ``streams/<room>/data/<name>.yaml``, as ``load_data`` does.

    Raises:
        ValueError: The file is of another version than the code.
    """
    return load_data(f"streams.{room}", name, version)
