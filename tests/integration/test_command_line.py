"""The command line as its users have it: a process, what it prints, and how it ends."""

import json
import subprocess
import sys
from typing import Any

import pytest

from schemas.conversation import Scope
from schemas.retrieval import HistoryTurn
from streams.client import MemoryClient
from streams.deployment import environment
from tests.integration.stage import Deployment

pytestmark = pytest.mark.broker

HEAVY = ("torch", "lancedb", "onnxruntime", "faust", "pyarrow", "sentence_transformers")
CLIENT_COMMANDS = {
    "forget": ["forget", "--all"],
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


def test_the_command_line_forgets_restores_and_exports(shared: Deployment, scope: Scope) -> None:
    turns = [{"role": "user", "timestamp": f"2026-03-02T10:{minute:02}:00Z"} for minute in range(3)]
    texts = ["I live in Bonn.", "I moved to Kiel.", "I like chess."]
    said = "\n".join(json.dumps(turn | {"content": text}) for turn, text in zip(turns, texts, strict=True))
    assert shared.cli("publish", "-", "--wait", "--json", said=said, scope=scope).returncode == 0

    def current(*options: str) -> list[str]:
        return [row["text"] for row in lines(shared.cli("show", *options, "--json", scope=scope).stdout)]

    forgotten = shared.cli("forget", "1", "--json", scope=scope)
    assert (forgotten.returncode, [m["event"] for m in lines(forgotten.stdout)[0]["memory"]]) == (0, ["DELETE"])
    assert current() == ["I like chess."]
    restored = shared.cli("restore", "1", "--revision", "1", scope=scope)
    assert (restored.returncode, restored.stderr) == (0, "1 memory changed\n")
    assert restored.stdout.startswith("UPDATE #1 I live in Bonn.")
    assert current() == ["I live in Bonn.", "I like chess."]
    assert current("--as-of", "2026-03-02T10:01:30Z") == ["I moved to Kiel."]
    before = lines(shared.cli("changes", "--json", scope=scope).stdout)[3]["recordedAt"]
    assert current("--known-at", before) == ["I like chess."]
    every = shared.cli("forget", "--all", "--json", scope=scope)
    assert [m["id"] for m in lines(every.stdout)[0]["memory"]] == [1, 2]
    exported = lines(shared.cli("export", scope=scope).stdout)
    assert [event["event"] for event in exported] == ["ADD", "UPDATE", "ADD", "DELETE", "UPDATE", "DELETE", "DELETE"]
    assert exported == lines(shared.cli("changes", "--json", scope=scope).stdout)


def test_the_command_line_judges_results_and_shows_what_was_said_of_them(shared: Deployment, scope: Scope) -> None:
    for text in ("I live in Bonn.", "I like chess."):
        assert shared.cli("say", text, scope=scope).returncode == 0

    judged = shared.cli("feedback", "1", "--helpful", "--query", "Where do I live?", scope=scope)
    assert (judged.returncode, judged.stderr) == (0, "")
    assert judged.stdout == "NONE   #1 I live in Bonn.  (Judged helpful.)\n"
    partly = shared.cli("feedback", "2", "987", "--withdraw", "--json", scope=scope)
    assert (partly.returncode, [m["id"] for m in lines(partly.stdout)[0]["memory"]]) == (1, [2])
    assert "there is no memory 987 of" in partly.stderr
    told = lines(shared.cli("changes", "--event", "NONE", "--json", scope=scope).stdout)
    assert [event["metadata"]["feedback"] for event in told] == [
        {"value": "helpful", "query": "Where do I live?"},
        {"value": "withdrawn"},
    ]
    assert shared.cli("changes", scope=scope).stdout.splitlines()[2].endswith("#1 I live in Bonn.  (Judged helpful.)")
    assert shared.cli("feedback", "987", "--used", scope=scope).returncode == 1
    for wrong in (["1"], ["--used"], ["1", "--used", "--helpful"], ["0", "--used"], ["x", "--used"]):
        assert shared.cli("feedback", *wrong, scope=scope).returncode == 2


def test_the_command_line_asks_for_turns_with_what_was_said_before_and_has_answers_explained(
    shared: Deployment, scope: Scope
) -> None:
    for minute, text in enumerate(("I live in Bonn.", "I moved to Kiel.")):
        assert shared.cli("say", text, "--at", f"2026-03-02T10:0{minute}:00Z", scope=scope).returncode == 0

    asked = shared.cli("ask", "Where do I live now?", "--explain", "--json", "--preset", "high_recall", scope=scope)
    (reply,) = lines(asked.stdout)
    why = reply["results"][0]["explanation"]
    assert (asked.returncode, reply["results"][0]["id"], why["old_memory"]) == (0, "1", "I live in Bonn.")
    assert (why["revision"], len(why["sourceTurnIds"])) == (2, 1)

    shown = shared.cli("ask", "Where do I live now?", "--explain", scope=scope)
    head, *rows = shown.stdout.splitlines()
    assert head.split()[:7] == ["#", "id", "score", "semantic", "keyword", "hybrid", "rerank"]
    assert "2, was: I live in Bonn." in " ".join(" ".join(rows).split())

    follow_up = ("ask", "Since when?", "--kind", "episode", "--json")
    said = shared.cli(*follow_up, "--history", "Do I live in Kiel?", scope=scope)
    first, *_ = lines(said.stdout)[0]["results"]
    assert (first["id"].partition(":")[0], first["text"]) == ("turn", "I moved to Kiel.")
    assert lines(shared.cli(*follow_up, scope=scope).stdout)[0]["results"] == []
    told = shared.cli("ask", "Where do I live?", "--rerank", scope=scope)
    assert (told.returncode, told.stderr) == (0, "degraded: rerank: no reranker is configured\n")


async def test_the_client_asks_with_all_that_a_question_may_have(memory: MemoryClient) -> None:
    await memory.publish_and_wait("I moved to Kiel.")

    reply = await memory.ask(
        "And where is that?",
        kinds=["knowledge", "episode"],
        history=["Tell me about Kiel.", HistoryTurn(role="assistant", content="A city.")],
        used=[1, "turn:x"],
        explain=True,
        rerank=False,
        threshold=0.1,
    )

    assert reply.results
    assert all(result.explanation for result in reply.results)
    assert reply.degraded == ("used: episodes and external documents are not judged",)
    event = await anext(memory.changes(follow=True, events=["NONE"]))
    assert (event.id, event.feedback and event.feedback.value) == (1, "used")


def test_a_change_of_what_is_not_there_is_a_failure_that_names_it(shared: Deployment, scope: Scope) -> None:
    for arguments in (["forget", "987"], ["restore", "987"], ["restore", "987", "--revision", "2"]):
        done = shared.cli(*arguments, scope=scope)
        assert (done.returncode, done.stdout) == (1, "")
        assert "not_found" in done.stderr
        assert "987" in done.stderr
    for wrong in (["forget"], ["forget", "1", "--all"], ["forget", "0"], ["restore"], ["restore", "x"]):
        assert shared.cli(*wrong, scope=scope).returncode == 2


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


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
