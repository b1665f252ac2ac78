"""A question as what is searched for, with each of its readings on and off."""

from datetime import UTC, datetime

import pytest

from lakehouse.retrieval.moments import Stretch
from lakehouse.retrieval.names import known_names
from lakehouse.retrieval.understanding import Switches, Wanted, understand
from schemas.retrieval import HistoryTurn

NOW = datetime(2023, 9, 20, 12, tzinfo=UTC)
NAMES = known_names(["Caroline", "Redis"])
SPEAKERS = known_names(["Caroline"])
HISTORY = [HistoryTurn(role="user", content="Who is Caroline?")]
QUERY = "When did she move in 2022 and what is her current job at app.core?"
OFF = Switches(
    history=False, time=False, synonyms=False, decomposition=False, symbols=False, nameless=False,
)  # fmt: skip


def test_a_question_is_told_in_full_in_more_words_in_parts_and_with_what_it_asks_for() -> None:
    found = understand(QUERY, now=NOW, history=HISTORY, names=NAMES, speakers=SPEAKERS)

    assert found.whole == Wanted(f"{QUERY} (Caroline)", QUERY)
    assert [part.text for part in found.parts] == [
        "When did she move in 2022",
        "what is her current job at app.core? (Caroline)",
    ]
    assert {"relocate", "occupation", "app", "core"} <= found.terms.keys()
    assert found.asked.aspects == {"time", "latest", "past"}
    assert found.asked.during == Stretch(datetime(2022, 1, 1, tzinfo=UTC), datetime(2023, 1, 1, tzinfo=UTC))
    assert found.asked.names == ("Caroline",)


def test_with_everything_off_a_question_is_searched_for_as_it_is_asked() -> None:
    found = understand(QUERY, now=NOW, history=HISTORY, names=NAMES, speakers=SPEAKERS, switches=OFF)

    assert found.whole == Wanted(QUERY, QUERY)
    assert (found.parts, dict(found.terms), found.asked.aspects, found.asked.during) == ((), {}, frozenset(), None)


@pytest.mark.parametrize("aspect", ["latest", "time"])
def test_words_that_joined_a_question_ask_for_nothing(aspect: str) -> None:
    history = [HistoryTurn(role="user", content="Which book am I currently reading since yesterday?")]
    found = understand("why is it good?", now=NOW, history=history)

    assert found.resolved.changed
    assert aspect not in found.asked.aspects
    assert found.asked.during is None
