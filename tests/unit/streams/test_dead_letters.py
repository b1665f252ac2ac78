"""Dead letters: what could not be handled, as it came, masked, within the size that its topic takes."""

from base64 import b64encode
from datetime import UTC, datetime
from typing import Any

import pytest

from schemas.errors import InvalidMessage, Unavailable
from schemas.message import Headers
from schemas.reports import DeadLetter
from schemas.retrieval import ErrorReply
from schemas.topics import INPUT_BYTES
from streams.incoming import Incoming
from streams.letters import dead_letter, letter_id, letters
from streams.masking import Masker
from streams.settings import Settings
from streams.wire import Outbox, require_size

NOW = datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC)
WAY_BACK: Headers = [("reply_to", b"memlake.replies"), ("correlation_id", b"c1")]
MASKER = Masker.made()
SECRET = "AKIAIOSFODNN7EXAMPLE"
LARGE: dict[str, tuple[bytes, bytes, Headers]] = {
    "a value": (b"k", b"\x00" * INPUT_BYTES, []),
    "key and value": (b"\x00" * (INPUT_BYTES // 2), b"\x00" * (INPUT_BYTES // 2), []),
    "a header": (b"k", b"v", [("h", b"\xff" * INPUT_BYTES)]),
    "many headers": (b"k", b"v", [("\x00" * 70, b"\x00" * 100)] * (INPUT_BYTES // 200)),
}


class Silent(Outbox):
    """An outbox that nothing leaves by."""

    def __init__(self) -> None:  # no producer, so nothing to connect
        self.settings = Settings()
        self.source = "/memlake/test"


def came(value: bytes | None, headers: Headers | None = None, key: bytes | None = b"shop/ann") -> Incoming:
    return Incoming("memlake.turns", 1, 7, key, value, headers or [], NOW)


def test_a_letter_holds_the_message_as_it_came_and_why_it_was_given_up() -> None:
    incoming = came(b'{"a": "caf\xe9"}', [("x", b"\xff1"), ("x", b"2")])

    letter = dead_letter(incoming, InvalidMessage("a: no", field="a"), MASKER, attempt=2, now=NOW)

    assert DeadLetter.decode(letter.encode()) == letter
    assert (letter.topic, letter.partition, letter.offset, letter.key) == ("memlake.turns", 1, 7, "shop/ann")
    assert letter.value == '{"a": "caf\\xe9"}'
    assert letter.headers == (("x", "\\xff1"), ("x", "2"))
    assert (letter.error, letter.reason, letter.field, letter.attempt) == ("InvalidMessage", "a: no", "a", 2)


def test_a_letter_without_key_and_value_is_a_letter() -> None:
    letter = dead_letter(came(None, key=None), ValueError(), MASKER, attempt=1, now=NOW)

    assert (letter.key, letter.value, letter.reason, letter.field) == (None, None, "ValueError", None)


def test_a_message_given_up_twice_has_one_letter() -> None:
    assert letter_id(came(b"a")) == letter_id(came(b"b"))


def test_a_secret_is_masked_wherever_it_stands() -> None:
    value = f'{{"content": "my key is {SECRET}"}}'.encode()
    sent = letters(
        came(value, [*WAY_BACK, ("token", SECRET.encode())]),
        InvalidMessage(f"no {SECRET}"),
        Silent(),
        MASKER,
        attempt=1,
        now=NOW,
    )

    assert len(sent) == 2
    assert not [outgoing for outgoing in sent if SECRET.encode() in outgoing.value]


@pytest.mark.parametrize(
    "value",
    [
        r'{"content": "my password is \"swordfish\""',
        r'{"content": "user: ann\npassword: swordfish"',
        r'{"content": "pass\u0077ord: sword\u0066ish"',
        r'{"metadata": {"password": "sword\u0066ish"}}',
        r'{"metadata": {"name": "DB_PASSWORD", "value": "swordfish"}}',
        r'{"\ud800": {"password": "swordfish"}}',
    ],
)
def test_no_secret_hides_behind_escapes_or_names(value: str) -> None:
    letter = dead_letter(came(value.encode()), InvalidMessage("no"), MASKER, attempt=1, now=NOW)

    assert letter.value is not None
    assert "[masked:password]" in letter.value
    assert "swordfish" not in letter.value
    assert "0066ish" not in letter.value
    assert DeadLetter.decode(letter.encode()) == letter


def test_the_name_of_a_header_says_that_its_value_is_a_secret() -> None:
    headers: Headers = [("x-api-key", b"abcd1234efgh"), ("Authorization", b"Basic " + b64encode(b"ann:swordfish"))]

    letter = dead_letter(came(b"{}", headers), InvalidMessage("no"), MASKER, attempt=1, now=NOW)

    assert letter.headers == (("x-api-key", "[masked:password]"), ("Authorization", "Basic [masked:bearer_token]"))


@pytest.mark.parametrize(("key", "value", "headers"), LARGE.values(), ids=LARGE)
def test_the_letter_of_the_largest_message_fits_its_topic(key: bytes, value: bytes, headers: Headers) -> None:
    error = InvalidMessage("x" * 10_000)
    for outgoing in letters(came(value, headers, key), error, Silent(), MASKER, attempt=1, now=NOW):
        require_size(outgoing)


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (InvalidMessage("a: no", field="a"), "invalid_request", "a: no"),
        (Unavailable("no lake"), "unavailable", "no lake"),
        (ZeroDivisionError("what somebody said"), "internal", "ZeroDivisionError"),
    ],
)
def test_an_answer_says_whose_fault_it_is_and_repeats_no_strange_text(
    error: Exception, code: str, message: str
) -> None:
    _, answer = letters(came(b"{}", WAY_BACK), error, Silent(), MASKER, attempt=1, now=NOW)

    told = ErrorReply.decode(answer.value)
    assert (told.code, told.message) == (code, message)
    assert dict(answer.headers)["correlation_id"] == b"c1"


@pytest.mark.parametrize("headers", [[], [("reply_to", b"elsewhere"), ("correlation_id", b"c1")]], ids=str)
def test_nobody_is_answered_who_did_not_ask_or_cannot_be_reached(headers: Any) -> None:
    assert len(letters(came(b"{}", headers), InvalidMessage("no"), Silent(), MASKER, attempt=1, now=NOW)) == 1
