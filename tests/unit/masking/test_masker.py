"""The masker: made of settings, and used on all that a message says."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from schemas.commands import CallContext, CallMetadata, Command, ExistingMemory
from schemas.conversation import Scope, Turn
from schemas.errors import Misconfigured
from schemas.facts import Masked
from schemas.retrieval import SearchRequest
from streams.masking import Masker, classes_of
from streams.settings import PREFIX, Settings
from tests.planted import planted

MASKER = Masker.made()
KEY = next(one.value for one in planted(1) if one.shape == "AWS id")
SCOPE = Scope(project_id="p", user_id="u")
SAID: dict[str, object] = {"op": "extract_and_operate", "scope": {"projectId": "p", "userId": "u"}}


def turn(content: str, **more: object) -> Turn:
    said = {"scope": SCOPE, "role": "user", "content": content, "timestamp": datetime(2026, 1, 1, tzinfo=UTC)}
    return Turn.model_validate(said | more)


def test_a_turn_is_masked_in_all_that_it_says() -> None:
    metadata = {"a": {"b": [KEY, 1, None]}, KEY: "x"}

    masked, told = MASKER.message(
        turn(f"It is {KEY}", name=f"Jo {KEY}", conversation_topic=f"on {KEY}", metadata=metadata)
    )

    assert KEY not in masked.encode().decode()
    assert [(one.secret, one.count) for one in told] == [("cloud_key", 5)]
    assert Turn.decode(masked.encode()) == masked


def test_a_command_is_masked_in_all_that_it_says() -> None:
    command = Command(
        op="extract_and_operate",
        scope=SCOPE,
        interaction=(f"one {KEY}", "two"),
        existing_memories=(ExistingMemory(id="7", text=f"it is {KEY}", metadata={"k": KEY}),),
        context=CallContext(session_id="s", conversation_topic=KEY),
        memory_metadata=CallMetadata.model_validate(
            {"environment": KEY, "projectId": "p", "own": {"deep": KEY}, KEY: "v"}
        ),
    )

    masked, told = MASKER.message(command)

    assert KEY not in masked.encode().decode()
    assert [(one.secret, one.count) for one in told] == [("cloud_key", 7)]
    assert masked.memory_metadata is not None
    assert masked.memory_metadata.to_wire() == {
        "projectId": "p",
        "environment": "[masked:cloud_key]",
        "own": {"deep": "[masked:cloud_key]"},
        "[masked:cloud_key]": "v",
    }
    assert Command.decode(masked.encode()) == masked


def test_a_question_is_masked_with_the_turns_before_it() -> None:
    asked = SearchRequest.from_wire(
        {"scope": SCOPE, "query": f"Is it {KEY}?", "history": [{"role": "user", "content": KEY}], "used": ["m1"]}
    )

    masked, _ = MASKER.message(asked)

    assert (masked.query, masked.history[0].content) == ("Is it [masked:cloud_key]?", "[masked:cloud_key]")
    assert masked.used == ("m1",)


@pytest.mark.parametrize(
    ("command", "wire"),
    [
        ({"op": "maintain"}, {}),
        (SAID | {"interaction": f"one {KEY}"}, {"interaction": "one [masked:cloud_key]"}),
        (
            SAID | {"interaction": [f"one {KEY}"], "context": {"sessionId": "s"}},
            {"interaction": ["one [masked:cloud_key]"]},
        ),
        ({"op": "forget", "scope": SAID["scope"], "id": 4111111111111111}, {}),
    ],
    ids=["nothing said", "one text", "a list and no topic", "an id"],
)
def test_what_a_command_does_not_say_is_not_masked(command: dict[str, object], wire: dict[str, object]) -> None:
    told = Command.model_validate(command)

    assert MASKER.message(told)[0].to_wire() == told.to_wire() | wire


def test_ids_stay_as_they_are() -> None:
    said = turn("x y", turn_id=KEY, session_id=KEY, agent_id=KEY)

    assert MASKER.message(said) == (said, ())


@pytest.mark.parametrize(
    ("data", "masked"),
    [
        ({"password": "swordfish"}, {"password": "[masked:password]"}),
        ({"dbPassword": "two words 7!"}, {"dbPassword": "[masked:password]"}),
        ({"pin": 4711, "cvv": "123"}, {"pin": "[masked:pin]", "cvv": "[masked:card]"}),
        ({"api_key": "abcd1234efgh"}, {"api_key": "[masked:password]"}),
        ({"passwords": ["swordfish", None, True]}, {"passwords": ["[masked:password]", None, True]}),
        ({"secret": {"of": ["abcd1234"]}}, {"secret": {"of": ["[masked:password]"]}}),
        ([{"name": "DB_PASSWORD", "value": "swordfish"}], [{"name": "DB_PASSWORD", "value": "[masked:password]"}]),
        ({"key": 7, "value": "swordfish"}, {"key": 7, "value": "swordfish"}),
        ({"password": "required", "token": "hello", "tokens": 4096}, None),
        ({"password_min_length": 8, "has_password": True, "password": ""}, None),
        ({"password": "[masked:password]"}, None),
        ({"note": "The database needs a password."}, None),
    ],
    ids=str,
)
def test_the_name_of_a_value_says_that_it_is_a_secret(data: Any, masked: Any) -> None:
    assert MASKER.data(data)[0] == (data if masked is None else masked)


def test_data_nested_beyond_reason_is_replaced_as_a_whole() -> None:
    nested: object = "x"
    for _ in range(80):
        nested = [nested]

    masked, _ = MASKER.message(turn("x y", metadata={"deep": nested}))

    assert "[masked:nested]" in masked.encode().decode()


def test_a_mask_that_is_longer_than_what_it_hides_leaves_a_field_within_its_length() -> None:
    said = turn("x y", name=" ".join(["CVV 123"] * 32), conversation_topic=" ".join(["CVV 123"] * 128))

    masked, _ = MASKER.message(said)

    assert masked.name is not None
    assert len(masked.name) == 256
    assert Turn.decode(masked.encode()) == masked


@pytest.mark.parametrize("names", ["card,iban", "card, iban", " iban card ", "card,,iban,card"])
def test_classes_are_told_by_name_with_commas_or_blanks(names: str) -> None:
    assert set(classes_of(names)) == {"card", "iban"}


def test_what_is_off_is_not_masked_and_everything_else_is() -> None:
    masker = Masker.made(off=["password", "card"])

    assert masker.text(f"My password is Hunter2xx and {KEY}") == "My password is Hunter2xx and [masked:cloud_key]"
    assert masker.data({"password": "swordfish", "cvv": 123, "pin": 4711})[0] == {
        "password": "swordfish",
        "cvv": 123,
        "pin": "[masked:pin]",
    }
    assert {one.name for one in masker.classes if not one.on} >= {"password", "card"}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"MASK_OFF": "passwords"}, ["MASK_OFF", "'passwords'", "password", "iban"]),
        ({"MASK_ON": "e-mail"}, ["MASK_ON", "'e-mail'", "email"]),
        ({"MASK_ON": "email", "MASK_OFF": "email"}, ["MASK_OFF, MASK_ON", "'email'"]),
        ({"MASK_RULES": "/no/such/file.yaml"}, ["MASK_RULES", "/no/such/file.yaml"]),
    ],
    ids=str,
)
def test_wrong_settings_are_refused_with_what_there_is(given: dict[str, str], told: list[str]) -> None:
    with pytest.raises(Misconfigured) as refused:
        Settings.from_env({PREFIX + name: value for name, value in given.items()})

    assert [word for word in told if word not in str(refused.value)] == []


def test_settings_make_the_masker(tmp_path: Path) -> None:
    rules = tmp_path / "rules.yaml"
    rules.write_text(json.dumps({"version": 1, "rules": [{"secret": "badge", "pattern": "BDG-\\d{6}"}]}))

    masker = Settings.from_env(
        {"MEMLAKE_MASK_ON": "email", "MEMLAKE_MASK_OFF": "card", "MEMLAKE_MASK_RULES": str(rules)}
    ).masker()

    assert masker.mask("jo@example.org has BDG-123456 and 4111 1111 1111 1111") == (
        "[masked:email] has [masked:badge] and 4111 1111 1111 1111",
        (Masked(secret="badge", count=1), Masked(secret="email", count=1)),
    )


def test_a_file_of_rules_that_is_no_text_is_refused(tmp_path: Path) -> None:
    rules = tmp_path / "rules.yaml"
    rules.write_bytes(b"\xff\xfe")

    with pytest.raises(Misconfigured, match="MASK_RULES"):
        Settings.from_env({"MEMLAKE_MASK_RULES": str(rules)})
