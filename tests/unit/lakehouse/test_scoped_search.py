"""A question to one scope: whose rows it reads, which versions, and what each side finds."""

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from lakehouse.maintenance import compact
from lakehouse.retrieval.config import RAGConfig
from lakehouse.retrieval.context import citations_of
from lakehouse.retrieval.engine import BLANK, ONLY_WORDS, Retrieved
from lakehouse.retrieval.ranking import Hit
from lakehouse.store import Lake, Shard
from schemas.conversation import Scope
from schemas.errors import Unavailable
from schemas.retrieval import SearchRequest
from tests.unit.lakehouse import asking
from tests.unit.lakehouse import conftest as stories
from tests.unit.lakehouse.asking import engine, search

Story = Callable[[str], Any]
Unit = Callable[[str], Any]
START = datetime(2025, 1, 1, tzinfo=UTC)
MODES = ("semantic", "keyword", "hybrid")
NAMES = ["o'neil", "x' OR '1'='1", 'a"b', "50%", "c:\\d", "a\nb", "\U0001f642", "ann", "a_n", "an%"]
AXES = np.eye(8, dtype=np.float32)
ODD = ["", "   ", "\u200b", "?!", "AND OR NOT", '"unclosed', "(a AND", "*", "a*", "fact^2", "+fact -fact", "fact~2",
       "text:fact", "word " * 2000, "x" * 10_000, "\U0001f642\U0001f680", "\\", "'; DROP TABLE memories; --", "\x00",
       "绿", " ".join(f"w{number}" for number in range(1500))]  # fmt: skip
LANGUAGES: list[tuple[str, str]] = [
    ("我每天早上喝绿茶", "绿茶"),
    ("не пью кофе", "кофе"),
    ("prefers C++ over node.js", "C++"),
    ("prefers C++ over node.js", "node.js"),
    ("does not eat fish", "not"),
    ("lives in Zürich", "zurich"),
    ("config is in etc/redis.yaml", "redis.yaml"),
    ("\U00010330" * 150, "\U00010330" * 150),
]


def asked(scope: Scope, query: str = "fact", **fields: Any) -> SearchRequest:
    told = {"scope": scope, "query": query, "similarity_threshold": 0.0, "top_k": 50}
    return SearchRequest.from_wire(told | fields)


@pytest.fixture(params=[20_000, 1], ids=["kept", "in its table"], autouse=True)
def size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything holds for a scope that is kept in memory, and for one that is too large for that."""
    monkeypatch.setattr(asking, "CONFIG", RAGConfig(most_rows=request.param))


async def texts(shard: Shard, request: SearchRequest, vector: Any = AXES[0]) -> list[str]:
    return told_by(await search(shard, request, vector), vector)


async def hits(shard: Shard, request: SearchRequest, vector: Any = AXES[0]) -> list[Hit]:
    return shown(await search(shard, request, vector), vector)


def told_by(found: Retrieved, vector: Any = AXES[0]) -> list[str]:
    return [hit.item.row.event.text for hit in shown(found, vector)]


def shown(found: Retrieved, vector: Any = AXES[0]) -> list[Hit]:
    assert set(found.degraded) <= ({ONLY_WORDS} if vector is None else {BLANK})
    return list(found.hits)


async def test_scopes_of_any_name_read_only_their_own(shard: Shard, story: Story) -> None:
    stories = [story(name) for name in NAMES]
    await shard.commit_memories([row for told in stories for row in told.add(f"fact of {told.scope.user_id}")])

    reader = engine(shard, AXES[0])
    for told in stories:
        own = [f"fact of {told.scope.user_id}"]
        for mode in MODES:
            assert told_by(await reader.search(asked(told.scope, mode=mode))) == own
        assert [row.event.text for row in await shard.scope_rows(told.scope)] == own
        assert [row.event.text for row in (await shard.scope_memory(told.scope)).current] == own


async def test_a_scope_that_nobody_wrote_finds_nothing(shard: Shard, story: Story) -> None:
    await shard.commit_memories(story("ann").add("fact"))

    for name in ("bo", "ann'", "' OR ''='", "an"):
        for mode in MODES:
            assert await texts(shard, asked(Scope(project_id="shop", user_id=name), mode=mode)) == []


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Three far rows of ``few`` and five thousand near ones of ``many``, to be read only."""
    far = (AXES[0] * 0.1 + AXES[1] * np.sqrt(0.99)).astype(np.float32)
    many, few = (stories.Story(Scope(project_id="shop", user_id=name)) for name in ("many", "few"))
    return stories.written(
        tmp_path_factory.mktemp("crowded") / "lake",
        [row for number in range(5000) for row in many.add(f"fact {number}", vector=AXES[0])],
        [row for number in range(3) for row in few.add(f"fact {number}", vector=far)],
    )


async def test_three_far_rows_are_found_behind_five_thousand_near_ones_of_another(crowded: str, story: Story) -> None:
    shard, many, few = await (await Lake.open(crowded)).shard(0), story("many"), story("few")

    for mode in MODES:
        assert sorted(await texts(shard, asked(few.scope, mode=mode, top_k=3))) == ["fact 0", "fact 1", "fact 2"]
    assert len(await texts(shard, asked(many.scope))) == 50


async def test_similarity_is_one_for_the_same_nought_for_right_angles_and_the_opposite(
    shard: Shard, story: Story
) -> None:
    told = story("ann")
    half = (AXES[0] + AXES[1]) / np.sqrt(2)
    near = {"same": AXES[0], "half": half, "right angle": AXES[1], "opposite": -AXES[0]}
    await shard.commit_memories([row for text, vector in near.items() for row in told.add(text, vector=vector)])

    found = {hit.item.row.event.text: hit.similarity for hit in await hits(shard, asked(told.scope, mode="semantic"))}

    assert found == {"same": 1.0, "half": 0.7071, "right angle": 0.0, "opposite": 0.0}


async def test_the_order_of_similarities_is_that_of_a_plain_comparison(shard: Shard, story: Story, unit: Unit) -> None:
    told = story("ann")
    await shard.commit_memories([row for number in range(300) for row in told.add(f"fact {number}")])

    found = await hits(shard, asked(told.scope, mode="semantic"), unit("asked"))

    cosines = sorted((float(unit(f"fact {number}") @ unit("asked")) for number in range(300)), reverse=True)[:50]
    assert [hit.similarity for hit in found] == pytest.approx(cosines, abs=6e-5)


@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.7071, 0.71, 1.0])
async def test_a_threshold_compares_with_the_similarity(shard: Shard, story: Story, threshold: float) -> None:
    told = story("ann")
    near = {"same": AXES[0], "half": (AXES[0] + AXES[1]) / np.sqrt(2), "right angle": AXES[1]}
    await shard.commit_memories([row for text, vector in near.items() for row in told.add(text, vector=vector)])

    found = await hits(shard, asked(told.scope, mode="semantic", similarity_threshold=threshold))

    expected = {"same": 1.0, "half": 0.7071, "right angle": 0.0}
    assert {hit.item.row.event.text for hit in found} == {text for text, one in expected.items() if one >= threshold}


async def test_what_one_side_alone_finds_has_both_scores_and_makes_a_citation(shard: Shard, story: Story) -> None:
    told = story("ann")
    near = (AXES[0] * 0.4 + AXES[2] * np.sqrt(0.84)).astype(np.float32)
    rows = [*told.add("the code word is xylophone", vector=-AXES[0]), *told.add("a paraphrase", vector=AXES[0])]
    await shard.commit_memories([*rows, *(row for n in range(25) for row in told.add(f"filler {n}", vector=near))])

    found = await hits(shard, asked(told.scope, "xylophone", top_k=5, similarity_threshold=0.5))

    by_text = {hit.item.row.event.text: hit for hit in found}
    word, meaning = by_text["the code word is xylophone"], by_text["a paraphrase"]
    assert (word.similarity, word.coverage) == (0.0, 1.0)
    assert (meaning.similarity, meaning.coverage) == (1.0, 0.0)
    cited = {citation.content: citation.metadata for citation in citations_of(found)}
    assert cited["the code word is xylophone"].keyword_score == 1.0
    assert cited["a paraphrase"].keyword_score is None
    (blind,) = await hits(shard, asked(told.scope, "xylophone", similarity_threshold=0.5), None)
    assert citations_of([blind])[0].metadata.semantic_score is None


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Twenty facts of ``ann``, to be read only."""
    told = stories.Story(Scope(project_id="shop", user_id="ann"))
    rows = [row for number in range(20) for row in told.add(f"fact {number} word")]
    return stories.written(tmp_path_factory.mktemp("plain") / "lake", rows)


@pytest.mark.parametrize("query", ODD, ids=lambda query: repr(query[:20]))
async def test_an_odd_question_is_answered_within_a_second(plain: str, story: Story, query: str) -> None:
    reader = engine(await (await Lake.open(plain)).shard(0), AXES[0])

    started = time.monotonic()
    for mode in MODES:
        shown(await reader.search(asked(story("ann").scope, query, mode=mode)))

    assert time.monotonic() - started < 3


async def test_a_question_without_words_finds_nothing_by_words(shard: Shard, story: Story) -> None:
    told = story("ann")
    await shard.commit_memories(told.add("fact"))

    for query in ("", "?!", "\u200b", "\U0001f642"):
        assert await texts(shard, asked(told.scope, query, mode="keyword")) == []


@pytest.mark.parametrize(("text", "query"), LANGUAGES, ids=lambda value: value[:12])
async def test_words_of_any_language_are_found_and_others_are_not(
    shard: Shard, story: Story, text: str, query: str
) -> None:
    told = story("ann")
    await shard.commit_memories([*told.add(text), *told.add("喝红 кофе́йня java nodejs knot fished")])

    found = await hits(shard, asked(told.scope, query, mode="keyword", similarity_threshold=1.0), -AXES[0])

    assert [hit.item.row.event.text for hit in found] == [text]


async def test_keyword_mode_holds_only_matches_and_partial_ones_need_the_threshold(shard: Shard, story: Story) -> None:
    told = story("ann")
    rows = [*told.add("red bike", vector=AXES[1]), *told.add("red car", vector=AXES[0])]
    await shard.commit_memories([*rows, *told.add("blue boat", vector=AXES[0])])

    assert await texts(shard, asked(told.scope, "red bike", mode="keyword", similarity_threshold=0.5)) == [
        "red bike",
        "red car",
    ]
    for threshold, expected in ((0.5, ["red bike", "red car"]), (0.6, ["red bike"])):
        request = asked(told.scope, "RED BIKE", mode="keyword", similarity_threshold=threshold)
        assert await texts(shard, request, None) == expected


BAD = {"nan": np.full(8, np.nan), "zeros": np.zeros(8), "short": AXES[0][:7], "long": np.ones(9)}


@pytest.mark.parametrize("kind", BAD)
async def test_a_bad_vector_of_a_question_is_a_failure_and_not_an_empty_answer(
    shard: Shard, story: Story, kind: str
) -> None:
    told = story("ann")
    await shard.commit_memories(told.add("fact"))

    with pytest.raises(Unavailable, match="cannot be embedded"):
        await search(shard, asked(told.scope, mode="semantic"), BAD[kind])
    found = await search(shard, asked(told.scope, mode="hybrid"), BAD[kind])
    assert [hit.item.row.event.text for hit in found.hits] == ["fact"]
    assert found.degraded == (ONLY_WORDS,)
    found = await search(shard, asked(told.scope, mode="keyword"), BAD[kind])
    assert [(hit.item.row.event.text, hit.similarity) for hit in found.hits] == [("fact", 0.0)]
    assert found.degraded == (ONLY_WORDS,)


async def test_without_a_vector_only_words_are_searched(shard: Shard, story: Story) -> None:
    told = story("ann")
    await shard.commit_memories([*told.add("fact"), *told.add("other")])

    assert await texts(shard, asked(told.scope), None) == ["fact"]


async def test_both_sides_failing_is_a_failure(lake: Lake, shard: Shard, story: Story, uri: str) -> None:
    await shard.commit_memories(story("ann").add("fact"))
    broken = Shard("/nowhere/at/all", 0, 8, shard.memories, shard.turns)

    for mode in MODES:
        with pytest.raises(Unavailable, match="not where it was"):
            await search(broken, asked(Scope(project_id="shop", user_id="ann"), mode=mode), AXES[0])


FILTERS: list[tuple[dict[str, Any], list[int]]] = [
    ({"tags": ["a"]}, [1, 2]),
    ({"tags": ["a", "b"]}, [2]),
    ({"tags": ["b"]}, [2, 3]),
    ({"tags": [""]}, []),
    ({"tags": ["a\n"]}, []),
    ({"tags": ["a\n\nb"]}, []),
    ({"tags": ['"a"']}, []),
    ({"tags": ["aa"]}, [5]),
    ({"tags": ["A"]}, []),
    ({"tags": ["50% o'neil\\n"]}, [6]),
    ({"domain": "web"}, [1]),
    ({"domain": "we"}, []),
    ({"domain": "x' OR '1'='1"}, []),
    ({"sessionId": "s-2"}, [2]),
    ({"since": START + timedelta(minutes=3)}, [3, 4, 5, 6]),
    ({"since": START + timedelta(minutes=3, microseconds=1)}, [4, 5, 6]),
    ({"until": START + timedelta(minutes=2)}, [1, 2]),
    ({"until": START + timedelta(minutes=2) - timedelta(microseconds=1)}, [1]),
    ({"since": START + timedelta(minutes=2), "until": START + timedelta(minutes=3)}, [2, 3]),
    ({"tags": ["a"], "sessionId": "s-2", "since": START}, [2]),
    ({}, [1, 2, 3, 4, 5, 6]),
]


async def test_all_filters_that_are_given_hold_in_every_mode(shard: Shard, story: Story) -> None:
    told = story("ann")
    given: list[dict[str, Any]] = [
        {"tags": ("a",), "domain": "web"},
        {"tags": ("a", "b"), "source_session_id": "s-2"},
        {"tags": ("b",)},
        {"tags": ()},
        {"tags": ("aa",)},
        {"tags": ("50% o'neil\\n",)},
    ]
    await shard.commit_memories([row for number, fields in enumerate(given, 1) for row in
                                 told.add(f"fact {number}", **{"source_session_id": None} | fields)])  # fmt: skip

    reader = engine(shard, AXES[0])
    for filters, expected in FILTERS:
        for mode in MODES:
            found = shown(await reader.search(asked(told.scope, mode=mode, filters=filters)))
            assert sorted(hit.item.row.event.id for hit in found) == expected, filters


async def everywhere(shard: Shard, scope: Scope, query: str, vector: Any) -> Sequence[str]:
    reader = engine(shard, vector)
    found = [set(told_by(await reader.search(asked(scope, query, mode=mode)))) for mode in MODES]
    known = {row.event.text for row in (await shard.scope_memory(scope)).current}
    return sorted(set.union(*found) | known)


async def test_what_was_deleted_or_replaced_is_never_found_again_and_takes_no_place(
    shard: Shard, story: Story, unit: Unit
) -> None:
    told = story("ann")
    await shard.commit_memories([*told.add("my phone is 123"), *told.add("editor is vim"), *told.add("likes tea")])
    await shard.commit_memories(told.delete(1))
    await shard.commit_memories(told.update(2, "editor is helix"))
    await shard.commit_memories(told.nothing("likes tea"))

    for _ in range(2):
        for query in ("my phone is 123", "editor is vim", "editor", "likes tea"):
            found = await everywhere(shard, told.scope, query, unit(query))
            assert found == ["editor is helix", "likes tea"]
        for mode in MODES:
            first = await texts(shard, asked(told.scope, "editor is vim", mode=mode, top_k=2), unit("editor is vim"))
            assert len(first) == (1 if mode == "keyword" else 2)
            helix = await texts(shard, asked(told.scope, "helix", mode=mode, top_k=1), unit("editor is helix"))
            assert helix == ["editor is helix"]
        await compact(shard, "memories", timedelta(milliseconds=1))


async def test_two_scopes_with_mirrored_facts_never_meet(shard: Shard, story: Story) -> None:
    ann, bo = story("ann"), story("bo")
    for told, marker in ((ann, "apple"), (bo, "banana")):
        await shard.commit_memories([*told.add(f"likes {marker}"), *told.add(f"hates {marker}")])
        await shard.commit_memories(told.update(1, f"adores {marker}"))
        await shard.commit_memories(told.delete(2))

    reader = engine(shard, AXES[0])
    for when in ({}, {"as_of": START + timedelta(days=9)}, {"known_at": START + timedelta(hours=2, minutes=1)}):
        for mode in MODES:
            request = asked(ann.scope, "likes adores banana apple", mode=mode, **when)
            found = told_by(await reader.search(request))
            assert found
            assert all("apple" in text for text in found)
    assert all("apple" in row.event.text for row in await shard.scope_rows(ann.scope))
