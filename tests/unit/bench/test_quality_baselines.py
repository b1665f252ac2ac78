"""Plain methods: words of change, Cipher's ladder and filter, thresholds of a cosine."""

import pytest

from schemas.memory import Event
from streams.bench.quality import baselines

LADDER: list[tuple[str, str | None, float, Event]] = [
    ("I row.", None, 0.0, "ADD"),
    ("I row.", "I swim.", 0.79, "ADD"),
    ("I row.", "I row.", 1.0, "NONE"),
    ("I row every day.", "I row.", 0.9, "UPDATE"),
    ("I do not row.", "I row every morning.", 0.9, "DELETE"),
    ("I row.", "I row every day.", 0.9, "NONE"),
]


@pytest.mark.parametrize(("text", "nearest", "similarity", "event"), LADDER)
def test_cipher_decides_by_the_nearest_memory(text: str, nearest: str | None, similarity: float, event: Event) -> None:
    assert baselines.cipher(text, nearest, similarity) == event


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("The build fails with an exception in the parser.", True),
        ("x = f(y); z = g[0]", True),
        ("My email service uses SMTP.", False),
        ("I would rather travel by train", False),
    ],
)
def test_ciphers_filter_wants_technical_words(text: str, *, kept: bool) -> None:
    assert baselines.cipher_keeps(text) is kept


def test_words_of_change_and_of_removal() -> None:
    assert baselines.says_change("The rent went from 3 to 4 crowns.")
    assert not baselines.says_change("The rent is 4 crowns.")
    assert baselines.says_removal("I no longer row.")
    assert not baselines.says_removal("I row.")


def test_a_question_tells_nothing_of_oneself() -> None:
    assert baselines.tells_of_self("I've got a boat.")
    assert not baselines.tells_of_self("Have I told you?")
    assert not baselines.tells_of_self("The boat is red.")


def test_a_fitted_threshold_is_never_worse_than_a_usual_one() -> None:
    counts = baselines.cosine_counts([(0.95, True), (0.85, False), (0.7, True), (0.2, False)])

    assert counts["cosine_best"].f1 >= max(counts["cosine_80"].f1, counts["cosine_811"].f1)
    assert (counts["cosine_80"].hits, counts["cosine_80"].false, counts["cosine_80"].missed) == (1, 1, 1)
