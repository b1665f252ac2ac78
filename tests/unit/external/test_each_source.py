"""What is particular to single sources: odd answers, source distributions, tokens, yanked releases, lists."""

from dataclasses import replace
from typing import Any

import pytest

from lakehouse.external.policy import TRUST
from lakehouse.external.source import Page, Ref
from lakehouse.external.sources.changelog import ChangelogSource, changelog_in
from lakehouse.external.sources.github import GitHubSource
from lakehouse.external.sources.llms_txt import listing_of
from lakehouse.external.sources.node import NodeSource
from lakehouse.external.sources.pypi import package_of
from lakehouse.external.sources.reading import MAX_KEPT
from schemas.errors import Unavailable
from schemas.knowledge import Deprecation
from tests.unit.external.serving import Asked, fetcher, reply
from tests.unit.external.sourcing import (
    CASES,
    FLASK,
    GITHUB,
    HTTPX,
    ISSUES,
    LLMS,
    PYPI,
    Authorised,
    Served,
    in_json,
    page_of,
    sdist,
    serving,
    summary_of,
)


@pytest.mark.parametrize("name", ["bcd", "github", "node", "pypi"])
async def test_what_is_no_json_is_told(name: str) -> None:
    async with serving(name, dict.fromkeys(CASES[name].pages, b"<html>")) as found:
        with pytest.raises(Unavailable, match="no JSON"):
            await found.source.resolve(found.case.known, found.site)


@pytest.mark.parametrize("name", ["bcd", "github", "node", "pypi"])
@pytest.mark.parametrize("body", [b"[]", b"{}", b"null", b'[null, 1, {"number": []}]'])
async def test_json_of_another_form_knows_nothing(name: str, body: bytes) -> None:
    async with serving(name, dict.fromkeys(CASES[name].pages, body)) as found:
        site = replace(found.site, project="other")

        assert list(await found.source.resolve("some.symbol", site)) == []


async def test_an_index_that_has_not_changed_is_not_sent_again() -> None:
    async with serving("node") as found:
        body, seen = CASES["node"].pages["/api/all.json"], list[str | None]()

        async def answer(asked: Asked, writer: Any) -> None:
            seen.append(asked.headers.get("if-none-match"))
            told = reply(body, content_type="application/json", etag='"1"')
            writer.write(told if seen[-1] is None else reply(status=304, etag='"1"'))

        found.host.pages["/api/all.json"] = answer
        await found.source.resolve("punycode", found.site)
        found.clock.pass_by(days=2)

        assert await found.source.resolve("punycode", found.site)
        assert seen == [None, '"1"']


async def test_only_so_many_indexes_are_kept() -> None:
    async with serving("pypi") as found:
        for number in range(MAX_KEPT + 1):
            found.host.pages[f"/pypi/kit{number}/json"] = reply(in_json(PYPI), content_type="application/json")
            site = replace(found.site, project=f"kit{number}", url=found.host.url(f"/pypi/kit{number}/"))
            await found.source.resolve(site.project, site)
        asked = len(found.host.paths)

        await found.source.resolve(site.project, site)
        assert len(found.host.paths) == asked

        first = replace(found.site, project="kit0", url=found.host.url("/pypi/kit0/"))
        await found.source.resolve("kit0", first)
        assert len(found.host.paths) == asked + 1


class TestChangelogs:
    async def test_a_parameter_of_httpx_out_of_its_source_distribution(self) -> None:
        pages = {"/CHANGES.rst": sdist({"httpx-0.28.1/CHANGELOG.md": HTTPX, "httpx-0.28.1/docs/changelog.md": b"See."})}
        async with serving("changelog", pages) as found:
            site = replace(found.site, project="httpx")

            told = await found.source.deprecations(Ref(site, "", "proxies", site.url, "", None), None)

            assert summary_of(told) == ("removed", "0.26.0", "0.28.0", ())

    async def test_releases_can_be_asked_for(self) -> None:
        async with serving("changelog") as found:
            (ref,) = await found.source.resolve("flask 1.0", found.site)

            assert (ref.role, ref.version) == ("release", "1.0")

    async def test_without_known_symbols_only_whole_names_count(self) -> None:
        body = b"# 1.0\n\n- `kit.old`, `Box.open` and `close` are deprecated\n"
        async with serving("changelog", {"/CHANGES.rst": body}) as found:
            site = replace(found.site, project="kit")
            names = ("kit.old", "kit.Box.open", "kit.Box.close", "close")

            told = {
                name: bool(await found.source.deprecations(Ref(site, "", name, site.url, "", None), None))
                for name in names
            }

            assert told == {"kit.old": True, "kit.Box.open": True, "kit.Box.close": False, "close": True}

    @pytest.mark.parametrize(
        "members",
        [
            {"kit-1/README.md": b"# 1.0"},
            {"kit-1/src/kit/changelog.md": b"# 1.0"},
            {"kit-1/CHANGES.md": b"x" * (4 * 1024 * 1024 + 1)},
        ],
    )
    def test_a_source_distribution_without_one_is_told(self, members: dict[str, bytes]) -> None:
        with pytest.raises(Unavailable, match="holds no changelog"):
            changelog_in(page_of(sdist(members)))

    def test_one_that_is_broken_is_told(self) -> None:
        with pytest.raises(Unavailable, match="no source distribution"):
            changelog_in(page_of(sdist({"kit-1/CHANGES.md": HTTPX})[:5_000]))

    def test_one_that_unpacks_to_too_much_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("lakehouse.external.sources.changelog.MAX_INFLATED_BYTES", 100_000)

        with pytest.raises(Unavailable, match="unpacks to more than"):
            changelog_in(page_of(sdist({"kit-1/zeros": bytes(1_000_000), "kit-1/CHANGES.md": b"# 1.0"})))

    def test_one_with_too_many_members_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("lakehouse.external.sources.changelog.MAX_MEMBERS", 2)

        with pytest.raises(Unavailable, match="more than 2 members"):
            changelog_in(page_of(sdist({f"kit-1/{number}": b"" for number in range(3)})))

    def test_letters_that_cannot_be_read_are_told(self) -> None:
        with pytest.raises(Unavailable, match="has no meaning"):
            changelog_in(page_of(bytes(range(1, 8)) * 40))


class TestGitHub:
    @staticmethod
    def asks_of(found: Served, symbol: str) -> Ref:
        return Ref(found.site, "", symbol, found.site.url, "", None)

    async def test_who_keeps_a_project_may_hint(self) -> None:
        async with serving("github") as found:
            (told,) = await found.source.deprecations(self.asks_of(found, "kit.Box.open"), None)

            assert told.status == "possible"
            assert told.confidence < 0.5
            assert [one.url for one in told.evidence] == ["https://git.example/i/7"]

    async def test_nobody_else_is_heard(self) -> None:
        async with serving("github") as found:
            assert await found.source.deprecations(self.asks_of(found, "kit.Box.close"), None) == []

    async def test_issues_of_others_count_when_they_are_closed(self) -> None:
        issues = [*GITHUB[ISSUES][:1], {**GITHUB[ISSUES][1], "state": "closed"}]
        async with serving("github", {**CASES["github"].pages, ISSUES: in_json(issues)}) as found:
            (ref,) = await found.source.resolve("kit#8", found.site)
            told = {one.name: one.trust for one in found.source.documents(await found.page(ref), found.site)}

            assert told == {"kit#7": TRUST["github_maintainer"], "kit#8": TRUST["github"]}

    async def test_with_a_token_what_another_one_saw_does_not_hold(self) -> None:
        async with serving("github") as found:
            fetch = Authorised(found.page)
            first = GitHubSource.with_token(fetch, found.clock, "one")
            await first.resolve("kit#1", found.site)
            seen = dict(fetch.known)
            second = GitHubSource.with_token(fetch, found.clock, "two")
            await second.resolve("kit#1", found.site)

            assert set(seen) == {"Bearer one"}
            assert fetch.known["Bearer two"] == [None, None]
            assert "one" not in repr(vars(first)["_mark"])


class TestPyPI:
    def test_it_tells_where_to_look(self) -> None:
        package = package_of(page_of(in_json(PYPI)))

        assert package.documentation == "https://kit.example/"
        assert package.changelog == "https://kit.example/news"
        assert package.sdist == "https://files.example/kit-2.0.tar.gz"

    def test_versions_are_ordered_as_versions(self) -> None:
        releases: dict[str, list[object]] = {version: [] for version in ("1.9", "2.0", "1.10", "latest", "2024a")}

        package = package_of(page_of(in_json({"releases": releases})))

        assert package.versions == ("2.0", "1.10", "1.9", "2024a", "latest")

    async def test_a_yanked_release_is_not_to_be_used(self) -> None:
        async with serving("pypi") as found:
            (told,) = await found.source.deprecations(
                Ref(found.site, "package", "kit", found.site.url, "", "1.10"), None
            )

            assert (told.status, told.replacements) == ("deprecated", ("2.0",))
            assert "loses boxes" in told.evidence[0].quote


class TestNode:
    @staticmethod
    async def said(symbol: str) -> Deprecation | None:
        async with serving("node") as found:
            assert isinstance(found.source, NodeSource)
            (ref,) = await found.source.resolve(symbol, found.site)
            told = await found.source.deprecations(ref, None)
            return told[0] if told else None

    async def test_what_is_in_a_deprecated_module_is_deprecated(self) -> None:
        told = await self.said("punycode.decode")

        assert told is not None
        assert (told.scope, told.since, told.evidence[0].kind) == ("module", "7.0.0", "inherited")

    async def test_what_is_said_to_be_unstable_has_no_version(self) -> None:
        told = await self.said("Buffer.slice")

        assert told is not None
        assert (told.since, told.replacements) == (None, ("buf.subarray",))

    async def test_what_is_in_use_is_not(self) -> None:
        assert await self.said("fs.readFile") is None


class TestLists:
    def test_what_may_be_left_out_comes_last(self) -> None:
        listing = listing_of(LLMS.decode(), "https://kit.example/llms.txt")

        assert (listing.title, listing.summary) == ("Kit", "Boxes for everything.")
        assert listing.details == "Read the tour first."
        assert [(link.title, link.is_optional) for link in listing.links] == [
            ("kit.Box", False),
            ("Elsewhere", False),
            ("History", True),
        ]
        assert listing.links[0].url == "https://kit.example/reference/box.md"

    async def test_pages_of_others_are_told_of_and_not_read(self) -> None:
        async with serving("llms_txt") as found:
            listing = await fetcher(found.host).get(found.site, found.host.url("/llms.txt"))
            assert isinstance(listing, Page)

            assert list(await found.source.resolve("Elsewhere", found.site)) == []
            assert {one.name for one in found.source.documents(listing, found.site)} == {
                "Kit",
                "kit.Box",
                "Elsewhere",
                "History",
            }

    async def test_a_list_without_title_tells_nothing(self) -> None:
        async with serving("llms_txt", {"/llms.txt": b"## Docs\n\n- [a](b)\n\nAnd so on.\n"}) as found:
            listing = await fetcher(found.host).get(found.site, found.host.url("/llms.txt"))
            assert isinstance(listing, Page)

            assert list(found.source.documents(listing, found.site)) == []

    def test_what_has_no_title_is_no_list(self) -> None:
        assert listing_of("- [a](b)\n", "https://kit.example/llms.txt").title == ""


async def test_the_largest_changelog_counts() -> None:
    members = {"kit-1/docs/changes.rst": b".. include:: ../CHANGES.rst", "kit-1/CHANGES.rst": FLASK}

    assert changelog_in(page_of(sdist(members))) == FLASK.decode()
    assert ChangelogSource.limit == 50 * 1024 * 1024
