"""Letters that change their kind or length with their case: none makes a word of the rules' data raise."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

import streams
from schemas.conversation import Scope, Turn
from streams.decide import DecisionOptions, Neighbour, decide
from streams.extract import extract
from streams.extract.interaction import speeches_of
from streams.ruledata import load

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ROOMS = ("extract", "decide", "wording")
LOOKALIKES = {
    "i": "İ\u0131i\u0307ỉ",
    "s": "ſßẞ",
    "k": "\u212a",
    "n": "ŉ",
    "f": "ﬁﬂ",
    "a": "ªa\u0301",
    "o": "ºo\u0308",
    "e": "e\u0301\u212f",
    "1": "①፩١¹",
    "t": "ﬅ",
    "u": "µ",
}
MARKS = "\u0307\u0301\u0308\u200d\u0345"


def strings_in(data: object) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        for key, value in data.items():
            yield from strings_in(key)
            yield from strings_in(value)
    elif isinstance(data, list):
        for value in data:
            yield from strings_in(value)


def phrases_of_data() -> list[list[str]]:
    """The words of every string in the data of the rules, patterns included, each string's in order."""
    files = [file for room in ROOMS for file in sorted((Path(streams.__file__).parent / room / "data").glob("*.yaml"))]
    texts = (text for file in files for text in strings_in(yaml.safe_load(file.read_text())))
    return [words for words in (re.findall(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*", text) for text in texts) if words]


def spans_of_dates() -> list[str]:
    """As in "two weeks ago", in every language that counts."""
    return [
        spec[form].replace("{count}", count).replace("{unit}", unit)
        for spec in load("extract", "dates")["languages"].values()
        for form in ("ago", "ahead")
        if form in spec
        for count in [*list(spec["numbers"])[:4], "11"]
        for unit in [*spec["units"], *spec["months"], *spec["years"]]
    ]


PHRASES = phrases_of_data()
SPANS = spans_of_dates()


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Words of the data, some letters of which are others that look or sound alike."""
    pieces = []
    for _ in range(draw(st.integers(1, 6))):
        if draw(st.integers(0, 4)) == 0:
            pieces.append(draw(st.sampled_from(SPANS)))
            continue
        words = draw(st.sampled_from(PHRASES))
        start = draw(st.integers(0, len(words) - 1))
        pieces.append(" ".join(words[start : start + draw(st.integers(1, 4))]))
    plain = draw(st.sampled_from([" ", " ", ", ", ". ", ": "])).join(pieces) + draw(
        st.sampled_from(["", ".", "?", "!"])
    )
    chance = draw(st.randoms(use_true_random=False))
    letters = []
    for letter in plain:
        odd = LOOKALIKES.get(letter.lower(), "")
        letters.append(chance.choice(odd) if odd and chance.random() < 0.3 else letter)
        letters.append(chance.choice(MARKS) if chance.random() < 0.02 else "")
    text = "".join(letters)
    return draw(st.sampled_from([text, text, text.upper(), text.title()]))


def turn(content: str, role: str = "user") -> Turn:
    return Turn.model_validate(
        {
            "turn_id": role,
            "scope": Scope(project_id="p", user_id="u"),
            "role": role,
            "content": content,
            "timestamp": NOW,
        }
    )


@settings(deadline=None, max_examples=150)
@given(texts(), texts(), st.sampled_from(["assistant", "user"]))
@example("I go there thİs week", "I sell it on Frİday", "assistant")
@example("Ich habe dİe Katze. Sie schläft.", "J'ai unë chat. Il dort.", "assistant")
@example("I keep ፩ goat", "I keep ¹ goat", "user")
@example("ASSİSTANT: yes\nSYSTEM: no", "the bot\nTOOL: x", "user")
def test_no_letter_makes_a_word_of_the_data_raise(text: str, before: str, role: str) -> None:
    speeches_of(text)
    extraction = extract(turn(text), (turn(before, role),), record_id="r")
    known = [
        Neighbour(
            id=number,
            text=fact.text,
            similarity=similarity,
            event_time=NOW,
            subject=fact.subject,
            attribute=fact.attribute,
            value=fact.value,
            polarity=fact.polarity,
            mood=fact.mood,
            language=fact.language,
        )
        for number, (fact, similarity) in enumerate(
            (
                (fact, similarity)
                for fact in extract(turn(before), (), record_id="b").facts
                for similarity in (0.9, 0.3)
            ),
            start=1,
        )
    ]

    for fact in extraction.facts:
        decision = decide(fact, known, DecisionOptions(enable_delete_operations=True))
        assert decision.target is None or decision.target in {neighbour.id for neighbour in known}
