"""The client: publish turns, ask, and follow the audit log, from any Python program.

    async with MemoryClient() as memory:
        await memory.publish("I moved to Porto.")
        reply = await memory.ask("Where do I live?", format="context")

Rule of this file: it speaks to the broker only, and imports neither a model nor the lake. The way back is open before
anything is asked; every wait has an end.
"""

import os
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any, Self, TypeVar

from schemas.commands import Command
from schemas.conversation import Role, Scope, Turn
from schemas.errors import InvalidMessage, MemlakeError, Unavailable
from schemas.memory import Event, MemoryEvent, TurnReport
from schemas.message import Message, cloud_event, header
from schemas.retrieval import ErrorReply, Format, HistoryTurn, Kind, Mode, Reply, SearchRequest
from schemas.topics import Suffix
from streams import readers
from streams.admin import wait_for_topics
from streams.asking import REQUEST_HEADERS, Requests
from streams.logs import logger
from streams.refreshing import upkeep_of
from streams.settings import Settings
from streams.wire import Outbox, Outgoing, require_size

NOT_ENTERED = "use the client as a context manager: async with MemoryClient() as memory: …"
log = logger("client")
Answer = TypeVar("Answer", bound=Message)


class RequestFailed(Exception):  # noqa: N818 - what the worker answered, not what went wrong here
    """The worker answered that it could not do what was asked."""

    def __init__(self, reply: ErrorReply) -> None:
        super().__init__(reply.message)
        self.reply = reply


class MemoryClient:
    """One scope's memory, from outside. Use it as an async context manager; its methods may be awaited concurrently."""

    def __init__(
        self,
        project: str | None = None,
        user: str | None = None,
        *,
        settings: Settings | None = None,
        bootstrap: str | None = None,
        timeout_s: float = 30.0,
    ) -> None:
        """Prepare a client; it connects when it is entered.

        Args:
            project: Project of the scope; from the settings where not given.
            user: User of the scope; from the settings where not given.
            settings: Of the deployment; from the environment where not given.
            bootstrap: The broker; from the settings, or the one memlake runs itself.
            timeout_s: Seconds that one request may take, unless the call says otherwise.
        """
        self.settings = settings or Settings.from_env(os.environ)
        self.scope = Scope(project_id=project or self.settings.project, user_id=user or self.settings.user)
        self.timeout_s = timeout_s
        self._given_bootstrap = bootstrap
        self._outbox: Outbox | None = None
        self._requests: Requests | None = None

    @property
    def bootstrap(self) -> str:
        """The broker's address."""
        if self._given_bootstrap:
            return self._given_bootstrap
        from streams.broker import bootstrap_of  # noqa: PLC0415 - only where the broker is memlake's own

        return bootstrap_of(self.settings)

    async def __aenter__(self) -> Self:
        """Connect, waiting for the deployment's topics within the time-out."""
        await wait_for_topics(self.settings, self.bootstrap, self.timeout_s)
        self._outbox = await Outbox(self.settings, self.bootstrap, "client").start()
        self._requests = Requests(self.settings, self.bootstrap, self._outbox, self.timeout_s)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Disconnect; whoever still waits is told."""
        if self._requests is not None:
            await self._requests.close()
        if self._outbox is not None:
            await self._outbox.stop()

    def turn(self, content: str, *, role: Role = "user", **fields: Any) -> Turn:
        """A turn of this scope, said now unless ``timestamp`` says otherwise; ``fields`` are the other fields of Turn.

        Raises:
            InvalidMessage: A field is wrong (named).
        """
        told = {"scope": self.scope, "timestamp": datetime.now(UTC), **fields, "role": role, "content": content}
        return Turn.from_wire(told).identified()

    async def publish(self, *turns: Turn | str) -> list[str]:
        """Say turns and go on; a plain text is the user's.

        Returns:
            The turns' ids, once the broker has them all.

        Raises:
            InvalidMessage: A turn is wrong or too large.
            Unavailable: The broker does not take them.
        """
        said = [self.turn(turn) if isinstance(turn, str) else turn.identified() for turn in turns]
        await self._sender.send(self._turn_out(turn) for turn in said)
        return [turn.turn_id or "" for turn in said]

    async def publish_and_wait(self, turn: Turn | str, *, timeout_s: float | None = None) -> TurnReport:
        """Say a turn and wait until it is remembered.

        Returns:
            What became of it: every fact with its one outcome.

        Raises:
            RequestFailed: The worker refused it.
            Unavailable: No answer in time; the turn is on its topic all the same.
        """
        said = self.turn(turn) if isinstance(turn, str) else turn.identified()
        reply = await self._request("turns", said, said.turn_id or "", timeout_s)
        return _expected(reply, TurnReport)

    async def publish_all_and_wait(
        self, turns: Sequence[Turn], *, timeout_s: float | None = None
    ) -> list[TurnReport | RequestFailed | MemlakeError]:
        """Say turns in this order and wait until all are remembered.

        Returns:
            For each turn its report, or why there is none.
        """
        refused = {place: error for place, turn in enumerate(turns) if (error := self.refusal(turn)) is not None}
        sent = [self._turn_out(turn) for place, turn in enumerate(turns) if place not in refused]
        answers = iter(await self._answers(sent, timeout_s) if sent else [])
        return [refused.get(place) or _result(next(answers)) for place in range(len(turns))]

    def refusal(self, turn: Turn) -> InvalidMessage | None:
        """Why a turn cannot be sent: it is too large, and its content is what makes it so; None where it can."""
        try:
            require_size(self._turn_out(turn), spare=REQUEST_HEADERS)
        except InvalidMessage as error:
            return InvalidMessage(f"content: {error}", field="content")
        return None

    def _turn_out(self, turn: Turn) -> Outgoing:
        said = turn.identified()
        return self._input("turns", said, said.turn_id or "")

    async def command(
        self, command: Command, *, partition: int | None = None, timeout_s: float | None = None
    ) -> TurnReport:
        """Send a command and wait until it is done; see ``publish_and_wait``."""
        given = command if command.command_id else command.model_copy(update={"command_id": str(uuid.uuid4())})
        reply = await self._request("commands", given, given.command_id or "", timeout_s, partition)
        return _expected(reply, TurnReport)

    async def keep_up(self) -> None:
        """Ask for the daily upkeep of documentation and a report of its last week; that is not waited for."""
        await self._sender.send([upkeep_of(datetime.now(UTC), self._sender.source, report=True)])

    async def extract_and_operate(
        self, interaction: str | Sequence[str], *, timeout_s: float | None = None, **fields: Any
    ) -> TurnReport:
        """Have what one or several texts say remembered, and wait for what became of it.

        Args:
            interaction: The texts; one may be a transcript with "User:" and "Assistant:" lines.
            timeout_s: Seconds to wait.
            fields: Other fields of the command, by their Python or wire names: ``existing_memories``, ``context``,
                ``options``, ``memory_metadata``, ``timestamp``, ``command_id``.

        Raises:
            InvalidMessage: A field is wrong (named).
            RequestFailed: The worker refused it.
            Unavailable: No answer in time; the command is on its topic all the same.
        """
        texts = interaction if isinstance(interaction, str) else tuple(interaction)
        return await self._change({"op": "extract_and_operate", "interaction": texts, **fields}, timeout_s)

    async def forget(
        self, memory_id: int | None = None, *, everything: bool = False, timeout_s: float | None = None
    ) -> TurnReport:
        """Forget one memory, or with ``everything`` all that is known of this scope; ``restore`` undoes it.

        Returns:
            One outcome for each memory: DELETE, or NONE for one that was forgotten already.

        Raises:
            InvalidMessage: Neither or both of the two were told.
            RequestFailed: There is no such memory ("not_found").
            Unavailable: No answer in time; the command is on its topic all the same.
        """
        return await self._change({"op": "forget", "id": memory_id, "all": everything or None}, timeout_s)

    async def restore(
        self, memory_id: int, *, revision: int | None = None, timeout_s: float | None = None
    ) -> TurnReport:
        """Make a text of a memory current again: what was forgotten, or what one of its revisions said.

        Returns:
            Its outcome: UPDATE, or NONE where that is current already.

        Raises:
            RequestFailed: There is no such memory, or no such revision of it ("not_found").
            Unavailable: No answer in time; the command is on its topic all the same.
        """
        return await self._change({"op": "restore", "id": memory_id, "revision": revision}, timeout_s)

    async def feedback(
        self,
        *,
        helpful: Sequence[int | str] = (),
        unhelpful: Sequence[int | str] = (),
        used: Sequence[int | str] = (),
        withdrawn: Sequence[int | str] = (),
        query: str | None = None,
        timeout_s: float | None = None,
    ) -> TurnReport:
        """Say what memories were worth as results of ``query``, by the ids of results or citations, or take it back.

        Returns:
            One outcome for each memory: NONE, with what was said of it. ``degraded`` names those that are not there.

        Raises:
            InvalidMessage: No memory, too many, or one is told to be two things (named).
            RequestFailed: There is none of them ("not_found").
            Unavailable: No answer in time; the command is on its topic all the same.
        """
        told = {"helpful": helpful, "unhelpful": unhelpful, "used": used, "withdrawn": withdrawn, "query": query}
        return await self._change({"op": "feedback", **told}, timeout_s)

    async def _change(self, told: Mapping[str, Any], timeout_s: float | None) -> TurnReport:
        """A command of this scope; its time is told by the clock that turns are told by."""
        command = Command.from_wire({"scope": self.scope, "timestamp": datetime.now(UTC), **told})
        return await self.command(command, timeout_s=timeout_s)

    async def ask(
        self,
        query: str,
        *,
        top_k: int = 5,
        threshold: float = 0.3,
        mode: Mode = "hybrid",
        format: Format = "results",  # noqa: A002 - the field's name on the wire
        kinds: Sequence[Kind] = ("knowledge",),
        history: Sequence[HistoryTurn | str] = (),
        used: Sequence[int | str] = (),
        rerank: bool | None = None,
        explain: bool = False,
        timeout_s: float | None = None,
        **fields: Any,
    ) -> Reply:
        """Ask this scope's memory.

        Args:
            query: The question.
            top_k: Results at most, 1 … 50.
            threshold: Least score, 0 … 1.
            mode: Which sides are searched.
            format: "context" adds the context string and its citations.
            kinds: "knowledge" finds memories, "episode" the turns themselves.
            history: What was said right before, oldest first; a plain text is the user's.
            used: Ids of earlier results or citations that an answer was made with.
            rerank: Whether a configured reranker reads the best again; as the worker does by default where not given.
            explain: Whether each result says why it is one.
            timeout_s: Seconds to wait.
            fields: Other fields of ``SearchRequest``, by their Python names: ``as_of``, ``known_at``, ``filters``,
                ``include_metadata``.

        Raises:
            InvalidMessage: A field is wrong (named).
            RequestFailed: The worker answered with an error.
            Unavailable: No answer in time.
        """
        said = [HistoryTurn(role="user", content=turn) if isinstance(turn, str) else turn for turn in history]
        told = {"query": query, "top_k": top_k, "similarity_threshold": threshold, "mode": mode, "format": format}
        more = {"kinds": kinds, "history": said, "used": list(map(str, used)), "rerank": rerank, "explain": explain}
        request = SearchRequest.from_wire({**fields, "scope": self.scope, **told, **more})
        return _expected(await self._request("queries", request, str(uuid.uuid4()), timeout_s), Reply)

    async def changes(
        self,
        *,
        start: Mapping[int, int] | None = None,
        follow: bool = False,
        everyone: bool = False,
        events: Sequence[Event] = (),
        from_end: bool = False,
    ) -> AsyncIterator[MemoryEvent]:
        """The audit log, in order within each scope, each event once.

        Args:
            start: Offset by partition to begin at; the beginning where not given.
            follow: Wait for more, instead of ending at what is there now.
            everyone: All scopes, instead of this one's.
            events: Only these; all where empty.
            from_end: Begin at the end instead.
        """
        wanted = None if everyone else self.scope.key
        seen: dict[str, int] = {}
        partitions = [self.scope.partition(self.settings.partitions)] if not everyone else None
        async for record in self.records("changes", partitions, start=start, follow=follow, from_end=from_end):
            if record.value is None or (wanted and header(record.headers, "ce_partitionkey") != wanted):
                continue
            try:
                event = MemoryEvent.decode(record.value)
            except InvalidMessage as error:  # not ours; what follows it is
                log.warning("not an event", partition=record.partition, offset=record.offset, reason=str(error))
                continue
            if event.sequence <= seen.get(event.scope.key, 0):
                continue  # told again after a crash
            seen[event.scope.key] = event.sequence
            if not events or event.event in events:
                yield event

    async def records(
        self,
        suffix: Suffix,
        partitions: Sequence[int] | None = None,
        *,
        start: Mapping[int, int] | None = None,
        follow: bool = False,
        from_end: bool = False,
    ) -> AsyncIterator[Any]:
        """The raw records of one of the deployment's topics; see ``changes``."""
        found = readers.read(
            self.settings,
            self.bootstrap,
            suffix,
            partitions,
            start=start,
            follow=follow,
            from_end=from_end,
            timeout_s=self.timeout_s,
        )
        async with aclosing(found):
            async for record in found:
                yield record

    @property
    def _sender(self) -> Outbox:
        if self._outbox is None:
            raise RuntimeError(NOT_ENTERED)
        return self._outbox

    def _input(
        self, suffix: Suffix, message: Turn | Command | SearchRequest, event_id: str, partition: int | None = None
    ) -> Outgoing:
        scope = message.scope
        key = scope.key if scope else ""
        if scope is not None:
            partition = scope.partition(self.settings.partitions)
        headers = cloud_event(message, event_id=event_id, source=self._sender.source, time=datetime.now(UTC), key=key)
        return Outgoing(suffix, key, message.encode(), headers, partition)

    async def _request(
        self,
        suffix: Suffix,
        message: Turn | Command | SearchRequest,
        event_id: str,
        timeout_s: float | None,
        partition: int | None = None,
    ) -> Message:
        """Send with a way back, and wait for the one answer."""
        (answer,) = await self._answers([self._input(suffix, message, event_id, partition)], timeout_s)
        if isinstance(answer, Unavailable):
            raise answer
        return answer

    async def _answers(self, messages: Sequence[Outgoing], timeout_s: float | None) -> list[Message | Unavailable]:
        """Send messages in order, each with a way back, and wait for all answers within one time-out."""
        if self._requests is None:
            raise RuntimeError(NOT_ENTERED)
        return await self._requests.ask(messages, self.timeout_s if timeout_s is None else timeout_s)


def _result(answer: Message | Unavailable) -> TurnReport | RequestFailed | MemlakeError:
    try:
        return answer if isinstance(answer, Unavailable) else _expected(answer, TurnReport)
    except (RequestFailed, Unavailable) as error:
        return error


def _expected(reply: Message, kind: type[Answer]) -> Answer:
    if isinstance(reply, ErrorReply):
        raise RequestFailed(reply)
    if not isinstance(reply, kind):
        raise Unavailable(f"expected {kind.kind}, got {reply.kind}")
    return reply
