"""Further terms of a question: synonyms of its words, and the words in its symbols."""
# ruff: noqa: RUF001 - full-width signs, as typed by an input method

import pytest

from lakehouse.keywords import fold_text
from lakehouse.retrieval.expansion import MAX_TERMS, SYMBOL_PART, SYNONYM, expand
from lakehouse.ruledata import load_data

SYNONYMS: list[tuple[str, str]] = [
    ("How do I configure Redis?", "setup"),
    ("How do I set up Redis?", "configuration"),
    ("Where is it deployed?", "install"),
    ("What bug did we see?", "error"),
    ("How was it fixed?", "solve"),
    ("What is my job?", "occupation"),
    ("What do I do for a living?", "job"),
    ("Which vehicle is mine?", "car"),
    ("How old is my son?", "child"),
    ("When did she relocate?", "move"),
    ("What did he purchase?", "buy"),
    ("Which film?", "movie"),
    ("Wie konfiguriere ich Redis?", "einrichten"),
    ("Welches Auto fahre ich?", "wagen"),
    ("Wo ist mein Zuhause?", "wohnen"),
    ("¿Cuál es mi coche?", "vehiculo"),
    ("¿Dónde trabajo?", "empleo"),
    ("Quelle est ma voiture ?", "vehicule"),
    ("Quel est mon métier ?", "travail"),
    ("我的汽车在哪里？", "车子"),
    ("我买了什么？", "购买"),
    ("Welches Deployment ist kaputt?", "install"),
]
NO_SYNONYMS = ["what kind of tea", "", "?!", "I am here", "Was hat die Art damit zu tun?"]
SYMBOLS: list[tuple[str, set[str]]] = [
    ("asyncio.run", {"asyncio", "run"}),
    ("config/redis.yaml", {"config", "redis", "yaml"}),
    ("NullPointerException", {"null", "pointer", "exception"}),
    ("getHTTPResponse", {"get", "http", "response"}),
    ("my_snake_case", {"my", "snake", "case"}),
    ("python3.11", {"python", "3.11"}),
    ("v2.0.1-rc1", {"2.0.1"}),
    ("2.0.1", set()),
    ("größe_über", {"grosse", "uber"}),
    ("well-known", set()),
    ("a.b", set()),
]


@pytest.mark.parametrize(("query", "term"), SYNONYMS)
def test_words_that_ask_for_the_same_join_and_weigh_less(query: str, term: str) -> None:
    assert expand(query, symbols=False).terms[term] == SYNONYM < 1


@pytest.mark.parametrize("query", NO_SYNONYMS)
def test_words_without_synonyms_stay_alone(query: str) -> None:
    assert expand(query).terms == {}


@pytest.mark.parametrize(("symbol", "words"), SYMBOLS)
def test_the_words_in_a_symbol_join_and_a_version_stays_whole(symbol: str, words: set[str]) -> None:
    terms = expand(f"the {symbol} one", synonyms=False).terms

    assert dict(terms) == dict.fromkeys(words, SYMBOL_PART)


def test_no_term_of_the_question_joins_it_again() -> None:
    assert "car" not in expand("car or vehicle?").terms
    assert "redis" not in expand("redis and redis.yaml").terms


def test_each_kind_can_be_left_out() -> None:
    query = "What is my job and where is asyncio.run?"

    assert expand(query, synonyms=False, symbols=False, decomposition=False) == type(expand(query))(query, {}, ())
    assert "occupation" not in expand(query, synonyms=False).terms
    assert "asyncio" not in expand(query, symbols=False).terms
    assert expand(query, decomposition=False).parts == ()
    assert len(expand(query).parts) == 2


def test_five_words_are_told_in_others_and_the_parts_of_symbols_go_first() -> None:
    told = "job car movie bug install kid purchase vacation gift"
    symbols = " ".join(f"wordOne{letter}x.wordTwo{letter}y.three{letter}z" for letter in "ABCDEFGHIJKLMNOPQR")

    assert "child" not in expand(told).terms
    assert "deploy" in expand(told).terms
    assert len(expand(f"{told} {symbols}").terms) == MAX_TERMS
    assert set(expand(f"{told} {symbols}").terms.values()) == {SYMBOL_PART}


@pytest.mark.parametrize("language", load_data("lakehouse.retrieval", "synonyms")["groups"])
def test_a_word_stands_in_one_group_of_its_language_and_what_is_added_is_one_word(language: str) -> None:
    rows = load_data("lakehouse.retrieval", "synonyms")["groups"][language]
    words = [{fold_text(word) for word in row.replace("|", " ").split()} for row in rows]

    assert [word for row in words for word in row if sum(word in other for other in words) > 1] == []
    assert [row for row in rows if "_" in row.partition("|")[0]] == []
