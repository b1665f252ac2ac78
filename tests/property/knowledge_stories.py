"""Stories of external knowledge: any order of what can happen to two pages whose symbols partly are the same."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from hypothesis import strategies as st

from schemas.knowledge import DocumentEvent
from tests.unit.external.keeping import after, deprecation, document, event, fetched, lookup, page

PAGES = ("https://docs.example/a.html", "https://docs.example/b.html")
NAMES = ("m.one", "m.two", "m.three")
KINDS = (
    "FETCHED", "FETCHED", "UPDATED", "PARTS", "NOT_MODIFIED", "GONE", "FETCH_FAILED", "EVICTED", "RESCORED",
    "DEPRECATED", "UNDEPRECATED", "ACCESSED", "STALE_SERVED", "SET",
)  # fmt: skip


@dataclass(frozen=True)
class Told:
    """One step: what happens, to which page, with which of the symbols, in which wording."""

    kind: str
    url: str
    names: tuple[str, ...]
    wording: int


STORIES = st.lists(
    st.builds(
        Told,
        st.sampled_from(KINDS),
        st.sampled_from(PAGES),
        st.lists(st.sampled_from(NAMES), unique=True).map(tuple),
        st.integers(0, 2),
    ),
    min_size=1,
    max_size=14,
)


def events_of(story: Sequence[Told]) -> list[DocumentEvent]:
    """The events of a story, a day after the other."""
    return [told for number, step in enumerate(story) for told in _events(step, number)]


def _events(step: Told, number: int) -> list[DocumentEvent]:
    at = after(days=number)
    documents = [document(name, f"{name} as of {step.wording}.", page_url=step.url) for name in step.names]
    ids = tuple(one.id for one in documents)
    kind: Any = step.kind
    match kind:
        case "PARTS":
            late = event("FETCHED", at + timedelta(seconds=1), *documents[1:], page=page(at, step.url))
            told = [fetched(at, *documents[:1], url=step.url), late]
        case "FETCHED" | "UPDATED":
            told = [fetched(at, *documents, url=step.url, action=kind)]
        case "SET":
            told = [event("FETCHED", at, *documents)]
        case "NOT_MODIFIED" | "GONE" | "FETCH_FAILED":
            later = at + timedelta(hours=1) if kind == "FETCH_FAILED" else None
            told = [event(kind, at, page=page(at, step.url, fetched_at=None, negative_until=later))]
        case "EVICTED":
            told = [event(kind, at, document_ids=ids, page=page(at, step.url) if step.wording else None)]
        case "RESCORED":
            uses = {key: {"count": number, "last": at} for key in ids}
            told = [event(kind, at, scores=dict.fromkeys(ids, step.wording / 10), uses=uses)]
        case "DEPRECATED" | "UNDEPRECATED":
            told = [
                event(kind, at, deprecation=deprecation(name), number=place) for place, name in enumerate(step.names)
            ]
        case _:
            told = [event(kind, at, document_ids=ids, lookups=tuple(lookup(at, of=one) for one in documents))]
    return told
