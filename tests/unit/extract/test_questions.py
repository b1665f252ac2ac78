"""What questions ask and what short answers claim: edges that whole turns seldom reach."""

import pytest

from streams.extract.questions import answer_of, attribute_asked, claim_of_answer, is_courtesy, thing_asked

COURTESIES = ["How are you?", "And you?", "Hi there, how's it going?", "Wie geht's?", "¿Y tú?", "你呢\uff1f"]
QUESTIONS = [
    "How old are you?",
    "How is your health?",
    "Do you want tea or coffee?",
    "Wo wohnst du?",
    "你住在哪里\uff1f",
]


@pytest.mark.parametrize("question", COURTESIES)
def test_a_question_of_courtesy_asks_nothing(question: str) -> None:
    assert is_courtesy(question)


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_that_can_be_answered_is_no_courtesy(question: str) -> None:
    assert not is_courtesy(question)


def test_an_answer_of_nothing_but_its_beginning_claims_nothing() -> None:
    assert not claim_of_answer("How old are you?", "…", "en", "user").is_read


def test_an_answer_is_taken_apart() -> None:
    assert (answer_of("Yes, lupins.").says, answer_of("Yes, lupins.").more) == ("yes", "lupins")
    assert (answer_of("不喜欢。").says, answer_of("Lupins.").says) == ("no", "")


def test_what_a_question_asks_has_a_name_where_it_has_one() -> None:
    assert attribute_asked("Where do you live?", "en") == "home"
    assert attribute_asked("Which tea do you drink?", "en") is None
    assert attribute_asked("Missä asut?", "fi") is None


def test_a_question_is_about_the_thing_it_names() -> None:
    assert thing_asked("Where is your key?", "en", "user") == "user's key"
    assert thing_asked("What happened?", "en", "user") is None
