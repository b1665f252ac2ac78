"""What holds of masking for any text: it hides what is planted anywhere, is done once, and leaves all else alone."""

import string
import subprocess
import sys
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from streams.masking import Masker
from tests.planted import planted

ALL = ["email", "phone", "national_id"]
MASKER = Masker.made(on=ALL)
SHAPES = len(planted(0))
TOKENS = [place for place, one in enumerate(planted(0)) if one.text == f"It is {one.value} there."]
NASTY = [
    *("password is", "eyJ", "-----BEGIN PRIVATE KEY-----", "sk-", "://a:b@c", "[masked:", "[masked:x]", "Bearer "),
    *(
        "4111 1111 1111 1111",
        "DE89 3704 0044 0532 0130 00",
        "token=",
        "密码是",
        "a1B2c3D4e5",
        "\\u0041",
        '"',
        "PIN: 4711",
    ),
]
SURROUNDINGS = [
    *(
        "",
        " ",
        "\n",
        ". ",
        "。",
        "「",
        "» ",
        "(",
        '"',
        "\t",
        "…",
        "我说",
        "für ",
        "Это ",
        "\u00a0",
        "🐹",
        "{",
        "\\n",
        "<b>",
    ),
]
TEXTS = st.one_of(st.text(max_size=200), st.lists(st.one_of(st.sampled_from(NASTY), st.text(max_size=20))).map("".join))
PROSE = st.text(alphabet=string.ascii_lowercase + " .,?äé是です", max_size=300)


@settings(max_examples=120, deadline=None)
@given(
    token=st.integers(0, len(TOKENS) - 1),
    seed=st.integers(0, 10_000),
    before=st.sampled_from(SURROUNDINGS[1:]),
    after=st.sampled_from([one for one in SURROUNDINGS[1:] if one != "für "]),
)
def test_a_token_is_hidden_whatever_stands_beside_it(token: int, seed: int, before: str, after: str) -> None:
    value = planted(seed)[TOKENS[token]].value

    assert value not in MASKER.text(f"so{before}{value}{after}so")


@settings(deadline=None)
@given(TEXTS)
def test_masking_twice_is_masking_once(text: str) -> None:
    masked = MASKER.text(text)

    assert MASKER.mask(masked) == (masked, ())


@settings(deadline=None)
@given(PROSE)
def test_prose_without_digits_and_signs_stays_as_it_is(text: str) -> None:
    assert MASKER.mask(text) == (text, ())


def test_time_grows_with_the_text_and_no_faster() -> None:
    """Each hint, over and over: what took quadratic time would not end within the time a process is given."""
    program = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
from streams.masking import Masker
masker = Masker.made(on={ALL!r})
for rule in masker.rules:
    alone = Masker((), (rule,), ())
    for hint in rule.hints.texts[:3] or ["1", "A1"]:
        alone.text((hint + " ") * 2_000)
        alone.text(hint * 2_000)
for fragment in ("a1B2", "1", "4111 ", "DE89 3704 ", "ops_eyJ", "x@", "[masked:x] password ", "password is of the "):
    masker.text(fragment * (20_000 // len(fragment)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)

    assert (done.returncode, done.stderr) == (0, "")
