"""Where the rules' data lies: YAML files beside the code, read once, when a module that needs them is imported.

Rule of this file: it knows how data is read and nothing of what it means.
"""

from importlib import resources
from typing import Any

import yaml

VERSION = "1"
"""Of the format; each file says its own."""


def load(name: str) -> dict[str, Any]:
    """Read ``data/<name>.yaml`` of this package. All scalars are strings, so that "no" and "on" are words.

    Raises:
        ValueError: The file is of another version than the code.
    """
    text = resources.files("streams.extract").joinpath("data", f"{name}.yaml").read_text(encoding="utf-8")
    data: dict[str, Any] = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506 - it makes strings only
    if data.get("version") != VERSION:
        raise ValueError(f"data/{name}.yaml: version {VERSION} is needed, found {data.get('version')}")
    return data
