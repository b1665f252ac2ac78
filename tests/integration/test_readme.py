"""What README shows is what happens."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.integration.stage import Deployment, plain_producer

pytestmark = pytest.mark.broker
README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


async def test_the_python_lines_remember_and_recall(
    shared: Deployment, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in shared.settings.to_env().items():
        monkeypatch.setenv(name, value)
    (block,) = blocks("python")
    told: dict[str, Any] = {}
    exec(compile(block, "README.md", "exec"), told)

    await told["remember"]()
    await told["recall"]()

    said = capsys.readouterr().out.splitlines()
    assert said[0] == "ADD I moved to Porto."
    assert said[1] == "KNOWLEDGE CONTEXT:"
    assert said[1:3] == [line for block in blocks("console") for line in block.splitlines() if line in said[1:3]]


def test_the_commands_are_commands(shared: Deployment) -> None:
    lines = [line for block in blocks("console") for line in block.splitlines()]
    shown = [shlex.split(line.removeprefix("$ "))[1:] for line in lines if line.startswith("$ memlake")]

    assert shown
    for arguments in shown:
        done = shared.cli(*arguments)
        assert done.returncode == 0, done.stderr


async def test_the_turn_for_plain_kafka_is_taken(shared: Deployment) -> None:
    (line,) = (line for block in blocks("console") for line in block.splitlines() if line.startswith("$ echo"))
    key, _, value = shlex.split(line.partition("\\")[0])[2].partition("|")
    project, user = key.split("/")
    before = len(await shared.events())

    async with plain_producer(shared.bootstrap) as producer:
        await producer.send_and_wait(shared.topic("turns"), value.encode(), key.encode())
    await shared.settled()

    assert json.loads(value)["scope"] == {"projectId": project, "userId": user}
    assert len(await shared.events()) == before + 1
