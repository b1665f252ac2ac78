"""What several commands share: settings, the scope, moments, and how rows are printed."""

import asyncio
import functools
import json
import math
import os
import sys
from collections.abc import Callable, Coroutine, Iterable
from datetime import datetime
from typing import Any, TypeVar

import click
from pydantic import ValidationError

from schemas.conversation import Scope
from schemas.errors import Misconfigured
from schemas.message import invalid
from streams.settings import Settings

Result = TypeVar("Result")
Command = Callable[..., Any]


def settings() -> Settings:
    """The settings, from the environment; read here and nowhere else."""
    return Settings.from_env(os.environ)


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """Run one coroutine to its end."""
    return asyncio.run(work)


def scoped(command: Command) -> Command:
    """Add ``--project`` and ``--user``; the command gets ``scope``."""

    @click.option("--project", metavar="NAME", help="Project of the scope (MEMLAKE_PROJECT).")
    @click.option("--user", metavar="NAME", help="User of the scope (MEMLAKE_USER).")
    @functools.wraps(command)
    def with_scope(*args: Any, project: str | None, user: str | None, **rest: Any) -> Any:
        told = settings()
        try:
            scope = Scope(
                project_id=told.project if project is None else project, user_id=told.user if user is None else user
            )
        except ValidationError as error:
            raise click.UsageError(f"--project, --user: {invalid(error)}") from error
        return command(*args, scope=scope, **rest)

    return with_scope


def as_json(command: Command) -> Command:
    """Add ``--json``; the command gets ``json_lines``."""
    return click.option("--json", "json_lines", is_flag=True, help="JSON lines on stdout, and nothing else there.")(
        command
    )


class Number(click.FloatRange):
    """A number within a range; "nan" and "inf" are none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """A finite number."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is no number", param, ctx)
        return number


class Moment(click.ParamType):
    """A point in time, with its zone."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """ISO 8601 with a zone."""
        if isinstance(value, datetime):
            return value
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            self.fail(f"{value!r} is no time: write it like 2026-03-02T14:30:00+01:00", param, ctx)
        if moment.tzinfo is None:
            self.fail(f"{value!r} has no zone: add Z or an offset such as +01:00", param, ctx)
        return moment


def emit(row: Any) -> None:
    """Print one JSON object as a line."""
    told = row.to_wire() if hasattr(row, "to_wire") else row
    print(json.dumps(told, ensure_ascii=False, default=str))


def say(text: str) -> None:
    """Tell a person something that is no result."""
    print(text, file=sys.stderr, flush=True)


def complain(text: str) -> None:
    """Tell a person what went wrong; a secret in it is hidden, as it may be kept with the program's output."""
    from streams.masking import Masker

    try:
        masker = settings().masker()
    except Misconfigured:  # what is told may be just that
        masker = Masker.made()
    say(masker.text(text))


def table(columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> None:
    """Print rows for a person."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    if not console.is_terminal:
        console = Console(width=160)
    shown = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        shown.add_column(column, overflow="fold")
    for row in rows:
        shown.add_row(*(Text("" if cell is None else str(cell)) for cell in row))
    console.print(shown)
