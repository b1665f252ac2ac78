"""What a question tells of earlier results becomes a command, the same one each time the question is delivered."""

from datetime import UTC, datetime
from typing import Any

import pytest

from schemas.commands import Command
from schemas.conversation import Scope
from schemas.message import Headers, header
from schemas.retrieval import SearchRequest
from streams.feedback import command_of, not_judged
from streams.incoming import Incoming
from streams.settings import Settings
from streams.wire import Outbox, Outgoing

SCOPE = Scope(project_id="shop", user_id="ann")
MOMENT = datetime(2026, 3, 2, tzinfo=UTC)


class Unconnected(Outbox):
    """An outbox that only says who it is."""

    def __init__(self) -> None:
        self.settings = Settings(partitions=4)
        self.source = "/memlake/worker"


def asked(*headers: tuple[str, bytes], correlation: str = "c1", offset: int = 0) -> Incoming:
    told: Headers = [("correlation_id", correlation.encode()), ("reply_to", b"memlake.replies"), *headers]
    return Incoming("memlake.queries", 1, offset, b"", b"", told, MOMENT)


def sent(*used: str, incoming: Incoming | None = None, **fields: Any) -> Outgoing:
    request = SearchRequest(**{"scope": SCOPE, "query": "Where?", "used": used} | fields)
    made = command_of(request, incoming or asked(), Unconnected())
    assert made is not None
    return made


def test_used_results_are_a_command_to_the_scopes_own_partition_that_nobody_waits_for() -> None:
    made = sent("3", "12", "3", incoming=asked(("traceparent", b"00-1-2-01")))

    command = Command.decode(made.value)
    assert (command.op, command.scope, command.judgements) == ("feedback", SCOPE, {3: "used", 12: "used"})
    assert (made.suffix, made.key, made.partition, made.topic) == ("commands", SCOPE.key, SCOPE.partition(4), None)
    told = {name: header(made.headers, name) for name in ("ce_id", "ce_type", "traceparent", "reply_to")}
    assert told == {
        "ce_id": command.command_id,
        "ce_type": "memlake.command.v1",
        "traceparent": "00-1-2-01",
        "reply_to": None,
    }


def test_a_question_that_is_delivered_again_gives_the_same_command() -> None:
    assert sent("3").value == sent("3", incoming=asked(offset=9)).value


@pytest.mark.parametrize(
    "other",
    [
        lambda: sent("4"),
        lambda: sent("3", query="When?"),
        lambda: sent("3", scope=Scope(project_id="shop", user_id="bo")),
        lambda: sent("3", incoming=asked(correlation="c2")),
    ],
    ids=["result", "question", "scope", "request"],
)
def test_another_question_gives_another_command(other: Any) -> None:
    assert Command.decode(other().value).command_id != Command.decode(sent("3").value).command_id


def test_what_is_no_memory_is_left_out_and_told() -> None:
    request = SearchRequest(scope=SCOPE, query="x", used=("turn-1", "3"))

    assert Command.decode(sent("turn-1", "3").value).judgements == {3: "used"}
    assert not_judged(request) == ["used: episodes and external documents are not judged"]
    assert command_of(request.model_copy(update={"used": ("turn-1",)}), asked(), Unconnected()) is None
    assert not_judged(request.model_copy(update={"used": ("3",)})) == []


def test_a_question_that_tells_of_no_result_gives_no_command() -> None:
    assert command_of(SearchRequest(scope=SCOPE, query="x"), asked(), Unconnected()) is None
