"""The data of rules is read once, as words, and only in the version that the code was written for."""

import pytest

from lakehouse.ruledata import VERSION, load_data


def test_data_is_read_once_and_its_scalars_are_words() -> None:
    data = load_data("lakehouse.retrieval", "words")

    assert data is load_data("lakehouse.retrieval", "words")
    assert data["version"] == VERSION


def test_data_of_another_version_is_refused() -> None:
    with pytest.raises(ValueError, match="version 0 is needed, found 1"):
        load_data("lakehouse.retrieval", "words", "0")
