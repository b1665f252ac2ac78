"""Arithmetic that tells a secret from a text of the same shape.

Rule of this file: one check, one function from the found text to yes or no; ``secrets.yaml`` names them.
"""

import re
from collections.abc import Callable

CARD_SCHEMES = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|3[068]\d{12}|6(?:011|5\d\d)\d{12}|62\d{14,17}|35\d{14}"
)
IBAN_LENGTHS = range(15, 35)
TRAILING = ".,;:!?)]}"


def is_card(text: str) -> bool:
    """A number of a known card scheme and length whose Luhn digit is right."""
    digits = re.sub(r"\D", "", text)
    if not CARD_SCHEMES.fullmatch(digits):
        return False
    doubled = [int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits))]
    return sum(number - 9 if number > 9 else number for number in doubled) % 10 == 0  # noqa: PLR2004 - digits


def is_iban(text: str) -> bool:
    """An account number whose remainder by 97 is 1 (ISO 13616)."""
    compact = text.replace(" ", "")
    if len(compact) not in IBAN_LENGTHS:
        return False
    number = "".join(str(int(character, 36)) for character in compact[4:] + compact[:4])
    return int(number) % 97 == 1


def is_mixed(text: str) -> bool:
    """A password rather than a word: a digit and one more class of characters (lower, upper, other)."""
    text = text.rstrip(TRAILING)
    has_digit = any(character.isdigit() for character in text)
    classes = (
        any(character.islower() for character in text)
        + any(character.isupper() for character in text)
        + any(not character.isalnum() for character in text)
    )
    return has_digit and classes >= 1 and not re.fullmatch(r"[\d.:/%,-]+\w?", text)


def is_long_token(text: str) -> bool:
    """Something a machine made: a digit in it, or longer than words are."""
    return any(character.isdigit() for character in text) or len(text) >= 32  # noqa: PLR2004 - characters


CHECKS: dict[str, Callable[[str], bool]] = {
    "card": is_card,
    "iban": is_iban,
    "mixed": is_mixed,
    "long_token": is_long_token,
}
