"""What every source promises."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from lakehouse.external.policy import TRUST, TTL_DAYS
from lakehouse.external.sources import SOURCES
from schemas.errors import Unavailable
from tests.unit.external.sourcing import CASES, Served, serving, summary_of


@pytest.fixture(params=SOURCES)
async def subject(request: pytest.FixtureRequest) -> AsyncIterator[Served]:
    async with serving(request.param) as found:
        yield found


def test_all_sources_are_tried() -> None:
    assert set(CASES) == set(SOURCES)


class TestEverySource:
    async def test_it_says_how_far_it_is_trusted_and_how_long_it_holds(self, subject: Served) -> None:
        assert subject.source.trust == TRUST[subject.source.id]
        assert subject.source.category in TTL_DAYS

    async def test_it_knows_where_a_symbol_is_told_of(self, subject: Served) -> None:
        ref = (await subject.source.resolve(subject.case.known, subject.site))[0]

        assert ref.url.startswith(subject.site.url)
        assert ref.site == subject.site

    async def test_that_page_tells_of_the_symbol(self, subject: Served) -> None:
        ref = (await subject.source.resolve(subject.case.known, subject.site))[0]

        documents = subject.source.documents(await subject.page(ref), subject.site)

        assert ref.name in {document.name for document in documents}

    async def test_it_does_not_know_what_there_is_not(self, subject: Served) -> None:
        assert list(await subject.source.resolve("no.such.symbol", subject.site)) == []

    async def test_documents_have_what_identifies_them(self, subject: Served) -> None:
        ref = (await subject.source.resolve(subject.case.known, subject.site))[0]
        page = await subject.page(ref)

        documents = subject.source.documents(page, subject.site)

        assert len({document.id for document in documents}) == len(documents) > 0
        assert {document.source for document in documents} == {subject.source.id}
        assert {document.page_url for document in documents} == {page.url}
        assert {document.project for document in documents} == {subject.site.project}
        assert {document.category for document in documents} == {subject.source.category}
        assert {(document.language, document.licence) for document in documents} == {("any", "MIT")}
        assert all(document.text and document.title for document in documents)

    async def test_the_same_page_gives_the_same_documents(self, subject: Served) -> None:
        page = await subject.page((await subject.source.resolve(subject.case.known, subject.site))[0])

        assert subject.source.documents(page, subject.site) == subject.source.documents(page, subject.site)

    async def test_it_says_what_is_deprecated_and_nothing_of_others(self, subject: Served) -> None:
        ref = (await subject.source.resolve(subject.case.known, subject.site))[0]

        found = await subject.source.deprecations(ref, await subject.page(ref))

        assert summary_of(found) == subject.case.said
        other = replace(ref, name="no.such.symbol", role="", anchor="no.such.symbol")
        assert list(await subject.source.deprecations(other, None)) == []

    async def test_it_fetches_what_it_takes_to_say_so(self, subject: Served) -> None:
        ref = (await subject.source.resolve(subject.case.known, subject.site))[0]

        assert summary_of(await subject.source.deprecations(ref, None)) == subject.case.said

    async def test_its_index_is_asked_for_once_a_day(self, subject: Served) -> None:
        await subject.source.resolve(subject.case.known, subject.site)
        asked = len(subject.host.paths)

        await subject.source.resolve(subject.case.known, subject.site)
        assert len(subject.host.paths) == asked

        subject.clock.pass_by(days=1, seconds=1)
        await subject.source.resolve(subject.case.known, subject.site)
        assert len(subject.host.paths) > asked

    async def test_it_says_so_where_its_index_cannot_be_had(self, subject: Served) -> None:
        subject.host.pages.clear()

        with pytest.raises(Unavailable, match="no such page"):
            await subject.source.resolve(subject.case.known, subject.site)

    async def test_what_is_kept_serves_on_while_the_host_is_away(self, subject: Served) -> None:
        before = await subject.source.resolve(subject.case.known, subject.site)
        subject.host.pages.clear()
        subject.clock.pass_by(days=2)

        assert await subject.source.resolve(subject.case.known, subject.site) == before
