"""``DocumentStore`` on a real lake: what was told is kept, replaced as a unit, found, and written once."""

import asyncio
from pathlib import Path

import pytest

from lakehouse.external.opened import COMMITS
from lakehouse.external.store import DocumentStore
from lakehouse.store import Lake
from lakehouse.tables import LakeShape
from schemas.errors import Misconfigured, Unavailable
from tests.unit.external.keeping import (
    DIMENSION,
    PAGE,
    HandEmbedder,
    after,
    deprecation,
    document,
    event,
    fetched,
    lookup,
    new_store,
    page,
    vector_of,
)

RUN, RUNNER = document("asyncio.run"), document("asyncio.Runner", "A context manager.", role="py:class")


@pytest.fixture
def embedder() -> HandEmbedder:
    return HandEmbedder()


@pytest.fixture
async def store(tmp_path: Path, embedder: HandEmbedder) -> DocumentStore:
    return await new_store(tmp_path / "lake", embedder)


async def names(store: DocumentStore) -> list[str]:
    return sorted(row.document.name for row in await store.live())


async def test_a_document_comes_back_as_it_was_told(store: DocumentStore) -> None:
    odd = document(
        "odd.name", 'It\'s "quoted"; \\ and 名前 \n\n  kept.', flags=("orders",), version=None, language="python"
    )
    await store.apply([fetched(after(), RUN, odd)])

    row = await store.get(odd.id)

    assert row is not None
    assert row.document == odd
    assert (row.fetched_at, row.updated_at, row.checked_at, row.status) == (after(), after(), after(), "live")
    assert row.stale_since == after(days=30)
    assert await store.get("0" * 64) is None


async def test_a_page_that_shrinks_leaves_nothing_of_what_it_no_longer_says(store: DocumentStore) -> None:
    sections = [document(f"m.f{number}", f"Section {number}.") for number in range(10)]
    await store.apply([fetched(after(), *sections)])
    await store.apply([fetched(after(hours=1), *sections[:6])])

    assert await names(store) == [f"m.f{number}" for number in range(6)]
    assert await store.find("m.f9") == []
    assert [row.document.name for row, _ in await store.search("Section 9", vector_of("Section 9."))].count("m.f9") == 0
    kept = (await store.everything()).documents
    assert kept[sections[9].id].document.text == ""


async def test_the_same_events_again_make_no_new_version_of_any_table(store: DocumentStore) -> None:
    told = [
        fetched(after(), RUN, RUNNER),
        event("DEPRECATED", after(), deprecation=deprecation()),
        event("RESCORED", after(hours=1), scores={RUN.id: 0.5}),
    ]
    await store.apply(told)
    before = await store.everything()
    versions = [await table.version() for table in (store.documents, store.pages, store.deprecations)]

    assert await store.apply(told) == []
    assert await store.everything() == before
    assert [await table.version() for table in (store.documents, store.pages, store.deprecations)] == versions


async def test_one_batch_is_one_commit_a_table(store: DocumentStore) -> None:
    before = await store.documents.version()
    await store.apply(
        [fetched(after(), RUN), fetched(after(hours=1), RUN, RUNNER), event("STALE_SERVED", after(days=40))]
    )
    assert await store.documents.version() == before + 1


async def test_only_a_summary_that_is_another_one_is_embedded(store: DocumentStore, embedder: HandEmbedder) -> None:
    await store.apply([fetched(after(), RUN, RUNNER)])
    await store.apply([event("NOT_MODIFIED", after(hours=1), page=page(after(hours=1)))])
    await store.apply([fetched(after(hours=2), document("asyncio.run", "Runs it."), RUNNER)])

    assert embedder.asked == [RUN.summary, RUNNER.summary, "Runs it."]
    assert [row.document.name for row, near in await store.search("", vector_of("Runs it.")) if near == 1.0] == [
        RUN.name
    ]


async def test_not_modified_renews_the_time_and_keeps_content_and_validators(store: DocumentStore) -> None:
    await store.apply([fetched(after(), RUN)])
    before = await store.page(PAGE)
    bare = page(after(days=31), fetched_at=None, status=304)
    await store.apply([event("NOT_MODIFIED", after(days=31), page=bare)])

    row, state = await store.get(RUN.id), await store.page(PAGE)

    assert row is not None
    assert state is not None
    assert before is not None
    assert (row.document, row.fetched_at, row.checked_at) == (RUN, after(), after(days=31))
    assert (state.etag, state.content_hash, state.fetched_at) == (before.etag, before.content_hash, after())


async def test_a_failure_leaves_the_stale_copy_and_its_validators(store: DocumentStore) -> None:
    await store.apply([fetched(after(), RUN)])
    failed = page(after(days=40), checked_at=None, fetched_at=None, status=503, negative_until=after(days=41))
    await store.apply([event("FETCH_FAILED", after(days=40), page=failed)])

    row, state = await store.get(RUN.id), await store.page(PAGE)

    assert row is not None
    assert state is not None
    assert row.checked_at == after() == state.checked_at
    assert state.etag is not None
    assert await store.refused_pages(after(days=40)) == {PAGE}
    assert await store.refused_pages(after(days=42)) == set()


async def test_a_page_that_is_gone_takes_its_documents_and_may_come_back(store: DocumentStore) -> None:
    await store.apply([fetched(after(), RUN)])
    await store.apply([event("GONE", after(hours=1), page=page(after(hours=1), status=404, etag='"e"'))])
    state = await store.page(PAGE)
    assert await names(store) == []
    assert state is not None
    assert state.etag is None

    await store.apply([fetched(after(hours=2), RUN)])
    assert await names(store) == ["asyncio.run"]


async def test_versions_are_ordered_as_versions_and_a_mismatch_is_told(store: DocumentStore) -> None:
    told = [
        document(
            "lib.f", f"As of {version}.", project="lib", version=version, page_url=f"https://docs.example/{version}/"
        )
        for version in ("1.9", "1.10", "2.0", "2024a", "latest")
    ]
    await store.apply([fetched(after(), one, url=one.page_url) for one in told])

    pinned = await store.find("lib.f", "lib", "1.10")
    assert [(one.row.version, one.fits) for one in pinned] == [
        ("1.10", True), ("1.9", False), ("2.0", False), ("2024a", False), ("latest", False),
    ]  # fmt: skip
    newest = await store.find("lib.f", "lib")
    assert [(one.row.version, one.fits) for one in newest][:3] == [("2.0", True), ("1.10", True), ("1.9", True)]


async def test_the_end_of_a_name_finds_only_where_one_symbol_ends_so(store: DocumentStore) -> None:
    await store.apply([fetched(after(), RUN, document("subprocess.call"), document("unittest.call"))])
    assert [one.row.document.name for one in await store.find("run")] == ["asyncio.run"]
    assert await store.find("call") == []
    assert [one.row.document.name for one in await store.find("unittest.call")] == ["unittest.call"]
    assert await store.find("un") == []
    assert await store.find("RUN") == []


async def test_a_page_of_prose_of_the_same_name_comes_after_the_symbol(store: DocumentStore) -> None:
    await store.apply([fetched(after(), document("asyncio.run", role="std:label", text="A label."), RUN)])
    assert [one.row.document.role for one in await store.find("asyncio.run")] == ["py:function", "std:label"]


async def test_search_finds_by_meaning_and_by_words(store: DocumentStore) -> None:
    far = [document(f"other.f{number}", f"Something else {number}.") for number in range(4)]
    await store.apply([fetched(after(), RUN, RUNNER, *far)])

    by_meaning = await store.search("nothing that is written", vector_of(RUNNER.summary), limit=1)
    by_words = await store.search("what does asyncio.run do", limit=1)

    assert [(row.document.name, near) for row, near in by_meaning] == [("asyncio.Runner", 1.0)]
    assert [row.document.name for row, _ in by_words] == ["asyncio.run"]
    assert await store.search("", None) == []
    assert [row for row, _ in await store.search("coroutine", project="node")] == []


async def test_a_vector_that_is_none_is_told(store: DocumentStore) -> None:
    with pytest.raises(Unavailable, match="unit vector"):
        await store.search("text", [0.0] * DIMENSION)


async def test_findings_are_kept_by_source_and_withdrawn_ones_say_so(store: DocumentStore) -> None:
    own, other = deprecation(), deprecation(status="possible", confidence=0.4)
    await store.apply([
        event("DEPRECATED", after(), deprecation=own),
        event("DEPRECATED", after(), deprecation=other, source="github", number=1),
        event("UNDEPRECATED", after(days=1), deprecation=own),
        event("DEPRECATED", after(), deprecation=own),
        event("DEPRECATED", after(), deprecation=deprecation("imp.find", version="3.9"), number=2),
        event("DEPRECATED", after(), deprecation=deprecation("imp.find", version="3.11"), number=3),
    ])  # fmt: skip

    assert {one.status for one in await store.deprecations_of("python", ["imp.reload"])} == {"undeprecated", "possible"}
    assert [one.status for one in await store.deprecations_of(None, ["imp.reload"], source="github")] == ["possible"]
    both = await store.deprecations_of("python", ["imp.find", "imp.reload"])
    assert [(one.symbol, one.version) for one in both][:2] == [("imp.find", "3.11"), ("imp.find", "3.9")]
    assert await store.deprecations_of("node", ["imp.reload"]) == []
    assert await store.deprecations_of("python", []) == []


async def test_look_ups_are_kept_once_and_counted(store: DocumentStore) -> None:
    told = event(
        "ACCESSED",
        after(hours=3),
        lookups=(lookup(after(), of=RUN), lookup(after(hours=2), of=RUN), lookup(after(), "miss")),
    )
    await store.apply([told, told])
    await store.apply([told])

    uses = await store.uses()
    assert {key: (one.count, one.last) for key, one in uses.items()} == {RUN.id: (2, after(hours=2))}
    assert list((await store.lookups(after(), after(hours=1))).values()) == [told.lookups[0], told.lookups[2]]
    assert await store.happened(after(), after(days=9)) == []


async def test_the_percentile_is_over_what_is_there(store: DocumentStore) -> None:
    assert await store.percentile_80() == 0
    told = [document(f"m.f{number}") for number in range(10)]
    uses = {one.id: {"count": number} for number, one in enumerate(told)}
    await store.apply([fetched(after(), *told), event("RESCORED", after(hours=1), uses=uses)])
    assert await store.percentile_80() == 7
    await store.apply([event("EVICTED", after(hours=2), document_ids=tuple(one.id for one in told[5:]))])
    assert await store.percentile_80() == 3


async def test_an_index_is_kept_as_it_came(store: DocumentStore) -> None:
    state = page(after(), "https://docs.example/objects.inv", etag='"1"')
    await store.keep_inventory(state, b"\x00one", now=after())
    await store.keep_inventory(state, b"\x00two", now=after(days=1))
    assert await store.inventory(state.url) == (state, b"\x00two")
    assert await store.inventory(PAGE) is None


async def test_two_writers_of_one_page_lose_nothing(store: DocumentStore, tmp_path: Path) -> None:
    other = await DocumentStore.open(str(tmp_path / "lake"), HandEmbedder())
    await store.apply([fetched(after(), RUN, RUNNER)])
    for hour in range(1, 8):
        await _both(store, other, hour)
    row = await store.get(RUN.id)
    assert row is not None
    assert (row.document.text, row.relevance_score) == ("Text 7.", 0.7)
    assert await store.documents.count_rows() == 2


async def _both(store: DocumentStore, other: DocumentStore, hour: int) -> None:
    text = fetched(after(hours=hour), document("asyncio.run", f"Text {hour}."), RUNNER)
    score = event("RESCORED", after(hours=hour), scores={RUN.id: hour / 10})
    await asyncio.gather(store.apply([text]), other.apply([score]))


async def test_without_an_embedder_it_reads_and_refuses_documents(store: DocumentStore, tmp_path: Path) -> None:
    await store.apply([fetched(after(), RUN)])
    reader = await DocumentStore.open(str(tmp_path / "lake"))
    assert await reader.get(RUN.id) is not None
    with pytest.raises(Misconfigured, match="without an embedder"):
        await reader.apply([fetched(after(hours=1), RUNNER)])


async def test_it_opens_only_in_a_lake_of_its_embedder(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="no lake"):
        await DocumentStore.open(str(tmp_path / "none"))
    await Lake.make(str(tmp_path / "other"), LakeShape(1, "another", DIMENSION))
    with pytest.raises(Misconfigured, match="another"):
        await DocumentStore.open(str(tmp_path / "other"), HandEmbedder())


async def test_a_lake_that_went_is_told(store: DocumentStore, tmp_path: Path) -> None:
    (tmp_path / "lake").rename(tmp_path / "elsewhere")
    with pytest.raises(Unavailable, match="not where it was"):
        await store.find("asyncio.run")
    with pytest.raises(Unavailable, match="not where it was"):
        await store.apply([fetched(after(), RUN)])


async def test_many_commits_are_compacted_on_the_way(store: DocumentStore) -> None:
    for hour in range(COMMITS):
        await store.apply([fetched(after(hours=hour), document("asyncio.run", f"Text {hour}."))])
    assert store.commits["documents"] == store.commits["pages"] == 0
    assert (await store.documents.stats())["fragment_stats"]["num_fragments"] == 1
    assert [one.row.document.text for one in await store.find("asyncio.run")] == [f"Text {COMMITS - 1}."]


async def test_what_cannot_be_compacted_just_now_is_told_and_taken_up_all_the_same(
    store: DocumentStore, caplog: pytest.LogCaptureFixture
) -> None:
    class Busy:
        async def stats(self) -> None:
            raise RuntimeError("commit conflict")

    pages, store.pages = store.pages, Busy()
    store.commits["pages"] = COMMITS
    assert await store.apply([event("DEPRECATED", after(), deprecation=deprecation())]) == []
    assert "pages: not compacted after 20 commits: the lake cannot be used just now" in caplog.text
    store.pages = pages
    await store.apply([event("DEPRECATED", after(), deprecation=deprecation())])
    assert store.commits["pages"] == 0


async def test_a_commit_of_many_rows_is_compacted_sooner(store: DocumentStore) -> None:
    many = [document(f"m.f{number}", f"Section {number}.") for number in range(100 * COMMITS)]
    await store.apply([fetched(after(), *many)])
    assert store.commits["documents"] == 0
    assert [index.num_unindexed_rows for index in await store.documents.list_indices()] == [0] * 4
