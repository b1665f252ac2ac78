"""Whole documentations of Debian: every symbol has a section, and what is told to be deprecated is."""

import os
from pathlib import Path

import pytest

from lakehouse.external.inventory import inventory_of
from lakehouse.external.notices import notices_of
from lakehouse.external.pages import Sections
from schemas.errors import Unavailable
from streams.bench.deprecation import measure
from streams.settings import Settings
from tests.integration.debian import documentation

pytestmark = pytest.mark.docs
PYTHON = ("python3.11-doc", "python3.11/html")
OTHERS = {
    "aiohttp": ("python-aiohttp-doc", "python-aiohttp-doc/html"),
    "flask": ("python-flask-doc", "python-flask-doc/html"),
    "sqlalchemy": ("python-sqlalchemy-doc", "python-sqlalchemy-doc/html"),
}


def unpacked(package: str, folder: str) -> Path:
    try:
        return documentation(package, Settings.from_env(os.environ).cache) / folder
    except Unavailable as error:
        pytest.skip(f"{package}: {error}")


async def test_of_python_nearly_all_that_is_deprecated_is_told_and_hardly_anything_else() -> None:
    figures, _ = await measure(unpacked(*PYTHON))
    found = {figure.metric: figure for figure in figures}

    assert found["precision"].value >= 0.94
    assert found["recall"].value >= 0.99
    assert found["precision"].baseline == pytest.approx(0.15, abs=0.02)
    assert found["sections"].value >= 0.99
    assert [found[metric].value for metric in ("own_notice", "modules", "notices", "attributed")] == [179, 27, 259, 259]
    assert [found[metric].value for metric in ("of_objects", "of_modules")] == [207, 32]


@pytest.mark.parametrize(("package", "folder"), OTHERS.values(), ids=OTHERS)
def test_nearly_all_symbols_of_other_documentations_have_a_section(package: str, folder: str) -> None:
    root = unpacked(package, folder)
    inventory = inventory_of((root / "objects.inv").read_bytes())
    found: list[bool] = []
    for page in filter(lambda page: (root / page).is_file(), inventory.pages()):
        sections = Sections((root / page).read_text(encoding="utf-8"))
        found += [sections.at(entry.anchor) is not None for entry in inventory.of_page(page)]

    assert sum(found) >= 0.99 * len(inventory)


def test_a_parameter_of_pandas_is_deprecated_and_not_its_method() -> None:
    root = unpacked("python-pandas-doc", "python-pandas-doc/html")
    page = root / "reference" / "api" / "pandas.Series.mean.html"
    notices = notices_of(Sections(page.read_text(encoding="utf-8"))).objects["pandas.Series.mean"]

    assert [(notice.about, notice.parts) for notice in notices] == [("part", ("level",)), ("part", ("numeric_only",))]
