"""What is stated on the way to a question is kept, and the question is skipped."""

from datetime import UTC, datetime

import pytest

from schemas.conversation import Scope, Turn
from schemas.facts import Extraction
from streams.extract import extract

NOW = datetime(2026, 3, 1, tzinfo=UTC)
REASONS = [
    ("Since I rent a mill in Ulm, could you draft a lease?", "I rent a mill in Ulm"),
    ("Because my kiln reaches 900 degrees, what can I fire in it?", "my kiln reaches 900 degrees"),
    ("As I am allergic to nuts, can you suggest a snack?", "I am allergic to nuts"),
    ("Now that we use Kafka for the orders, how do I test it?", "we use Kafka for the orders"),
    ("Da ich seit Mai in Ulm wohne, kannst du mir ein Café nennen?", "Da ich seit Mai in Ulm wohne"),
    ("Como vivo en Faro desde mayo, ¿puedes recomendarme un café?", "vivo en Faro desde mayo"),
    ("Comme j'habite à Lyon depuis mai, peux-tu me conseiller un café ?", "j'habite à Lyon depuis mai"),
    ("Puisque je travaille à Nantes, où dois-je dormir ?", "je travaille à Nantes"),
    ("因为我住在成都，你能推荐一家咖啡馆吗？", "我住在成都"),  # noqa: RUF001 - their marks
]
RELATIVES = [
    (
        "I want to speed up our build, which has grown to 9 minutes, can you have a look?",
        "I want to speed up our build, which has grown to 9 minutes",
    ),
    (
        "I feed a goat, who now weighs 31 kg, is that too much?",
        "I feed a goat, who now weighs 31 kg",
    ),
    (
        "Ich pflege unseren Server, welcher seit Mai 64 GB hat, kannst du mir helfen?",
        "Ich pflege unseren Server, welcher seit Mai 64 GB hat",
    ),
    (
        "J'ai une barque, qui est amarrée à Brest, peux-tu m'aider ?",
        "J'ai une barque, qui est amarrée à Brest",
    ),
]
NOTHING = [
    "Since you know a lot, could you help me?",
    "Since I was a kid, have the rules changed?",
    "Since I might rent a mill, can you help me?",
    "As we go along, could you explain it?",
    "Because I asked, can you help me?",
    "Da du alles weißt, kannst du mir helfen?",
    "Como siempre, ¿puedes ayudarme?",
    "因为你很聪明，你能帮我吗？",  # noqa: RUF001 - their marks
]


def said(text: str) -> Extraction:
    turn = Turn(turn_id="t", scope=Scope(project_id="p", user_id="u"), role="user", content=text, timestamp=NOW)
    return extract(turn, (), record_id="r")


@pytest.mark.parametrize(("text", "kept"), [*REASONS, *RELATIVES], ids=[text for text, _ in (*REASONS, *RELATIVES)])
def test_what_is_stated_before_a_question_is_kept(text: str, kept: str) -> None:
    extraction = said(text)

    assert [fact.text for fact in extraction.facts] == [kept]
    assert [skip.reason for skip in extraction.skipped] == ["question"]


def test_a_question_that_begins_as_a_clause_would_is_a_question() -> None:
    extraction = said("I have a goat, which is better, hay or straw?")

    assert [fact.text for fact in extraction.facts] == ["I have a goat"]
    assert extraction.skipped[0].text.startswith("which is better")


@pytest.mark.parametrize("text", NOTHING)
def test_what_states_nothing_of_the_speaker_is_not_kept(text: str) -> None:
    assert said(text).facts == ()
