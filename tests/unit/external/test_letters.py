"""Bytes become text by what they say of themselves, or are refused."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakehouse.external.letters import Unreadable, text_of

HTML = "text/html"
ACCENTS = "<html><body><p>Le café où l'été déçoit: naïve façade, über alles.</p></body></html>"
KANA = '<html><head><meta charset="Shift_JIS"></head><body>日本語の文書、カタカナ。</body></html>'
MIXED = "<p>" + "plain words " * 200 + "é</p>"

SAME = {
    "UTF-8": (ACCENTS.encode(), HTML),
    "UTF-8 by header": (ACCENTS.encode(), "text/html; charset=utf-8"),
    "UTF-8 with mark": (codecs.BOM_UTF8 + ACCENTS.encode(), HTML),
    "UTF-8 with mark, whatever the header says": (codecs.BOM_UTF8 + ACCENTS.encode(), "text/html; charset=koi8-r"),
    "UTF-8 under the header that hosts send for everything": (ACCENTS.encode(), "text/html; charset=ISO-8859-1"),
    "UTF-16 with mark": (codecs.BOM_UTF16_LE + ACCENTS.encode("utf-16-le"), HTML),
    "UTF-16 the other way round": (codecs.BOM_UTF16_BE + ACCENTS.encode("utf-16-be"), HTML),
    "UTF-32 with mark": (codecs.BOM_UTF32_LE + ACCENTS.encode("utf-32-le"), HTML),
    "UTF-16 by header": (ACCENTS.encode("utf-16-le"), "text/html; charset=utf-16"),
    "Latin-1 without a word": (ACCENTS.encode("latin-1"), HTML),
    "Latin-1 without a type": (ACCENTS.encode("latin-1"), ""),
    "Latin-1 by header": (ACCENTS.encode("latin-1"), "text/html;charset='latin1'"),
    "Latin-1 under a name that nobody knows": (ACCENTS.encode("latin-1"), "text/html; charset=x-unheard-of"),
    "UTF-8 under a name that is no encoding of pages": (ACCENTS.encode(), "text/html; charset=unicode_escape"),
}


@pytest.mark.parametrize(("body", "content_type"), SAME.values(), ids=SAME)
def test_the_same_text_comes_out_however_it_was_written(body: bytes, content_type: str) -> None:
    assert text_of(body, content_type) == ACCENTS


@pytest.mark.parametrize(
    ("declaration", "encoding"),
    [
        ('<meta charset="Shift_JIS">', "shift_jis"),
        ("<meta charset=Shift_JIS>", "shift_jis"),
        ('<meta http-equiv="Content-Type" content="text/html; charset=EUC-JP">', "euc_jp"),
        ('<META name="x">\n<meta\n charset = "iso-2022-jp">', "iso2022_jp"),
        ('<meta charset="utf-16">', "utf-8"),
        ('<meta charset="gb2312">', "gb18030"),
    ],
)
def test_a_page_may_say_itself_what_it_is_written_in(declaration: str, encoding: str) -> None:
    page = f"<html><head>{declaration}</head><body>日本語の文書</body></html>"

    assert text_of(page.encode(encoding), HTML) == page


def test_xml_says_it_in_its_first_line() -> None:
    page = '<?xml version="1.0" encoding="koi8-r"?><p>документ</p>'

    assert text_of(page.encode("koi8-r"), "application/xhtml+xml") == page


def test_the_header_counts_more_than_the_page() -> None:
    assert text_of(KANA.encode("euc_jp"), "text/html; charset=euc-jp") == KANA


def test_a_header_that_does_not_fit_gives_way_to_the_page() -> None:
    assert text_of(KANA.encode("shift_jis"), "text/html; charset=utf-8") == KANA


def test_plain_text_that_only_shows_a_declaration_declares_nothing() -> None:
    page = 'Write <meta charset="koi8-r"> at the top. Déjà vu.'

    assert text_of(page.encode(), "text/plain") == page


def test_a_declaration_far_down_is_none() -> None:
    page = "<p>é</p>" + " " * 5000 + '<meta charset="koi8-r">'

    assert text_of(page.encode(), HTML) == page


def test_a_few_broken_letters_are_shown_as_such() -> None:
    assert text_of(MIXED.encode("latin-1"), "text/html; charset=utf-8") == MIXED.replace("é", "\ufffd")


REFUSED = {
    "declared, and more than 1 % is not that": (b"<p>" + b"ab\xff" * 50, "text/html; charset=utf-8"),
    "declared by the page": (b'<meta charset="utf-8"><p>' + b"ab\xff" * 50, HTML),
    "declared by a mark": (codecs.BOM_UTF8 + b"ab\xff" * 50, HTML),
    "no text at all": (bytes(range(256)) * 4, HTML),
    "zeros": (b"\0a" * 100, HTML),
    "packed": (b"\x1f\x8b\x08\x00" + bytes(range(1, 200)), ""),
}


@pytest.mark.parametrize(("body", "content_type"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_read_is_refused(body: bytes, content_type: str) -> None:
    with pytest.raises(Unreadable, match="more than 1%"):
        text_of(body, content_type)


def test_one_in_a_hundred_is_the_most() -> None:
    assert text_of(b"a" * 99 + b"\xff", "text/html; charset=utf-8") == "a" * 99 + "\ufffd"
    with pytest.raises(Unreadable):
        text_of(b"a" * 98 + b"\xff", "text/html; charset=utf-8")


def test_nothing_is_an_empty_text() -> None:
    assert text_of(b"") == ""


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="\ufeff\ufffd"), max_size=300))
def test_utf_8_comes_back_as_it_was(text: str) -> None:
    assert text_of(text.encode(), "text/plain") == text


@given(st.binary(max_size=300), st.sampled_from(["", HTML, "text/html; charset=utf-8", "text/plain; charset=koi8-r"]))
def test_any_bytes_are_read_or_refused(body: bytes, content_type: str) -> None:
    try:
        text = text_of(body, content_type)
    except Unreadable:
        return
    assert text.count("\ufffd") <= max(0.01 * len(text), body.count("\ufffd".encode()))
