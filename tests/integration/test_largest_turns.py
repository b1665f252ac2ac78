"""Turns at the limit of their topic: one just below goes through, one above is refused before it is sent."""

import json
from pathlib import Path

import pytest

from schemas.conversation import Scope, Turn
from schemas.errors import InvalidMessage
from schemas.memory import TurnReport
from schemas.topics import BY_SUFFIX
from streams.client import MemoryClient
from tests.integration.conftest import Deploy
from tests.integration.stage import Deployment, scopes

pytestmark = pytest.mark.broker

LIMIT = BY_SUFFIX["turns"].max_message_bytes
PROSE = "I live in Ulm. The red kiln fires at 1060 degrees, and its password is on the wall. "
MEMORY_BYTES = 1_500 * 2**20
"""What a worker may have taken at its height: about a hundred times what one such turn has, with its model loaded."""


def longest(memory: MemoryClient, piece: str) -> Turn:
    """The longest turn of such text that can be sent."""
    low, high = 1, LIMIT // len(piece.encode()) + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if memory.refusal(memory.turn(piece * middle)) is None else (low, middle)
    return memory.turn(piece * low)


def peak_bytes(deployment: Deployment) -> int:
    """Resident memory of the worker at its height."""
    process = deployment.workers[0].process
    assert process is not None
    status = Path(f"/proc/{process.pid}/status").read_text("utf-8")
    line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


async def test_turns_just_below_the_limit_go_through_in_bounded_memory(deploy: Deploy) -> None:
    deployment = deploy()
    deployment.start()
    async with deployment.client(timeout_s=300) as memory:
        turns = [longest(memory, piece) for piece in (PROSE, "密码")]
        assert all(LIMIT - 1000 < len(turn.encode()) <= LIMIT for turn in turns)
        reports = await memory.publish_all_and_wait(turns, timeout_s=300)
        after = await memory.publish_and_wait("My dog is called Bruno.")

    assert [type(report) for report in reports] == [TurnReport] * len(turns)
    first = reports[0]
    assert isinstance(first, TurnReport)
    assert "I live in Ulm" in first.memory[0].text
    assert any("20000" in reason.replace(",", "") for reason in first.extraction.reasons)
    assert [outcome.event for outcome in after.memory] == ["ADD"]
    assert peak_bytes(deployment) < MEMORY_BYTES
    assert deployment.health()["status"] == "ready"


async def test_a_turn_above_the_limit_is_refused_before_it_is_sent(shared: Deployment, scope: Scope) -> None:
    async with shared.client(scope) as memory:
        too_long = memory.turn("x" * LIMIT)
        for sending in (memory.publish, memory.publish_and_wait):
            with pytest.raises(InvalidMessage, match=str(LIMIT)):
                await sending(too_long)
        (refused, report) = await memory.publish_all_and_wait([too_long, memory.turn("I have a cat.")])
        stored = [record async for record in memory.records("turns", [scope.partition(shared.settings.partitions)])]

    assert isinstance(refused, InvalidMessage)
    assert str(LIMIT) in str(refused)
    assert refused.field == "content"
    assert isinstance(report, TurnReport)
    assert [record for record in stored if len(record.value) > LIMIT / 2] == []


@pytest.mark.parametrize("arguments", [[], ["--wait", "--json"]], ids=["published", "waited for"])
def test_the_command_line_names_the_limit_and_sends_the_others(shared: Deployment, arguments: list[str]) -> None:
    (scope, *_) = scopes(shared.settings.partitions, "large")
    turns = ["x" * LIMIT, "I have a cat."]
    lines = "".join(
        json.dumps({"role": "user", "content": text, "timestamp": "2026-03-02T10:00:00Z"}) + "\n" for text in turns
    )

    done = shared.cli("publish", "-", *arguments, said=lines, scope=scope)

    assert done.returncode == 1
    assert f"turns takes {LIMIT}" in done.stderr
    assert "1 turns published" in done.stderr or json.loads(done.stdout)["success"]


def test_saying_too_much_names_the_limit(shared: Deployment, scope: Scope, tmp_path: Path) -> None:
    file = tmp_path / "turns.jsonl"
    file.write_text(json.dumps({"role": "user", "content": "x" * LIMIT, "timestamp": "2026-03-02T10:00:00Z"}) + "\n")

    done = shared.cli("publish", str(file), scope=scope)

    assert (done.returncode, done.stdout) == (1, "")
    assert "content" in done.stderr
    assert str(LIMIT) in done.stderr
