"""What looks like a password by itself needs three kinds of characters; a text without marks has none."""

import pytest

from streams.masking.checks import strong


@pytest.mark.parametrize("text", ["correcthorsebattery", "Norbank", ""])
def test_plain_letters_are_no_password(text: str) -> None:
    assert strong(text) == 0
