"""How the rooms are built: pure modules load no I/O, nothing forks, and every file and function fits in one head.

Which modules are pure, and what they must not reach, is said once: in the import contract "pure" of pyproject.toml.
"""

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("schemas", "lakehouse", "streams")
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
PURE = next(contract for contract in CONTRACTS if contract["id"] == "pure")
IO_LIBRARIES = sorted(set(PURE["forbidden_modules"]) - sys.stdlib_module_names)
FORKING = {"multiprocessing", "ProcessPoolExecutor", "fork", "forkpty"}
SPAWNING, SPAWNED = {"multiprocessing", "ProcessPoolExecutor"}, "mp_context=get_context('spawn')"
"""Fine where every pool spawns."""
MOST_LINES_OF_A_FILE = 400
MOST_LINES_OF_A_FUNCTION = 40

SOURCES = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
FILES = sorted([*SOURCES, *(ROOT / "tests").rglob("*.py")])


def _parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _modules_under(name: str) -> list[str]:
    """The module itself and, for a package, everything in it."""
    folder = ROOT.joinpath(*name.split("."))
    inner = (path.relative_to(ROOT).with_suffix("") for path in sorted(folder.rglob("*.py")))
    return [name, *(".".join(path.parts) for path in inner if path.name != "__init__")]


def _names_used(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((node.module or "") if isinstance(node, ast.ImportFrom) else "").split(".")
            yield from (part for alias in node.names for part in alias.name.split("."))
        elif isinstance(node, ast.Attribute):
            yield node.attr


def _lines_without_docstring(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    told = ast.get_docstring(function, clean=False)
    return (function.end_lineno or 0) - function.lineno + 1 - (len(told.splitlines()) if told else 0)


@pytest.mark.parametrize("name", PURE["source_modules"])
def test_a_fresh_interpreter_that_imports_a_pure_module_has_loaded_no_io_library(name: str) -> None:
    code = f"import sys, {', '.join(_modules_under(name))}; print(*sorted(sys.modules.keys() & set({IO_LIBRARIES!r})))"
    shown = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (shown.stdout.split(), shown.stderr) == ([], "")


@pytest.mark.parametrize("path", SOURCES, ids=_name)
def test_nothing_forks_since_threads_of_the_lake_do_not_survive_it(path: Path) -> None:
    tree = _parse(path)
    assert set(_names_used(tree)) & FORKING - SPAWNING == set()
    pools = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Call) and _is_pool(node)]
    assert [pool for pool in pools if SPAWNED not in pool] == []


def _is_pool(call: ast.Call) -> bool:
    return ast.unparse(call.func).endswith("ProcessPoolExecutor")


@pytest.mark.parametrize("path", SOURCES, ids=_name)
def test_every_file_says_its_rule_at_the_top(path: Path) -> None:
    if path.read_text(encoding="utf-8"):
        assert ast.get_docstring(_parse(path))


def test_no_file_is_longer_than_one_can_keep_in_mind() -> None:
    lengths = {_name(path): len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES_OF_A_FILE} == {}


def test_no_function_is_longer_than_one_can_keep_in_mind() -> None:
    lengths = {
        f"{_name(path)}:{node.name}": _lines_without_docstring(node)
        for path in FILES
        for node in ast.walk(_parse(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES_OF_A_FUNCTION} == {}


@pytest.mark.parametrize("path", FILES, ids=_name)
def test_no_module_is_called_by_a_name_that_says_nothing(path: Path) -> None:
    assert path.stem not in {"utils", "util", "helpers", "helper", "common", "misc", "manager"}
