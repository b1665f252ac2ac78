"""Faust used the obvious way, each agent walking into one of its traps; tells what it saw as JSON lines.

Run as a process: ``python naive_faust.py BOOTSTRAP NAME AGENT…``; topics are ``NAME.<agent>``.
"""

import asyncio
import json
import logging
import sys
from collections.abc import AsyncIterator
from typing import Any

import faust

bootstrap, name = sys.argv[1:3]
app = faust.App(
    name,
    broker=f"kafka://{bootstrap}",
    autodiscover=False,
    web_enabled=False,
    topic_allow_declare=False,
    topic_disable_leader=True,
    broker_session_timeout=6,
    broker_heartbeat_interval=1,
    broker_commit_interval=0.3,
    consumer_auto_offset_reset="earliest",
)


def topic(suffix: str, **options: Any) -> Any:
    return app.topic(f"{name}.{suffix}", value_type=None, value_serializer="json", **options)


def tell(agent: str, value: Any) -> None:
    sys.stdout.write(json.dumps({"agent": agent, "value": value}) + "\n")
    sys.stdout.flush()


async def raises(stream: Any) -> None:
    async for value in stream:
        if value == "bad":
            raise ValueError(value)
        tell("raises", value)


async def takes(stream: Any) -> None:
    async for values in stream.take(10, within=0.5):
        for value in values:
            tell("takes", value)


async def batches(stream: Any) -> None:
    async for values in stream.take(5, within=1):
        tell("batches", "begun")
        raise ValueError(values)


async def gaps(stream: Any) -> None:
    async for event in stream.noack().events():
        if event.value == "slow":
            tell("gaps", "slow is in hand")
            continue  # somebody else works on it and will acknowledge it later
        tell("gaps", event.value)
        await stream.ack(event)


async def late(stream: Any) -> None:
    async for value in stream:
        tell("late", value)


async def asked(stream: Any) -> AsyncIterator[Any]:
    async for value in stream:
        tell("asked", value)
        yield value


async def ask_first() -> None:
    try:
        await asyncio.wait_for(agents["asked"].ask("anybody?"), 4)
        tell("ask", "answered")
    except TimeoutError:
        tell("ask", "no answer")


AGENTS: dict[str, Any] = {agent.__name__: agent for agent in (raises, takes, batches, gaps, late, asked)}
agents = {chosen: app.agent(topic(chosen), name=f"{name}.{chosen}")(AGENTS[chosen]) for chosen in sys.argv[3:]}
if "asked" in agents:
    app.task(ask_first)


if __name__ == "__main__":
    logging.basicConfig(level="WARNING", stream=sys.stderr)
    worker = faust.Worker(app, loglevel="warning", redirect_stdouts=False, override_logging=False, daemon=True)
    worker.execute_from_commandline()
