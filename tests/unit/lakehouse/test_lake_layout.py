"""Making and opening a lake: once or often, by one process or several, and never for something else than it was."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from lakehouse import keywords, memory_table, tables, turn_table
from lakehouse.store import Lake
from lakehouse.tables import LakeShape
from schemas.conversation import Scope
from schemas.errors import Misconfigured, Unavailable

SHAPE = LakeShape(2, "stub-1", 8)
OTHERS = [
    (replace(SHAPE, partitions=3), "MEMLAKE_PARTITIONS is 3"),
    (replace(SHAPE, partitions=1), "fill it by a replay"),
    (replace(SHAPE, embedder="stub-2"), "embedded by stub-1 and MEMLAKE_EMBEDDER gives stub-2"),
    (replace(SHAPE, dimension=4), "rebuild the lake"),
]


async def test_a_lake_is_made_again_as_it_is(uri: str) -> None:
    for _ in range(3):
        lake = await Lake.make(uri, SHAPE)

    shape = (await Lake.open(uri)).shape
    assert shape == lake.shape == SHAPE
    marker = await (await tables.connect(uri)).open_table(tables.MARKER)
    assert await marker.count_rows() == 1


async def test_the_tables_have_their_columns_a_declared_key_and_no_index_on_it(uri: str) -> None:
    shard = await (await Lake.make(uri, SHAPE)).shard(1)

    for table, columns, key in (
        (shard.memories, memory_table.schema(8), memory_table.KEY),
        (shard.turns, turn_table.schema(8), turn_table.KEY),
    ):
        schema = await table.schema()
        assert schema.remove_metadata().names == columns.names
        assert schema.field(key).metadata
        indexes = {tuple(index.columns): index.index_type for index in await table.list_indices()}
        assert indexes == {("scope",): "Bitmap", ("keywords",): "FTS"}


async def test_a_lake_that_a_crash_left_half_made_is_completed(uri: str) -> None:
    connection = await tables.connect(uri)
    await connection.create_table("memories_0000", schema=memory_table.schema(8))
    with pytest.raises(Misconfigured, match="no lake"):
        await Lake.open(uri)

    lake = await Lake.make(uri, SHAPE)

    assert (await (await lake.shard(0)).memories.schema()).field(memory_table.KEY).metadata
    assert len(await (await lake.shard(0)).memories.list_indices()) == 2


async def test_a_marker_without_a_row_is_no_lake_yet(uri: str) -> None:
    connection = await tables.connect(uri)
    await connection.create_table(tables.MARKER, schema=tables._MARKER_SCHEMA)

    assert await tables.read_shape(connection) is None
    assert (await Lake.make(uri, SHAPE)).shape == SHAPE


@pytest.mark.parametrize(("other", "told"), OTHERS)
async def test_a_lake_made_for_something_else_is_refused_with_the_remedy(uri: str, other: LakeShape, told: str) -> None:
    await Lake.make(uri, SHAPE)

    with pytest.raises(Misconfigured, match=told):
        await Lake.make(uri, other)

    assert (await Lake.open(uri)).shape == SHAPE


@pytest.mark.parametrize(
    ("column", "value", "told"),
    [("layout", tables.LAYOUT + 1, "upgrade memlake"), ("keywords", "k0", f"not {keywords.RECIPE}: rebuild")],
)
async def test_a_lake_of_another_layout_or_recipe_is_refused(uri: str, column: str, value: object, told: str) -> None:
    await Lake.make(uri, SHAPE)
    marker = await (await tables.connect(uri)).open_table(tables.MARKER)
    await marker.update({column: value})

    for way_in in (Lake.open(uri), Lake.make(uri, SHAPE)):
        with pytest.raises(Misconfigured, match=told):
            await way_in


async def test_a_lake_that_was_never_made_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    for folder in ("nowhere", "empty"):
        with pytest.raises(Misconfigured, match="has a worker run yet"):
            await Lake.open(str(tmp_path / folder))
    assert not (tmp_path / "nowhere").exists()


async def test_a_folder_that_cannot_be_made_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(Unavailable):
        await Lake.make(str(tmp_path / "file" / "lake"), SHAPE)


async def test_a_scope_has_its_shard_and_each_shard_is_opened_once(uri: str) -> None:
    lake = await Lake.make(f"file://{uri}", SHAPE)
    scopes = [Scope(project_id="shop", user_id=f"user-{number}") for number in range(20)]

    found = {(await lake.shard_of(scope)).partition for scope in scopes}

    assert found == {0, 1}
    assert lake.opened() == [await lake.shard(shard.partition) for shard in lake.opened()]
    assert [row async for row in lake.all_rows()] == []


async def test_an_object_store_needs_no_lock_on_a_folder() -> None:
    assert tables.local_folder("s3://bucket/lake") is None
    async with tables.making("memory://lake"):
        tables.require_present("memory://lake")


async def test_a_table_with_a_column_of_later_times_is_kept_as_it_is(uri: str) -> None:
    lake = await Lake.make(uri, SHAPE)
    await (await lake.shard(0)).memories.add_columns(pa.field("colour", pa.string()))

    again = await Lake.make(uri, SHAPE)

    assert "colour" in (await (await again.shard(0)).memories.schema()).names
