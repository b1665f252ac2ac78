"""An index of a scope: whatever was put, replaced and dropped before, it is the one made anew of what is left, and the
scores of its words are those of the textbook.
"""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lakehouse.retrieval.items import Item
from lakehouse.retrieval.ranking import score
from lakehouse.retrieval.scope_index import ScopeIndex
from lakehouse.stems import stem
from tests.unit.retrieval.by_hand import ASKED, index_of, memory, turn, unit

TEXTS = ["Ann walks home", "walks", "les chats", "chat", "tea for Ann", "green tea", "", "绿茶"]
NAMES = [None, "Ann", "bo", "Cleo Doe"]
STEPS = st.lists(
    st.tuples(
        st.integers(0, 7),
        st.booleans(),
        st.sampled_from(TEXTS),
        st.sampled_from(["en", "fr", "xx"]),
        st.sampled_from(NAMES),
        st.sampled_from(["s", "other", None]),
    ),
    max_size=60,
)
VECTORS = [unit(1, number, number % 3, 1) for number in range(8)]
WORDS = ["walk", "walks", "walked", "walking", "cats", "cat", "redis7", "the", "de"]
LANGUAGES = ["en", "de", "fr", "und", "xx"]
SAID = st.lists(st.tuples(st.lists(st.sampled_from(WORDS), unique=True), st.sampled_from(LANGUAGES)), max_size=8)
QUESTIONS = st.dictionaries(st.sampled_from(WORDS), st.sampled_from([0.0, 0.25, 1.0]), max_size=4)


def seen(index: ScopeIndex, kind: Any) -> dict[str, tuple[Any, ...]]:
    """All that an index tells of each item, by the item's key."""
    told = [
        index.coverage(ASKED.terms),
        index.held(("walks", "chats")),
        index.word_scores(ASKED.words),
        index.similarities(ASKED.vectors),
        index.named(frozenset({"ann", "bo"})),
        index.named(frozenset({"cleo doe"})),
        index.times(),
        *index.marks(),
        score(index, [ASKED], kind).hybrid,
    ]
    names: dict[int, str] = {place: item.key for place, item in index.items()} | {-1: ""}
    before, after = index.beside()
    return {
        item.key: (
            item,
            names[int(before[place])],
            names[int(after[place])],
            tuple(map(float, index.vectors(place))),
            *(round(float(figures[place]), 9) for figures in told),
        )
        for place, item in index.items()
    }


@settings(max_examples=150, deadline=None)
@given(STEPS, st.booleans())
@example(
    [(0, True, "les chats", "fr", None, "s"), (1, True, "chat", "xx", None, "s"), (0, False, "", "fr", None, "s")],
    False,
)
def test_it_is_the_one_made_anew_of_what_is_left(steps: list[Any], is_memories: bool) -> None:
    index, left = ScopeIndex(4), dict[str, tuple[Item, Any]]()
    for number, is_put, text, language, name, session in steps:
        item = (
            memory(number, text, number, subject=name, language=language)
            if is_memories
            else turn(number, text, number, session, name, language)
        )
        if is_put:
            index.put(item, VECTORS[number])
            left[item.key] = item, VECTORS[number]
        else:
            index.drop(item.key)
            left.pop(item.key, None)

    anew = ScopeIndex(4)
    for item, vector in sorted(left.values(), key=lambda one: one[0].place):
        anew.put(item, vector)

    kind = "knowledge" if is_memories else "episode"
    assert seen(index, kind) == seen(anew, kind)
    assert (len(index), index.names, index.speakers) == (len(anew), anew.names, anew.speakers)
    assert {item.key for _, item in index.items()} == set(left)
    assert int(index.alive().sum()) == len(left)


def textbook(texts: list[tuple[list[str], str]], question: dict[str, float], alive: list[bool]) -> list[float]:
    """BM25 with k1 1.2 and b 0.75 as it is written, one text and one word at a time."""
    stems = [{stem(term, language) for term in terms} for terms, language in texts]
    there = [one for one, is_alive in zip(stems, alive, strict=True) if is_alive]
    languages = {language for _, language in texts}
    found = []
    for own, is_alive in zip(stems, alive, strict=True):
        total = 0.0
        for term, weight in question.items():
            forms = {stem(term, language) for language in languages}
            holding = sum(bool(forms & one) for one in there)
            if is_alive and forms & own:
                idf = math.log(1 + (len(there) - holding + 0.5) / (holding + 0.5))
                mean = sum(map(len, there)) / len(there)
                total += weight * idf * 2.2 / (1 + 1.2 * (1 - 0.75 + 0.75 * len(own) / mean))
        found.append(total)
    return found


@settings(max_examples=150, deadline=None)
@given(SAID, QUESTIONS, st.data())
def test_scores_are_those_of_the_textbook(
    texts: list[tuple[list[str], str]], question: dict[str, float], data: Any
) -> None:
    alive = data.draw(st.lists(st.booleans(), min_size=len(texts), max_size=len(texts)))

    found = index_of(texts).scores(question, np.array(alive, dtype=bool))

    assert found.tolist() == pytest.approx(textbook(texts, question, alive))
