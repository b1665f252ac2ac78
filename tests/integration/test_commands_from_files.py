"""Commands that somebody wrote down: sent by the command line and by the clients, each with its report."""

import json
from pathlib import Path

import pytest

from schemas.conversation import Scope
from schemas.errors import InvalidMessage
from streams.client import MemoryClient
from streams.sync_client import SyncMemoryClient
from tests.integration.stage import Deployment

pytestmark = pytest.mark.broker

CALL = {
    "interaction": [
        "User: Which editor do you use?",
        "Assistant: I can't say. And you?",
        "User: My dog is called Bruno.",
    ],
    "context": {"sessionId": "s1"},
    "memoryMetadata": {"environment": "staging"},
}


def test_a_command_in_a_file_is_answered_with_the_whole_report(
    shared: Deployment, scope: Scope, tmp_path: Path
) -> None:
    file = tmp_path / "call.json"
    file.write_text(json.dumps(CALL, indent=2))

    done = shared.cli("command", str(file), "--json", scope=scope)

    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads(done.stdout)
    assert report["success"] is True
    assert [one["event"] for one in report["memory"]] == ["ADD"]
    assert report["summary"][0]["action"] == "ADD"
    (event,) = [json.loads(line) for line in shared.cli("changes", "--json", scope=scope).stdout.splitlines()]
    assert (event["sourceSessionId"], event["metadata"]) == ("s1", {"environment": "staging"})


def test_of_several_commands_the_wrong_ones_are_told_and_the_others_sent(shared: Deployment, scope: Scope) -> None:
    lines = [
        {**CALL, "options": {"maxSimilarResults": 21}},
        CALL,
        {"op": "maintain"},
        {"op": "forget", "id": 99},
        {**CALL, "scope": {"projectId": "*", "userId": "x"}},
    ]

    done = shared.cli("command", "-", said="\n\n".join(map(json.dumps, lines)), scope=scope)

    assert done.returncode == 1
    assert done.stdout.startswith("ADD    #1 My dog is called Bruno.")
    for told in ("options.maxSimilarResults", "scope: maintain has none", "there is no memory 99", "scope.projectId"):
        assert told in done.stderr


async def test_a_client_has_texts_remembered(memory: MemoryClient) -> None:
    report = await memory.extract_and_operate(
        ["My dog is called Bruno.", "I live in Tavira."], memory_metadata={"environment": "test"}
    )

    assert [one.event for one in report.memory] == ["ADD", "ADD"]
    assert [event.metadata async for event in memory.changes()] == [{"environment": "test"}] * 2
    with pytest.raises(InvalidMessage, match=r"options\.similarityThreshold"):
        await memory.extract_and_operate("x", options={"similarityThreshold": 2})


def test_so_has_a_client_without_an_event_loop(shared: Deployment, scope: Scope) -> None:
    with SyncMemoryClient(scope.project_id, scope.user_id, settings=shared.settings) as memory:
        report = memory.extract_and_operate("User: My dog is called Bruno.")

    assert [one.text for one in report.memory] == ["My dog is called Bruno."]
