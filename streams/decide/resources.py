"""Where the rules' data lies: one YAML file beside the code, read once.

Rule of this file: it knows how data is read and nothing of what it means.
"""

from importlib import resources
from typing import Any

import yaml

VERSION = "1"
"""Of the format."""


def load(name: str) -> dict[str, Any]:
    """Read ``data/<name>.yaml`` of this package. All scalars are strings, so that "no" and "on" are words.

    Raises:
        ValueError: The file is of another version than the code.
    """
    text = resources.files("streams.decide").joinpath("data", f"{name}.yaml").read_text(encoding="utf-8")
    data: dict[str, Any] = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506 - it makes strings only
    if data.get("version") != VERSION:
        raise ValueError(f"data/{name}.yaml: version {VERSION} is needed, found {data.get('version')}")
    return data
