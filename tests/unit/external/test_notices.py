"""A notice belongs to what it stands on, and is about the whole unless its words say otherwise."""

from pathlib import Path

import pytest

from lakehouse.external.notices import Notice, deprecated_modules, notices_of
from lakehouse.external.pages import Sections

DOCS = Path(__file__).parents[2] / "data" / "docs"


def box(text: str = "", label: str = "Deprecated since version 2.1", kind: str = "deprecated") -> str:
    end = ": " if text else "."
    return f"<div class='{kind}'><p><span class='versionmodified {kind}'>{label}{end}</span>{text}</p></div>"


def described(inside: str, name: str = "a.Thing.run", signature: str = "run(size, *, mode=None)") -> str:
    return f"<dl class='py method'><dt class='sig' id='{name}'>{signature}</dt><dd><p>Runs it.</p>{inside}</dd></dl>"


def on(html: str, anchor: str = "a.Thing.run") -> tuple[Notice, ...]:
    return notices_of(Sections(f"<body>{html}</body>")).objects.get(anchor, ())


def only(html: str, anchor: str = "a.Thing.run") -> Notice:
    (found,) = on(html, anchor)
    return found


WHOLE = {
    "nothing but the mark": "",
    "what to use instead": "Use <code>walk()</code> instead.",
    "this": "This method is deprecated.",
    "this, of a kind with a word before it": "This old-style method does nothing any more.",
    "its name": "<code>run()</code> is deprecated.",
    "its whole name": "<code>a.Thing.run()</code> is superseded by <code>walk()</code>.",
    "its name in a class above": "The <code>Base.run()</code> method is deprecated.",
    "its name among others": "The <code>Base.run</code> and <code>Base.go</code> methods are deprecated.",
    "a reason": "The system takes care of this now.",
    "another thing that goes": "OpenSSL has deprecated all protocols of one version.",
    "a condition with an advice": "If it was called on start, then use <code>walk()</code>.",
    "the kind of thing": "The method is deprecated since OpenSSL 1.1.",
}
PART = {
    "a parameter": "size is deprecated in favor of mode.",
    "a parameter, in a phrase": "The size parameter.",
    "a parameter, with its kind": "The size argument is deprecated.",
    "several parameters": "size and mode are deprecated.",
    "a way of calling": "Passing <code>None</code> for size will raise an exception.",
    "doing without": "<code>run()</code> without a mode is deprecated.",
    "a case": "Deprecation warning is emitted if size is negative.",
    "a condition": "If size is negative, it is deprecated.",
    "a condition without an end": "When used on Windows.",
    "a demand": "In the future, the size must be a number.",
    "an act": "It is deprecated to call it directly, use <code>walk()</code>.",
    "an implementation": "Slow Python implementation of run is deprecated.",
    "use of": "Use of the mode is deprecated.",
    "members": "Methods <code>go()</code> and <code>stop()</code> are deprecated.",
    "a phrase": "The <code>-X old</code> option.",
    "only of some": "Groups containing letters.",
}
OTHER = {
    "another thing": "<code>walk()</code> is deprecated.",
    "all but it": "All <code>Thing</code> methods except <code>Thing.run()</code> are deprecated.",
}


@pytest.mark.parametrize("text", WHOLE.values(), ids=WHOLE)
def test_a_notice_is_about_the_whole(text: str) -> None:
    assert only(described(box(text))).about == "whole"


@pytest.mark.parametrize("text", PART.values(), ids=PART)
def test_a_notice_is_about_a_part_or_a_way_of_using_it(text: str) -> None:
    assert only(described(box(text))).about == "part"


@pytest.mark.parametrize("text", OTHER.values(), ids=OTHER)
def test_a_notice_is_about_other_things(text: str) -> None:
    assert only(described(box(text))).about == "other"


NOTHING = {
    "no longer deprecated": described("<p>This method is no longer deprecated.</p>"),
    "no longer, in a box": described(box("No longer deprecated.")),
    "not deprecated": described("<p>This method is not deprecated.</p>"),
    "a flag of that name": described("<p>Removed the deprecated flag.</p>"),
    "a line of a changelog": "<ul><li><p>Stale entries of removed and deprecated stores are dropped.</p></li></ul>",
    "a link": "<nav><a href='#x'>Deprecated APIs</a></nav>" + described(""),
    "a parameter's name": described("<p>With deprecated set, warnings are shown.</p>"),
    "another's": described("<p>The function <code>go</code> is a deprecated alias for this function.</p>"),
    "a case": described("<p>If size is negative, it runs backwards. This behaviour is deprecated.</p>"),
    "a class of that name": "<dl class='deprecated'><dt id='a.Thing.run'>run()</dt><dd><p>Runs.</p></dd></dl>",
    "a box of another kind": described("<div class='versionchanged'><p>Now deprecated on Windows.</p></div>"),
}


@pytest.mark.parametrize("html", NOTHING.values(), ids=NOTHING)
def test_the_word_alone_is_no_notice(html: str) -> None:
    found = notices_of(Sections(f"<body>{html}</body>"))

    assert (found.objects, found.modules, found.elsewhere) == ({}, {}, ())


def test_a_directive_gives_version_and_replacement() -> None:
    found = only(described(box("Use open_all.")))

    assert (found.status, found.since, found.removed_in, found.replacements) == (
        "deprecated",
        "2.1",
        None,
        ("open_all",),
    )
    assert (found.kind, found.confidence, found.quote) == ("notice", 1.0, "Deprecated since version 2.1: Use open_all.")


@pytest.mark.parametrize(
    ("label", "kind", "text", "told"),
    [
        (
            "Deprecated since version 3.3, will be removed in version 3.12",
            "deprecated-removed",
            "",
            ("deprecated", "3.3", "3.12"),
        ),
        ("Obsolète depuis la version 1.4.0", "deprecated", "", ("deprecated", "1.4.0", None)),
        ("Soft deprecated since version 3.13", "soft-deprecated", "", ("soft_deprecated", "3.13", None)),
        ("Removed in version 3.14", "versionremoved", "", ("removed", None, "3.14")),
        ("Deprecated since version 2.2", "deprecated", "Will be removed in Flask 2.3.", ("deprecated", "2.2", "2.3")),
    ],
)
def test_label_and_words_tell_the_versions(
    label: str, kind: str, text: str, told: tuple[str, str | None, str | None]
) -> None:
    found = only(described(box(text, label, kind)))

    assert (found.status, found.since, found.removed_in) == told


def test_a_box_without_a_label_is_its_text() -> None:
    found = only(described("<div class='deprecated'><p>Use walk instead.</p></div>"))

    assert (found.since, found.replacements, found.quote) == (None, ("walk",), "Use walk instead.")


REPLACEMENTS = {
    "Use <code>walk()</code> or <code>go()</code> instead of <code>fly()</code>.": ("walk", "go"),
    "Deprecated in favour of <code>b.walk</code>.": ("b.walk",),
    "Please migrate to using <code>walk()</code>.": ("walk",),
    "Use .items instead.": ("items",),
    "Replaced by <code>walk()</code> for large sizes, <code>GET</code> among them.": ("walk",),
    "This is superseded by <code>Thing.run()</code>.": (),
    "There are certain use cases.": (),
    "Use it with care. Then use <code>walk()</code>.": ("walk",),
    "Use it, or call <code>walk()</code>.": ("walk",),
}


@pytest.mark.parametrize(("text", "names"), REPLACEMENTS.items(), ids=REPLACEMENTS)
def test_what_to_use_instead_is_what_an_advice_names(text: str, names: tuple[str, ...]) -> None:
    assert only(described(box(text))).replacements == names


def test_a_box_belongs_to_the_nearest_object_alone() -> None:
    inner = described(box("Use <code>walk()</code>."))
    html = f"<dl class='py class'><dt id='a.Thing'>Thing</dt><dd><p>It.</p>{inner}</dd></dl>" + described("", "b")

    found = notices_of(Sections(f"<body>{html}</body>"))

    assert list(found.objects) == ["a.Thing.run"]
    assert found.boxes == {"object": 1}


def test_names_that_share_a_description_share_its_box() -> None:
    html = f"<dl class='py data'><dt id='a'>a</dt><dt>hidden</dt><dt id='b'>b</dt><dd>{box()}</dd></dl>"

    assert list(notices_of(Sections(html)).objects) == ["a", "b"]


def test_a_box_in_another_is_told_once() -> None:
    html = f"<div class='deprecated'><p>Use walk instead.</p>{box('Use go instead.')}</div>"

    assert len(on(described(html))) == 1


def test_a_box_in_a_list_of_fields_is_about_the_parameter_before_it() -> None:
    page = DOCS / "pandas-1.5" / "reference" / "api" / "pandas.Series.mean.html"
    found = on(page.read_text(encoding="utf-8"), "pandas.Series.mean")

    assert [(one.about, one.parts, one.since) for one in found] == [
        ("part", ("level",), "1.3.0"),
        ("part", ("numeric_only",), "1.5.0"),
    ]
    assert found[0].replacements == ("groupby",)


@pytest.mark.parametrize(
    ("field", "parts"),
    [
        (f"<ul><li><p><strong>size=1</strong> of it</p>{box('Use mode.')}</li></ul>", ("size",)),
        (f"<p>of what</p>{box('Use mode.')}", ()),
        (f"<dl><dt>size</dt> <dd>{box('Use mode.')}</dd></dl>", ()),
        (f"<ul><li><p><strong>size, mode</strong></p>{box('Use it.')}</li></ul>", ()),
    ],
)
def test_the_parameter_is_what_is_set_in_bold(field: str, parts: tuple[str, ...]) -> None:
    html = f"<dl class='field-list'><dt>Parameters</dt><dd>{field}</dd></dl>"

    assert only(described(html)).parts == parts


def test_a_list_of_fields_has_no_name_before_its_first_description() -> None:
    found = only(described(f"<dl class='field-list'><dd>{box('Use mode.')}</dd></dl>"))

    assert (found.about, found.parts) == ("part", ())


def test_of_a_module_counts_what_speaks_of_the_module() -> None:
    def told(inside: str) -> list[str]:
        html = f"<section id='module-a.b'><h1>a.b</h1>{inside}</section>"
        return [one.about for one in notices_of(Sections(html)).modules.get("a.b", ())]

    assert told(box("The <code>a.b</code> module is deprecated.")) == ["whole"]
    assert told(box("This old extension is unmaintained.")) == ["whole"]
    assert told(box("The undocumented attributes <code>A.x</code> and <code>A.y</code> are deprecated.")) == ["part"]
    assert told(box("<code>a.bc</code> is deprecated.")) == ["other"]
    assert told(box()) == ["other"]
    assert told("<p>a.b is deprecated with removal planned for Python 3.12.</p>") == ["whole"]
    assert told("<p>It is deprecated to import a.b.</p><p>This place is deprecated.</p>") == []


def test_a_module_is_known_by_the_section_or_by_a_mark_at_its_beginning() -> None:
    marked = f"<div class='section' id='x'><span id='module-a'></span>{box('This module is deprecated.')}</div>"
    other = f"<section id='x'><span id='y'></span>{box('This module is deprecated.')}</section>"

    assert list(notices_of(Sections(marked)).modules) == ["a"]
    assert list(notices_of(Sections(other)).modules) == []
    assert len(notices_of(Sections(other)).elsewhere) == 1


def test_every_box_is_counted_by_what_it_stands_in() -> None:
    module = f"<section id='module-a'>{box()}</section>"
    nameless = f"<dl class='py data'><dt class='sig'>n</dt><dd>{box()}</dd></dl>"
    html = f"{described(box())}{module}<section id='x'>{box()}</section>{box()}{nameless}"

    assert notices_of(Sections(f"<body>{html}</body>")).boxes == {"object": 1, "module": 1, "section": 1, "nowhere": 2}


PROSE = {
    "A deprecated alias of <code>OSError</code>.": (None, ("OSError",)),
    "Deprecated in version 3.2; use <code>walk()</code> instead.": ("3.2", ("walk",)),
    "The value is one. Deprecated, because nobody needs it.": (None, ()),
    "This method is deprecated since 2.0.": ("2.0", ()),
    "This is a deprecated alias for <code>walk()</code>.": (None, ("walk",)),
    "<code>run()</code> is deprecated, use <code>walk()</code>.": (None, ("walk",)),
}


@pytest.mark.parametrize(("text", "told"), PROSE.items(), ids=PROSE)
def test_a_paragraph_that_says_it_of_its_subject_is_a_notice(
    text: str, told: tuple[str | None, tuple[str, ...]]
) -> None:
    found = only(described(f"<p>{text}</p><p>Deprecated.</p>"))

    assert (found.about, found.kind, found.confidence) == ("whole", "prose", 0.8)
    assert (found.since, found.replacements) == told


def test_a_name_without_a_description_has_no_notice() -> None:
    assert on("<dl class='py data'><dt id='a.Thing.run'>run</dt></dl>") == ()
    assert on("<dl class='simple'><dt id='a.Thing.run'>run</dt><dd><p>Deprecated.</p></dd></dl>") == ()


def test_a_long_notice_is_cut_at_a_word() -> None:
    found = only(described(box("This method is old. " + "word " * 100)))

    assert found.quote.endswith("word…")
    assert len(found.quote) <= 300


def test_the_list_of_modules_marks_those_that_are_deprecated() -> None:
    page = DOCS / "python-3.11" / "py-modindex.html"

    assert deprecated_modules(Sections(page.read_text(encoding="utf-8"))) == {"crypt", "imp"}


def test_a_link_outside_of_a_table_is_no_line_of_the_list() -> None:
    deep = "<table><tr><td>" + "<div>" * 600 + "<a href='x#module-a'>a</a>"

    assert deprecated_modules(Sections(deep)) == frozenset()
