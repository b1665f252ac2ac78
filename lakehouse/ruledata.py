"""Where the data of rules lies: YAML files beside the code, each read once.

Rule of this file: pure. It knows how data is read and nothing of what it means.
"""

from functools import cache
from importlib import resources
from typing import Any

import yaml

VERSION = "1"
"""Of the format; each file says its own."""


@cache
def load_data(package: str, name: str, version: str = VERSION) -> dict[str, Any]:
    """Read ``<package>/data/<name>.yaml``. All scalars are strings, so that "no" and "on" are words.

    Whoever reads a file again gets the same object: it must not be changed.

    Raises:
        ValueError: The file is of another version than the code.
    """
    text = resources.files(package).joinpath("data", f"{name}.yaml").read_text(encoding="utf-8")
    data: dict[str, Any] = yaml.load(text, Loader=yaml.CBaseLoader)  # noqa: S506 - it makes strings only
    if data.get("version") != version:
        raise ValueError(f"data/{name}.yaml: version {version} is needed, found {data.get('version')}")
    return data
