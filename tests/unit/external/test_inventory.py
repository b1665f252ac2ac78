"""Which page a symbol is told of on: whole names, unique ends, and words only where they are marked as names."""

import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakehouse.external.inventory import MAX_INFLATED, MAX_LINES, Entry, Inventory, NoInventory, inventory_of

PYTHON = Path(__file__).parents[2] / "data" / "docs" / "python-3.11" / "objects.inv"
HEAD = (
    b"# Sphinx inventory version 2\n# Project: Some thing\n# Version: 1.10\n# The remainder is compressed using zlib.\n"
)
NAMES = st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map(".".join), unique=True, max_size=12)


def packed(*lines: str, head: bytes = HEAD) -> bytes:
    return head + zlib.compress("".join(f"{line}\n" for line in lines).encode())


def made(*names: str, role: str = "py:function") -> Inventory:
    return Inventory("some", None, [Entry(role, name, "a.html", name, name) for name in names])


def test_a_real_index_tells_page_anchor_and_version() -> None:
    inventory = inventory_of(PYTHON.read_bytes())

    assert (inventory.project, inventory.version, len(inventory)) == ("Python", "3.11", 63)
    assert inventory.find("asyncio.run") == (
        Entry("py:function", "asyncio.run", "library/asyncio-runner.html", "asyncio.run", "asyncio.run"),
    )


def test_short_forms_of_an_index_are_written_out() -> None:
    (entry,) = inventory_of(
        packed("a.b py:function 1 api.html#$ -", "c std:label -1 api.html#some-thing A heading")
    ).find("c")

    assert entry == Entry("std:label", "c", "api.html", "some-thing", "A heading")


def test_a_version_that_is_not_told_is_none() -> None:
    assert inventory_of(packed("a py:data 1 a.html#$ -", head=HEAD.replace(b" 1.10", b" "))).version is None


def test_lines_may_end_as_on_windows_in_the_head() -> None:
    assert inventory_of(packed("a py:data 1 a.html#$ -", head=HEAD.replace(b"\n", b"\r\n"))).version == "1.10"


@pytest.mark.parametrize(
    ("symbol", "found"),
    [
        ("asyncio.Runner.run", "asyncio.Runner.run"),
        ("Runner.run", "asyncio.Runner.run"),
        ("Runner.run()", "asyncio.Runner.run"),
        (" asyncio.run ", "asyncio.run"),
        ("runner.run", None),
        ("Runner", None),
        ("x.Runner.run", None),
        ("", None),
    ],
)
def test_a_name_is_found_whole_or_by_a_unique_end_of_two_parts(symbol: str, found: str | None) -> None:
    names = [entry.name for entry in made("asyncio.run", "asyncio.Runner.run").find(symbol)]

    assert names == ([] if found is None else [found])


def test_a_single_word_is_the_end_of_a_name_only_where_it_is_marked_as_one() -> None:
    inventory = made("os.remove", "asyncio.gather", "b.gather")

    assert inventory.find("remove") == ()
    assert [entry.name for entry in inventory.find("remove", is_marked=True)] == ["os.remove"]
    assert inventory.find("gather", is_marked=True) == ()


def test_an_end_that_several_names_have_is_nobodys() -> None:
    assert made("a.X.run", "b.X.run").find("X.run") == ()


def test_places_in_the_text_are_no_ends_of_names() -> None:
    inventory = Inventory("some", None, [Entry("std:label", "a.b.c", "a.html", "x", "x")])

    assert inventory.find("b.c") == ()
    assert inventory.find("a.b.c") != ()


def test_functions_and_classes_go_before_what_is_called_the_same() -> None:
    roles = ["std:doc", "std:label", "std:term", "std:pdbcommand", "py:module", "py:data", "py:class", "py:function"]
    inventory = Inventory("some", None, [Entry(role, "run", "a.html", role, "run") for role in roles])

    assert [entry.role for entry in inventory.find("run")] == [
        *roles[:3:-1],
        "std:pdbcommand",
        "std:term",
        "std:label",
        "std:doc",
    ]
    assert [entry.role for entry in inventory.find("run()")] == ["py:function", "py:class", "py:data", "py:module"]


def test_a_page_tells_all_that_is_on_it() -> None:
    inventory = inventory_of(packed("b py:data 1 x.html#$ -", "a py:function 1 x.html#$ -", "c py:data 1 y.html#$ -"))

    assert [entry.name for entry in inventory.of_page("x.html")] == ["a", "b"]
    assert inventory.of_page("z.html") == ()
    assert inventory.pages() == ["x.html", "y.html"]


@given(NAMES)
def test_every_whole_name_is_found_and_no_end_is_guessed(names: list[str]) -> None:
    inventory = made(*names)

    for name in names:
        assert [entry.name for entry in inventory.find(name)] == [name]
    for end in {name.partition(".")[2] for name in names if name.count(".") > 1} - set(names):
        meant = [name for name in names if name.endswith(f".{end}")]
        assert [entry.name for entry in inventory.find(end)] == (meant if len(meant) == 1 else [])


FAULTS = {
    "empty": (b"", "does not begin"),
    "a page": (b"<!doctype html>\n<p>\n\n\nNot found", "does not begin"),
    "of the first version": (packed("a b c", head=HEAD.replace(b"version 2", b"version 1")), "does not begin"),
    "not packed": (HEAD + b"a py:function 1 a.html#$ -\n", "unpacked"),
    "cut": (packed("a py:function 1 a.html#$ -" * 50)[:-8], "ends early"),
    "without lines": (packed(), "lists nothing"),
    "no lines of an index": (packed("nothing of the kind"), "cannot be read"),
    "a bomb": (HEAD + zlib.compress(b"a" * (MAX_INFLATED + 1)), "more than 33554432 bytes"),
    "too many lines": (HEAD + zlib.compress(b"\n" * (MAX_LINES + 1)), "more than 200000 lines"),
}


@pytest.mark.parametrize(("body", "reason"), FAULTS.values(), ids=FAULTS)
def test_what_is_no_index_is_refused_with_the_reason(body: bytes, reason: str) -> None:
    with pytest.raises(NoInventory, match=reason):
        inventory_of(body)
