"""The contract of extract-and-operate: what can be told has its effect, and what is promised is filled."""

import json
import re
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from schemas.commands import Command
from schemas.errors import InvalidMessage
from schemas.memory import MemoryEvent
from tests.contract.world import World, scope_in, way_back

SCOPE = scope_in(0)
QUESTION = "How do I create a React hook for async operations?"
ANSWER = """You can create a custom hook like this:

const useAsync = (asyncFunction) => {
  const [data, setData] = useState(null);

  useEffect(() => {
    asyncFunction()
      .then(setData);
  }, [asyncFunction]);

  return { data };
};

This pattern is useful for API calls and other async operations."""
TRANSCRIPTS: dict[str, Any] = {
    "one text": f'User: "{QUESTION}"\nAssistant: "{ANSWER}"',
    "a list with names": [f"User: {QUESTION}", f"Assistant: {ANSWER}"],
    "a list without names": [QUESTION, ANSWER],
}
EFFECT = "React useEffect runs after every render"
BETTER = f"{EFFECT} by default, but you can control when it runs using the dependency array"
REPORT: dict[str, type | tuple[type, ...]] = {
    "success": bool,
    "extraction.extracted": int,
    "extraction.skipped": int,
    "extraction.facts.id": str,
    "extraction.facts.preview": str,
    "extraction.facts.metadata.hasCodeBlock": bool,
    "extraction.facts.metadata.hasCommand": bool,
    "extraction.facts.metadata.length": int,
    "memory.id": int,
    "memory.text": str,
    "memory.event": str,
    "memory.tags": list,
    "memory.confidence": (int, float),
    "memory.reasoning": str,
    "memory.code_pattern": str,
    "summary.factPreview": str,
    "summary.action": str,
    "summary.confidence": (int, float),
    "summary.reason": str,
    "summary.targetId": int,
    "timestamp": str,
}
PAYLOAD: dict[str, type | tuple[type, ...]] = {
    "id": int,
    "text": str,
    "tags": list,
    "confidence": (int, float),
    "reasoning": str,
    "event": str,
    "timestamp": str,
    "version": int,
    "domain": str,
    "sourceSessionId": str,
    "qualitySource": str,
    "code_pattern": str,
}


@dataclass
class Call:
    """One deployment that is called, and what it answered."""

    world: World
    answers: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    async def __call__(self, interaction: Any, **fields: Any) -> dict[str, Any]:
        """Send the seed's input as any program does, with wire names; the one answer."""
        ask = f"call-{len(self.answers)}"
        value = {"op": "extract_and_operate", "scope": SCOPE.to_wire(), "interaction": interaction, **fields}
        self.world.topics.append("commands", 0, SCOPE.key, json.dumps(value).encode(), way_back(ask))
        return await self._answered(ask)

    async def turn(self, content: str) -> dict[str, Any]:
        ask = f"call-{len(self.answers)}"
        self.world.say(SCOPE, content, ask=ask)
        return await self._answered(ask)

    async def _answered(self, ask: str) -> dict[str, Any]:
        await self.world.settle(await self.world.worker())
        told = {json.dumps(one): one for one in self.world.answers(ask)}  # the same again: all was handled again
        (answer,) = told.values()
        self.answers.append(answer)
        return answer[1]

    def events(self) -> list[MemoryEvent]:
        return self.world.changes()


@pytest.fixture
async def call(tmp_path: Path) -> Call:
    return Call(await World.make(tmp_path / "lake"))


def at(told: Any, path: str) -> Any:
    """What stands at a dotted path; of a list, in its first element."""
    for name in path.split("."):
        told = (told[0] if isinstance(told, list) else told)[name]
    return told


@pytest.mark.parametrize("interaction", TRANSCRIPTS.values(), ids=TRANSCRIPTS)
async def test_a_question_and_its_answer_by_code_are_one_memory_with_tags_and_code(
    call: Call, interaction: Any
) -> None:
    report = await call(interaction)

    (memory,) = report["memory"]
    assert memory["event"] == "ADD"
    assert {"react", "hooks", "async", "usestate", "useeffect"} <= set(memory["tags"])
    assert "useAsync" in memory["text"]
    assert memory["code_pattern"].startswith("const useAsync = (asyncFunction) => {")
    assert 0.5 <= memory["confidence"] <= 1
    (event,) = call.events()
    assert (event.domain, event.version, event.role) == ("frontend", 2, "assistant")


async def test_better_information_is_an_update_that_keeps_the_text_before(call: Call) -> None:
    await call(EFFECT)
    report = await call(BETTER)

    (memory,) = report["memory"]
    assert (memory["event"], memory["text"], memory["old_memory"]) == ("UPDATE", BETTER, EFFECT)
    assert "dependency array" in memory["reasoning"]
    assert {"react", "useeffect"} <= set(memory["tags"])
    assert report["summary"] == [
        {
            "factPreview": BETTER[:80],
            "action": "UPDATE",
            "confidence": memory["confidence"],
            "reason": memory["reasoning"],
            "targetId": memory["id"],
        }
    ]
    assert call.events()[-1].old_memory == EFFECT


async def test_every_promised_field_is_filled_whenever_it_is_known(call: Call) -> None:
    report = await call(TRANSCRIPTS["one text"], context={"sessionId": "s1"})
    (event,) = [json.loads(one.encode()) for one in call.events()]

    for told, promised in ((report, REPORT), (event, PAYLOAD)):
        wrong = {path: at(told, path) for path, kind in promised.items() if not isinstance(at(told, path), kind)}
        assert wrong == {}
    assert event["version"] == 2
    assert event["qualitySource"] in {"similarity", "llm", "heuristic"}
    assert event["sourceSessionId"] == "s1"
    for moment in (report["timestamp"], event["timestamp"]):
        assert datetime.fromisoformat(moment).tzinfo is not None


async def test_the_form_of_a_fact_is_told(call: Call) -> None:
    text = "To restart the worker of the shop, run `systemctl restart shop-worker`."
    report = await call([text, QUESTION, "The red kiln fires at 1060 degrees, which is " + "very " * 30 + "hot."])

    command, long = report["extraction"]["facts"]
    assert command["metadata"] == {"hasCodeBlock": False, "hasCommand": True, "length": len(text)}
    assert command["preview"] == text
    assert long["metadata"]["hasCommand"] is False
    assert long["preview"].endswith("...")
    assert len(long["preview"]) == 103
    assert (report["extraction"]["extracted"], report["extraction"]["skipped"]) == (2, 1)
    assert report["extraction"]["reasons"] == ["question"]
    assert len(report["memory"]) == len(report["summary"]) == 2


async def test_the_first_memory_is_sure_of_itself_by_what_it_says(call: Call) -> None:
    plain = (await call("I live in Tavira."))["memory"][0]["confidence"]
    vague = (await call("It was nice to be there with them again."))["memory"]

    assert plain > 0.5
    assert not vague or 0 < vague[0]["confidence"] < plain


async def test_what_the_caller_knows_is_a_candidate_of_that_call_only(call: Call) -> None:
    known = [{"id": "m-17", "text": "I live in Tavira.", "metadata": {"source": "wiki"}}]

    agrees = await call("I live in Tavira.", existingMemories=known)
    contradicts = await call("I live in Braga.", existingMemories=known)
    again = await call("I play the cello.")

    assert [one["event"] for one in agrees["memory"]] == ["NONE"]
    assert agrees["summary"][0]["targetId"] == 0
    assert [one["event"] for one in contradicts["memory"]] == ["ADD"]
    assert "Tavira" in contradicts["memory"][0]["reasoning"]
    assert [one["event"] for one in again["memory"]] == ["ADD"]
    assert [event.text for event in call.events() if event.event != "NONE"] == ["I live in Braga.", "I play the cello."]


async def test_the_context_says_where_it_comes_from_and_never_whose_it_is(call: Call) -> None:
    context = {"sessionId": "s9", "userId": "somebody else", "projectId": "elsewhere", "conversationTopic": "boats"}

    await call("My boat is called Runa.", context=context)

    (event,) = call.events()
    assert (event.source_session_id, event.scope) == ("s9", SCOPE)
    (record,) = call.world.facts()
    assert record.to_wire()["command"]["context"] == context


async def test_metadata_of_the_callers_own_lies_beside_each_memory(call: Call) -> None:
    metadata = {"projectId": "p1", "userId": "u1", "environment": "staging", "team": {"name": "checkout", "size": 4}}

    await call("My boat is called Runa. I live in Tavira.", memoryMetadata=metadata)

    assert [event.metadata for event in call.events()] == [metadata, metadata]
    assert [row.event.metadata for row in await call.world.rows()] == [metadata, metadata]


async def test_deleting_must_be_enabled_for_a_command(call: Call) -> None:
    await call("My phone number is 555 0142.")

    kept = await call("Please forget my phone number.")
    deleted = await call("Please forget my phone number.", options={"enableDeleteOperations": True})

    assert [(one["event"], one["id"]) for one in kept["memory"]] == [("NONE", 1)]
    assert "not enabled" in kept["memory"][0]["reasoning"]
    assert [(one["event"], one["id"]) for one in deleted["memory"]] == [("DELETE", 1)]
    assert deleted["memory"][0]["old_memory"] == "My phone number is 555 0142."


@pytest.mark.parametrize(("deletes", "event"), [(True, "DELETE"), (False, "NONE")])
async def test_a_turn_deletes_unless_the_setting_says_no(call: Call, deletes: bool, event: str) -> None:
    call.world.settings = call.world.settings.model_copy(update={"turn_deletes": deletes})
    await call.turn("My phone number is 555 0142.")

    report = await call.turn("Please forget my phone number.")

    assert [one["event"] for one in report["memory"]] == [event]


@pytest.mark.parametrize("threshold", [0, 0.5, 1])
async def test_the_threshold_in_force_is_told_with_the_decision(call: Call, threshold: float) -> None:
    await call("I live in Tavira.", options={"similarityThreshold": threshold})
    await call("I play the cello.")

    assert [event.decision.threshold for event in call.events()] == [threshold, 0.8]


@pytest.mark.parametrize("most", [1, 3, 20])
async def test_no_more_candidates_are_held_against_a_fact_than_asked_for(call: Call, most: int) -> None:
    for number in range(25):
        call.world.say(SCOPE, f"The oven number {number} bakes rye bread at 24{number} degrees.")
    await call("The oven number 77 bakes rye bread at 999 degrees.", options={"maxSimilarResults": most})

    assert len(call.events()[-1].decision.candidates) <= most


async def test_a_model_that_is_asked_for_and_not_there_is_told(call: Call) -> None:
    report = await call("I live in Tavira.", options={"useLLMDecisions": True})

    assert report["success"] is True
    assert [one["event"] for one in report["memory"]] == ["ADD"]
    assert any("llm" in reason for reason in report["degraded"])


@pytest.mark.parametrize(
    "fields",
    [
        {"options": {"maxSimilarResults": 21}},
        {"options": {"similarityThreshold": 1.5}},
        {"memoryMetadata": {"environment": 7}},
        {"existingMemories": [{"text": "no id"}]},
        {"interaction": " "},
    ],
    ids=str,
)
async def test_what_fails_is_no_success_and_names_its_field(call: Call, fields: dict[str, Any]) -> None:
    await call(**{"interaction": "I live in Tavira.", **fields})

    ((kind, error),) = call.answers
    assert (kind, error["success"], error["code"]) == ("error", False, "invalid_request")
    (name,) = fields
    assert error["field"].startswith(name)
    assert error["message"].startswith(error["field"])
    assert call.events() == []


OPTIONS: dict[str, tuple[list[Any], list[Any]]] = {
    "similarityThreshold": ([0, 0.0, 0.8, 1, 1.0], [-0.01, 1.01, 20, "0.8", True, False, None, [], {}]),
    "maxSimilarResults": ([1, 5, 20], [0, 21, -1, 2.5, "5", True, None, []]),
    "useLLMDecisions": ([True, False], [0, 1, "true", "yes", None, []]),
    "enableDeleteOperations": ([True, False], [0, 1, "false", "no", None, {}]),
}
"""For each option what is right and what is wrong."""


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_takes_what_is_in_its_range_and_an_error_names_it(name: str) -> None:
    right, wrong = OPTIONS[name]
    for value in right:
        options = Command.decode(_with({name: value})).options.to_wire()
        assert options[name] == value
    for value in wrong:
        with pytest.raises(InvalidMessage, match=re.escape(f"options.{name}: ")) as refused:
            Command.decode(_with({name: value}))
        assert refused.value.field == f"options.{name}"


def test_options_that_are_left_out_have_their_defaults() -> None:
    defaults = {
        "similarityThreshold": 0.8,
        "maxSimilarResults": 5,
        "useLLMDecisions": False,
        "enableDeleteOperations": False,
    }

    assert Command.decode(_with({})).options.to_wire() == defaults
    with pytest.raises(InvalidMessage) as refused:
        Command.decode(_with(None))
    assert refused.value.field == "options"


def _with(options: Any) -> bytes:
    value = {"op": "extract_and_operate", "scope": SCOPE.to_wire(), "interaction": "x y z", "options": options}
    return json.dumps(value).encode()
