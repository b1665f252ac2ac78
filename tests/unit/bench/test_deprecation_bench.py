"""What is told to be deprecated is held against labels of the same documentation, and against the plain word."""

import shutil
from pathlib import Path

import pytest

from schemas.errors import Misconfigured
from streams.bench.deprecation import labels, measure

CUT = Path(__file__).parents[2] / "data" / "docs" / "python-3.11"


async def test_a_cut_of_the_documentation_is_judged_by_the_same_labels() -> None:
    figures, wrong = await measure(CUT, errors=5)
    found = {figure.metric: figure for figure in figures}

    assert (found["precision"].value, found["recall"].value, found["sections"].value) == (1.0, 1.0, 1.0)
    assert found["precision"].baseline is not None
    assert found["precision"].baseline < 1
    assert (found["notices"].value, found["attributed"].value, found["of_modules"].value) == (22, 22, 3)
    assert wrong == {}


async def test_a_wrong_symbol_is_told_of_and_counted(tmp_path: Path) -> None:
    shutil.copytree(CUT, tmp_path / "docs")
    page = tmp_path / "docs" / "library" / "asyncio-runner.html"
    box = '<div class="deprecated"><p><span class="versionmodified">Deprecated since version 3.11.</span></p></div>'
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace("<dd><p>Execute the", f"<dd>{box}<p>Execute the"), encoding="utf-8")

    figures, wrong = await measure(tmp_path / "docs", errors=5)
    found = {figure.metric: figure for figure in figures}

    assert wrong == {"precision": ["asyncio.run"]}
    assert found["false"].value == 1
    assert 0.9 < found["precision"].value < 1


async def test_a_folder_without_an_index_is_refused_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=r"no objects\.inv; unpack"):
        await measure(tmp_path)
    (tmp_path / "objects.inv").write_bytes(b"nothing")
    with pytest.raises(Misconfigured, match="cannot be read"):
        await measure(tmp_path)


async def test_labels_are_of_one_documentation() -> None:
    with pytest.raises(Misconfigured, match=r"of python 3\.11, and .* is of pandas 1\.5\.3"):
        await measure(CUT.parent / "pandas-1.5")


def test_a_label_holds_for_what_is_inside_and_not_for_what_begins_the_same() -> None:
    told = labels()

    assert "imp.reload" in told
    assert "imp.anything.at.all" in told
    assert "importlib.reload" not in told
    assert "asyncio.run" not in told
