"""Whatever is asked after whatever was said: the asker's words stay, what joins them is bounded, and once is enough."""

from datetime import UTC, datetime
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from lakehouse.keywords import query_terms
from lakehouse.retrieval.asked import asked
from lakehouse.retrieval.expansion import MAX_TERMS, expand
from lakehouse.retrieval.history import MAX_ADDED, MAX_WORD, resolved
from lakehouse.retrieval.moments import stretch_named
from lakehouse.retrieval.names import known_names, without_names
from lakehouse.retrieval.tokens import read
from schemas.retrieval import HistoryTurn

NAMES = known_names(["Caroline", "Anna", "安娜", "staging database"])
CUES = """
what where when she it that and in about tell me more Anna Caroline Redis Porto bike job live the of my last week und wo
wann sie es das Berlin y dónde ella eso et où elle ça vs both between 他 它 那个 住在哪里 上海 安娜的 和 的区别
asyncio.run NullPointerException v2.0.1 May 2023 ? , . ! ( ) 's d' -t-elle
"""
WORDS = st.sampled_from(CUES.split())
SPOKEN = st.lists(WORDS, max_size=14).map(" ".join) | st.text(max_size=40)
NOWS = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31), timezones=st.just(UTC))  # noqa: DTZ001 - the zone joins
TURNS = st.lists(
    st.builds(HistoryTurn, role=st.sampled_from(["user", "assistant", "system", "tool"]), content=SPOKEN), max_size=8
)


@settings(max_examples=60, deadline=None)
@given(SPOKEN, TURNS)
def test_a_question_told_in_full_once_is_told_in_full(query: str, turns: list[HistoryTurn]) -> None:
    once = resolved(query, turns, names=NAMES)

    assert resolved(once.text, turns, names=NAMES).text == once.text


@settings(max_examples=60, deadline=None)
@given(SPOKEN, TURNS)
def test_the_own_words_stand_first_and_few_join_them(query: str, turns: list[HistoryTurn]) -> None:
    found = resolved(query, turns, names=NAMES)

    assert found.text.startswith(found.own.rstrip())
    assert found.own in {query, *(turn.content.strip() for turn in turns)}
    assert len(found.text) <= len(found.own) + MAX_ADDED * (MAX_WORD + 1) + 2
    assert found.changed or found.text == query
    assert found.text.strip() or not query.strip()


@settings(max_examples=60, deadline=None)
@given(SPOKEN)
def test_without_turns_before_it_a_question_is_unchanged(query: str) -> None:
    assert resolved(query, ()).text == query


@settings(max_examples=60, deadline=None)
@given(SPOKEN)
def test_further_terms_are_few_weigh_less_and_are_none_of_the_question(query: str) -> None:
    found = expand(query, names=NAMES)

    assert found.text == query
    assert expand(found.text, names=NAMES) == found
    assert len(found.terms) <= MAX_TERMS
    assert all(0 < weight < 1 for weight in found.terms.values())
    assert found.terms.keys().isdisjoint(query_terms(query))


@settings(max_examples=60, deadline=None)
@given(SPOKEN)
def test_a_question_has_no_part_or_two_or_three_and_none_is_empty(query: str) -> None:
    parts = expand(query, names=NAMES).parts

    assert len(parts) in {0, 2, 3}
    assert len(set(parts)) == len(parts)
    assert all(read(part).tokens for part in parts)


@settings(max_examples=60, deadline=None)
@given(SPOKEN)
def test_without_its_names_a_text_still_says_something_and_names_nobody(text: str) -> None:
    left = without_names(text, NAMES)

    assert left == text or read(left).content
    assert left == text or len(left) < len(text)
    assert left == text or not NAMES.mentions(read(left)) or NAMES.mentions(read(text))


@settings(max_examples=60, deadline=None)
@given(SPOKEN, NOWS)
def test_a_stretch_of_time_ends_after_it_begins_and_is_the_same_each_time(query: str, now: datetime) -> None:
    found = stretch_named(query, now)

    assert found == stretch_named(query, now)
    assert found is None or found.since is None or found.until is None or found.since < found.until


@settings(max_examples=60, deadline=None)
@given(SPOKEN)
def test_the_names_asked_for_are_known_ones_or_the_user(query: str) -> None:
    known = {"Caroline", "Anna", "安娜", "staging database", "user"}

    assert set(asked(query, now=datetime(2023, 9, 20, tzinfo=UTC), names=NAMES).names) <= known


@settings(max_examples=60, deadline=None)
@given(SPOKEN)
def test_the_words_of_a_text_stand_where_they_are_said_to(text: str) -> None:
    tokens = read(text).tokens

    assert all(text[token.start : token.end] == token.text for token in tokens)
    assert all(one.end <= other.start for one, other in pairwise(tokens))
