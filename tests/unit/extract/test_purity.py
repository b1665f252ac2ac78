"""The two packages of rules reach no I/O, clock or dice by themselves."""

import ast
from pathlib import Path

import pytest

import streams.decide
import streams.extract

FORBIDDEN = {
    "os",
    "time",
    "random",
    "logging",
    "asyncio",
    "threading",
    "socket",
    "subprocess",
    "httpx",
    "lancedb",
    "faust",
}
MODULES = [
    path for package in (streams.decide, streams.extract) for path in sorted(Path(package.__path__[0]).glob("*.py"))
]


@pytest.mark.parametrize("path", MODULES, ids=[f"{path.parent.name}/{path.stem}" for path in MODULES])
def test_a_module_imports_nothing_that_waits_or_wavers(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = {
        name.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names
    }
    imported |= {(node.module or "").split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}

    assert not imported & FORBIDDEN


@pytest.mark.parametrize("path", MODULES, ids=[f"{path.parent.name}/{path.stem}" for path in MODULES])
def test_extraction_and_decision_do_not_know_each_other(path: Path) -> None:
    other = "streams.extract" if path.parent.name == "decide" else "streams.decide"

    assert f"from {other}" not in path.read_text(encoding="utf-8")
