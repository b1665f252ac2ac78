"""Versions are compared as versions, and what is no version is never taken for one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakehouse.external.releases import Fit, by_fit, fit

CACHED: list[str | None] = ["latest", "2.0", "1.9", None, "2024a", "1.10"]


def ordered(wanted: str | None) -> list[str | None]:
    return by_fit(CACHED, lambda version: version, wanted)


@pytest.mark.parametrize(
    ("wanted", "order"),
    [
        ("1.10", ["1.10", "1.9", "2.0", "2024a", "latest", None]),
        ("1.10.3", ["1.10", "1.9", "2.0", "2024a", "latest", None]),
        ("2.1", ["2.0", "1.10", "1.9", "2024a", "latest", None]),
        ("1.0", ["1.9", "1.10", "2.0", "2024a", "latest", None]),
        (None, ["2.0", "1.10", "1.9", "2024a", "latest", None]),
        ("latest", ["latest", "2.0", "1.10", "1.9", "2024a", None]),
        ("stable", ["2.0", "1.10", "1.9", "2024a", "latest", None]),
    ],
)
def test_what_fits_best_comes_first(wanted: str | None, order: list[str | None]) -> None:
    assert ordered(wanted) == order


@pytest.mark.parametrize(
    ("version", "wanted", "how"),
    [
        ("1.10", "1.10", "same"),
        ("1.10", "1.10.0", "same"),
        ("v1.10", "1.10", "same"),
        ("3.11", "3.11.4", "series"),
        ("3", "3.11.4", "series"),
        ("3.11.4", "3.11", "series"),
        ("3.1", "3.11", "other"),
        ("3.11.4", "3.11.5", "other"),
        ("1!3.11", "3.11.4", "other"),
        ("latest", "3.11", "unknown"),
        (None, "3.11", "unknown"),
        ("latest", "latest", "same"),
        ("3.11", "latest", "unknown"),
        (None, None, "same"),
        ("anything", None, "same"),
    ],
)
def test_how_a_version_fits(version: str | None, wanted: str | None, how: Fit) -> None:
    assert fit(version, wanted) == how


@given(st.permutations(CACHED), st.sampled_from([None, "1.10", "1.9.7", "latest", "9"]))
def test_the_order_does_not_depend_on_how_they_came(versions: list[str | None], wanted: str | None) -> None:
    assert by_fit(versions, lambda version: version, wanted) == ordered(wanted)
