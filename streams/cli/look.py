"""Commands that look at what is known and what happened: show, history, export, changes, digest, dead letters."""

import dataclasses
import sys
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any

import click

from schemas.conversation import Scope
from schemas.errors import InvalidMessage, MemlakeError
from schemas.reports import DeadLetter
from streams.cli.options import Moment, as_json, emit, run, say, scoped, settings, table

PREVIEW = 120


@click.command()
@click.option("--all", "everything", is_flag=True, help="All versions and decisions, not only what is current.")
@click.option("--as-of", type=Moment(), help="What was true then (event time).")
@click.option("--known-at", type=Moment(), help="What was believed then (recording time).")
@scoped
@as_json
def show(everything: bool, as_of: datetime | None, known_at: datetime | None, scope: Scope, json_lines: bool) -> None:
    """Show what is known."""
    rows = run(_rows(scope, known_at))
    if as_of is not None:
        rows = [row for row in rows if row.held_at(as_of)]
    elif not everything:
        rows = [row for row in rows if row.status == "current"]
    if not everything:
        rows.sort(key=lambda row: row.event.id)
    _list(rows, json_lines=json_lines)


@click.command()
@click.argument("memory_id", metavar="ID", type=click.IntRange(min=1))
@scoped
@as_json
def history(memory_id: int, scope: Scope, json_lines: bool) -> None:
    """Show every version of the memory ID, oldest revision first."""
    rows = [row for row in run(_rows(scope)) if row.event.id == memory_id and row.event.revision is not None]
    if not rows:
        raise MemlakeError(f"there is no memory {memory_id} of {scope.key}")
    _list(sorted(rows, key=lambda row: row.event.revision), json_lines=json_lines)


@click.command()
@scoped
@as_json
def export(scope: Scope, json_lines: bool) -> None:  # noqa: ARG001 - it has no other form
    """Print every change of what is known, in order: one event a line, as JSON.

    What changed nothing (NONE) is left out, and nothing else.
    """
    for row in run(_rows(scope)):
        if row.status != "none":
            emit(row.event)


async def _rows(scope: Scope, known_at: datetime | None = None) -> list[Any]:
    """All rows of a scope in sequence, as they are now or as they were known to be."""
    from lakehouse.store import Lake
    from lakehouse.versions import as_known

    lake = await Lake.open(settings().lake_uri)
    rows: list[Any] = await (await lake.shard_of(scope)).scope_rows(scope)
    return rows if known_at is None else as_known(rows, known_at)


def _list(rows: list[Any], *, json_lines: bool) -> None:
    if json_lines:
        for row in rows:
            emit(_told(row))
        return
    columns = ["seq", "event", "id", "rev", "status", "text", "before", "confidence", "why"]
    table(columns, [_cells(row) for row in rows])


def _told(row: Any) -> dict[str, Any]:
    """The event, with what its row is now: its status, and until when it held."""
    times = {"validFrom": row.valid_from, "validTo": row.valid_to, "supersededAt": row.superseded_at}
    state = {name: moment.isoformat() for name, moment in times.items() if moment is not None}
    return {**row.event.to_wire(), "status": row.status, **state}


def _cells(row: Any) -> list[Any]:
    e = row.event
    before = (e.old_memory or "")[:PREVIEW]
    return [e.sequence, e.event, e.id, e.revision, row.status, e.text[:PREVIEW], before, e.confidence, e.reasoning]


@click.command()
@click.option("--follow", is_flag=True, help="Wait for more.")
@click.option(
    "--from-beginning", is_flag=True, help="With --follow: all that was, too. Without it, that is the default."
)
@click.option("--event", "events", type=click.Choice(["ADD", "UPDATE", "DELETE", "NONE"]), multiple=True)
@click.option("--everyone", is_flag=True, help="All scopes.")
@scoped
@as_json
def changes(
    follow: bool, from_beginning: bool, events: tuple[Any, ...], everyone: bool, scope: Scope, json_lines: bool
) -> None:
    """Read the audit log, in order."""

    async def work() -> None:
        from streams.client import MemoryClient

        async with MemoryClient(scope.project_id, scope.user_id, settings=settings()) as memory:
            found = memory.changes(
                follow=follow, events=events, everyone=everyone, from_end=follow and not from_beginning
            )
            async for event in found:
                if json_lines:
                    emit(event)
                else:
                    print(f"{event.sequence:5} {event.event:6} #{event.id} {event.text[:PREVIEW]}  ({event.reasoning})")
                sys.stdout.flush()

    run(work())


@click.command()
@click.option("--at", "uri", metavar="URI", help="Another lake than the deployment's.")
@as_json
def digest(uri: str | None, json_lines: bool) -> None:
    """Print the fingerprint of a lake: the same memory has the same."""

    async def work() -> Any:
        from lakehouse.digest import digest_of
        from lakehouse.store import Lake

        lake = await Lake.open(uri or settings().lake_uri)
        return digest_of([row async for row in lake.all_rows()])

    found = dataclasses.asdict(run(work()))
    emit(found) if json_lines else print(found["digest"])


@click.group()
def deadletters() -> None:
    """Messages that could not be handled."""


@deadletters.command("list")
@as_json
def list_letters(json_lines: bool) -> None:
    """List them, oldest first."""
    letters = run(_letters())
    if json_lines:
        for letter in letters:
            emit(letter)
        return
    rows = [[x.id, x.topic, x.partition, x.offset, x.error, x.reason[:PREVIEW], x.attempt] for x in letters]
    table(["id", "topic", "partition", "offset", "error", "reason", "attempt"], rows)


@deadletters.command("show")
@click.argument("letter_id", metavar="ID")
@as_json
def show_letter(letter_id: str, json_lines: bool) -> None:
    """Show one whole."""
    found = [letter for letter in run(_letters()) if letter.id == letter_id]
    if not found:
        raise MemlakeError(f"there is no dead letter {letter_id}")
    if json_lines:
        emit(found[-1])
    else:
        table(["field", "value"], found[-1].to_wire().items())


async def _letters() -> list[DeadLetter]:
    """Each letter once; the last telling counts."""
    from streams.client import MemoryClient

    async with MemoryClient(settings=settings()) as memory:
        letters = {letter.id: letter async for letter in _decoded(memory.records("deadletters"))}
    return sorted(letters.values(), key=lambda letter: letter.timestamp)


async def _decoded(records: AsyncIterator[Any]) -> AsyncIterator[DeadLetter]:
    async for record in records:
        if record.value is None:
            continue
        try:
            yield DeadLetter.decode(record.value)
        except InvalidMessage as error:
            say(f"not a dead letter, at {record.partition}/{record.offset}: {error}")


COMMANDS = (show, history, export, changes, digest, deadletters)
