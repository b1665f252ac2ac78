"""Commands that tell a memory something: publish, command, say."""

import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from schemas.commands import Command
from schemas.conversation import Scope, Turn
from schemas.errors import InvalidMessage, MemlakeError, Unavailable
from schemas.memory import TurnReport
from schemas.message import parse_object
from streams.cli.options import Moment, Number, as_json, complain, emit, run, say, scoped, settings

CHUNK = 200
"""Turns sent at once by ``publish``."""


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True, path_type=Path))
@click.option("--wait", is_flag=True, help="Wait for each turn's report, and print it.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["turns", "openai", "chatgpt", "claude", "locomo", "longmemeval"]),
    default="turns",
    show_default=True,
    help="What FILE holds; turns are JSON lines.",
)
@click.option("--timeout", type=Number(min=0.1), default=120.0, show_default=True, help="Seconds to wait.")
@scoped
@as_json
def publish(file: Path, wait: bool, form: str, timeout: float, scope: Scope, json_lines: bool) -> None:
    """Publish the turns of FILE, or of standard input with "-"."""
    faults: list[str] = []
    turns = _turns(file, form, scope, faults)
    sent = run(_publish(turns, scope, wait=wait, timeout_s=timeout, json_lines=json_lines, faults=faults))
    if not json_lines:
        say(f"{sent} turns published" + (f", {len(faults)} refused" if faults else ""))
    if faults:
        sys.exit(1)


def _turns(file: Path, form: str, scope: Scope, faults: list[str]) -> Iterator[Turn]:
    """The turns of a file; what is wrong is told and left out."""
    if form == "turns":
        source = sys.stdin.buffer if str(file) == "-" else _opened(file)
        for number, line in enumerate(source, 1):
            if not line.strip():
                continue
            try:
                payload = {"scope": scope.to_wire(), **parse_object(line)}
                yield Turn.from_wire(payload).identified()
            except InvalidMessage as error:
                _refused(f"line {number}: {error}", faults)
        return
    from streams.formats.reading import read_file

    text: Any = sys.stdin.read() if str(file) == "-" else file
    try:
        yield from read_file(
            text, form, scope, start=datetime.now(UTC), left_out=lambda one: complain(f"left out: {one}")
        )
    except InvalidMessage as error:
        _refused(str(error), faults)


def _opened(file: Path) -> Any:
    try:
        return file.open("rb")
    except OSError as error:
        raise MemlakeError(f"{file}: {error.strerror}") from error


def _refused(reason: str, faults: list[str]) -> None:
    faults.append(reason)
    complain(f"refused: {reason}")


async def _publish(
    turns: Iterable[Turn], scope: Scope, *, wait: bool, timeout_s: float, json_lines: bool, faults: list[str]
) -> int:
    from streams.client import MemoryClient

    sent = 0
    async with MemoryClient(scope.project_id, scope.user_id, settings=settings(), timeout_s=timeout_s) as memory:
        for chunk in _chunks(turns):
            if not wait:
                taken = [turn for turn in chunk if not _too_large(memory, turn, faults)]
                await memory.publish(*taken)
                sent += len(taken)
                continue
            for result in await memory.publish_all_and_wait(chunk):
                if not isinstance(result, TurnReport):
                    _failed(result, faults)
                    continue
                sent += 1
                emit(result) if json_lines else show_report(result)
    return sent


def _failed(result: Exception, faults: list[str]) -> None:
    """A turn without a report: refused, or on its topic and not answered yet."""
    faults.append(str(result))
    complain(f"published, but {result}" if isinstance(result, Unavailable) else f"refused: {result}")


def _too_large(memory: Any, turn: Turn, faults: list[str]) -> bool:
    refusal = memory.refusal(turn)
    if refusal is not None:
        _refused(f"turn {turn.turn_id}: {refusal}", faults)
    return refusal is not None


def _chunks(turns: Iterable[Turn]) -> Iterator[list[Turn]]:
    chunk: list[Turn] = []
    for turn in turns:
        chunk.append(turn)
        if len(chunk) == CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def show_report(report: TurnReport) -> None:
    """Print what became of a turn or command, for a person."""
    for outcome in report.memory:
        print(f"{outcome.event:6} #{outcome.id} {outcome.text}  ({outcome.reasoning})")
    for reason in report.extraction.reasons:
        print(f"skip   {reason}")


@click.command("command")
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True, path_type=Path))
@click.option("--timeout", type=Number(min=0.1), default=120.0, show_default=True, help="Seconds to wait for each.")
@scoped
@as_json
def command_file(file: Path, timeout: float, scope: Scope, json_lines: bool) -> None:
    """Send the commands of FILE, or of standard input with "-", and print the report of each.

    FILE holds one JSON object, or one a line, as they stand on the topic of commands. Without "op" one is
    extract_and_operate; without "scope" it is about the scope of the options.
    """
    faults: list[str] = []
    commands = _commands(sys.stdin.buffer.read() if str(file) == "-" else _opened(file).read(), scope, faults)
    run(_send(commands, timeout_s=timeout, json_lines=json_lines, faults=faults))
    if faults:
        sys.exit(1)


def _commands(text: bytes, scope: Scope, faults: list[str]) -> list[Command]:
    """The commands of a text; what is wrong is told and left out."""
    found = []
    for number, line in enumerate([text] if _is_object(text) else text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            payload = {"op": "extract_and_operate", "scope": scope.to_wire(), **parse_object(line)}
            found.append(Command.from_wire(payload))
        except InvalidMessage as error:
            _refused(f"command {number}: {error}", faults)
    return found


def _is_object(text: bytes) -> bool:
    try:
        parse_object(text)
    except InvalidMessage:
        return False
    return True


async def _send(commands: Iterable[Command], *, timeout_s: float, json_lines: bool, faults: list[str]) -> None:
    from streams.client import MemoryClient, RequestFailed

    async with MemoryClient(settings=settings(), timeout_s=timeout_s) as memory:
        for command in commands:
            try:
                report = await memory.command(command)
            except (RequestFailed, MemlakeError) as error:
                _failed(error, faults)
            else:
                emit(report) if json_lines else show_report(report)


@click.command("say")
@click.argument("text")
@click.option("--role", type=click.Choice(["user", "assistant", "system", "tool"]), default="user", show_default=True)
@click.option("--session", metavar="ID", help="Session that it belongs to.")
@click.option("--at", type=Moment(), help="When it was said, with its zone; now if not given.")
@click.option("--timeout", type=Number(min=0.1), default=30.0, show_default=True, help="Seconds to wait.")
@scoped
@as_json
def say_command(
    text: str, role: Any, session: str | None, at: datetime | None, timeout: float, scope: Scope, json_lines: bool
) -> None:
    """Say TEXT and see what becomes of it."""

    async def work() -> TurnReport:
        from streams.client import MemoryClient

        async with MemoryClient(scope.project_id, scope.user_id, settings=settings(), timeout_s=timeout) as memory:
            fields = {"sessionId": session, "timestamp": at or datetime.now(UTC)}
            return await memory.publish_and_wait(memory.turn(text, role=role, **fields))

    report = run(answered(work()))
    emit(report) if json_lines else show_report(report)


async def answered(work: Any) -> Any:
    """A refusal by the worker is a failure that is told in words."""
    from streams.client import RequestFailed

    try:
        return await work
    except RequestFailed as error:
        raise MemlakeError(f"{error.reply.code}: {error}") from error


COMMANDS = (publish, command_file, say_command)
