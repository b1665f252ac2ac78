"""What is known of a symbol: its own notices first, then its class, then its modules."""

import pytest

from lakehouse.external.notice_words import About
from lakehouse.external.notices import Notice
from lakehouse.external.source import Ref, Site
from lakehouse.external.standing import finding_of, parents_of
from schemas.knowledge import EvidenceKind, Status

SITE = Site("sphinx", "some", "https://docs.example.org/")
PAGE = "https://docs.example.org/a.html"


def ref(name: str = "a.Thing.run", role: str = "py:method", version: str | None = "3.11") -> Ref:
    return Ref(SITE, role, name, PAGE, f"module-{name}" if role == "py:module" else name, version)


def notice(
    about: About = "whole",
    since: str | None = "3.9",
    removed_in: str | None = None,
    *,
    parts: tuple[str, ...] = (),
    kind: EvidenceKind = "notice",
    status: Status = "deprecated",
    quote: str = "Use walk.",
) -> Notice:
    return Notice(status, since, removed_in, ("walk",), about, parts, quote, kind, 0.8 if kind == "prose" else 1.0)


def test_a_notice_of_its_own_is_certain_and_tells_where_it_stands() -> None:
    found = finding_of(ref(), {"a.Thing.run": [notice()]}, {})

    assert found is not None
    assert (found.project, found.symbol, found.version, found.scope) == ("some", "a.Thing.run", "3.11", "symbol")
    assert (found.status, found.since, found.replacements, found.confidence) == ("deprecated", "3.9", ("walk",), 1.0)
    (evidence,) = found.evidence
    assert (evidence.kind, evidence.url, evidence.quote) == ("notice", f"{PAGE}#a.Thing.run", "Use walk.")


def test_nothing_is_known_of_what_has_no_notice() -> None:
    assert finding_of(ref(), {"a.Thing.go": [notice()]}, {"b": [notice()]}, {"c"}) is None
    assert finding_of(ref(), {"a.Thing.run": [notice("other")]}, {}) is None


def test_a_part_is_deprecated_and_not_the_whole() -> None:
    notices = [notice("part", "1.3", parts=("level",)), notice("part", "1.5", parts=("axis",), quote="Other.")]
    found = finding_of(ref(), {"a.Thing.run": notices}, {})

    assert found is not None
    assert (found.scope, found.parts, found.since) == ("parameter", ("level", "axis"), None)
    assert [one.quote for one in found.evidence] == ["Use walk.", "Other."]


def test_parts_that_agree_share_their_versions() -> None:
    found = finding_of(ref(), {"a.Thing.run": [notice("part", "1.3", "1.5"), notice("part", "1.3", "1.5")]}, {})

    assert found is not None
    assert (found.since, found.removed_in) == ("1.3", "1.5")


def test_the_whole_goes_before_a_part() -> None:
    found = finding_of(ref(), {"a.Thing.run": [notice("part", "1.3"), notice(since="1.5")]}, {})

    assert found is not None
    assert (found.scope, found.since, found.parts) == ("symbol", "1.5", ())


def test_members_inherit_from_their_class_with_less_certainty() -> None:
    found = finding_of(ref(), {"a.Thing": [notice()], "a.Thing.run": [notice("part")]}, {})

    assert found is not None
    assert (found.scope, found.confidence, found.evidence[0].kind) == ("class", 0.9, "inherited")


def test_members_do_not_inherit_a_notice_on_a_part_of_their_class() -> None:
    assert finding_of(ref(), {"a.Thing": [notice("part")]}, {}) is None


def test_what_is_in_a_listed_module_is_deprecated_with_the_words_of_the_module() -> None:
    found = finding_of(
        ref(), {}, {"a": [notice("other", quote="Old.")]}, {"a"}, {"a": "https://docs.example.org/m.html"}
    )

    assert found is not None
    assert (found.scope, found.confidence) == ("module", 1.0)
    (evidence,) = found.evidence
    assert (evidence.kind, evidence.url, evidence.quote) == ("module_list", "https://docs.example.org/m.html", "Old.")


def test_a_listed_module_without_words_is_told_all_the_same() -> None:
    found = finding_of(ref(), {}, {}, {"a"})

    assert found is not None
    assert (found.status, found.since, found.evidence[0].quote) == ("deprecated", None, "")


def test_what_is_in_a_module_that_says_so_itself_is_deprecated() -> None:
    found = finding_of(ref(), {}, {"a": [notice(kind="prose")]})

    assert found is not None
    assert (found.scope, found.confidence, found.evidence[0].kind) == ("module", 0.72, "inherited")


@pytest.mark.parametrize(("listed", "kind", "confidence"), [({"a.b"}, "module_list", 1.0), (set(), "notice", 1.0)])
def test_a_module_is_deprecated_itself(listed: set[str], kind: str, confidence: float) -> None:
    found = finding_of(ref("a.b", "py:module"), {}, {"a.b": [notice()]}, listed)

    assert found is not None
    assert (found.scope, found.evidence[0].kind, found.confidence) == ("symbol", kind, confidence)


def test_a_module_inherits_from_the_one_that_it_is_in() -> None:
    found = finding_of(ref("a.b", "py:module"), {}, {"a": [notice()], "a.b": [notice("part")]})

    assert found is not None
    assert found.scope == "module"


def test_a_notice_in_the_text_of_a_module_about_something_in_it_tells_nothing_of_it() -> None:
    assert finding_of(ref("a.b", "py:module"), {}, {"a.b": [notice("part")]}) is None


def test_names_of_other_domains_are_in_no_module() -> None:
    assert finding_of(ref("a.run", "std:cmdoption"), {}, {"a": [notice()]}, {"a"}) is None


@pytest.mark.parametrize(
    ("version", "removed_in", "status"),
    [
        ("3.11", "3.12", "deprecated"),
        ("3.12", "3.12", "removed"),
        ("3.12.1", "3.9", "removed"),
        ("3.9", "3.12", "deprecated"),
        (None, "3.12", "deprecated"),
        ("latest", "3.12", "deprecated"),
        ("3.11", None, "deprecated"),
    ],
)
def test_what_is_gone_at_the_version_of_the_documentation_is_removed(
    version: str | None, removed_in: str | None, status: str
) -> None:
    found = finding_of(ref(version=version), {"a.Thing.run": [notice(removed_in=removed_in)]}, {})

    assert found is not None
    assert found.status == status


def test_a_mild_notice_stays_mild() -> None:
    found = finding_of(ref(), {"a.Thing.run": [notice(status="soft_deprecated")]}, {})

    assert found is not None
    assert found.status == "soft_deprecated"


def test_a_name_is_in_all_that_stands_before_it() -> None:
    assert list(parents_of("a.b.c")) == ["a.b", "a"]
    assert list(parents_of("a")) == []
