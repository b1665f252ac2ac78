"""Commands that name memories, without telling anything: forget, restore, feedback."""

from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any

import click

from schemas.conversation import Scope
from schemas.errors import MemlakeError
from schemas.memory import TurnReport
from streams.cli.options import Number, as_json, emit, run, say, scoped, settings
from streams.cli.talk import answered, show_report

TIMEOUT = click.option("--timeout", type=Number(min=0.1), default=60.0, show_default=True, help="Seconds to wait.")


@click.command()
@click.argument("memory_id", metavar="[ID]", type=click.IntRange(min=1), required=False)
@click.option("--all", "everything", is_flag=True, help="All that is known of the scope.")
@TIMEOUT
@scoped
@as_json
def forget(memory_id: int | None, everything: bool, timeout: float, scope: Scope, json_lines: bool) -> None:
    """Forget the memory ID, or with --all everything; "restore" undoes it.

    What said it is out of search as well; its history stays. Exit code 1 where there is no such memory.
    """
    if (memory_id is None) == (not everything):
        raise click.UsageError("tell either the ID of a memory or --all")
    report = _changed(scope, timeout, lambda memory: memory.forget(memory_id, everything=everything))
    _show(report, json_lines=json_lines)


@click.command()
@click.argument("memory_id", metavar="ID", type=click.IntRange(min=1))
@click.option("--revision", type=click.IntRange(min=1), help="The revision whose text it shall have again.")
@TIMEOUT
@scoped
@as_json
def restore(memory_id: int, revision: int | None, timeout: float, scope: Scope, json_lines: bool) -> None:
    """Bring the memory ID back as it was when it was forgotten, or as one of its revisions said.

    Exit code 1 where there is no such memory, or no such revision of it.
    """
    report = _changed(scope, timeout, lambda memory: memory.restore(memory_id, revision=revision))
    _show(report, json_lines=json_lines)


@click.command()
@click.argument("memory_ids", metavar="ID...", type=click.IntRange(min=1), nargs=-1, required=True)
@click.option("--helpful", is_flag=True, help="They answered the question.")
@click.option("--unhelpful", is_flag=True, help="They did not.")
@click.option("--used", is_flag=True, help="An answer was made with them.")
@click.option("--withdraw", "withdrawn", is_flag=True, help="Take back what was said of them before.")
@click.option("--query", metavar="TEXT", help="The question that they were results of.")
@TIMEOUT
@scoped
@as_json
def feedback(
    memory_ids: tuple[int, ...], query: str | None, timeout: float, scope: Scope, json_lines: bool, **said: bool
) -> None:
    """Say what the memories ID... were worth as results; it moves them a little in later answers.

    The last word for a question counts, less and less as time goes by. Exit code 1 where one of them is not there.
    """
    told = [name for name, chosen in said.items() if chosen]
    if len(told) != 1:
        raise click.UsageError("tell one of --helpful, --unhelpful, --used and --withdraw")
    report = _changed(scope, timeout, lambda memory: memory.feedback(**{told[0]: memory_ids}, query=query))
    emit(report) if json_lines else show_report(report)
    if report.degraded:
        raise MemlakeError("; ".join(report.degraded))


def _changed(scope: Scope, timeout_s: float, change: Callable[[Any], Coroutine[Any, Any, TurnReport]]) -> TurnReport:
    async def work() -> TurnReport:
        from streams.client import MemoryClient

        async with MemoryClient(scope.project_id, scope.user_id, settings=settings(), timeout_s=timeout_s) as memory:
            return await change(memory)

    found: TurnReport = run(answered(work()))
    return found


def _show(report: TurnReport, *, json_lines: bool) -> None:
    if json_lines:
        emit(report)
        return
    show_report(report)
    changed = Counter(outcome.event for outcome in report.memory if outcome.event != "NONE").total()
    say(f"{changed} memories changed" if changed != 1 else "1 memory changed")


COMMANDS = (forget, restore, feedback)
