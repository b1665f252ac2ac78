"""Secrets made up at this moment, planted in a running deployment: no topic of ours, no file of the lake, no log and
no answer holds one."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from schemas.commands import Command
from schemas.conversation import Scope
from streams.client import RequestFailed
from streams.masking import Masker
from tests.integration.conftest import Deploy
from tests.integration.stage import Deployment, plain_producer
from tests.planted import Planted, planted

pytestmark = pytest.mark.broker

DERIVED = ("facts", "changes", "replies", "deadletters", "reports")
OFF = {one.name for one in Masker.made().classes if not one.on}
TOLD_APART = 8
"""A shorter value may stand somewhere by chance."""


def _spellings(said: Planted) -> Iterator[bytes]:
    """How a secret may be written."""
    yield said.value.encode()
    yield json.dumps(said.value)[1:-1].encode()


async def _written(deployment: Deployment) -> dict[str, bytes]:
    """All that the deployment wrote, by where it stands."""
    found: dict[str, bytes] = {}
    for suffix in DERIVED:
        for record in await deployment.records(suffix):
            headers = b" ".join(name.encode() + b"=" + (value or b"") for name, value in record.headers)
            place = f"{suffix} {record.partition}/{record.offset}"
            found[place] = b"\n".join([record.key or b"", record.value or b"", headers])
    found.update({str(path): path.read_bytes() for path in _files(Path(deployment.settings.lake_uri))})
    for number, worker in enumerate(deployment.workers):
        found[f"log {number}"] = worker.told().encode()
    return found


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


async def _plant(deployment: Deployment, scope: Scope, secrets: list[Planted]) -> list[str]:
    """Say each secret in a turn, beside one, in a command, in a question and in what nobody can read.

    Returns:
        What the command line told meanwhile.
    """
    async with deployment.client(scope) as memory:
        turns = [
            memory.turn(one.text, sessionId="s", conversationTopic=one.text[:1024], metadata={"note": one.text})
            for one in secrets
        ]
        reports = await memory.publish_all_and_wait(turns, timeout_s=120)
        for one, report in zip(secrets, reports, strict=True):
            assert not isinstance(report, Exception), report
            assert one.secret in report.extraction.masked, one.shape
        texts = tuple(f"User: {one.text}" for one in secrets)
        await memory.command(Command(op="extract_and_operate", scope=scope, interaction=texts), timeout_s=120)
        unreadable = Command.model_construct(op=cast("Any", secrets[0].text), scope=scope, interaction="x")
        with pytest.raises(RequestFailed):
            await memory.command(unreadable)
        for one in secrets[::10]:
            await memory.ask(one.text[:1000], format="context")
    async with plain_producer(deployment.bootstrap) as producer:
        for one in secrets:
            headers = [("x-note", one.text.encode())]
            value = json.dumps({"content": one.text, one.text: 1}).encode()
            for broken in (value, value[:-1]):
                await producer.send(deployment.topic("turns"), broken, key=one.text.encode(), headers=headers)
        await producer.flush()
    await deployment.settled(120)
    lines = "".join(json.dumps({"content": one.text, one.text[:150]: 1}) + "\n" for one in secrets)
    refused = deployment.cli("publish", "-", said=lines, scope=scope)
    assert refused.returncode == 1
    letters = deployment.cli("deadletters", "list", "--json")
    assert len(letters.stdout.splitlines()) >= 2 * len(secrets)
    shown = [deployment.cli(*command, scope=scope) for command in (("show", "--all", "--json"), ("changes", "--json"))]
    return [one.stdout + one.stderr for one in (refused, letters, *shown)]


async def test_a_secret_that_was_told_is_nowhere(deploy: Deploy) -> None:
    deployment, scope = deploy(log_level="debug"), Scope(project_id="tests", user_id="careless")
    deployment.start()
    secrets = [one for one in planted(int.from_bytes(os.urandom(4))) if one.secret not in OFF]
    outputs = await _plant(deployment, scope, secrets)
    written: dict[str, Any] = await _written(deployment)
    written.update({f"output {number}": text.encode() for number, text in enumerate(outputs)})

    assert {place.split()[0] for place in written} >= {"facts", "changes", "replies", "deadletters", "log", "output"}
    leaks = [
        f"{one.secret}, {one.shape}: {one.value!r} in {place}"
        for one in secrets
        if len(one.value) >= TOLD_APART
        for place, text in written.items()
        if any(spelling in text for spelling in _spellings(one))
    ]
    assert leaks == []
