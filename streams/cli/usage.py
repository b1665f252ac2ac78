"""``memlake report``: how documentation was used, as tables with a chart, as JSON, or as a page to look at.

Rule of this file: it shows a report and works out nothing. What others wrote is escaped.
"""

from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

import click

from streams.cli.options import as_json, emit, run, say, settings, table

BAR = 30
DAYS = 366
STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;color:#1c2024}"
    "h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2rem}table{border-collapse:collapse;width:100%}"
    "th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid #d9dde1;vertical-align:top}"
    "td.bar{width:40%}i{display:block;height:.8rem;background:#3a6ea5;border-radius:2px}"
    "@media(prefers-color-scheme:dark){body{background:#15181b;color:#e6e8ea}th,td{border-color:#33393f}}"
)


@click.command()
@click.option("--days", type=click.IntRange(1, DAYS), default=7, show_default=True, help="How far back.")
@click.option("--html", "page", type=click.Path(dir_okay=False, path_type=Path), help="Write a page into this file.")
@as_json
def report(days: int, page: Path | None, json_lines: bool) -> None:
    """Show how documentation was used: hit rate, documents, sources, gaps, times."""

    async def work() -> Any:
        from lakehouse.external.report import weekly_analysis
        from lakehouse.external.store import DocumentStore

        store = await DocumentStore.open(settings().lake_uri)
        return await weekly_analysis(store, until=datetime.now(UTC), days=days)

    told = run(work())
    if page is not None:
        page.write_text(page_of(told), encoding="utf-8")
        say(f"written to {page}")
    if json_lines:
        emit(told)
    elif page is None:
        _show(told)


def _show(told: Any) -> None:
    print(f"Documentation from {told.since:%Y-%m-%d %H:%M} to {told.until:%Y-%m-%d %H:%M} (UTC)")
    table(["figure", "value"], _figures(told))
    for title, lines, counted in _parts(told):
        print(f"\n{title}")
        if not lines:
            print("  none")
            continue
        most = max(int(line[counted]) for line in lines) or 1
        columns = list(lines[0])
        rows = [[*(_cell(line[name]) for name in columns), "█" * round(BAR * line[counted] / most)] for line in lines]
        table([*columns, ""], rows)


def _figures(told: Any) -> list[list[Any]]:
    figures = [["cache_hit_rate", told.cache_hit_rate], ["avg_query_time_ms", told.avg_query_time_ms]]
    figures += [[name, value] for name, value in told.further.items()]
    return [[name, _cell(value)] for name, value in figures]


def _parts(told: Any) -> list[tuple[str, list[dict[str, Any]], str]]:
    """Title, lines, and by which figure their bars are long."""
    return [
        ("Most used documents", list(told.most_used_docs), "lookups"),
        ("Sources by usage", list(told.sources_by_usage), "served"),
        ("Knowledge gaps", list(told.knowledge_gaps), "asked"),
    ]


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, dict):
        return ", ".join(f"{name} {_cell(inner)}" for name, inner in value.items()) or "-"
    return f"{value:g}" if isinstance(value, float) else str(value)


def page_of(told: Any) -> str:
    """The report as one HTML page that needs nothing else.

    Args:
        told: A ``UsageReport``.
    """
    parts = [
        f"<h1>Documentation: {told.since:%Y-%m-%d} - {told.until:%Y-%m-%d}</h1>",
        _table(["figure", "value"], _figures(told)),
    ]
    for title, lines, counted in _parts(told):
        parts.append(f"<h2>{escape(title)}</h2>")
        if not lines:
            parts.append("<p>none</p>")
            continue
        most = max(int(line[counted]) for line in lines) or 1
        columns = list(lines[0])
        rows = [[_cell(line[name]) for name in columns] for line in lines]
        parts.append(_table(columns, rows, [100 * line[counted] / most for line in lines]))
    body = "\n".join(parts)
    head = f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style>'
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>memlake: documentation</title>'
        f"{head}</head>\n<body>\n{body}\n</body></html>\n"
    )


def _table(columns: list[str], rows: list[list[str]], bars: list[float] | None = None) -> str:
    heads = "".join(f"<th>{escape(name)}</th>" for name in (*columns, *([""] if bars else [])))
    lines = []
    for number, row in enumerate(rows):
        cells = "".join(f"<td>{escape(str(cell))}</td>" for cell in row)
        bar = f'<td class="bar"><i style="width:{bars[number]:.0f}%"></i></td>' if bars else ""
        lines.append(f"<tr>{cells}{bar}</tr>")
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


COMMANDS = (report,)
