"""How the rooms are built: pure modules load no I/O, nothing forks, and every file and function fits in one head.

Which modules are pure, and what they must not reach, is said once: in the import contract "pure" of pyproject.toml.
"""

import ast
import functools
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
MAY_FORK = [path for path in SOURCES if any(word in path.read_text(encoding="utf-8") for word in FORKING)]
"""A name that is used stands in the text."""


def _parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def _outline(path: Path) -> tuple[str | None, list[tuple[str, int]]]:
    """What a file says at its top, and of each function the name and the lines: trees are too large to keep."""
    tree = _parse(path)
    return ast.get_docstring(tree), [
        (function.name, _lines_without_docstring(function)) for function in _functions(tree)
    ]


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


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """All of them, however deep: only what holds statements can hold one, so expressions are not walked."""
    left: list[ast.AST] = [tree]
    while left:
        node = left.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
        inner = ast.iter_child_nodes(node)
        left += [one for one in inner if isinstance(one, ast.stmt | ast.excepthandler | ast.match_case)]


def _lines_without_docstring(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    told = ast.get_docstring(function, clean=False)
    return (function.end_lineno or 0) - function.lineno + 1 - (len(told.splitlines()) if told else 0)


def test_a_fresh_interpreter_that_imports_the_pure_modules_has_loaded_no_io_library() -> None:
    """What was loaded stays loaded: after the last of them, none has. Each is named that first brings one in."""
    modules = [module for name in PURE["source_modules"] for module in _modules_under(name)]
    code = f"""
import importlib, sys
loaded = set()
for name in {modules!r}:
    importlib.import_module(name)
    new = (sys.modules.keys() & set({IO_LIBRARIES!r})) - loaded
    loaded |= new
    if new:
        print(name, *sorted(new))
"""
    shown = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (shown.returncode, shown.stdout.splitlines(), shown.stderr) == (0, [], "")


@pytest.mark.parametrize("path", MAY_FORK, ids=_name)
def test_nothing_forks_since_threads_of_the_lake_do_not_survive_it(path: Path) -> None:
    tree = _parse(path)
    assert set(_names_used(tree)) & FORKING - SPAWNING == set()
    pools = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Call) and _is_pool(node)]
    assert [pool for pool in pools if SPAWNED not in pool] == []


def _is_pool(call: ast.Call) -> bool:
    called = call.func
    name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
    return name.endswith("ProcessPoolExecutor")


def test_every_file_says_its_rule_at_the_top() -> None:
    assert [_name(path) for path in SOURCES if path.read_text(encoding="utf-8") and not _outline(path)[0]] == []


def test_no_file_is_longer_than_one_can_keep_in_mind() -> None:
    lengths = {_name(path): len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES_OF_A_FILE} == {}


def test_no_function_is_longer_than_one_can_keep_in_mind() -> None:
    lengths = {f"{_name(path)}:{name}": lines for path in FILES for name, lines in _outline(path)[1]}
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES_OF_A_FUNCTION} == {}


def test_no_module_is_called_by_a_name_that_says_nothing() -> None:
    empty = {"utils", "util", "helpers", "helper", "common", "misc", "manager"}
    assert [_name(path) for path in FILES if path.stem in empty] == []
