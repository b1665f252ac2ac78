"""The nearest memories: what a plain comparison of all finds, in whatever order they were put and taken away."""

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lakehouse.known import VectorShelf

DIMENSION = 6
STEPS = st.lists(st.tuples(st.booleans(), st.integers(1, 25), st.integers(0, 9)), max_size=60)


def unit(seed: int) -> Any:
    found = np.random.default_rng(seed).normal(size=DIMENSION)
    return (found / np.linalg.norm(found)).astype(np.float32)


def told(steps: list[tuple[bool, int, int]]) -> tuple[VectorShelf, dict[int, Any]]:
    shelf, plain = VectorShelf(DIMENSION), dict[int, Any]()
    for put, memory_id, seed in steps:
        if put:
            shelf.put(memory_id, unit(seed))
            plain[memory_id] = unit(seed)
        else:
            shelf.remove(memory_id)
            plain.pop(memory_id, None)
    return shelf, plain


@settings(max_examples=50, deadline=None)
@given(STEPS, st.integers(0, 50), st.integers(1, 30))
def test_the_nearest_are_those_of_a_plain_comparison(
    steps: list[tuple[bool, int, int]], asked: int, limit: int
) -> None:
    shelf, plain = told(steps)
    vector = unit(asked)

    cosines = {
        memory_id: float(np.round(max(0.0, min(1.0, float(stored.astype(np.float64) @ vector.astype(np.float64)))), 4))
        for memory_id, stored in plain.items()
    }
    expected = sorted(cosines.items(), key=lambda hit: (-hit[1], hit[0]))[:limit]

    assert shelf.nearest(vector, limit) == expected


@settings(max_examples=50, deadline=None)
@given(STEPS, st.integers(0, 50), st.randoms(use_true_random=False))
def test_the_nearest_do_not_depend_on_the_order_in_which_they_came(
    steps: list[tuple[bool, int, int]], asked: int, dice: Any
) -> None:
    shelf, plain = told(steps)
    other = VectorShelf(DIMENSION)
    pairs = list(plain.items())
    dice.shuffle(pairs)
    for memory_id, vector in pairs:
        other.put(memory_id, vector)

    assert other.nearest(unit(asked), 5) == shelf.nearest(unit(asked), 5)


@settings(max_examples=50, deadline=None)
@given(STEPS, st.integers(0, 50))
def test_a_similarity_alone_is_the_same_as_among_others(steps: list[tuple[bool, int, int]], asked: int) -> None:
    shelf, plain = told(steps)
    nearest = dict(shelf.nearest(unit(asked), 50))

    assert nearest == {memory_id: shelf.similarity(memory_id, unit(asked)) for memory_id in plain}


def test_half_way_between_two_roundings_both_ways_agree() -> None:
    shelf = VectorShelf(1)
    for number in range(400):
        shelf.put(number, [(2 * number + 1) / 20_000])

    assert dict(shelf.nearest([1.0], 400)) == {number: shelf.similarity(number, [1.0]) for number in range(400)}


def test_an_unknown_memory_is_not_alike() -> None:
    shelf = VectorShelf(DIMENSION)
    shelf.remove(7)

    assert shelf.similarity(7, unit(1)) == 0.0
    assert shelf.nearest(unit(1), 3) == []
