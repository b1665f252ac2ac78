"""Follow-ups and feedback: how the talks are read, and one run of the benchmark over three of them."""

from collections import Counter
from typing import Any

import pytest

from lakehouse.retrieval.config import RAGConfig
from lakehouse.retrieval.understanding import Switches
from streams.bench.asking import (
    Conversation,
    Outcome,
    Question,
    conversations,
    conversations_of,
    figures_of,
    first_of,
    outcomes_of,
)
from streams.bench.vectors import Vectors
from tests.contract.world import WordEmbedder

TALK = [{"ask": "Where does Nora work?", "finds": "bakery"}, {"ask": "And since when?", "finds": ["Nora", "2019"]}]
TOLD: dict[str, Any] = {
    "id": "one",
    "language": "en",
    "said": ["Nora works at the bakery.", "Nora started in 2019.", "Paul started in 2019 or later."],
    "talks": [TALK],
}


def read(**changed: Any) -> list[Conversation]:
    return list(conversations_of({"conversations": [TOLD | changed]}))


def test_every_language_has_follow_ups_and_every_conversation_rivals() -> None:
    told = conversations()

    led = Counter(one.language for one in told for question in one.questions if question.before)
    assert set(led) == {"de", "en", "es", "fr", "zh"}
    assert min(led.values()) >= 8
    assert led.total() >= 40
    assert all(4 <= len(one.said) <= 8 for one in told)
    assert len({one.id for one in told}) == len(told)


def test_a_question_leans_on_those_before_it_in_its_talk_alone() -> None:
    (told,) = read(talks=[TALK, [{"ask": "Who came in 2019 or later?", "finds": "later"}]])

    assert told.questions == (
        Question("Where does Nora work?", ("bakery",)),
        Question("And since when?", ("Nora", "2019"), ("Where does Nora work?",)),
        Question("Who came in 2019 or later?", ("later",)),
    )


@pytest.mark.parametrize(
    ("fault", "changed"),
    [
        ("nothing else", {"says": "typo"}),
        ("nothing else", {"talks": [[{"ask": "Where?"}]]}),
        ("one statement alone", {"talks": [[{"ask": "Who?", "finds": "2019"}]]}),
        ("one statement alone", {"talks": [[{"ask": "Who?", "finds": "Ulm"}]]}),
        ("two answers", {"talks": [TALK, [{"ask": "And since when?", "finds": "later"}]]}),
    ],
)
def test_what_the_data_may_not_say_is_refused(fault: str, changed: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=fault):
        read(**changed)


def test_whole_conversations_are_taken_until_there_are_so_many_follow_ups() -> None:
    told = conversations()

    assert first_of(told, 1) == first_of(told, 3) == told[:1]
    assert first_of(told, 4) == told[:2]
    assert first_of(told, None) == told


def test_each_figure_stands_beside_the_same_questions_asked_otherwise() -> None:
    first, then = Question("a", ("x",)), Question("b", ("y",), ("a",))
    outcomes = [
        Outcome("en", first, 1, 1, 2, judged=False),
        Outcome("en", then, 1, 4, 1, judged=True),
        Outcome("zh", then, 3, None, None, judged=True),
        Outcome("zh", first, 1, 1, 1, judged=False),
    ]

    found = {one.metric: (one.value, one.baseline, one.n) for one in figures_of(outcomes)}

    assert found == {
        "followup_first": (0.5, 0.0, 2),
        "followup_first/en": (1.0, 0.0, 1),
        "followup_first/zh": (0.0, 0.0, 1),
        "followup_in_3": (1.0, 0.0, 2),
        "followup_in_3/en": (1.0, 0.0, 1),
        "followup_in_3/zh": (1.0, 0.0, 1),
        "judged_first": (0.5, 0.0, 2),
        "unjudged_first": (0.5, 1.0, 2),
    }


async def test_history_and_feedback_change_what_three_conversations_find_and_nothing_else_does() -> None:
    told = [next(one for one in conversations() if one.language == language) for language in ("de", "en", "zh")]

    async def run(config: RAGConfig) -> list[Outcome]:
        return await outcomes_of(Vectors(WordEmbedder()), config, told)

    both, neither = await run(RAGConfig()), await run(RAGConfig(switches=Switches(history=False), feedback=False))

    assert len(both) == sum(len(one.questions) for one in told)
    assert {figure.bench for figure in figures_of(both)} == {"asking"}
    assert any(one.judged for one in both)
    assert all(one.alone != 1 for one in both if one.judged)
    assert any(one.followed != one.alone for one in both)
    assert all(one.followed == one.alone for one in both if not one.question.before)
    assert any(one.again != one.alone for one in both)
    assert all(one.followed == one.alone == one.again for one in neither)
