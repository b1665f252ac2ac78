"""What a question tells of earlier results: those that an answer was made with, as a command of its own.

Rule of this file: the command is made of the question alone, so that one that is delivered again asks for nothing new.
"""

from schemas.commands import Command, memory_cited
from schemas.identity import derived_id
from schemas.message import cloud_event
from schemas.retrieval import SearchRequest
from streams.incoming import CORRELATION_ID, Incoming, trace
from streams.wire import Outbox, Outgoing


def command_of(request: SearchRequest, asked: Incoming, outbox: Outbox) -> Outgoing | None:
    """The results that a question tells to have been used, on their way to the inbox; None where it tells none.

    Args:
        request: The question, masked.
        asked: As it came.
        outbox: Whoever sends it. Nobody is answered.
    """
    used = tuple(dict.fromkeys(found for told in request.used if (found := memory_cited(told)) is not None))
    if not used:
        return None
    scope = request.scope
    told = (asked.header(CORRELATION_ID), used, request.query)
    command_id = derived_id("used", scope.key, *told)
    command = Command(command_id=command_id, op="feedback", scope=scope, used=used)
    headers = cloud_event(command, event_id=command_id, source=outbox.source, time=asked.recorded_at, key=scope.key)
    partition = scope.partition(outbox.settings.partitions)
    return Outgoing("commands", scope.key, command.encode(), [*headers, *trace(asked)], partition)


def not_judged(request: SearchRequest) -> list[str]:
    """What a question tells to have been used and nothing is made of, as reasons for ``degraded``."""
    others = any(memory_cited(told) is None for told in request.used)
    return ["used: episodes and external documents are not judged"] if others else []
