"""How texts are grouped to run together, whatever their lengths."""

from hypothesis import given
from hypothesis import strategies as st

from lakehouse.embedding.thread import equal_length_groups

LENGTHS = st.lists(st.integers(1, 40))
CAPS = st.integers(1, 100)


@given(LENGTHS, CAPS)
def test_every_row_is_in_exactly_one_group(lengths: list[int], cap: int) -> None:
    assert sorted(index for group in equal_length_groups(lengths, cap) for index in group) == list(range(len(lengths)))


@given(LENGTHS, CAPS)
def test_a_group_has_one_length_and_fits_unless_it_is_a_single_row(lengths: list[int], cap: int) -> None:
    for group in equal_length_groups(lengths, cap):
        assert len({lengths[index] for index in group}) == 1
        assert len(group) == 1 or len(group) * lengths[group[0]] <= cap
