"""How the demonstration looks: tables and short lines on stdout, progress on stderr."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.panel import Panel
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from lakehouse.digest import Digest
from schemas.memory import MemoryEvent, TurnReport
from schemas.retrieval import Reply
from streams.settings import Settings

WIDTH = 120
PREVIEW = 78
console = Console(width=WIDTH)
aside = Console(stderr=True)


def title(text: str) -> None:
    """The head."""
    console.print(Panel(Text(f"memlake: {text}", style="bold"), width=WIDTH))


def act(number: str, text: str) -> None:
    """The head of an act."""
    console.print()
    console.print(Text(f"{number}. {text}", style="bold"))


def progress(text: str) -> None:
    """Something takes a moment."""
    aside.print(Text(f"   … {text}", style="dim"))


@contextmanager
def bar(text: str, total: int) -> Iterator[Callable[[], None]]:
    """A progress bar; call what it gives once for each step."""
    columns = (TextColumn(f"   … {text}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=aside) as shown:
        task = shown.add_task(text, total=total)
        yield lambda: shown.advance(task)


def facts(reports: Sequence[TurnReport], limit: int) -> None:
    """Some facts, and how much was skipped why."""
    found = [fact for report in reports for fact in report.extraction.facts]
    reasons = Counter(reason for report in reports for reason in report.extraction.reasons)
    table = _table(f"{len(found)} facts in {len(reports)} turns; the first {min(limit, len(found))}", "fact", "length")
    for fact in found[:limit]:
        table.add_row(_cut(fact.preview), str(fact.metadata.length))
    console.print(table)
    told = ", ".join(f"{reason} ({count})" for reason, count in reasons.most_common(6))
    console.print(Text(f"   skipped: {sum(reasons.values())} pieces of text; {told}", style="dim"))


def decisions(events: Sequence[MemoryEvent]) -> None:
    """How often each operation was chosen, with an example."""
    table = _table("decisions", "event", "times", "example", "why")
    for event in ("ADD", "UPDATE", "DELETE", "NONE"):
        some = [one for one in events if one.event == event]
        if some:
            example = min(some, key=lambda one: len(one.text))
            table.add_row(event, str(len(some)), _cut(example.text, 48), _cut(example.reasoning, 48))
    console.print(table)


def update(event: MemoryEvent) -> None:
    """One update, old and new."""
    table = _table(f"memory {event.id}, revision {event.revision}", "", "")
    table.add_row("before", Text(event.old_memory or ""))
    table.add_row("now", Text(event.text))
    table.add_row("why", Text(event.reasoning))
    console.print(table)


def answer(reply: Reply) -> None:
    """A question, its context and its citations."""
    console.print(Text(f"   {reply.query}", style="italic"))
    console.print(Text(reply.context or ""))
    table = _table("citations", "rank", "memory", "score", "source")
    for cited in reply.citations or ():
        table.add_row(str(cited.rank), cited.id, f"{cited.score:.2f}", Text(cited.source))
    console.print(table)


def log(events: Sequence[MemoryEvent], limit: int) -> None:
    """The end of the audit log."""
    table = _table(f"the last {min(limit, len(events))} of {len(events)} events", "sequence", "event", "memory", "text")
    for event in events[-limit:]:
        table.add_row(str(event.sequence), event.event, str(event.id), _cut(event.text))
    console.print(table)


def digests(before: Digest, after: Digest) -> None:
    """The memory's fingerprint before and after."""
    table = _table("", "", "digest", "memories", "versions")
    for name, digest in (("before", before), ("after", after)):
        table.add_row(name, digest.digest[:32] + "…", str(digest.memories), str(digest.versions))
    console.print(table)


def closing(settings: Settings, seconds: float, *, kept: bool) -> None:
    """The last lines."""
    console.print()
    console.print(
        Text(f"Done in {seconds:.0f} s: nothing was lost, and the memory is the same after a restart.", style="bold")
    )
    if kept:
        console.print(Text(f"Kept: MEMLAKE_NAME={settings.name} MEMLAKE_HOME={settings.home} memlake up"))


def _table(head: str, *columns: str) -> Table:
    table = Table(
        title=head or None, title_justify="left", box=None, pad_edge=False, header_style="dim", padding=(0, 2)
    )
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _cut(text: str, limit: int = PREVIEW) -> Text:
    line = " ".join(text.split())
    return Text(line if len(line) <= limit else line[: limit - 1] + "…")
