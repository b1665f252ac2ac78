"""Arithmetic that tells a secret from a text of the same shape.

Rule of this file: one check, one function from the found text to how many of its characters, from the first, are the
secret; 0 where it is none. ``secrets.yaml`` names the checks, and holds every word they know.
"""

import base64
import binascii
import re
from collections.abc import Callable
from itertools import pairwise

from streams.ruledata import load

Check = Callable[[str], int]

_DATA = load("masking", "secrets")
_PLACEHOLDER, _TECHNICAL = (re.compile(_DATA[name], re.IGNORECASE) for name in ("placeholders", "technical"))
_PLACE, _CODE = re.compile(_DATA["places"]), re.compile(_DATA["code"])
_NAMING = re.compile(rf"(?i)(?=.*(?:{_DATA['naming']}))[^\d]*")
_KEY = re.compile(rf"(?i)(?=.*(?:{_DATA['naming']}))[^\d]*\d{{0,2}}:")
"""The name of the next value, where a value is expected."""
_IBAN_LENGTHS: dict[str, int] = {country: int(length) for country, length in _DATA["iban_lengths"].items()}
_CARD_SCHEMES = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|3[068]\d{12}|6(?:011|5\d\d|4[4-9]\d)\d{12}"
    r"|62\d{14,17}|35\d{14}|(?:5018|5020|5038|6304|6759|676[1-3])\d{8,15}"
)
_CARD_LENGTHS = range(19, 11, -1)
_CALL = re.compile(r"[A-Za-z_][\w.]*[(\[].*")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_SYMBOL = re.compile(r"(?<=\w)[!@]+(?=\w)|[#$%^]")
_TRAILING = ".,;:?)]}>\"'`*"
"""What follows a secret in a sentence, rather than ends it."""
_LEAST, _LEAST_LITERAL, _LEAST_ASSIGNED, _LEAST_STRONG, _LEAST_TOKEN, _LEAST_NUMBER = 5, 3, 4, 8, 6, 12
_LEAST_RUN, _LEAST_JUMPY = 12, 20
_JUMPS = 0.3
"""Changes between small letters, capitals and digits per character: words written LikeThis have fewer."""
_PHONE_DIGITS = range(8, 16)
_SPANISH_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"
_CHINESE_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_SNOWFLAKE = range(16, 21)


def _end_of_digits(text: str, count: int) -> int:
    """Where the ``count``-th digit of a text ends; 0 where it is followed by another, or there are not so many."""
    places = [place for place, character in enumerate(text, 1) if character.isdecimal()]
    if len(places) < count or (len(places) > count and places[count] == places[count - 1] + 1):
        return 0
    return places[count - 1]


def _digits(text: str) -> str:
    """The decimal digits of a text, of any script, as ASCII."""
    return "".join(str(int(character)) for character in text if character.isdecimal())


def _luhn(digits: str) -> bool:
    doubled = [int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits))]
    return sum(number - 9 if number > 9 else number for number in doubled) % 10 == 0  # noqa: PLR2004 - digits


def card(text: str) -> int:
    """A number of a known card scheme and length whose Luhn digit is right."""
    digits = _digits(text)
    for length in _CARD_LENGTHS:
        number = digits[:length]
        if len(number) == length and _CARD_SCHEMES.fullmatch(number) and _luhn(number):
            end = _end_of_digits(text, length)
            if end:
                return end
    return 0


def iban(text: str) -> int:
    """An account number of its country's length whose remainder by 97 is 1 (ISO 13616)."""
    places = [place for place, character in enumerate(text, 1) if character.isalnum()]
    length = _IBAN_LENGTHS.get(text[:2].upper(), 0)
    if not length or len(places) < length or (len(places) > length and places[length] == places[length - 1] + 1):
        return 0
    compact = "".join(character for character in text[: places[length - 1]] if character.isalnum())
    if len(_digits(compact)) < length / 2:
        return 0  # words
    number = "".join(str(int(character, 36)) for character in compact[4:] + compact[:4])
    return places[length - 1] if int(number) % 97 == 1 else 0


def phone(text: str) -> int:
    """As many digits as telephone numbers have, and no date."""
    date = re.fullmatch(r"0\d[/.-]\d\d[/.-]\d{4}", text)
    return len(text) if len(_digits(text)) in _PHONE_DIGITS and not date else 0


def chinese_id(text: str) -> int:
    """A citizen's number whose last character fits (GB 11643)."""
    total = sum(weight * int(digit) for weight, digit in zip(_CHINESE_WEIGHTS, text, strict=False))
    return len(text) if "10X98765432"[total % 11] == text[-1].upper() else 0


def spanish_id(text: str) -> int:
    """A DNI or NIE whose letter fits."""
    number = text[:8].translate(str.maketrans("XYZ", "012"))
    return len(text) if _SPANISH_LETTERS[int(number) % 23] == text[-1] else 0


MARKED = re.compile(r"[\d!@#$%^]")
"""A password that can be told from a word has one of these."""


def _kinds(text: str) -> tuple[bool, bool]:
    return any(character.isalpha() for character in text), any(character.isdecimal() for character in text)


def _jumpy(text: str) -> bool:
    """Whether letters and digits follow each other as dice would have it."""
    kinds = ["d" if one.isdecimal() else "u" if one.isupper() else "l" for one in text if one.isalnum()]
    jumps = sum(one != other for one, other in pairwise(kinds))
    return len(kinds) >= _LEAST_JUMPY and jumps >= _JUMPS * len(kinds)


def _made(text: str) -> bool:
    runs = re.findall(rf"[A-Za-z0-9]{{{_LEAST_RUN},}}", text)
    return any(any(one.isdecimal() for one in run) for run in runs) or _jumpy(text) or bool(_UUID.fullmatch(text))


def made(text: str) -> int:
    """Something a machine made: a long run of letters with digits, capitals anywhere, or a UUID."""
    return len(text) if _made(text) else 0


def _is_named(text: str) -> bool:
    """Whether a text names a secret, or says that there is one, instead of being it."""
    return bool(_PLACEHOLDER.fullmatch(text) or _PLACE.fullmatch(text) or _NAMING.fullmatch(text))


def _mixed(text: str) -> bool:
    """A password rather than a word: a letter, and a digit or a symbol that no word has."""
    letter, digit = _kinds(text)
    symbol = bool(_SYMBOL.search(text))
    return ((letter and (digit or symbol)) or (digit and symbol)) and not _TECHNICAL.fullmatch(text)


def _bare(text: str, least: int) -> str:
    """A value without what follows it in a sentence; nothing where it is too short or names a secret."""
    found = text.rstrip(_TRAILING)
    return "" if len(found) < least or _KEY.fullmatch(text) or _is_named(found) else found


def password(text: str) -> int:
    """What a sentence calls a password, if it looks like one."""
    if not MARKED.search(text) or _CALL.fullmatch(text):
        return 0
    found = _bare(text, _LEAST)
    return len(found) if _mixed(found) else 0


def strong(text: str) -> int:
    """What looks like a password even if nothing says that it is one: three kinds of characters."""
    if not MARKED.search(text):
        return 0
    lower, upper = any(one.islower() for one in text), any(one.isupper() for one in text)
    kinds = lower + upper + any(one.isdecimal() for one in text) + bool(_SYMBOL.search(text))
    return password(text) if len(text) >= _LEAST_STRONG and kinds > 2 else 0  # noqa: PLR2004 - kinds of characters


def assigned(text: str) -> int:
    """A value without quotation marks that is no word and no piece of a program."""
    if not MARKED.search(text) or _CODE.fullmatch(text):
        return 0
    found = _bare(text, _LEAST_ASSIGNED)
    return len(found) if found.isdecimal() or _mixed(found) else 0


def assigned_word(text: str) -> int:
    """A value that may be a word, since nothing but a name stands before it."""
    found = "" if _CODE.fullmatch(text) else _bare(text, _LEAST_ASSIGNED)
    return len(found) if found.isdecimal() or not _TECHNICAL.fullmatch(found) else 0


def literal(text: str) -> int:
    """A value within quotation marks: anything but a sentence, a placeholder or a place."""
    if len(text) < _LEAST_LITERAL or _is_named(text) or (" " in text and not (_mixed(text) and _kinds(text)[1])):
        return 0
    return len(text)


def credential(text: str) -> int:
    """What stands where a password stands, unless it only says so."""
    return 0 if _PLACEHOLDER.fullmatch(text) or _NAMING.fullmatch(text) else len(text)


def token(text: str) -> int:
    """A value made by a machine."""
    if not MARKED.search(text) and len(text) < _LEAST_JUMPY:
        return 0
    found = "" if " " in text or _CODE.fullmatch(text) else _bare(text, _LEAST_TOKEN)
    letter, digit = _kinds(found)
    is_made = _mixed(found) if letter else digit and _is_long(found)
    return len(found) if is_made or _jumpy(found) else 0


def _is_long(text: str) -> bool:
    return len(_digits(text)) >= _LEAST_NUMBER


def user_and_password(text: str) -> int:
    """Base64 of ``user:password``."""
    padded = text.translate(str.maketrans("-_", "+/")).rstrip("=")
    try:
        told = base64.b64decode(padded + "=" * (-len(padded) % 4), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return 0
    return len(text) if ":" in told and told.isprintable() else 0


def discord(text: str) -> int:
    """A token that begins with the number of a bot, in base64."""
    part = text.partition(".")[0]
    try:
        told = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    except binascii.Error:
        return 0
    return len(text) if told.isdigit() and len(told) in _SNOWFLAKE else 0


NEEDS_MARK: frozenset[Check] = frozenset({password, strong, assigned})
"""Checks that find nothing where no character is marked."""
CHECKS: dict[str, Check] = {
    check.__name__: check
    for check in (
        assigned, assigned_word, card, chinese_id, credential, discord, iban, literal, made, password, phone,
        spanish_id, strong, token, user_and_password,
    )
}  # fmt: skip
