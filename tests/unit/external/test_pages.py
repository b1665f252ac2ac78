"""Each symbol and heading of a page has its own text, and nothing of another's."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakehouse.external.inventory import inventory_of
from lakehouse.external.pages import Sections, sentences_of, summary_of
from schemas.knowledge import SUMMARY_CHARACTERS, TEXT_BYTES

DOCS = Path(__file__).parents[2] / "data" / "docs"
RUNNER = DOCS / "python-3.11" / "library" / "asyncio-runner.html"
CLASS = """
<section id="things"><span id="label"></span><h1>Things<a class="headerlink" href="#things">¶</a></h1>
<p>What things do.</p>
<dl class="py class"><dt class="sig" id="a.Thing">class a.Thing(size)<a class="headerlink" href="#x">¶</a></dt>
<dd><p>A thing.</p>
<dl class="field-list"><dt>Parameters</dt><dd><p><strong id="a.Thing.size">size</strong>: of it</p></dd></dl>
<dl class="py method"><dt class="sig" id="a.Thing.run">run()</dt><dd><p>Runs it.</p></dd></dl></dd></dl>
<section id="inner"><h2>Inner</h2><p>More of it.</p></section>
</section>
"""


def sections(body: str) -> Sections:
    return Sections(f"<html><body><div role='main'>{body}</div></body></html>")


def text(read: Sections, anchor: str) -> str:
    found = read.at(anchor)
    assert found is not None
    return found.text


def test_a_function_has_its_own_section_on_a_page_of_several() -> None:
    found = Sections(RUNNER.read_text(encoding="utf-8")).at("asyncio.run")

    assert found is not None
    assert (found.anchor, found.title) == ("asyncio.run", "asyncio.run(coro, *, debug=None)")
    assert found.summary.startswith("Execute the coroutine coro and return the result. This function runs")
    assert "```\nasync def main():\n    await asyncio.sleep(1)\n" in found.text
    assert "Runner" not in found.text


@pytest.mark.parametrize("folder", ["python-3.11", "pandas-1.5"])
def test_whatever_an_index_lists_has_a_section(folder: str) -> None:
    inventory = inventory_of((DOCS / folder / "objects.inv").read_bytes())
    empty = []
    for page in inventory.pages():
        read = Sections((DOCS / folder / page).read_text(encoding="utf-8"))
        empty += [entry for entry in inventory.of_page(page) if read.at(entry.anchor) is None]

    assert empty == []


def test_of_what_is_described_inside_only_the_names_stand_in_a_text() -> None:
    read = sections(CLASS)

    assert text(read, "a.Thing") == "class a.Thing(size)\n\nA thing.\n\nParameters\nsize: of it\n\n- `run()`"
    assert text(read, "a.Thing.run") == "run()\n\nRuns it."


def test_a_summary_is_without_parameters_and_names() -> None:
    found = sections(CLASS).at("a.Thing")

    assert found is not None
    assert found.summary == "A thing."


def test_a_heading_has_its_own_text_and_not_that_of_the_next() -> None:
    read = sections(CLASS)

    assert text(read, "inner") == "Inner\n\nMore of it."
    assert text(read, "things") == "Things\n\nWhat things do.\n\n- `class a.Thing(size)`"
    assert read.at("label") == read.at("things") == read.at("")


def test_a_parameter_is_told_of_where_its_function_is() -> None:
    read = sections(CLASS)

    assert read.at("a.Thing.size") == read.at("a.Thing")


def test_names_that_share_a_description_each_have_it() -> None:
    read = sections("<dl class='py data'><dt id='a'>a</dt><dt id='b'>b</dt><dd><p>Both.</p></dd></dl>")

    assert (text(read, "a"), text(read, "b")) == ("a\nb\n\nBoth.", "a\nb\n\nBoth.")
    assert [(role, found.title) for role, found in read.symbols()] == [("py:data", "a"), ("py:data", "b")]


def test_the_page_tells_the_role_in_its_own_way_and_in_the_old_one() -> None:
    read = sections(
        "<dl class='c function'><dt id='c.f'>f</dt></dl><dl class='function'><dt id='g'>g</dt></dl>"
        "<dl><dt id='h'>h</dt></dl><dl class='glossary'><dt id='t'>t</dt></dl>"
    )

    assert [(role, found.anchor) for role, found in read.symbols()] == [("c:function", "c.f"), ("py:function", "g")]
    assert text(read, "t") == "t"


def test_what_is_not_there_has_no_section() -> None:
    read = sections("<p>Nothing here has a heading.</p><section id='empty'></section>")

    assert read.at("nowhere") is None
    assert read.at("empty") is None
    assert Sections("").at("") is None


def test_a_page_without_headings_is_one_text() -> None:
    found = sections("<p id='x'>Only this.</p>").at("x")

    assert found is not None
    assert (found.title, found.summary, found.text) == ("Only this.", "Only this.", "Only this.")


def test_a_heading_without_text_is_its_own_summary() -> None:
    found = sections("<section id='s'><h1>Only a heading</h1></section>").at("s")

    assert found is not None
    assert (found.summary, found.text) == ("Only a heading", "Only a heading")


def test_what_the_viewer_of_the_source_adds_to_a_name_is_left_out() -> None:
    found = sections("<dl class='py function'><dt id='f'>f(a)<span>[source]</span></dt></dl>").at("f")

    assert found is not None
    assert found.title == "f(a)"


def test_a_long_text_ends_at_a_line_within_its_limit_with_its_fence_closed() -> None:
    code = "\n".join(f"line {number} ä" for number in range(3_000))
    found = sections(f"<section id='s'><h1>Long</h1><pre>{code}</pre></section>").at("s")

    assert found is not None
    assert TEXT_BYTES - 200 < len(found.text.encode()) <= TEXT_BYTES
    assert found.text.endswith("ä\n```")


def test_a_long_text_without_code_and_without_lines_is_cut_where_it_must() -> None:
    found = sections(f"<p id='s'>{'ä' * TEXT_BYTES}</p>").at("s")

    assert found is not None
    assert TEXT_BYTES - 200 < len(found.text.encode()) <= TEXT_BYTES


@pytest.mark.parametrize(
    ("told", "sentences"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Such as e.g. This one. Next.", ["Such as e.g. This one.", "Next."]),
        ("In version 3.11 it is gone. `run()` stays.", ["In version 3.11 it is gone.", "`run()` stays."]),
        ("He said “no.” Then he left.", ["He said “no.”", "Then he left."]),
        ("one. two", ["one. two"]),
        ("", []),
    ],
)
def test_sentences_end_where_another_begins(told: str, sentences: list[str]) -> None:
    assert list(sentences_of(told)) == sentences


def test_a_summary_is_made_of_whole_sentences_without_code() -> None:
    told = f"First. Second.\n\n```\ncode\n```\n\n- `name()`\n\nThird. {'X' * SUMMARY_CHARACTERS}. Last."

    assert summary_of(told) == "First. Second. Third."


def test_a_first_sentence_that_is_too_long_ends_at_a_word() -> None:
    summary = summary_of("word " * 200)

    assert summary.endswith("word…")
    assert len(summary) <= SUMMARY_CHARACTERS


@given(st.text())
def test_a_summary_is_never_too_long(told: str) -> None:
    assert len(summary_of(told)) <= SUMMARY_CHARACTERS


def test_a_page_of_frames_has_nothing_to_tell() -> None:
    frames = Sections('<html><frameset id="a"><frame src="b.html"></frameset></html>')

    assert (frames.at(""), frames.at("a")) == (None, None)
