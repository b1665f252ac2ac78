"""The command line as its users have it: a process, what it prints, and how it ends."""

import json
import subprocess
import sys

import pytest

from schemas.conversation import Scope
from streams.deployment import environment
from tests.integration.stage import Deployment

pytestmark = pytest.mark.broker

HEAVY = ("torch", "lancedb", "onnxruntime", "faust", "pyarrow", "sentence_transformers")
CLIENT_COMMANDS = {
    "say": ["say", "I keep bees."],
    "ask": ["ask", "What do I keep?"],
    "changes": ["changes"],
    "deadletters": ["deadletters", "list"],
    "help": ["--help"],
    "settings": ["settings"],
}


def test_the_command_line_says_asks_and_looks_back(shared: Deployment, scope: Scope) -> None:
    said_at = {"role": "user", "timestamp": "2026-03-02T10:00:00+01:00"}
    lines = [said_at | {"content": f"I live in {city}."} for city in ("Bonn", "Kiel")]
    said = "\n".join(map(json.dumps, lines)) + '\n{"role": "user", "content": "no time"}\n'
    published = shared.cli("publish", "-", "--wait", "--json", said=said, scope=scope)
    assert published.returncode == 1
    assert "timestamp" in published.stderr
    reports = [json.loads(line) for line in published.stdout.splitlines()]
    assert [report["success"] for report in reports] == [True, True]

    asked = shared.cli("ask", "Where do I live?", "--json", scope=scope)
    assert (asked.returncode, len(asked.stdout.splitlines())) == (0, 1)
    shown = [json.loads(line) for line in shared.cli("show", "--json", scope=scope).stdout.splitlines()]
    assert shown
    history = shared.cli("history", str(shown[0]["id"]), "--json", scope=scope).stdout.splitlines()
    assert [json.loads(line)["revision"] for line in history] == list(range(1, len(history) + 1))
    changes = [json.loads(line) for line in shared.cli("changes", "--json", scope=scope).stdout.splitlines()]
    assert [event["sequence"] for event in changes] == list(range(1, len(changes) + 1))
    unknown = shared.cli("history", "999", scope=scope)
    assert (unknown.returncode, unknown.stdout) == (1, "")
    assert "999" in unknown.stderr
    digests = {shared.cli("digest", "--json").stdout for _ in range(2)}
    assert len(digests) == 1
    assert json.loads(digests.pop())["digest"]


@pytest.mark.parametrize("arguments", CLIENT_COMMANDS.values(), ids=CLIENT_COMMANDS)
def test_a_command_that_talks_to_the_broker_loads_neither_model_nor_lake(
    shared: Deployment, scope: Scope, arguments: list[str]
) -> None:
    code = (
        "import sys\nfrom streams.cli import main\n"
        "try:\n    main()\nfinally:\n"
        f"    print('loaded', *(name for name in {HEAVY!r} if name in sys.modules), file=sys.stderr)"
    )
    env = environment(shared.settings) | {"MEMLAKE_USER": scope.user_id}
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1].split() == ["loaded"]
