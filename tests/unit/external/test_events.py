"""What each kind of event does to rows, and what it leaves alone."""

import pytest

from lakehouse.external.events import folded, touched_by
from schemas.knowledge import DocumentAction
from tests.unit.external.keeping import PAGE, after, deprecation, document, event, fetched, page

RUN, WAIT = document("asyncio.run"), document("asyncio.wait")
LATER = after(days=1)


def test_only_what_says_something_else_is_updated() -> None:
    changed = document("asyncio.run", "Runs it.")
    rows = folded([fetched(after(), RUN, WAIT), fetched(LATER, changed, WAIT, action="UPDATED")]).documents
    assert (rows[RUN.id].updated_at, rows[RUN.id].document) == (LATER, changed)
    assert (rows[WAIT.id].updated_at, rows[WAIT.id].checked_at, rows[WAIT.id].fetched_at) == (after(), LATER, LATER)


def test_the_second_part_of_a_page_removes_nothing_of_the_first() -> None:
    second = event("FETCHED", after(), WAIT, page=page(after()), number=1)
    assert {row.status for row in folded([fetched(after(), RUN), second]).documents.values()} == {"live"}


def test_a_page_that_holds_renews_all_its_documents() -> None:
    told = [fetched(after(), RUN, WAIT), event("NOT_MODIFIED", LATER, page=page(LATER))]
    assert {row.checked_at for row in folded(told).documents.values()} == {LATER}
    elsewhere = event("NOT_MODIFIED", LATER, page=page(LATER, "https://docs.example/other.html"))
    assert {row.checked_at for row in folded([told[0], elsewhere]).documents.values()} == {after()}


@pytest.mark.parametrize("action", ["FETCH_FAILED", "BLOCKED", "STALE_SERVED", "ACCESSED"])
def test_what_could_not_be_had_renews_nothing(action: DocumentAction) -> None:
    told = [fetched(after(), RUN), event(action, LATER, page=page(LATER, fetched_at=None))]
    fold = folded(told)
    assert fold.documents[RUN.id].checked_at == after()
    assert fold.pages[PAGE].held_at == after()
    assert fold.pages[PAGE].state.fetched_at == after()


def test_a_page_without_times_of_its_own_has_those_of_the_event() -> None:
    bare = page(after(), fetched_at=None, checked_at=None)
    row = folded([fetched(LATER, RUN, page=bare)]).documents[RUN.id]
    assert (row.fetched_at, row.checked_at) == (LATER, LATER)
    row = folded([event("FETCHED", LATER, RUN)]).documents[RUN.id]
    assert (row.fetched_at, row.checked_at, row.status) == (LATER, LATER, "live")


def test_a_symbol_that_moved_is_not_lost_with_its_old_page() -> None:
    there = "https://docs.example/there.html"
    moved = document("asyncio.run", page_url=there)
    fold = folded([fetched(after(), RUN), fetched(LATER, moved, url=there), fetched(after(days=2), WAIT)])
    assert (fold.documents[RUN.id].status, fold.documents[RUN.id].document.page_url) == ("live", there)


def test_a_late_word_brings_nothing_back() -> None:
    first, second = fetched(after(), RUN, WAIT), fetched(LATER, WAIT)
    late = event("FETCHED", after(hours=1), document("asyncio.old"), page=page(after(hours=1)))
    fold = folded([first, second, first, late])
    assert {key: row.status for key, row in fold.documents.items()} == {
        RUN.id: "gone", WAIT.id: "live", document("asyncio.old").id: "gone",
    }  # fmt: skip


def test_counts_and_scores_are_set_not_added_and_parts_of_them_may_be_left_out() -> None:
    told = [
        fetched(after(), RUN),
        event("RESCORED", after(hours=1), scores={RUN.id: 0.5}),
        event("RESCORED", after(hours=2), uses={RUN.id: {"count": 3, "last": after(hours=1)}}),
    ]
    row = folded([*told, *told]).documents[RUN.id]
    assert (row.relevance_score, row.access_count, row.last_accessed) == (0.5, 3, after(hours=1))
    early = event("RESCORED", after(hours=-1), scores={RUN.id: 0.9})
    assert folded([early]).documents == {}
    assert folded([early, told[0], early]) == folded([early, told[0]])


def test_what_is_let_go_is_let_go_only_as_it_was_then() -> None:
    evicted = event("EVICTED", after(hours=1), document_ids=(RUN.id, WAIT.id))
    assert folded([fetched(after(), RUN), evicted]).documents[RUN.id].status == "evicted"
    assert folded([fetched(LATER, RUN), evicted]).documents[RUN.id].status == "live"
    again = folded([fetched(after(), RUN), evicted, event("FETCHED", LATER, RUN)]).documents[RUN.id]
    assert (again.status, again.document) == ("live", RUN)


def test_a_finding_is_of_one_source_and_version() -> None:
    found = [deprecation(), deprecation(version="3.12"), deprecation("imp.find")]
    events = [event("DEPRECATED", after(), deprecation=one, number=number) for number, one in enumerate(found)]
    fold = folded([*events, event("DEPRECATED", LATER, deprecation=deprecation(since="3.4"))])
    assert len(fold.findings) == 3
    assert {row.finding.since for row in fold.findings.values()} == {None, "3.4"}


def test_a_row_tells_what_the_policy_and_the_score_ask() -> None:
    flagged = document("asyncio.run", flags=("orders",))
    row = folded([fetched(after(), flagged)]).documents[RUN.id]
    assert (row.category, row.version, row.trust, row.credibility) == ("official_docs", "3.11", 0.95, 0.0)
    assert (row.last_updated, row.stale_since) == (after(), after(days=30))


def test_only_rows_that_may_change_are_named() -> None:
    told = touched_by([event("ACCESSED", after(), document_ids=(RUN.id,)), fetched(after(), WAIT)])
    assert [set(told.document_ids), set(told.page_urls), set(told.finding_ids)] == [{WAIT.id}, {PAGE}, set()]
