"""The compose file and the image: what an engine would refuse, or accept and then run wrongly, is refused here."""

import importlib.metadata
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from streams.settings import PREFIX, Settings

ROOT = Path(__file__).parents[2]
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
BROKERS = {name: service for name, service in SERVICES.items() if name.startswith("kafka-")}
WORKERS = {name: service for name, service in SERVICES.items() if name.startswith("worker-")}
ONE_SHOTS = {"topics"}
NAMING_SETTINGS = ("docker-compose.yml", "Dockerfile")
DOCKERFILE = re.sub(r"\\\n\s*", "", (ROOT / "Dockerfile").read_text())
RUNTIME_STAGE = DOCKERFILE.rpartition("\nFROM ")[2]

each_service = pytest.mark.parametrize("name", SERVICES)
each_broker = pytest.mark.parametrize("name", BROKERS)


def _kafka(name: str, setting: str) -> str:
    return str(BROKERS[name]["environment"][f"KAFKA_{setting}"])


def _listeners(name: str, setting: str) -> dict[str, tuple[str, int]]:
    """``NAME://host:port,…`` as a dictionary."""
    found = re.findall(r"(\w+)://([^:,]*):(\d+)", _kafka(name, setting))
    return {listener: (host, int(port)) for listener, host, port in found}


def _published(service: dict[str, Any]) -> list[tuple[str, int, int]]:
    """Address, port on the host and port in the container of each published port."""
    return [(host, int(outer), int(inner)) for host, outer, inner in (p.split(":") for p in service.get("ports", []))]


def test_the_compose_file_fits_the_compose_specification() -> None:
    carrier = importlib.metadata.distribution("check-jsonschema")
    vendored = Path(str(carrier.locate_file("check_jsonschema/builtin_schemas/vendor/compose-spec.json")))
    schema = json.loads(vendored.read_text(encoding="utf-8"))
    validator = jsonschema.Draft202012Validator(schema)
    assert [error.message for error in validator.iter_errors(COMPOSE)] == []


def test_three_brokers_two_workers_and_one_step_that_declares_topics_make_the_deployment() -> None:
    assert (len(BROKERS), len(WORKERS), ONE_SHOTS) == (3, 2, SERVICES.keys() - BROKERS.keys() - WORKERS.keys())


@pytest.mark.parametrize("file", NAMING_SETTINGS)
def test_every_setting_named_in_a_deployment_file_exists(file: str) -> None:
    named = set(re.findall(rf"{PREFIX}([A-Z_]+)", (ROOT / file).read_text()))
    assert named
    assert {name for name in named if name.lower() not in Settings.model_fields} == set()


@pytest.mark.parametrize("name", [*WORKERS, *ONE_SHOTS])
def test_the_settings_of_each_service_are_accepted(name: str) -> None:
    environment = {key: str(value) for key, value in SERVICES[name]["environment"].items()}
    settings = Settings.from_env(environment)
    assert settings.replication <= len(BROKERS)


@each_service
def test_every_service_says_whether_it_is_well_or_runs_once(name: str) -> None:
    health = SERVICES[name]["healthcheck"]
    expected = {"disable": True} if name in ONE_SHOTS else health | {"test": ["CMD", *health["test"][1:]]}
    assert health == expected


@each_service
def test_every_service_comes_back_by_itself_unless_it_runs_once(name: str) -> None:
    assert SERVICES[name]["restart"] == ("no" if name in ONE_SHOTS else "unless-stopped")


@each_service
def test_published_ports_are_reachable_from_this_machine_only(name: str) -> None:
    assert {host for host, _, _ in _published(SERVICES[name])} <= {"127.0.0.1"}


def test_no_port_of_the_host_is_published_twice() -> None:
    outer = [port for service in SERVICES.values() for _, port, _ in _published(service)]
    assert len(outer) == len(set(outer))


@each_service
def test_every_volume_that_is_mounted_is_declared(name: str) -> None:
    assert {mount.split(":")[0] for mount in SERVICES[name].get("volumes", [])} <= COMPOSE["volumes"].keys()


def test_node_ids_are_unique_and_the_voters_are_the_brokers_at_their_controller_ports() -> None:
    nodes = {
        f"{_kafka(name, 'NODE_ID')}@{broker['hostname']}:{_listeners(name, 'LISTENERS')['CONTROLLER'][1]}"
        for name, broker in BROKERS.items()
    }
    assert len({node.split("@")[0] for node in nodes}) == len(BROKERS)
    assert {frozenset(_kafka(name, "CONTROLLER_QUORUM_VOTERS").split(",")) for name in BROKERS} == {frozenset(nodes)}


def test_all_brokers_are_of_one_cluster_whose_id_is_sixteen_bytes_in_base64() -> None:
    (cluster,) = {broker["environment"]["CLUSTER_ID"] for broker in BROKERS.values()}
    assert re.fullmatch(r"[A-Za-z0-9_-]{22}", cluster)


@each_broker
def test_a_broker_is_told_apart_by_its_host_name_and_keeps_its_log_on_its_own_volume(name: str) -> None:
    assert BROKERS[name]["hostname"] == name
    assert BROKERS[name]["volumes"] == [f"{name}:{_kafka(name, 'LOG_DIRS')}"]


@each_broker
def test_a_broker_advertises_what_it_listens_on_and_the_host_publishes(name: str) -> None:
    listeners, advertised = _listeners(name, "LISTENERS"), _listeners(name, "ADVERTISED_LISTENERS")
    security = dict(pair.split(":") for pair in _kafka(name, "LISTENER_SECURITY_PROTOCOL_MAP").split(","))
    controller = _kafka(name, "CONTROLLER_LISTENER_NAMES")
    assert security.keys() == listeners.keys() == advertised.keys() | {controller}
    assert advertised[_kafka(name, "INTER_BROKER_LISTENER_NAME")] == (name, listeners["INTERNAL"][1])
    assert _published(BROKERS[name]) == [("127.0.0.1", advertised["HOST"][1], listeners["HOST"][1])]


@pytest.mark.parametrize("name", [*WORKERS, *ONE_SHOTS])
def test_memlake_is_told_all_brokers_at_their_inner_addresses(name: str) -> None:
    told = SERVICES[name]["environment"]["MEMLAKE_BROKER"].split(",")
    inner = (_listeners(broker, "ADVERTISED_LISTENERS")["INTERNAL"] for broker in BROKERS)
    assert told == [f"{host}:{port}" for host, port in inner]


@each_broker
def test_a_broker_may_be_lost_without_losing_records_or_stopping_writes(name: str) -> None:
    environment = BROKERS[name]["environment"]
    copies = {int(value) for key, value in environment.items() if key.endswith("REPLICATION_FACTOR")}
    in_sync = {int(value) for key, value in environment.items() if re.search(r"MIN_(ISR|INSYNC_REPLICAS)$", key)}
    assert (copies, in_sync) == ({len(BROKERS)}, {len(BROKERS) - 1})


@each_broker
def test_a_broker_makes_no_topic_by_itself(name: str) -> None:
    assert _kafka(name, "AUTO_CREATE_TOPICS_ENABLE") == "false"


def test_workers_start_after_the_topics_which_start_after_every_broker() -> None:
    assert SERVICES["topics"]["depends_on"] == {name: {"condition": "service_healthy"} for name in BROKERS}
    for worker in WORKERS.values():
        assert worker["depends_on"] == {"topics": {"condition": "service_completed_successfully"}}


def test_both_workers_share_one_lake_where_the_settings_and_the_image_say_it_is() -> None:
    mounts = {tuple(worker["volumes"]) for worker in WORKERS.values()}
    lakes = {worker["environment"]["MEMLAKE_LAKE"] for worker in WORKERS.values()}
    assert mounts == {("lake:" + lakes.pop(),)}
    assert f"VOLUME {WORKERS['worker-1']['environment']['MEMLAKE_LAKE']}\n" in RUNTIME_STAGE


@pytest.mark.parametrize("name", WORKERS)
def test_the_health_check_asks_the_port_that_the_worker_serves_and_the_host_publishes(name: str) -> None:
    worker = WORKERS[name]
    port = worker["environment"]["MEMLAKE_WEB_PORT"]
    code = worker["healthcheck"]["test"][-1]
    assert compile(code, name, "exec")
    assert f'"127.0.0.1", {port}' in code
    assert [inner for _, _, inner in _published(worker)] == [port]


@pytest.mark.parametrize("name", WORKERS)
def test_a_worker_has_longer_to_stop_than_its_batch_needs(name: str) -> None:
    assert int(WORKERS[name]["stop_grace_period"].removesuffix("s")) > Settings().stop_timeout_s


def test_the_image_runs_the_worker_as_an_ordinary_user_that_checks_its_health() -> None:
    user = re.findall(r"^USER (\S+)$", RUNTIME_STAGE, re.MULTILINE)
    entry = dict(re.findall(r"^(ENTRYPOINT|CMD) (\[.*\])$", RUNTIME_STAGE, re.MULTILINE))
    health = re.findall(r"^HEALTHCHECK .* CMD (\[.*\])$", RUNTIME_STAGE, re.MULTILINE)
    assert user == ["memlake"]
    assert {key: json.loads(value) for key, value in entry.items()} == {"ENTRYPOINT": ["memlake"], "CMD": ["worker"]}
    program, option, code = json.loads(health[0])
    assert (program, option) == ("python", "-c")
    assert compile(code, "HEALTHCHECK", "exec")
    assert "os.environ['MEMLAKE_WEB_PORT']" in code


def test_the_image_never_imports_from_the_folder_it_is_started_in() -> None:
    assert "PYTHONSAFEPATH=1" in DOCKERFILE.partition("AS builder")[0]


def test_the_image_takes_over_the_environment_and_the_model_but_nothing_that_exports() -> None:
    copied = re.findall(r"^COPY --from=builder (?:--chown=\S+ )?(\S+) (\S+)$", RUNTIME_STAGE, re.MULTILINE)
    assert copied == [(path, path) for path in ("/srv/memlake", "/var/cache/memlake")]
    assert "pip" not in RUNTIME_STAGE
    assert "MEMLAKE_CACHE=/var/cache/memlake" in DOCKERFILE


def test_the_build_sees_exactly_what_the_dockerfile_copies() -> None:
    rules = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")]
    copied = re.findall(r"^COPY (?!--)(.+) \S+$", DOCKERFILE, re.MULTILINE)
    assert rules[0] == "*"
    assert {rule[1:] for rule in rules if rule.startswith("!")} == {path for line in copied for path in line.split()}
