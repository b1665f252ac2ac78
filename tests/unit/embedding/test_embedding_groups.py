"""How texts are grouped to run together."""

from lakehouse.embedding.thread import equal_length_groups


def test_short_rows_run_first_and_as_many_together_as_fit() -> None:
    assert list(equal_length_groups([3, 2, 3, 2, 3, 9], 6)) == [[1, 3], [0, 2], [4], [5]]
