"""HTML becomes text: nothing hidden is in it, and code stays code."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakehouse.external import markup
from lakehouse.external.markup import cleaned, flat, is_hiding, text_of, visible

PLANTED = "PLANTED"
HIDDEN = {
    "script": "<script>PLANTED</script>",
    "style": "<style>PLANTED{}</style>",
    "template": "<template><p>PLANTED</p></template>",
    "noscript": "<noscript>PLANTED</noscript>",
    "iframe": "<iframe>PLANTED</iframe>",
    "form": "<form><label>PLANTED</label><textarea>PLANTED</textarea></form>",
    "button": "<button>PLANTED</button>",
    "comment": "<!-- PLANTED -->",
    "hidden": "<p hidden>PLANTED</p>",
    "hidden until found": "<p hidden='until-found'><b>PLANTED</b></p>",
    "aria-hidden": "<span aria-hidden='true'>PLANTED</span>",
    "closed dialog": "<dialog>PLANTED</dialog>",
    "svg": "<svg><text>PLANTED</text></svg>",
    "display": "<div style='display:none'><p>PLANTED</p></div>",
    "display, spread": "<div style='color:red; DISPLAY : none !important'>PLANTED</div>",
    "display, with comments": "<div style='display:/* x */none'>PLANTED</div>",
    "display, escaped": "<div style='d\\69 splay:none'>PLANTED</div>",
    "visibility": "<b style='visibility: hidden'>PLANTED</b>",
    "collapsed": "<b style='visibility: collapse'>PLANTED</b>",
    "no size": "<b style='font-size:0'>PLANTED</b>",
    "no size, with a unit": "<b style='font-size: 0.0px'>PLANTED</b>",
    "see-through": "<b style='opacity: .0'>PLANTED</b>",
    "link beside a heading": "<a class='headerlink' href='#x'>PLANTED</a>",
    "title": "<a title='PLANTED'></a>",
    "picture": "<img alt='PLANTED'>",
}
SEEN = [
    "font-size:0.5em",
    "font-size:10px",
    "font-size: small",
    "opacity:1",
    "opacity:0.9",
    "display:block",
    "color:black",
    "",
]


def text(html: str) -> str:
    body = cleaned(html).body
    assert body is not None
    return text_of(body, lambda _: None)


@pytest.mark.parametrize("piece", HIDDEN.values(), ids=HIDDEN)
def test_nothing_that_a_reader_does_not_see_is_left(piece: str) -> None:
    assert text(f"<body><p>Before.</p>{piece}<p>After.</p></body>") == "Before.\n\nAfter."


@pytest.mark.parametrize("style", SEEN)
def test_a_style_that_hides_nothing_keeps_the_text(style: str) -> None:
    assert not is_hiding(style)
    assert text(f"<p style='{style}'>Seen.</p>") == "Seen."


def test_what_is_said_to_be_heard_is_kept() -> None:
    assert text("<p aria-hidden='false'>Seen.</p>") == "Seen."


def test_characters_without_a_shape_are_dropped() -> None:
    tagged = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")

    assert visible(f"ru\u200bn\u202e me\u2066\ufeff{tagged}\ufe0f\u3164") == "run me"


@given(st.text())
def test_what_is_visible_stays_as_it_is(told: str) -> None:
    once = visible(told)

    assert visible(once) == once
    assert visible("plain (text), with: signs.") == "plain (text), with: signs."


BLOCKS = {
    "paragraphs": ("<p>One\n two.</p><p>Three.</p>", "One two.\n\nThree."),
    "list": ("<ul><li><p>one</p></li><li>two</li></ul>", "- one\n- two"),
    "second paragraph of an item": ("<ul><li><p>one</p>\n<p>two</p></li></ul>", "- one\n\ntwo"),
    "table": ("<table><tr><th>a</th> <th>b</th></tr><tr><td>1</td><td>2</td></tr></table>", "a | b\n1 | 2"),
    "line": ("<p>one<br>two</p>", "one\ntwo"),
    "terms": ("<dl><dt>axis<span class='classifier'>int</span></dt><dd><p>Which.</p></dd></dl>", "axis : int\nWhich."),
    "inline code": ("<p>Use <code><span>a</span>()</code>.</p>", "Use `a()`."),
    "empty code": ("<p>Use <code></code>it.</p>", "Use it."),
    "code with a backtick": ("<p><code>a`b</code></p>", "`a'b`"),
    "code block": ("<p>So:</p><pre>if a:\n    b()\n</pre>", "So:\n\n```\nif a:\n    b()\n```"),
    "fence in a code block": ("<pre>```\na\n```</pre>", "````\n```\na\n```\n````"),
}


@pytest.mark.parametrize(("html", "expected"), BLOCKS.values(), ids=BLOCKS)
def test_structure_becomes_lines(html: str, expected: str) -> None:
    assert text(html) == expected


def test_what_is_replaced_stands_with_all_that_is_in_it() -> None:
    body = cleaned("<p>One <b>two <i>three</i></b> four.</p>").body
    assert body is not None

    assert text_of(body, lambda node: "2" if node.tag == "b" else None) == "One 2 four."


def test_a_page_may_be_nested_as_deep_as_it_likes() -> None:
    depth = 20_000

    assert text("<div>" * depth + "deep" + "</div>" * depth) == "deep"


def test_what_stands_around_a_node_is_looked_at_up_to_a_depth() -> None:
    node = cleaned("<section>" + "<div>" * markup.DEEPEST + "<p>deep</p>").css_first("p")
    assert node is not None

    assert len(list(markup.around(node))) == markup.DEEPEST
    assert markup.section_around(node) is None


def test_names_and_description_of_an_object_are_found_from_each_other() -> None:
    html = "<dl class='py function'><dt id='a'>a</dt> <dt id='b'>b</dt><dd><p>Both.</p></dd></dl>"
    tree = cleaned(html)
    first, described, inner = (tree.css_first(selector) for selector in ("#a", "dd", "p"))
    assert first is not None
    assert described is not None
    assert inner is not None

    assert [flat(name) for name in markup.names_of(described)] == ["a", "b"]
    assert [flat(name) for name in markup.names_of(first)] == ["a", "b"]
    assert markup.body_of(first) == described
    assert markup.object_around(inner) == described
    assert markup.object_around(first) == first


def test_terms_and_fields_are_no_objects() -> None:
    tree = cleaned(
        "<dl class='glossary'><dt id='t'>t</dt><dd><p>x</p></dd></dl><dl><dt>no id</dt><dd><b>y</b></dd></dl>"
    )

    for selector in ("p", "b"):
        node = tree.css_first(selector)
        assert node is not None
        assert markup.object_around(node) is None


def test_an_object_without_a_description_has_none() -> None:
    name = cleaned("<dl class='py data'><dt id='a'>a</dt></dl>").css_first("dt")
    assert name is not None

    assert markup.body_of(name) is None
