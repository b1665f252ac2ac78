"""Settings: faults told all at once, secrets never, misspelt names with what they may have meant."""

from pathlib import Path

import pytest

from schemas.errors import Misconfigured
from streams.app import build_app
from streams.settings import PREFIX, Settings, setting_rows, unknown_settings

SECRET = "hunter2-hunter2"
SASL = {
    "MEMLAKE_SECURITY_PROTOCOL": "SASL_PLAINTEXT",
    "MEMLAKE_SASL_USERNAME": "ann",
    "MEMLAKE_SASL_PASSWORD": SECRET,
}
MODEL = {"LLM_URL": "http://127.0.0.1:8080/v1", "LLM_MODEL": "m"}
FAULTS: list[tuple[dict[str, str], list[str]]] = [
    ({"PARTITIONS": "0", "BATCH_SIZE": "many", "NAME": "a b"}, ["PARTITIONS", "BATCH_SIZE", "NAME"]),
    ({"BROKER": "localhost"}, ["BROKER"]),
    ({"BROKER": "localhost:0"}, ["BROKER"]),
    ({"BROKER": "a:1,b"}, ["BROKER"]),
    ({"BROKER": ":9092"}, ["BROKER"]),
    ({"BROKER": "a:99999"}, ["BROKER"]),
    ({"SECURITY_PROTOCOL": "TLS"}, ["SECURITY_PROTOCOL"]),
    ({"SECURITY_PROTOCOL": "SASL_SSL"}, ["SASL_USERNAME", "SASL_PASSWORD"]),
    ({"SECURITY_PROTOCOL": "SASL_SSL", "SASL_USERNAME": "ann"}, ["SASL_PASSWORD"]),
    ({"SASL_USERNAME": "ann"}, ["credentials would not be used"]),
    ({"SASL_PASSWORD": SECRET}, ["credentials would not be used"]),
    ({"SECURITY_PROTOCOL": "SSL", "SSL_CA_FILE": "/no/such/file"}, ["SSL_CA_FILE"]),
    ({"FAULT": "Rm -rf"}, ["FAULT"]),
    ({"SIMILARITY_THRESHOLD": "1.1"}, ["SIMILARITY_THRESHOLD"]),
    ({"RERANK_POOL": "0"}, ["RERANK_POOL"]),
    ({"RERANK_POOL": "51"}, ["RERANK_POOL"]),
    ({"RETRY_MAX_S": "nan"}, ["RETRY_MAX_S"]),
    ({"PROJECT": "x" * 257}, ["PROJECT"]),
    ({"LLM_USE": "both"}, ["LLM_USE", "LLM_URL"]),
    ({"LLM_USE": "sometimes"}, ["LLM_USE"]),
    ({"LLM_URL": "http://h/v1"}, ["LLM_MODEL"]),
    ({"LLM_URL": "localhost:8080", "LLM_MODEL": "m"}, ["LLM_URL"]),
    ({"LLM_URL": f"http://ann:{SECRET}@h/v1", "LLM_MODEL": "m"}, ["LLM_URL"]),
    (MODEL | {"LLM_TIMEOUT_S": "9"}, ["LLM_TIMEOUT_S", "LLM_DEADLINE_S"]),
    (MODEL | {"LLM_DEADLINE_S": "11"}, ["LLM_DEADLINE_S", "LLM_BUDGET_S"]),
    (MODEL | {"LLM_BUDGET_S": "21"}, ["LLM_BUDGET_S", "UNHEALTHY_AFTER_S"]),
    (MODEL | {"LLM_BUDGET_S": "121", "UNHEALTHY_AFTER_S": "200"}, ["LLM_BUDGET_S"]),
]


@pytest.mark.parametrize(("given", "told"), FAULTS, ids=lambda value: str(value)[:50])
def test_every_fault_is_told_with_the_name_of_its_variable(given: dict[str, str], told: list[str]) -> None:
    with pytest.raises(Misconfigured) as refused:
        Settings.from_env({PREFIX + name: value for name, value in given.items()})

    assert all(name in str(refused.value) for name in told)
    assert str(refused.value).startswith(PREFIX)
    assert SECRET not in str(refused.value)


def test_all_faults_are_told_together_a_line_each() -> None:
    given = {"MEMLAKE_PARTITIONS": "x", "MEMLAKE_BATCH_SIZE": "-1", "MEMLAKE_LOG_LEVEL": "loud"}

    with pytest.raises(Misconfigured) as refused:
        Settings.from_env(given)

    assert [line.partition(":")[0] for line in str(refused.value).splitlines()] == [
        "MEMLAKE_PARTITIONS",
        "MEMLAKE_BATCH_SIZE",
        "MEMLAKE_LOG_LEVEL",
    ]


def test_nothing_given_is_the_defaults_and_an_empty_value_is_too() -> None:
    assert Settings.from_env({}) == Settings.from_env({"MEMLAKE_PARTITIONS": "", "PATH": "/bin", "PARTITIONS": "9"})


def test_what_is_given_is_read() -> None:
    settings = Settings.from_env(SASL | {"MEMLAKE_BROKER": "a:1, b:2", "MEMLAKE_TURN_DELETES": "false"})

    assert (settings.broker, settings.turn_deletes) == ("a:1, b:2", False)
    assert settings.sasl_password.get_secret_value() == SECRET


def test_a_secret_is_never_shown() -> None:
    settings = Settings.from_env(SASL | {"MEMLAKE_LLM_API_KEY": SECRET})

    shown = [repr(settings), str(settings), *map(repr, setting_rows(settings, SASL)), settings.model_dump_json()]

    assert not [text for text in shown if SECRET in text]


def test_a_secret_is_masked_wherever_else_it_was_put() -> None:
    given = {"MEMLAKE_LAKE": f"s3://ann:{SECRET}@bucket/lake"}

    assert not [row for row in setting_rows(Settings.from_env(given), given) if SECRET in row.value]
    with pytest.raises(Misconfigured) as refused:
        Settings.from_env({"MEMLAKE_BROKER": f"sasl://ann:{SECRET}@host"})
    assert SECRET not in str(refused.value)


def test_every_setting_is_shown_with_unit_range_source_and_meaning() -> None:
    environ = {"MEMLAKE_PARTITIONS": "8", "MEMLAKE_LOG_LEVEL": ""}
    rows = {row.name: row for row in setting_rows(Settings.from_env(environ), environ)}

    assert set(rows) == {PREFIX + name.upper() for name in Settings.model_fields}
    assert all(row.meaning for row in rows.values())
    assert (rows["MEMLAKE_PARTITIONS"].value, rows["MEMLAKE_PARTITIONS"].source) == ("8", "environment")
    assert (rows["MEMLAKE_LOG_LEVEL"].source, rows["MEMLAKE_LOG_LEVEL"].range) == (
        "default",
        "debug | info | warning | error",
    )
    assert (rows["MEMLAKE_BATCH_BYTES"].unit, rows["MEMLAKE_BATCH_BYTES"].range) == ("bytes", "1024…1073741824")
    assert rows["MEMLAKE_RETRY_MAX_S"].range == ">0…600"


def test_a_variable_that_is_no_setting_is_told_with_what_it_may_have_meant() -> None:
    environ = {"MEMLAKE_PARTITION": "4", "MEMLAKE_BROKER": "a:1", "MEMLAKE_WXYZWXYZWXYZ": "1", "OTHER": "x"}

    assert unknown_settings(environ) == {"MEMLAKE_PARTITION": "MEMLAKE_PARTITIONS", "MEMLAKE_WXYZWXYZWXYZ": None}


def test_the_lake_lies_in_home_under_the_deployments_name_unless_told(tmp_path: Path) -> None:
    assert Settings(home=tmp_path, name="prod").lake_uri == str(tmp_path / "prod" / "lake")
    assert Settings(home=tmp_path, lake="s3://bucket/lake").lake_uri == "s3://bucket/lake"


def test_the_scope_of_the_command_line_is_a_scope() -> None:
    assert Settings(project="shop", user="ann").scope.key == "shop/ann"


def test_the_longest_wait_for_a_model_is_far_below_the_time_after_which_kafka_takes_partitions_away(
    tmp_path: Path,
) -> None:
    longest = Settings(llm_budget_s=120, unhealthy_after_s=120, exit_after_s=10, **_model())

    app = build_app(longest, "127.0.0.1:9", str(tmp_path))

    assert longest.llm_budget_s * 4 < app.conf.broker_max_poll_interval


def _model() -> dict[str, str]:
    return {name.lower(): value for name, value in MODEL.items()}
