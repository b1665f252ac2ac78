"""``ExternalKnowledgeCache`` over both backends: one contract; and what is peculiar to files."""

import json
import stat
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from lakehouse.external.backends import FileBackend, LakeBackend, _file_name
from lakehouse.external.cache import AtHand, Backend, Entry, ExternalKnowledgeCache, Wanted, entry_of
from schemas.errors import Unavailable
from schemas.knowledge import Document
from tests.unit.external.keeping import PAGE, START, after, document, fetched, new_store

RUN = document("asyncio.run")


class Clock:
    """Stands still between two questions unless told to move; each look moves it by a microsecond."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        self.now += timedelta(microseconds=1)
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture(params=["lake", "files"])
async def backend(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock, told: list[str]) -> Backend:
    if request.param == "files":
        return FileBackend(tmp_path / "files", told.append)
    return LakeBackend(await new_store(tmp_path / "lake"), clock)


@pytest.fixture
def cache(backend: Backend, clock: Clock) -> ExternalKnowledgeCache:
    return ExternalKnowledgeCache(backend, clock=clock)


def files(folder: Path, pattern: str = "*.json") -> list[Path]:
    return sorted(folder.rglob(pattern))


async def given(cache: ExternalKnowledgeCache, *asked: str, **options: str) -> Document | None:
    found = await cache.get(*asked, **options)  # type: ignore[arg-type]
    return None if found is None else found.document


async def test_what_was_set_is_given_and_nothing_else(cache: ExternalKnowledgeCache) -> None:
    assert await given(cache, "python_docs", "asyncio.run") is None
    await cache.set(RUN)
    assert await given(cache, "python_docs", "asyncio.run") == RUN
    for other in (("python_docs", "run"), ("python_docs", "asyncio.Run"), ("mdn", "asyncio.run"), ("python_docs", "")):
        assert await given(cache, *other) is None
    assert await given(cache, "python_docs", "asyncio.run", project="node") is None
    assert await given(cache, "python_docs", "asyncio.run", version="3.12") is None


async def test_what_is_set_again_replaces_and_is_given_at_once(cache: ExternalKnowledgeCache) -> None:
    await cache.set(RUN)
    assert await given(cache, "python_docs", "asyncio.run") == RUN
    newer = document("asyncio.run", "Another text.")
    await cache.set(newer)
    assert await given(cache, "python_docs", "asyncio.run") == newer
    assert (await cache.get_stats())["entries"] == 1


async def test_parts_that_join_to_the_same_text_are_two_keys(cache: ExternalKnowledgeCache) -> None:
    pairs = [("ab", "c"), ("a", "bc"), ("a/b", "c"), ("..", "c"), (".", "c"), ("a", "c?x=1"), ("a", "c"), ("A", "c")]
    for source, name in pairs:
        await cache.set(document(name, f"{source} {name}", source=source))
    for source, name in pairs:
        found = await given(cache, source, name)
        assert found is not None
        assert found.text == f"{source} {name}"


async def test_projects_and_versions_are_parts_of_the_key(cache: ExternalKnowledgeCache) -> None:
    for project, version in (
        ("lib", "1.9"),
        ("lib", "1.10"),
        ("lib", "latest"),
        ("other", "1.0"),
        ("none", None),
        ("a", "b"),
        ("a@b", None),
    ):
        await cache.set(document("f", f"{project} {version}", project=project, version=version))
    wanted = [
        ("lib", "1.9"),
        ("lib", "1.10"),
        ("lib", None),
        ("other", None),
        ("none", None),
        ("a", "b"),
        ("a@b", None),
    ]
    found = [await cache.get("python_docs", "f", project=project, version=version) for project, version in wanted]
    texts = [None if one is None else one.document.text for one in found]
    assert texts == ["lib 1.9", "lib 1.10", "lib 1.10", "other 1.0", "none None", "a b", "a@b None"]


async def test_an_old_entry_is_no_hit_and_is_kept_for_who_takes_a_stale_one(
    cache: ExternalKnowledgeCache, clock: Clock
) -> None:
    await cache.set(RUN)
    clock.now = after(days=7, seconds=-1)
    assert await cache.get("python_docs", "asyncio.run") is not None
    clock.now = after(days=7, seconds=1)
    assert await cache.get("python_docs", "asyncio.run") is None
    stale = await cache.get("python_docs", "asyncio.run", stale=True)
    assert stale is not None
    assert (stale.document, stale.stale) == (RUN, True)
    longer = await cache.get("python_docs", "asyncio.run", max_age_days=30)
    assert longer is not None
    assert not longer.stale
    clock.now = after(days=-3)
    assert await cache.get("python_docs", "asyncio.run") is not None


async def test_what_is_invalidated_is_gone_and_may_come_again(cache: ExternalKnowledgeCache) -> None:
    for version in ("3.11", "3.12"):
        await cache.set(document("asyncio.run", f"Of {version}.", version=version))
    assert await given(cache, "python_docs", "asyncio.run", version="3.11") is not None
    assert await cache.invalidate("python_docs", "asyncio.run", version="3.11") == 1
    assert await given(cache, "python_docs", "asyncio.run", version="3.11") is None
    assert await cache.invalidate("python_docs", "asyncio.run") == 1
    assert await cache.invalidate("python_docs", "asyncio.run") == 0
    assert await given(cache, "python_docs", "asyncio.run") is None
    await cache.set(RUN)
    assert await given(cache, "python_docs", "asyncio.run") == RUN


async def test_the_counts_tell_what_became_of_questions(cache: ExternalKnowledgeCache, clock: Clock) -> None:
    assert (await cache.get_stats())["hit_rate"] is None
    await cache.set(RUN)
    await cache.get("python_docs", "asyncio.run")
    await cache.get("python_docs", "asyncio.run")
    await cache.get("python_docs", "asyncio.wait")
    clock.now = after(days=8)
    await cache.get("python_docs", "asyncio.run")
    await cache.get("python_docs", "asyncio.run", stale=True)
    assert await cache.get_stats() == {
        "hits": 2, "at_hand_hits": 2, "stale_hits": 1, "expired": 1, "misses": 1,
        "hit_rate": 0.6, "entries": 1, "at_hand": 1,
    }  # fmt: skip


def test_ten_thousand_keys_have_ten_thousand_files() -> None:
    paths = {_file_name(f"source{number % 97}", f"m.f{number // 97}") for number in range(10_000)}
    assert len(paths) == 10_000


async def test_an_entry_with_other_parts_is_a_miss_and_stays(tmp_path: Path, told: list[str]) -> None:
    backend = FileBackend(tmp_path, told.append)
    await backend.write(entry_of(RUN, START))
    (path,) = files(tmp_path)
    path.write_text(path.read_text().replace('"identifier":"asyncio.run"', '"identifier":"asyncio.wait"'))
    assert await backend.read(Wanted("python_docs", "asyncio.run")) == []
    assert path.exists()
    assert told == []


@pytest.mark.parametrize(
    "spoil", [lambda raw: raw[: len(raw) // 2], lambda _: b"", lambda _: b"\xff\xfe", lambda _: b"[]", lambda _: b"{}"]
)
async def test_a_file_that_cannot_be_understood_is_told_and_removed(
    tmp_path: Path, told: list[str], spoil: Callable[[bytes], bytes]
) -> None:
    backend = FileBackend(tmp_path, told.append)
    await backend.write(entry_of(RUN, START))
    (path,) = files(tmp_path)
    path.write_bytes(spoil(path.read_bytes()))

    assert await backend.read(Wanted("python_docs", "asyncio.run")) == []
    assert not path.exists()
    assert told == [f"{path} could not be understood and was removed"]
    await backend.write(entry_of(RUN, START))
    assert len(await backend.read(Wanted("python_docs", "asyncio.run"))) == 1


async def test_files_lie_where_they_should_and_are_their_owners_alone(tmp_path: Path, told: list[str]) -> None:
    root = tmp_path / "deep" / "root"
    await FileBackend(root, told.append).write(entry_of(RUN, START))
    (path,) = files(root)
    source, version, first, name = path.relative_to(root).parts
    assert (source, version, first) == ("python_docs", "python@3.11", name[:2])
    assert len(name) == 64 + len(".json")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    folders = [folder for folder in path.parents if folder.is_relative_to(root)]
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in folders} == {0o700}
    assert json.loads(path.read_text())["document"]["text"] == RUN.text
    assert files(root, "*.part") == []


async def test_names_lead_nowhere_else_and_may_be_long(tmp_path: Path, told: list[str]) -> None:
    root, long = tmp_path / "root", "v" * 4000
    backend = FileBackend(root, told.append)
    for source, project, version in (
        ("..", "..", ".."),
        ("/etc", "a/b", None),
        ("s", "p", long),
        ("s", "p", f"{long}w"),
    ):
        await backend.write(entry_of(document("f", source=source, project=project, version=version), START))
        assert len(await backend.read(Wanted(source, "f", project, version))) == 1
    assert await backend.count() == 4
    assert {path.relative_to(tmp_path).parts[0] for path in files(tmp_path)} == {"root"}


async def test_a_folder_that_is_a_file_is_told(tmp_path: Path, told: list[str]) -> None:
    (tmp_path / "root").write_text("in the way")
    with pytest.raises(Unavailable, match="files of external knowledge"):
        await FileBackend(tmp_path / "root", told.append).write(entry_of(RUN, START))


async def test_over_the_lake_what_a_source_told_is_given(tmp_path: Path, clock: Clock) -> None:
    store = await new_store(tmp_path / "lake")
    await store.apply([fetched(after(), RUN, document("asyncio.wait"))])
    cache = ExternalKnowledgeCache(LakeBackend(store, clock), clock=clock)
    assert await given(cache, "python_docs", "asyncio.run") == RUN

    assert await cache.invalidate("python_docs", "asyncio.run") == 1
    state = await store.page(PAGE)
    assert state is not None
    assert state.etag is None
    assert await given(cache, "python_docs", "asyncio.wait") is not None


def test_at_hand_are_the_last_used_and_for_a_minute(clock: Clock) -> None:
    kept = AtHand[int](clock, most=2)
    kept.put("a", 1)
    kept.put("b", 2)
    assert kept.get("a") == 1
    kept.put("c", 3)
    assert [kept.get(key) for key in "abc"] == [1, None, 3]
    clock.now += timedelta(seconds=61)
    assert kept.get("a") is None
    kept.put("a", 4)
    clock.now -= timedelta(hours=1)
    assert kept.get("a") is None
    assert len(kept) == 1
    kept.clear()
    assert len(kept) == 0


class Elsewhere:
    """A backend that gives what nobody asked for."""

    async def read(self, wanted: Wanted) -> list[Entry]:
        return [entry_of(document("asyncio.wait"), START)]

    async def write(self, entry: Entry) -> None:
        raise AssertionError

    async def remove(self, wanted: Wanted) -> int:
        raise AssertionError

    async def count(self) -> int:
        return 1


async def test_an_answer_with_other_parts_is_a_miss_whatever_gave_it(clock: Clock) -> None:
    assert await given(ExternalKnowledgeCache(Elsewhere(), clock=clock), "python_docs", "asyncio.run") is None
