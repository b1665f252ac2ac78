"""What is measured of documentation is measured on the product's own parts, and is what it is said to be."""

import asyncio

import pytest

from streams.bench.figures import Figure
from streams.bench.knowledge import Numbers, measured
from tests.unit.external.keeping import HandEmbedder

FEW = Numbers(documents=120, hot=20, cold=8, questions=2, pages=3)
DEADLINE_S = 0.05


@pytest.fixture(scope="module")
def figures() -> dict[str, Figure]:
    return {found.metric: found for found in asyncio.run(measured(HandEmbedder(), FEW, deadline_s=DEADLINE_S))}


def test_each_figure_is_told_with_how_often_it_was_taken(figures: dict[str, Figure]) -> None:
    assert {metric: found.n for metric, found in figures.items()} == {
        "hot_ms": 20,
        "lake_ms": 8,
        "lake_p95_ms": 8,
        "deadline_ms": 2,
        "first_fetch_ms": 3,
        "first_fetch_host_ms": 3,
        "not_modified_ms": 3,
        "not_modified_share": 3,
    }
    assert {found.bench for found in figures.values()} == {"knowledge"}


def test_a_page_that_holds_does_not_come_twice(figures: dict[str, Figure]) -> None:
    assert figures["not_modified_share"].value == 1.0
    assert figures["first_fetch_host_ms"].value < figures["first_fetch_ms"].value
    assert figures["not_modified_ms"].baseline == figures["first_fetch_ms"].value


def test_a_site_that_hangs_is_waited_for_until_the_deadline_and_not_given_up_before(figures: dict[str, Figure]) -> None:
    found = figures["deadline_ms"]

    assert found.baseline == DEADLINE_S * 1000
    assert found.min >= found.baseline
