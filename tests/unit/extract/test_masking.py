"""Masking: what is a secret by its shape, and what only speaks of one."""

from datetime import UTC, datetime

import pytest

from schemas.commands import CallContext, CallMetadata, Command, ExistingMemory
from schemas.conversation import Scope, Turn
from schemas.facts import Masked
from streams.extract import mask, mask_command, mask_turn

LONG = "a1b2c3d4e5f6" * 6
SECRETS = [
    ("cloud_key", "AKIA" + "A1B2C3D4E5F6G7H8"),
    ("cloud_key", "AIza" + LONG[:35]),
    ("access_token", "ghp_" + LONG[:36]),
    ("access_token", "github_pat_" + LONG[:40]),
    ("access_token", "glpat-" + LONG[:20]),
    ("access_token", "hf_" + LONG[:34]),
    ("access_token", "npm_" + LONG[:36]),
    ("access_token", "xoxb-" + LONG[:24]),
    ("api_key", "sk-test-" + LONG[:24]),
    ("payment_key", "sk_live_" + LONG[:24]),
    ("webhook", "https://hooks.slack.com/services/T00000000/B00000000/" + LONG[:24]),
    ("jwt", f"eyJ{LONG[:20]}.{LONG[:30]}.{LONG[:43]}"),
    ("private_key", f"-----BEGIN PRIVATE KEY-----\n{LONG[:64]}\n-----END PRIVATE KEY-----"),
    ("private_key", f"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n{LONG}\n-----END RSA PRIVATE KEY-----"),
    ("card", "4111 1111 1111 1111"),
    ("iban", "DE89 3704 0044 0532 0130 00"),
]
KEY = "AKIA" + "A1B2C3D4E5F6G7H8"
IN_CONTEXT = [
    ("password", "My password is Hunter2xx.", "Hunter2xx"),
    ("password", "Passwort: geheim99!", "geheim99"),
    ("password", "La contraseña del wifi es gato2024", "gato2024"),
    ("password", "Le mot de passe est chat2024", "chat2024"),
    ("password", "密码是abc12345。", "abc12345"),
    ("password", "pwd=abc123xyz", "abc123xyz"),
    ("password", '{"api_key": "abcd1234efgh"}', "abcd1234efgh"),
    ("password", "postgres://stock:s3cretpw@db.example:5432/stock", "s3cretpw"),
    ("bearer_token", f"Authorization: Bearer {LONG[:30]}", LONG[:30]),
    ("pin", "My PIN is 4711.", "4711"),
    ("password", "The token password is Hunter2xx.", "Hunter2xx"),
    ("password", "The secret of the old shed: Hunter2xx", "Hunter2xx"),
    ("password", "The token is password is Hunter2xx", "Hunter2xx"),
    ("password", "My password is is Hunter2xx", "Hunter2xx"),
    ("password", "The password is password: Hunter2xx", "Hunter2xx"),
    ("password", "비밀번호 우리집은 abc12345", "abc12345"),
    ("password", "パスワードは、abc12345", "abc12345"),
]
HARMLESS = [
    "The database needs a password.",
    "The wifi password is written on the back of the router.",
    "The passphrase is 12 words long.",
    "The token limit is 4096.",
    "My badge is number 70 and my phone number is 555 0142.",
    "Ticket 1630456000000 was closed on 2024-03-02.",
    "The key of success is patience.",
    "Our IBAN is on the invoice.",
    "Order 4111 1111 1111 1112 is not a card.",
    "Order 2111 1111 1111 1111 is not a card.",
    "Gate AB12 CDEF 1234 is shut.",
    "The password of the gate of the old mill house is abc12345",
    "The tokens and secrets are ab12cd34.",
]
SAID: dict[str, object] = {"op": "extract_and_operate", "scope": {"projectId": "p", "userId": "u"}}
KEYWORDS = [
    "token ",
    "secret token password ",
    "api key ",
    "token token token token token token token is ",
    "password a a a a ",
]


def turn(content: str, **more: object) -> Turn:
    return Turn.model_validate(
        {
            "scope": Scope(project_id="p", user_id="u"),
            "role": "user",
            "content": content,
            "timestamp": datetime(2026, 1, 1, tzinfo=UTC),
            **more,
        }
    )


@pytest.mark.parametrize(("secret", "text"), SECRETS, ids=[f"{name}-{text[:12]!r}" for name, text in SECRETS])
def test_a_secret_is_masked_by_its_shape_and_the_rest_is_kept(secret: str, text: str) -> None:
    masked, told = mask(f"The harbour gate takes {text} and is in Oslo.")

    assert text not in masked
    assert f"[masked:{secret}]" in masked
    assert masked.startswith("The harbour gate takes ")
    assert masked.endswith("is in Oslo.")
    assert [(one.secret, one.count) for one in told] == [(secret, 1)]


@pytest.mark.parametrize(("secret", "text", "value"), IN_CONTEXT, ids=[text[:20] for _, text, _ in IN_CONTEXT])
def test_a_secret_is_masked_by_the_words_before_it(secret: str, text: str, value: str) -> None:
    masked, told = mask(text)

    assert value not in masked
    assert secret in {one.secret for one in told}


@pytest.mark.parametrize("text", HARMLESS)
def test_a_text_that_only_speaks_of_secrets_survives(text: str) -> None:
    assert mask(text) == (text, ())


def test_an_email_address_is_masked_only_when_asked() -> None:
    text = "Write to jo.doe@example.org please."

    assert mask(text) == (text, ())
    assert mask(text, emails=True)[0] == "Write to [masked:email] please."


def test_a_turn_is_masked_in_all_that_it_says() -> None:
    key = SECRETS[0][1]
    masked, told = mask_turn(
        turn(
            f"It is {key}",
            name=f"Jo {key}",
            conversation_topic=f"on {key}",
            metadata={"a": {"b": [key, 1, None]}, key: "x"},
        )
    )

    assert key not in masked.encode().decode()
    assert [(one.secret, one.count) for one in told] == [("cloud_key", 5)]


def test_a_command_is_masked_in_all_that_it_says() -> None:
    key = SECRETS[2][1]
    command = Command(
        op="extract_and_operate",
        scope=Scope(project_id="p", user_id="u"),
        interaction=(f"one {key}", "two"),
        existing_memories=(ExistingMemory(id="7", text=f"it is {key}", metadata={"k": key}),),
        context=CallContext(session_id="s", conversation_topic=key),
        memory_metadata=CallMetadata.model_validate({"environment": key, "projectId": "p", "own": {"deep": key}}),
    )

    masked, told = mask_command(command)

    assert key not in masked.encode().decode()
    assert [(one.secret, one.count) for one in told] == [("access_token", 6)]
    assert masked.memory_metadata is not None
    assert masked.memory_metadata.project_id == "p"
    assert Command.decode(masked.encode()) == masked


def test_a_turn_that_says_only_its_content_is_masked_there() -> None:
    masked, told = mask_turn(turn(f"It is {SECRETS[0][1]}"))

    assert masked == turn("It is [masked:cloud_key]")
    assert [(one.secret, one.count) for one in told] == [("cloud_key", 1)]


@pytest.mark.parametrize(
    ("command", "wire"),
    [
        ({"op": "maintain"}, {}),
        (SAID | {"interaction": f"one {KEY}"}, {"interaction": "one [masked:cloud_key]"}),
        (
            SAID | {"interaction": [f"one {KEY}"], "context": {"sessionId": "s"}},
            {"interaction": ["one [masked:cloud_key]"]},
        ),
    ],
    ids=["nothing said", "one text", "a list and no topic"],
)
def test_what_a_command_does_not_say_is_not_masked(command: dict[str, object], wire: dict[str, object]) -> None:
    told = Command.model_validate(command)

    assert mask_command(told)[0].to_wire() == told.to_wire() | wire


@pytest.mark.parametrize("keywords", KEYWORDS)
def test_a_long_run_of_keywords_hides_no_secret_behind_it(keywords: str) -> None:
    run = keywords * 2_000

    assert mask(f"{run}password is Hunter2xx") == (
        f"{run}password is [masked:password]",
        (Masked(secret="password", count=1),),
    )


def test_metadata_nested_beyond_reason_is_replaced_as_a_whole() -> None:
    nested: object = "x"
    for _ in range(80):
        nested = [nested]

    masked, _ = mask_turn(turn("x y", metadata={"deep": nested}))

    assert "[masked:nested]" in masked.encode().decode()
