"""Commands that run things: up, worker, broker, topics, settings, maintain."""

import dataclasses
import os
import sys
from pathlib import Path
from typing import Any

import click

from schemas.errors import MemlakeError
from streams.cli.options import Number, as_json, emit, run, say, settings, table


@click.command()
def worker() -> None:
    """Run a worker in the foreground, until SIGTERM or Ctrl-C."""
    told = settings()
    _warn_of_unknown()
    from streams import logs
    from streams.broker import bootstrap_of
    from streams.worker import main

    logs.configure(told.log_level, told.log_format, told.masker())
    main(told, bootstrap_of(told))


@click.command()
def up() -> None:
    """Run broker (if none is set) and worker in the foreground, until Ctrl-C."""
    told = settings()
    _warn_of_unknown()
    from streams import logs
    from streams.broker import LocalBroker
    from streams.worker import main

    logs.configure(told.log_level, told.log_format, told.masker())
    if told.broker:
        main(told, told.broker)
    broker = LocalBroker(told)
    ours = not broker.status().running
    status = broker.start(progress=say)
    try:
        main(told, str(status.bootstrap), at_end=broker.stop if ours else None)
    finally:
        if ours:
            broker.stop()


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=False)
@click.option("--keep", is_flag=True, help="Leave memory and broker data, to go on with.")
def demo(file: Path | None, keep: bool) -> None:
    """Show the main job, end to end, on a bundled real conversation or on FILE."""
    from streams.demo import play

    play(settings(), file, keep=keep)


def _warn_of_unknown() -> None:
    from streams.settings import unknown_settings

    for name, meant in unknown_settings(os.environ).items():
        say(f"memlake: {name} is no setting" + (f": did you mean {meant}?" if meant else ""))


@click.group()
def broker() -> None:
    """The Kafka that memlake runs itself."""


@broker.command("start")
@as_json
def start_broker(json_lines: bool) -> None:
    """Start it and leave it running; returns once it answers."""
    from streams.broker import LocalBroker

    local = LocalBroker(settings())
    was_running = local.status().running
    status = local.start(progress=say)
    if json_lines:
        emit(_status_row(status))
    else:
        print(f"{'already running' if was_running else 'running'} at {status.bootstrap} (pid {status.pid})")


@broker.command("stop")
def stop_broker() -> None:
    """Stop it; its data stays."""
    from streams.broker import LocalBroker

    print("stopped" if LocalBroker(settings()).stop() else "was not running")


@broker.command("status")
@as_json
def broker_status(json_lines: bool) -> None:
    """Say whether it runs, and where."""
    from streams.broker import LocalBroker

    status = LocalBroker(settings()).status()
    if json_lines:
        emit(_status_row(status))
    else:
        print(f"running at {status.bootstrap} (pid {status.pid})" if status.running else "not running")


def _status_row(status: Any) -> dict[str, Any]:
    return {"pid": status.pid, "bootstrap": status.bootstrap, "data": str(status.data), "running": status.running}


@click.group()
def topics() -> None:
    """The deployment's topics."""


@topics.command("list")
@as_json
def list_topics(json_lines: bool) -> None:
    """List what each topic should be."""
    from schemas.topics import TOPICS, topic_name
    from streams.admin import config_of, partitions_of

    told = settings()
    rows = [
        {
            "topic": topic_name(told.name, spec.suffix),
            "key": spec.key,
            "messages": list(spec.messages),
            "partitions": partitions_of(spec, told),
            "config": config_of(spec, told),
        }
        for spec in TOPICS
    ]
    if json_lines:
        for row in rows:
            emit(row)
    else:
        shown = [
            [row["topic"], row["key"], row["partitions"], spec.messages] for row, spec in zip(rows, TOPICS, strict=True)
        ]
        table(["topic", "key", "partitions", "messages"], shown)


@topics.command("apply")
def apply() -> None:
    """Make what is missing; running it again changes nothing."""
    from streams.admin import apply_topics
    from streams.broker import bootstrap_of

    told = settings()
    made = run(apply_topics(told, bootstrap_of(told)))
    for name in made:
        print(name)
    say(f"{len(made)} topics made or changed")


@topics.command("check")
@as_json
def check(json_lines: bool) -> None:
    """Compare the broker's topics with what they should be; exit code 1 where they differ."""
    from streams.admin import topic_states
    from streams.broker import bootstrap_of

    told = settings()
    states = run(topic_states(told, bootstrap_of(told)))
    for state in states:
        if json_lines:
            emit({"topic": state.name, "partitions": state.partitions, "ok": state.fault is None, "fault": state.fault})
        else:
            print(state.fault or f"{state.name}: ok")
    if any(state.fault for state in states):
        sys.exit(1)


@click.command("settings")
@as_json
def show_settings(json_lines: bool) -> None:
    """Print every setting with value, default, unit, range and source; secrets masked."""
    from streams.settings import setting_rows

    rows = setting_rows(settings(), os.environ)
    _warn_of_unknown()
    if json_lines:
        for row in rows:
            emit(dataclasses.asdict(row))
    else:
        table(
            ["setting", "value", "unit", "range", "source", "meaning"],
            [[r.name, r.value, r.unit, r.range, r.source, r.meaning] for r in rows],
        )


@click.command()
@click.option("--timeout", type=Number(min=1), default=300.0, show_default=True, help="Seconds to wait.")
def maintain(timeout: float) -> None:
    """Compact the tables of every shard now, and do the daily upkeep of documentation; the workers do it."""

    async def work() -> int:
        from schemas.commands import Command
        from streams.client import MemoryClient

        told = settings()
        async with MemoryClient(settings=told, timeout_s=timeout) as memory:
            for partition in range(told.partitions):
                command = Command(op="maintain", command_id=f"maintain-{os.urandom(8).hex()}")
                report = await memory.command(command, partition=partition)
                if not report.success:
                    raise MemlakeError(f"shard {partition} could not be compacted")
            await memory.keep_up()
        return told.partitions

    say(f"{run(work())} shards compacted")


COMMANDS = (demo, up, worker, broker, topics, show_settings, maintain)
