"""What is shipped and what it stands on: the wheel's contents, the pins, and nothing that ties it to one machine."""

import ast
import importlib.metadata
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
ROOMS = ("schemas", "lakehouse", "streams")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
TO_RUN = [*PROJECT["dependencies"], *(text for name in ("export", "rerank", "bench", "neo4j") for text in EXTRAS[name])]
DIRECT = [Requirement(text) for text in [*TO_RUN, *EXTRAS["dev"]]]
ALLOWED_TO_IMPORT = {canonicalize_name(Requirement(text).name) for text in TO_RUN}
BY_ANOTHER_NAME = {
    "Stemmer": "PyStemmer",
    "faust": "faust-streaming",
    "huggingface_hub": "tokenizers",
    "markdown_it": "markdown-it-py",
    "mode": "faust-streaming",
    "torch": "sentence-transformers",
    "yaml": "pyyaml",
}
"""Modules that come with a distribution of another name: it ships them, or cannot be without them."""
OURS = re.compile(rf"^({'|'.join(ROOMS)})/", re.MULTILINE)
"""In a record of installed files; where there is none, all its files are looked at."""
REGISTRIES = r"pypi\.org|pythonhosted\.org|maven\.org|maven\.apache\.org|docker\.io|ghcr\.io|quay\.io|huggingface\.co"
MACHINE_PATHS = r"(?<![\w.$}/-])/(?:work|root|opt)/\w+"
OF_THE_BROKER_IMAGE = "/opt/" + "kafka"
READ_BY_PEOPLE = {".py", ".toml", ".yml", ".yaml", ".md", ".txt", ""}
NOT_OURS = {"LICENSE"}


def _pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pairs = [line.split("==") for line in lines if line and not line.startswith("#")]
    assert {len(pair) for pair in pairs} == {2}
    return {canonicalize_name(name): version for name, version in pairs}


def _our_files() -> Iterator[Path]:
    """Every text file of ours; conversations and other data may speak of whatever they like."""
    folders = [ROOT / name for name in (*ROOMS, "tests", "docs", ".ci")]
    found = [path for path in ROOT.iterdir() if path.is_file()]
    found += [path for folder in folders for path in folder.rglob("*") if "data" not in path.relative_to(ROOT).parts]
    ours = (path for path in found if path.is_file() and path.suffix in READ_BY_PEOPLE)
    return (path for path in ours if path.name not in NOT_OURS and "__pycache__" not in path.parts)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[zipfile.ZipFile]:
    target = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    (path,) = target.glob("*.whl")
    with zipfile.ZipFile(path) as opened:
        yield opened


def test_the_wheel_holds_every_file_of_the_three_rooms_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    kept = (path for room in ROOMS for path in (ROOT / room).rglob("*") if path.is_file())
    expected = {path.relative_to(ROOT).as_posix() for path in kept if "__pycache__" not in path.parts}
    assert {name for name in wheel.namelist() if ".dist-info/" not in name} == expected


@pytest.mark.parametrize("room", ROOMS)
def test_the_wheel_says_that_a_room_is_typed(wheel: zipfile.ZipFile, room: str) -> None:
    assert f"{room}/py.typed" in wheel.namelist()


def test_the_wheel_carries_the_command_the_licence_and_the_refusal_to_be_uploaded(wheel: zipfile.ZipFile) -> None:
    info = f"memlake-{PROJECT['version']}.dist-info"
    metadata = wheel.read(f"{info}/METADATA").decode()
    assert "memlake = streams.cli:main" in wheel.read(f"{info}/entry_points.txt").decode()
    assert wheel.read(f"{info}/licenses/LICENSE") == (ROOT / "LICENSE").read_bytes()
    assert "Classifier: Private :: Do Not Upload" in metadata


def test_no_other_distribution_ships_files_under_the_names_of_our_rooms() -> None:
    clashes = {
        f"{distribution.metadata['Name']}: {file}"
        for distribution in importlib.metadata.distributions()
        if OURS.search(distribution.read_text("RECORD") or "streams/")
        for file in distribution.files or []
        if file.parts[0] in ROOMS and distribution.metadata["Name"] != PROJECT["name"]
    }
    assert clashes == set()


@pytest.mark.parametrize("requirement", DIRECT, ids=str)
def test_every_direct_dependency_is_pinned_within_its_declared_range(requirement: Requirement) -> None:
    assert Version(_pins()[canonicalize_name(requirement.name)]) in requirement.specifier


def test_what_is_installed_is_what_is_pinned() -> None:
    installed = {canonicalize_name(d.metadata["Name"]): d.version for d in importlib.metadata.distributions()}
    pins = _pins()
    differing = {name: (installed[name], pins[name]) for name in installed.keys() & pins.keys()}
    assert {name: pair for name, pair in differing.items() if pair[0] != pair[1]} == {}


def test_everything_that_the_rooms_import_is_a_declared_dependency() -> None:
    names = set()
    for path in (path for room in ROOMS for path in (ROOT / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module.partition(".")[0])
    foreign = names - set(ROOMS) - sys.stdlib_module_names
    assert {n for n in foreign if canonicalize_name(BY_ANOTHER_NAME.get(n, n)) not in ALLOWED_TO_IMPORT} == set()


def test_the_lock_is_the_constraints_file_alone() -> None:
    assert [name for name in ("uv.lock", "poetry.lock", "Pipfile.lock", "pdm.lock") if (ROOT / name).exists()] == []


def test_no_file_names_a_package_registry() -> None:
    naming = {str(path.relative_to(ROOT)) for path in _our_files() if re.search(REGISTRIES, path.read_text())}
    assert naming == set()


def test_no_file_names_a_folder_of_one_machine() -> None:
    found = {(str(p.relative_to(ROOT)), m) for p in _our_files() for m in re.findall(MACHINE_PATHS, p.read_text())}
    assert {(path, folder) for path, folder in found if folder != OF_THE_BROKER_IMAGE} == set()
