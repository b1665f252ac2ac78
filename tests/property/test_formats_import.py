"""For any export of a shape: reading is deterministic, and each message is a turn or is told, never both or neither."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.conversation import Scope, Turn
from schemas.errors import InvalidMessage
from streams.formats.registry import FORMATS

SCOPE = Scope(project_id="shop", user_id="ann")
OTHER = Scope(project_id="shop", user_id="bob")
START = datetime(2025, 3, 1, 9, 0, tzinfo=UTC)
TEXTS = st.lists(st.one_of(st.sampled_from(["", " ", "\u200b"]), st.text(st.characters(codec="utf-8"))), max_size=8)


def chatgpt(texts: list[str]) -> Any:
    mapping = {
        str(index): {
            "parent": str(index - 1) if index else None,
            "message": {"author": {"role": "user"}, "create_time": index, "content": {"parts": [text]}},
        }
        for index, text in enumerate(texts)
    }
    return {"id": "c", "mapping": mapping, "current_node": str(len(texts) - 1) if texts else None}


def claude(texts: list[str]) -> Any:
    return {
        "uuid": "c",
        "chat_messages": [
            {"uuid": str(index), "sender": "human", "created_at": "2025-01-02T03:04:05Z", "text": text}
            for index, text in enumerate(texts)
        ],
    }


MAKERS: dict[str, Callable[[list[str]], Any]] = {
    "openai": lambda texts: [{"role": "user", "content": text} for text in texts],
    "chatgpt": chatgpt,
    "claude": claude,
    "locomo": lambda texts: {
        "session_1_date_time": "1:00 pm on 8 May, 2023",
        "session_1": [{"speaker": "Ida", "dia_id": f"D1:{index}", "text": text} for index, text in enumerate(texts)],
    },
    "longmemeval": lambda texts: {
        "haystack_dates": ["2024/03/01 (Fri) 08:15"],
        "haystack_session_ids": ["s"],
        "haystack_sessions": [[{"role": "user", "content": text} for text in texts]],
    },
}
FIELDS = (
    *("role", "content", "messages", "mapping", "message", "author", "parent", "parts", "current_node", "id", "uuid"),
    *("chat_messages", "sender", "text", "created_at", "create_time", "conversation", "session_1", "speaker", "scope"),
    *("session_1_date_time", "haystack_sessions", "haystack_dates", "haystack_session_ids", "timestamp"),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(FIELDS),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@pytest.mark.parametrize("name", MAKERS)
@given(texts=TEXTS)
def test_each_message_is_one_item_and_the_same_each_time(name: str, texts: list[str]) -> None:
    export = MAKERS[name](texts)

    first, second = (list(FORMATS[name](export, SCOPE, start=START)) for _ in range(2))

    assert first == second
    assert len(first) == len(texts)
    turns = [item for item in first if isinstance(item, Turn)]
    assert len({turn.turn_id for turn in turns}) == len(turns)
    assert [turn.content for turn in turns] == [
        text for text, item in zip(texts, first, strict=True) if isinstance(item, Turn)
    ]


@pytest.mark.parametrize("name", MAKERS)
@given(texts=TEXTS)
def test_two_scopes_never_share_a_turn_id(name: str, texts: list[str]) -> None:
    export = MAKERS[name](texts)

    mine, theirs = (
        {item.turn_id for item in FORMATS[name](export, scope, start=START) if isinstance(item, Turn)}
        for scope in (SCOPE, OTHER)
    )

    assert not mine & theirs


@pytest.mark.parametrize("name", FORMATS)
@given(document=JSON)
def test_any_json_is_read_or_refused_as_an_invalid_message(name: str, document: object) -> None:
    try:
        items = list(FORMATS[name](document, SCOPE, start=START))
    except InvalidMessage:
        return
    assert all(item for item in items)
