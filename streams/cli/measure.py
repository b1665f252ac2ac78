"""Commands that measure and examine: bench, doctor."""

import click

from schemas.errors import MemlakeError
from streams.cli.options import as_json, emit, settings, table


@click.command()
@click.argument("name", type=click.Choice(["latency", "ingest", "query", "age"]))
@click.option("--count", type=click.IntRange(min=1), help="Turns or questions, instead of the benchmark's own number.")
@as_json
def bench(name: str, count: int | None, json_lines: bool) -> None:
    """Measure NAME on a deployment of its own, beside a baseline of the same run."""
    from streams.bench import BENCHES

    figures = list(BENCHES[name](settings(), count))
    if json_lines:
        for found in figures:
            emit(found.row())
        return
    columns = ["metric", "value", "unit", "baseline", "ratio", "min", "max", "n"]
    table(columns, [[found.row()[column] for column in columns] for found in figures])


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
