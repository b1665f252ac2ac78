"""How changelogs are laid out, what names in them mean, and where talk hints at something."""

import pytest

from lakehouse.external.changelog import by_suffix
from lakehouse.external.changelog_code import marked, name_of
from lakehouse.external.changelog_lines import entries_of, version_of_heading
from lakehouse.external.changelog_words import replacements_in
from lakehouse.external.talk import hint_of

KNOWN = by_suffix(["kit.Box", "kit.Box.json", "kit.Case", "kit.Case.json", "kit.old"])


class TestNames:
    @pytest.mark.parametrize(
        ("told", "meant"),
        [
            ("kit.Box.json", "kit.Box.json"),
            ("Box.json", "kit.Box.json"),
            ("json", None),
            ("Box", "kit.Box"),
            ("nobody", None),
        ],
    )
    def test_an_end_counts_that_only_one_has(self, told: str, meant: str | None) -> None:
        assert KNOWN(told) == meant

    def test_other_signs_part_names_as_well(self) -> None:
        assert by_suffix(["std::vec::Vec"])("vec.Vec") == "std::vec::Vec"

    def test_ends_may_have_to_be_longer(self) -> None:
        known = by_suffix(["kit.Box.json", "f"], least=2)

        assert [known("json"), known("Box.json"), known("f")] == [None, "kit.Box.json", "f"]

    @pytest.mark.parametrize(
        ("code", "name"), [("Headers.getlist()", "Headers.getlist"), ("@kit.f", "kit.f"), ("-x", None), ("x y", None)]
    )
    def test_code_names_a_symbol_or_none(self, code: str, name: str | None) -> None:
        found = name_of(code)

        assert (found and found.name) == name

    def test_more_code_than_there_are_signs_is_left_out(self) -> None:
        assert len(marked("`a` " * 7_000).codes) == 0x18FF


@pytest.mark.parametrize(
    ("title", "version"),
    [
        ("0.28.1 (6th December, 2024)", "0.28.1"),
        ("[26.1.0](https://kit.example/26.1.0) - 2026-03-19", "26.1.0"),
        ("Version 2.3.0", "2.3.0"),
        ("v1.2rc1", "1.2rc1"),
        ("2024-03-26, Version 18.20.0 'Hydrogen' (LTS)", "18.20.0"),
        ("What's new in Kit 2.0", "2.0"),
        ("1.10", "1.10"),
        ("2024a", "2024a"),
        ("4 (2024-01-01)", "4"),
        ("Release 4", "4"),
        ("latest", None),
        ("Unreleased", None),
        ("Drop Python 3.8", None),
        ("3 fixes", None),
        ("2024-01-05", None),
        ("Release notes", None),
    ],
)
def test_a_heading_is_about_a_version_or_is_none(title: str, version: str | None) -> None:
    assert version_of_heading(title, "kit") == version


class TestLayout:
    def test_headings_are_marked_or_underlined(self) -> None:
        text = "Kit\n===\n\n====\n2.0\n====\n\nFixes\n-----\n\n* one\n  goes on\n\n  and on\n* two\n"

        told = [(one.version, one.text) for one in entries_of(text)]

        assert told[:2] == [("2.0", "one goes on and on"), ("2.0", "two")]

    def test_bullets_stand_under_bullets(self) -> None:
        text = "# 1.0\n\n- Removed:\n    - `old`\n        - deep\n    - `new`\n- last\n"

        assert [(one.text, len(one.parents)) for one in entries_of(text)] == [
            ("Removed:", 0),
            ("`old`", 1),
            ("deep", 2),
            ("`new`", 1),
            ("last", 0),
        ]

    def test_a_heading_without_version_ends_a_release(self) -> None:
        text = "# 2.0\n\n## Added\n\n- a\n\n**Removed**:\n\n- b\n\n----\n\n# Thanks\n\n- c\n"

        assert [(one.version, one.groups) for one in entries_of(text)] == [
            ("2.0", ("Added",)),
            ("2.0", ("Added", "Removed")),
            (None, ("Thanks",)),
        ]


def test_what_is_to_be_used_is_told_without_arguments_and_without_numbers_of_issues() -> None:
    told = "Use `kit.new(1)` or `kit.f(x=1)` (`#12`). Please prefer new_one() instead of `kit.g`."

    assert replacements_in(told) == ("kit.new", "kit.f(x=1)", "new_one")


class TestTalk:
    @pytest.mark.parametrize(
        "text",
        [
            "We will deprecate `old` soon.",
            "`kit.old()` is deprecated now",
            "kit.old is going to be deprecated.",
            "Plans:\n\n- deprecate `old`",
        ],
    )
    def test_a_sentence_may_hint_at_a_symbol(self, text: str) -> None:
        assert hint_of(text, "kit.old") is not None

    @pytest.mark.parametrize(
        "text",
        [
            "`old` is not deprecated.",
            "Is `old` deprecated?",
            "The old way is deprecated.",
            "`older` is deprecated.",
            "`old` is fine. `new` is deprecated.",
            "> `old` is deprecated.\n\nNo.",
            "```\n`old` is deprecated\n```",
            "Fixed a deprecation warning in `old`.",
        ],
    )
    def test_and_otherwise_it_does_not(self, text: str) -> None:
        assert hint_of(text, "kit.old") is None

    def test_a_single_word_must_be_marked(self) -> None:
        assert hint_of("old is deprecated", "old") is None
        assert hint_of("`old` is deprecated", "old") is not None
