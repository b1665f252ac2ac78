"""Commands that measure and examine: bench, doctor."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from schemas.errors import MemlakeError
from streams.cli.options import as_json, emit, run, say, settings, table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from streams.bench import Figure

DEPLOYMENTS = {
    "latency": "A turn published to an idle system until its report is back.",
    "ingest": "New turns of several scopes at once, until all reports are back.",
    "query": "A new question to a scope of 500 memories.",
    "age": "What many single turns leave behind: files, and a search's time.",
    "scopes": "A question to one scope of a lake of 10,000, beside one of 100.",
    "asking": "Follow-ups beside the same without history, questions after feedback beside before.",
    "knowledge": "Documentation: what is kept found, a site that hangs, a page asked for again.",
}
RETRIEVAL_UNITS = 30
"""Of each set, so that a run takes minutes and not hours."""
COLUMNS = ("metric", "value", "unit", "baseline", "ratio", "min", "max", "n")


_SET = click.option("--set", "names", multiple=True, help="Only this set; may be given several times.")
_MARKDOWN = click.option("--markdown", is_flag=True, help="A table in Markdown.")


def _split(what: str) -> "Callable[[Any], Any]":
    return click.option(
        "--split",
        type=click.Choice(["tune", "report", "all"]),
        default="all",
        show_default=True,
        help=f"The part that {what} tuned on, the part that is reported, or both.",
    )


@click.group()
def bench() -> None:
    """Measure, beside a baseline of the same run."""


def _of_deployment(name: str, meaning: str) -> click.Command:
    @click.option(
        "--count",
        type=click.IntRange(min=1),
        help="Turns, questions, scopes or documents, instead of the benchmark's own number.",
    )
    @as_json
    def measure(count: int | None, json_lines: bool) -> None:
        from streams.bench import BENCHES

        _print(list(BENCHES[name](settings(), count)), json_lines=json_lines)

    return click.command(name, help=f"{meaning} On a deployment of its own.")(measure)


for _name, _meaning in DEPLOYMENTS.items():
    bench.add_command(_of_deployment(_name, _meaning))


@bench.command()
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of evaluation sets, each found by its shape; without it only what the product brings along.",
)
@_SET
@_split("rules are")
@click.option("--limit", type=click.IntRange(min=1), help="People, dialogues or chats of each set at most.")
@click.option("--errors", type=click.IntRange(min=0), default=0, help="Wrong cases of each figure to show on stderr.")
@click.option("--llm", is_flag=True, help="Let the language model of the settings extract and decide.")
@_MARKDOWN
@as_json
def quality(
    data: Path | None,
    names: tuple[str, ...],
    split: str,
    limit: int | None,
    errors: int,
    llm: bool,
    markdown: bool,
    json_lines: bool,
) -> None:
    """What is extracted and decided, held against gold and against plain methods; without Kafka, without network."""
    from streams.bench.quality import NAMES, measure

    _require_usage(names, NAMES, markdown=markdown, json_lines=json_lines)
    asked = measure(settings(), data, names or NAMES, split=split, limit=limit, errors=errors, llm=llm, told=say)  # type: ignore[arg-type]
    figures, wrong = run(asked)
    _tell(figures, wrong, markdown=markdown, json_lines=json_lines)


@bench.command()
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    required=True,
    help="Folder of evaluation sets, each found by its shape.",
)
@_SET
@_split("ranking is")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=RETRIEVAL_UNITS,
    show_default=True,
    help="Of each set at most so many conversations (LoCoMo), chats (BEAM) or haystacks (LongMemEval: one question "
    "over some fifty sessions), the first in the order of their files.",
)
@click.option(
    "--kinds",
    type=click.Choice(["turns", "facts", "both"]),
    default="both",
    show_default=True,
    help="What memlake searches; a fact stands for the turns that it was taken from.",
)
@click.option("--plain", is_flag=True, help="Only the plain methods, without memlake.")
@click.option(
    "--plot",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Draw the figures into this file (.png); needs the extra memlake[bench].",
)
@click.option("--errors", type=click.IntRange(min=0), default=0, help="Wrong cases of each set to show on stderr.")
@_MARKDOWN
@as_json
def retrieval(
    data: Path,
    names: tuple[str, ...],
    split: str,
    limit: int,
    kinds: str,
    plain: bool,
    plot: Path | None,
    errors: int,
    markdown: bool,
    json_lines: bool,
) -> None:
    """Whether evidence is found again, beside BM25, vectors, both fused and LanceDB's hybrid; without Kafka."""
    from streams.bench.retrieval import NAMES, measure, opened, plotting

    _require_usage(names, NAMES, markdown=markdown, json_lines=json_lines)
    if plot is not None:
        plotting.require_library()
    asked = measure(
        settings(),
        data,
        names or NAMES,
        split=split,  # type: ignore[arg-type]
        limit=limit,
        kinds=kinds,  # type: ignore[arg-type]
        opened=None if plain else opened(settings().rag_config),
        errors=errors,
        told=say,
    )
    figures, wrong = run(asked)
    _tell(figures, wrong, markdown=markdown, json_lines=json_lines)
    if plot is not None:
        plotting.draw(figures, plot)


@bench.command()
@click.option(
    "--docs",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    required=True,
    help="Folder of the documentation of Python 3.11 as HTML, with its objects.inv; such as Debian's python3.11-doc, "
    "unpacked: usr/share/doc/python3.11/html.",
)
@click.option("--errors", type=click.IntRange(min=0), default=0, help="Wrong symbols of each figure to show on stderr.")
@_MARKDOWN
@as_json
def deprecation(docs: Path, errors: int, markdown: bool, json_lines: bool) -> None:
    """What is told to be deprecated, beside the word anywhere on the page; without Kafka, without network."""
    from streams.bench.deprecation import measure

    _require_usage((), (), markdown=markdown, json_lines=json_lines)
    figures, wrong = run(measure(docs, errors=errors))
    _tell(figures, wrong, markdown=markdown, json_lines=json_lines)


def _require_usage(names: "Sequence[str]", known: "Sequence[str]", *, markdown: bool, json_lines: bool) -> None:
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise click.UsageError(f"--set {unknown[0]}: there are {', '.join(known)}")
    if markdown and json_lines:
        raise click.UsageError("--markdown, --json: one of them")


def _tell(
    figures: "Sequence[Figure]", wrong: "Mapping[str, Sequence[str]]", *, markdown: bool, json_lines: bool
) -> None:
    """Figures to stdout, wrong cases to stderr."""
    for metric, cases in wrong.items():
        say(f"\n== {metric}: wrong")
        for case in cases:
            say(case)
    if markdown:
        _print_markdown(figures)
    else:
        _print(figures, json_lines=json_lines)


def _print_markdown(figures: "Sequence[Figure]") -> None:
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
    for found in figures:
        row = found.row()
        cells = (f"{row[name]:.3g}" if isinstance(row[name], float) else str(row[name] or "") for name in COLUMNS)
        print(f"| {' | '.join(cells)} |")


def _print(figures: "Sequence[Figure]", *, json_lines: bool) -> None:
    if json_lines:
        for found in figures:
            emit(found.row())
        return
    table(COLUMNS, [[found.row()[column] for column in COLUMNS] for found in figures])


@click.command()
@as_json
def doctor(json_lines: bool) -> None:
    """Examine settings, model, broker, topics and lake; exit code 1 where something is wrong."""
    from streams.doctor import examine

    findings = list(examine(settings()))
    if json_lines:
        for finding in findings:
            emit({"what": finding.what, "ok": finding.fault is None, "found": finding.found, "fault": finding.fault})
    else:
        table(
            ["what", "", "found"],
            [[f.what, "ok" if f.fault is None else "fault", f.fault or f.found] for f in findings],
        )
    if any(finding.fault for finding in findings):
        raise MemlakeError("something is wrong, see above")


COMMANDS = (bench, doctor)
