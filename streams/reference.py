"""The generated part of the documentation: JSON Schemas, an AsyncAPI document, commands, settings, metrics.

Rule of this file: everything comes from the models and tables themselves. ``python -m streams.reference`` writes it
into ``docs``; a test fails when what is there is stale.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import yaml

from schemas.commands import Command
from schemas.conversation import Turn
from schemas.facts import CommandRecord, Repeat, TurnRecord
from schemas.knowledge import Accesses, DocumentEvent, KnowledgeMaintenance, RefreshRequest, Upkeep, UsageReport
from schemas.memory import MemoryEvent, TurnReport
from schemas.message import Message
from schemas.reports import DeadLetter, MaintenanceReport
from schemas.retrieval import ErrorReply, Reply, SearchRequest
from schemas.topics import TOPICS
from streams.cli import memlake
from streams.masking import Masker
from streams.metrics import Metrics
from streams.settings import Settings, setting_rows

MESSAGES: tuple[type[Message], ...] = (
    Turn, Command, TurnRecord, CommandRecord, Repeat, MemoryEvent, TurnReport, SearchRequest, Reply, ErrorReply,
    DeadLetter, MaintenanceReport, RefreshRequest, Accesses, Upkeep, DocumentEvent, KnowledgeMaintenance, UsageReport,
)  # fmt: skip
"""Every message that is spoken."""
BEGIN, END = "<!-- generated: {name} -->", "<!-- end of {name} -->"


def json_schema(message: type[Message]) -> dict[str, Any]:
    """JSON Schema of a message, by its wire names."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"memlake.{message.kind}.v{message.current_version}",
        **message.model_json_schema(by_alias=True),
    }


def asyncapi() -> dict[str, Any]:
    """One AsyncAPI 3 document of all topics that have messages."""
    by_kind = {message.kind: message for message in MESSAGES}
    channels, operations = {}, {}
    for spec in TOPICS:
        kinds = [kind for kind in spec.messages if kind in by_kind]
        if not kinds:
            continue
        channels[spec.suffix] = {
            "address": f"memlake.{spec.suffix}",
            "description": f"Key: {spec.key}.",
            "messages": {kind: {"$ref": f"#/components/messages/{kind}"} for kind in kinds},
            "bindings": {"kafka": {"topicConfiguration": _binding(spec.config())}},
        }
        action = "receive" if spec.suffix in {"turns", "commands", "queries"} else "send"
        operations[spec.suffix] = {"action": action, "channel": {"$ref": f"#/channels/{spec.suffix}"}}
    messages = {
        kind: {
            "name": kind,
            "contentType": "application/json",
            "summary": (message.__doc__ or "").strip().partition("\n")[0],
            "payload": {"schemaFormat": "application/schema+json;version=draft-2020-12",
                        "schema": {"$ref": f"./schemas/{kind}.json"}},
        }
        for kind, message in by_kind.items()
    }  # fmt: skip
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "memlake",
            "version": "1",
            "description": "Seen from the service: it receives turns, commands and questions and sends the rest. Topic "
            "names start with the deployment's name, here memlake. Messages carry CloudEvents 1.0 headers in Kafka's "
            "binary mode; on input they are optional.",
        },
        "channels": channels,
        "operations": operations,
        "components": {"messages": messages},
    }


def _binding(config: dict[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {"cleanup.policy": config["cleanup.policy"].split(",")}
    found["retention.ms"] = int(config["retention.ms"])
    found["max.message.bytes"] = int(config["max.message.bytes"])
    return found


def settings_table() -> str:
    """Every setting as a Markdown table."""
    lines = ["| variable | default | unit | range | meaning |", "|---|---|---|---|---|"]
    for row in setting_rows(Settings(), {}):
        default = "" if row.name in {"MEMLAKE_HOME", "MEMLAKE_CACHE"} else row.default
        told = [
            f"`{row.name}`",
            f"`{default}`" if default else "",
            row.unit,
            row.range.replace("|", "\\|"),
            row.meaning,
        ]
        lines.append(f"| {' | '.join(told)} |")
    return "\n".join(lines)


def metrics_table() -> str:
    """Every metric as a Markdown table."""
    lines = ["| metric | kind | meaning |", "|---|---|---|"]
    for metric in Metrics().registry.collect():
        name = f"{metric.name}_total" if metric.type == "counter" else metric.name
        lines.append(f"| `{name}` | {metric.type} | {metric.documentation} |")
    return "\n".join(lines)


def classes_table() -> str:
    """Every class of secrets as a Markdown table."""
    rows = [
        f"| `{one.name}` | {'yes' if one.on else 'when asked'} | {one.what.replace('|', chr(92) + '|')} |"
        for one in Masker.made().classes
    ]
    return "\n".join(["| class | masked | what |", "|---|---|---|", *rows])


def commands() -> str:
    """Every command with its own help, as Markdown."""
    lines = ["# Commands", "", "Exit codes: 0 done, 1 it failed and says why, 2 wrong usage.", ""]
    for path, command in _walk("memlake", memlake):
        told = command.get_help(click.Context(command, info_name=path, max_content_width=100, terminal_width=100))
        lines += [f"## {path}", "", "```text", told.strip(), "```", ""]
    return "\n".join(lines)


def _walk(path: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        for name in sorted(command.commands):
            yield from _walk(f"{path} {name}", command.commands[name])
    else:
        yield path, command


def files(docs: Path) -> Iterator[tuple[Path, str]]:
    """Each generated file with what should be in it."""
    for message in MESSAGES:
        yield docs / "schemas" / f"{message.kind}.json", json.dumps(json_schema(message), indent=2) + "\n"
    yield docs / "asyncapi.yaml", yaml.safe_dump(asyncapi(), sort_keys=False, width=110, allow_unicode=True)
    yield docs / "commands.md", commands()
    operations = docs / "operations.md"
    text = operations.read_text("utf-8")
    for name, table in (("settings", settings_table()), ("metrics", metrics_table()), ("classes", classes_table())):
        text = _between(text, name, table)
    yield operations, text


def _between(text: str, name: str, table: str) -> str:
    begin, end = BEGIN.format(name=name), END.format(name=name)
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    if not rest or not after:
        raise ValueError(f"docs/operations.md has no place for the table of {name}: {begin} … {end}")
    return f"{before}{begin}\n{table}\n{end}{after}"


def write(docs: Path) -> list[Path]:
    """Write what is stale.

    Returns:
        The files that were written.
    """
    stale = [(path, text) for path, text in files(docs) if not path.exists() or path.read_text("utf-8") != text]
    for path, text in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return [path for path, _ in stale]


if __name__ == "__main__":
    for written in write(Path(__file__).parent.parent / "docs"):
        sys.stderr.write(f"wrote {written}\n")
