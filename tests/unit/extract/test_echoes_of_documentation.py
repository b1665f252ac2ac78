"""What an agent was given to read of documentation is learned by nobody, with its headings or without."""

from datetime import UTC, datetime

import pytest

from lakehouse.external.advice import ADVISORY, Advice, agent_context
from schemas.conversation import Role, Scope, Turn
from schemas.knowledge import Deprecation
from streams.extract import extract
from tests.unit.external.test_advice import DAY, document, memory

GONE = Deprecation(
    project="python", symbol="imp.reload", status="removed", since="3.4", replacements=("importlib.reload",),
    confidence=1.0,
)  # fmt: skip
ADVICE = [
    Advice(document("The server stores sessions in Redis. I use its cache (always)."), 0.8, DAY, stale=True),
    Advice(document("Reload a module. The argument must be a module object.", name="imp.reload"), 0.7, DAY),
]
CONTEXT = agent_context([memory()], ADVICE, [GONE], mark="dfad3d1b")
BELOW = CONTEXT.partition(f"{ADVISORY}\n")[2]


def learned(text: str, role: Role) -> list[str]:
    turn = Turn(
        scope=Scope(project_id="p", user_id="u"), role=role, content=text, timestamp=datetime.now(UTC), turn_id="t"
    )
    return [fact.text for fact in extract(turn, [], record_id="r").facts]


@pytest.mark.parametrize("role", ["user", "assistant"])
@pytest.mark.parametrize(
    "told",
    [
        CONTEXT,
        BELOW,
        "\n".join(line for line in BELOW.split("\n") if line.startswith("- ")),
        *BELOW.split("\n"),
        f"What do you make of this?\n{BELOW}",
        "\n".join(f"> {line}" for line in BELOW.split("\n")),
    ],
)
def test_no_part_of_it_is_learned(told: str, role: Role) -> None:
    assert learned(told, role) == []


def test_what_is_said_beside_it_is_learned() -> None:
    assert learned(f"{BELOW}\n\nWe use PostgreSQL 16.", "user") == ["We use PostgreSQL 16."]


@pytest.mark.parametrize(
    "told", ["- [x] The release is done (see the board; it is public)", "- [redis] Our cache runs on port 6380"]
)
def test_a_list_of_ones_own_is_no_echo(told: str) -> None:
    assert len(learned(told, "user")) == 1
