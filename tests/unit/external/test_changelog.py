"""What a changelog says of symbols: real ones, and sentences that say less than they seem to."""

from pathlib import Path

import pytest

from lakehouse.external.changelog import Change, by_suffix, changes_of, finding_of, symbols_of
from lakehouse.external.changelog_lines import entries_of
from schemas.knowledge import Deprecation

DOCS = Path(__file__).parents[2] / "data" / "docs" / "changelogs"
NAMES = (
    "kit.Box",
    "kit.Box.json",
    "kit.Case",
    "kit.Case.json",
    "kit.old",
    "kit.new",
    "kit.a",
    "kit.b",
    "kit.f",
    "kit.g",
)
KNOWN = by_suffix([*NAMES, "kit.stores", "kit.flag", "kit.entries", "kit.open_one", "kit.open_all", "kit.f.x"])


def said(text: str, about: str | None = None) -> list[tuple[str, str, str]]:
    return [(one.symbol, one.kind, one.scope) for one in changes_of(text, KNOWN, "kit", about=about)]


def found(text: str, symbol: str, version: str | None = None) -> Deprecation | None:
    return finding_of(changes_of(text, KNOWN, "kit"), symbol, "kit", version=version)


def history(*entries: str) -> str:
    """A changelog, newest first; each entry "VERSION: text"."""
    parts = (entry.partition(": ") for entry in entries)
    return "\n".join(f"## {version}\n\n- {text}\n" for version, _, text in parts)


class TestRealOnes:
    def test_a_parameter_of_httpx_was_deprecated_and_then_removed(self) -> None:
        text = (DOCS / "httpx.md").read_text(encoding="utf-8")

        told = finding_of(changes_of(text, by_suffix(["httpx.Limits", "proxies"]), "httpx"), "proxies", "httpx")

        assert told is not None
        assert (told.status, told.since, told.removed_in) == ("removed", "0.26.0", "0.28.0")
        assert told.scope == "parameter"

    def test_until_it_is_removed_it_is_deprecated(self) -> None:
        changes = changes_of((DOCS / "httpx.md").read_text(encoding="utf-8"), by_suffix(["proxies"]), "httpx")

        told = finding_of(changes, "proxies", "httpx", version="0.27.2")

        assert told is not None
        assert (told.status, told.removed_in) == ("deprecated", "0.28.0")

    def test_a_property_of_flask_is_no_longer_deprecated(self) -> None:
        text = (DOCS / "flask.rst").read_text(encoding="utf-8")
        known = by_suffix(["flask.Request.json", "flask.Request.get_json", "flask.json"])

        told = finding_of(changes_of(text, known, "flask"), "flask.Request.json", "flask")

        assert told is not None
        assert (told.status, told.since) == ("undeprecated", "1.0")

    @pytest.mark.parametrize(("name", "versions"), [("httpx.md", 77), ("flask.rst", 62)])
    def test_all_versions_are_found(self, name: str, versions: int) -> None:
        entries = entries_of((DOCS / name).read_text(encoding="utf-8"), name.partition(".")[0])

        assert len({entry.version for entry in entries} - {None}) == versions

    def test_what_stands_under_previously_deprecated_code_was_removed(self) -> None:
        text = (DOCS / "flask.rst").read_text(encoding="utf-8")
        known = by_suffix(["flask.Request.module", "flask.Request.blueprint"])

        told = finding_of(changes_of(text, known, "flask"), "flask.Request.module", "flask")

        assert told is not None
        assert (told.status, told.removed_in, told.replacements) == ("removed", "1.0", ("flask.Request.blueprint",))
        assert told.confidence < 0.9


@pytest.mark.parametrize(
    "text",
    [
        "No longer deprecated",
        "removed the deprecated flag",
        "- stale entries of removed stores",
        "[Deprecated APIs](/deprecated)",
        "this is not deprecated",
        "- stale `entries` of removed `stores`",
        "- `flag` is not deprecated",
        "- `flag` will not be removed",
        "- `flag` remains deprecated",
        "- Fix `open_one` when `flag` is deprecated",
        "- The `flag` handling is removed",
        "- Remove usage of `flag`",
        "- Drop support for `flag`",
        "- Warnings about `flag` are also removed",
        "- Remove `flag` from the documentation",
        "- Remove `flag` from `__all__`",
        "- Use `old` instead of the deprecated `new`",
        "- `json` is deprecated",
        "- `elsewhere` is deprecated",
        "- Restore the `flag` method",
        "- `old` was undeprecated",
        "- `flag` had been deprecated",
        "- `flag` was never removed",
        "- `flag` is not undeprecated",
        "```\n- `flag` is deprecated\n```",
        "### Removed\n\n- Changed `flag` to something else",
        "### Removed and changed\n\n- `flag`",
        "### Removed\n\n- Support for it",
        "- Remove this:\n  - Some `flag` handling",
    ],
)
def test_the_word_alone_says_nothing(text: str) -> None:
    assert [one for one in said(text) if one[1] != "undeprecated"] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("`old` is deprecated.", [("kit.old", "deprecated", "symbol")]),
        ("`old` deprecated.", [("kit.old", "deprecated", "symbol")]),
        ("Removed `old`.", [("kit.old", "removed", "symbol")]),
        ("The undocumented `old` function has now been removed.", [("kit.old", "removed", "symbol")]),
        ("`a`, `b`, and `old` are removed", [(f"kit.{name}", "removed", "symbol") for name in ("a", "b", "old")]),
        ("`a` and `b` classes are removed", [(f"kit.{name}", "removed", "symbol") for name in ("a", "b")]),
        (
            "Remove the `n` parameter from `f` and `g`",
            [("kit.f", "removed", "parameter"), ("kit.g", "removed", "parameter")],
        ),
        ("Remove the `n` parameter from `f`, `g`", [("kit.f", "removed", "parameter")]),
        ("The `f` `x` parameter is deprecated", [("kit.f.x", "deprecated", "parameter")]),
        ("Passing bytes to `f` is deprecated", [("kit.f", "deprecated", "parameter")]),
        ("Passing `f` is deprecated", [("kit.f", "deprecated", "parameter")]),
        ("Calling `f` is deprecated", [("kit.f", "deprecated", "symbol")]),
        ("Importing `f` from `kit` is deprecated", [("kit.f", "deprecated", "symbol")]),
        ("Other parameters to `f` are deprecated", [("kit.f", "deprecated", "parameter")]),
        ("The use of `f` is deprecated", [("kit.f", "deprecated", "symbol")]),
        ("Deprecate non-silent use of `f`", [("kit.f", "deprecated", "parameter")]),
        ("`f(x=1)` is deprecated", [("kit.f", "deprecated", "parameter")]),
        ("Restore deprecated `from kit import old`", [("kit.old", "deprecated", "symbol")]),
        ("Re-add `old`, which was removed early", [("kit.old", "undeprecated", "symbol")]),
        ("Revert the deprecation of `old`", [("kit.old", "undeprecated", "symbol")]),
        ("`old` has been undeprecated", [("kit.old", "undeprecated", "symbol")]),
        ("`old` is no longer deprecated", [("kit.old", "undeprecated", "symbol")]),
        ("`old` will be removed in 3.0", [("kit.old", "deprecated", "symbol")]),
        ("It will be removed in 3.0", []),
        ("`old` had been deprecated in favour of `new`. It is now removed.", [("kit.old", "removed", "symbol")]),
        ("{func}`kit.old` is deprecated {pr}`12`", [("kit.old", "deprecated", "symbol")]),
        (":func:`old <kit.old>` is deprecated :pr:`12`", [("kit.old", "deprecated", "symbol")]),
        (
            "Drop kit.old() and [`new`](https://kit.example/new)",
            [("kit.old", "removed", "symbol"), ("kit.new", "removed", "symbol")],
        ),
        ("Everything in `old` is deprecated", []),
        ("Remove `old`, it's in `new` now", [("kit.old", "removed", "symbol")]),
        ("`f` is deprecated; `g` is not", [("kit.f", "deprecated", "symbol")]),
        ("`f` will be removed and `g` is deprecated", [("kit.g", "deprecated", "symbol")]),
        ("The `a` property returning `b` is removed", [("kit.a", "removed", "symbol")]),
    ],
)
def test_a_predicate_says_what_becomes_of_its_subject(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert said(f"## 2.0\n\n- {text}") == expected


class TestDirectives:
    def test_it_speaks_of_who_is_asked_for(self) -> None:
        changes = changes_of(".. deprecated:: 2.1 Use open_all.", KNOWN, "kit", about="kit.open_one")

        assert [(one.symbol, one.version, one.replacements) for one in changes] == [
            ("kit.open_one", "2.1", ("kit.open_all",))
        ]

    def test_it_speaks_of_the_object_that_it_stands_in(self) -> None:
        text = ".. function:: open_one(path)\n\n   Opens.\n\n   .. deprecated-removed:: 2.1 3.0\n"
        text += "      Use :func:`open_all`.\n"

        (change,) = changes_of(text, KNOWN, "kit")

        assert (change.symbol, change.version, change.removed_in) == ("kit.open_one", "2.1", "3.0")
        assert change.replacements == ("kit.open_all",)

    def test_it_says_nothing_of_nobody(self) -> None:
        assert said(".. deprecated:: 2.1 Use open_all.") == []

    def test_without_a_version_and_of_removal(self) -> None:
        assert said(".. versionremoved::\n", about="kit.old") == [("kit.old", "removed", "symbol")]

    def test_other_markup_is_passed_over(self) -> None:
        text = ".. comment\n   `old` is deprecated\n\n.. class:: Box\n\n.. function:: f()\n\n- `new` is deprecated\n"

        assert said(text) == [("kit.new", "deprecated", "symbol")]


class TestFolding:
    def test_versions_are_compared_as_versions(self) -> None:
        text = history("1.9: `old` is deprecated.", "2.0: Remove `old`.", "1.10: `old` is no longer deprecated.")

        told = found(text, "kit.old")

        assert told is not None
        assert (told.status, told.since, told.removed_in) == ("removed", None, "2.0")

    def test_the_first_deprecation_counts_and_the_newest_replacement(self) -> None:
        text = history("1.10: `old` is deprecated. Use `new`.", "1.9: `old` is deprecated. It will be removed in 2.0.")

        told = found(text, "kit.old")

        assert told is not None
        assert (told.status, told.since, told.removed_in, told.replacements) == (
            "deprecated",
            "1.9",
            "2.0",
            ("kit.new",),
        )

    def test_what_is_not_released_is_the_newest_and_has_no_version(self) -> None:
        told = found(history("Unreleased: Remove `old`.", "1.9: Deprecate `old`."), "kit.old")

        assert told is not None
        assert (told.status, told.since, told.removed_in) == ("removed", "1.9", None)

    def test_a_version_with_a_letter_is_one(self) -> None:
        told = found(history("2024b: Remove `old`.", "2024a: Deprecate `old`."), "kit.old")

        assert told is not None
        assert (told.since, told.removed_in) == ("2024a", "2024b")

    @pytest.mark.parametrize(("used", "status"), [("1.9", "deprecated"), ("1.10", "removed"), ("latest", "removed")])
    def test_what_is_removed_later_is_deprecated_until_then(self, used: str, status: str) -> None:
        told = found(history("1.10: Remove `old`.", "1.8: Deprecate `old`."), "kit.old", used)

        assert told is not None
        assert told.status == status

    def test_the_version_that_is_told_counts(self) -> None:
        told = found(history("1.26: Deprecated `old`. `old` is removed in v2.0."), "kit.old")

        assert told is not None
        assert told.removed_in == "2.0"

    def test_a_version_of_another_project_does_not_count(self) -> None:
        told = found(history("1.0: `old` is deprecated and will be removed in Werkzeug 2.1."), "kit.old")

        assert told is not None
        assert told.removed_in is None

    def test_ways_of_using_count_where_nothing_is_said_of_the_symbol(self) -> None:
        ways = found(
            history("1.0: The `n` parameter of `f` is deprecated.", "0.9: The `m` parameter of `f` is deprecated"),
            "kit.f",
        )
        whole = found(history("1.0: The `n` parameter of `f` is deprecated.", "0.9: `f` is deprecated."), "kit.f")

        assert ways is not None
        assert (ways.scope, ways.parts) == ("parameter", ("m", "n"))
        assert whole is not None
        assert (whole.scope, whole.since) == ("symbol", "0.9")

    def test_nothing_is_said_of_others(self) -> None:
        assert found(history("1.0: `old` is deprecated."), "kit.new") is None

    def test_changes_are_told_by_symbol(self) -> None:
        changes = changes_of(history("2.0: Remove `old`.", "1.0: Deprecate `old` and `new`."), KNOWN, "kit")

        assert {name: len(told) for name, told in symbols_of(changes).items()} == {"kit.old": 2, "kit.new": 1}


def test_a_change_holds_what_it_was_read_from() -> None:
    (change,) = changes_of("# 1.0\n\n- `old` is deprecated, use `new` or `f(x=1)`.\n", KNOWN, "kit")

    assert change == Change(
        "kit.old",
        "deprecated",
        "symbol",
        "1.0",
        ("kit.new", "f(x=1)"),
        None,
        direct=True,
        text="`old` is deprecated, use `new` or `f(x=1)`.",
    )
