"""Topics on the broker: made and checked from the table in ``schemas.topics``.

Rule of this file: idempotent, and the only place that makes topics. What exists with other partitions is never
changed: the scopes would move to other shards.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import KafkaError, TopicAlreadyExistsError, for_code

from schemas.errors import MemlakeError, Misconfigured, Unavailable
from schemas.topics import TOPICS, TopicSpec, topic_name
from streams.settings import Settings
from streams.wire import connection

OF_TOPIC = 1
"""Kafka's number for a setting that was given to the topic itself."""
DAY_MS = 24 * 60 * 60 * 1000


@dataclass(frozen=True)
class TopicState:
    """A topic as it should be and as it is.

    Attributes:
        partitions: As it is; 0 where it does not exist.
        differing: Names of settings with (wanted, found).
        own: Settings that were given to this topic, by us or by an operator.
    """

    spec: TopicSpec
    name: str
    wanted_partitions: int
    partitions: int
    differing: dict[str, tuple[str, str]]
    own: dict[str, str] = field(default_factory=dict)

    @property
    def fault(self) -> str | None:
        """What is wrong with it, in words; None when nothing is."""
        if self.partitions == 0:
            return f"{self.name} does not exist"
        if self.partitions != self.wanted_partitions:
            return f"{self.name} has {self.partitions} partitions, {self.wanted_partitions} are wanted"
        told = ", ".join(f"{key} is {found}, {wanted} is wanted" for key, (wanted, found) in self.differing.items())
        return f"{self.name}: {told}" if told else None


def partitions_of(spec: TopicSpec, settings: Settings) -> int:
    """Partitions of a topic: those of the lake for scope-keyed ones and replies, else one."""
    return settings.partitions if spec.scoped or spec.suffix == "replies" else 1


def config_of(spec: TopicSpec, settings: Settings) -> dict[str, str]:
    """The topic's settings, with the retention of the inboxes as it is set."""
    config = spec.config()
    if spec.suffix in {"turns", "commands"}:
        config["retention.ms"] = str(round(settings.input_retention_days * DAY_MS))
    return config


@asynccontextmanager
async def admin(settings: Settings, bootstrap: str) -> AsyncIterator[AIOKafkaAdminClient]:
    """An admin client, connected.

    Raises:
        Unavailable: The broker does not answer in time.
    """
    client = AIOKafkaAdminClient(**connection(settings, bootstrap), client_id=f"{settings.name}-admin")
    try:
        async with asyncio.timeout(settings.send_timeout_s):
            await client.start()
        yield client
    except (KafkaError, TimeoutError, OSError) as error:
        raise Unavailable(f"the broker at {bootstrap} does not answer: {error or type(error).__name__}") from error
    finally:
        await client.close()


async def topic_states(settings: Settings, bootstrap: str) -> list[TopicState]:
    """Every topic of the deployment as it should be and as it is."""
    async with admin(settings, bootstrap) as client:
        names = [topic_name(settings.name, spec.suffix) for spec in TOPICS]
        existing = await _partitions(client, names)
        found = await _configs(client, [name for name in names if name in existing])
    states = []
    for spec, name in zip(TOPICS, names, strict=True):
        wanted = config_of(spec, settings)
        told = found.get(name, {})
        differing = {
            key: (value, told[key][0]) for key, value in wanted.items() if key in told and told[key][0] != value
        }
        own = {key: value for key, (value, source) in told.items() if source == OF_TOPIC}
        states.append(TopicState(spec, name, partitions_of(spec, settings), existing.get(name, 0), differing, own))
    return states


async def apply_topics(settings: Settings, bootstrap: str) -> list[str]:
    """Make what is missing and set what differs.

    Returns:
        Names of the topics that were made or changed.

    Raises:
        Misconfigured: A topic has another number of partitions, with both numbers.
    """
    states = await topic_states(settings, bootstrap)
    moved = [state for state in states if state.partitions not in {0, state.wanted_partitions}]
    if moved:
        told = "; ".join(state.fault or "" for state in moved)
        raise Misconfigured(
            f"{told}: set MEMLAKE_PARTITIONS back, or choose another MEMLAKE_NAME and fill it by a replay"
        )
    async with admin(settings, bootstrap) as client:
        missing = [state for state in states if state.partitions == 0]
        await _create(client, missing, settings)
        changed = [state for state in states if state.differing]
        if changed:
            await _alter(client, {state.name: state.own | config_of(state.spec, settings) for state in changed})
    return [state.name for state in (*missing, *changed)]


async def wait_for_topics(settings: Settings, bootstrap: str, timeout_s: float) -> None:
    """Wait until the deployment's topics exist: clients may be started before the first worker.

    Raises:
        Unavailable: They don't within the time, with the remedy.
    """
    end = time.monotonic() + timeout_s
    names = [topic_name(settings.name, spec.suffix) for spec in TOPICS]
    while True:
        async with admin(settings, bootstrap) as client:
            found = await _partitions(client, names)
        _require_partitions(found, settings)
        missing = set(names) - set(found)
        if not missing:
            return
        if time.monotonic() >= end:
            raise Unavailable(
                f"topics are missing ({', '.join(sorted(missing))}): start a worker, or run memlake topics apply"
            )
        await asyncio.sleep(0.2)


def _require_partitions(found: dict[str, int], settings: Settings) -> None:
    """Refuse to work with topics of another number of partitions: most of a memory would not be seen.

    Raises:
        Misconfigured: Naming the topic and both numbers.
    """
    for spec in TOPICS:
        name, wanted = topic_name(settings.name, spec.suffix), partitions_of(spec, settings)
        if found.get(name, wanted) != wanted:
            raise Misconfigured(
                f"{name} has {found[name]} partitions, {wanted} are wanted: set MEMLAKE_PARTITIONS as in the worker"
            )


async def _partitions(client: AIOKafkaAdminClient, names: list[str]) -> dict[str, int]:
    known = set(await client.list_topics())
    wanted = [name for name in names if name in known]
    if not wanted:
        return {}
    return {told["topic"]: len(told["partitions"]) for told in await client.describe_topics(wanted)}


async def _configs(client: AIOKafkaAdminClient, names: list[str]) -> dict[str, dict[str, tuple[str, int]]]:
    """Settings of topics: value, and where it comes from."""
    if not names:
        return {}
    answers = await client.describe_configs([ConfigResource(ConfigResourceType.TOPIC, name) for name in names])
    return {
        resource[3]: {entry[0]: (entry[1], entry[3]) for entry in resource[4]}
        for answer in answers
        for resource in answer.resources
    }


async def _alter(client: AIOKafkaAdminClient, wanted: dict[str, dict[str, str]]) -> None:
    """Set the settings of topics; what is not named goes back to its default, so all that a topic has is named."""
    resources = [ConfigResource(ConfigResourceType.TOPIC, name, configs=told) for name, told in wanted.items()]
    for answer in await client.alter_configs(resources):
        for code, message, _, name in answer.resources:
            if code:
                raise _failure(f"{name} could not be set", code, message)


def _failure(what: str, code: int, message: str | None) -> MemlakeError:
    """An error of the broker as ours: what will pass is waited for, what won't is told."""
    error = for_code(code)
    told = f"{what}: {error.__name__} {message or ''}".strip()
    return Unavailable(told) if error.retriable else Misconfigured(told)


async def _create(client: AIOKafkaAdminClient, missing: list[TopicState], settings: Settings) -> None:
    if not missing:
        return
    answer: Any = await client.create_topics(
        [
            NewTopic(
                state.name,
                num_partitions=state.wanted_partitions,
                replication_factor=settings.replication,
                topic_configs=config_of(state.spec, settings),
            )
            for state in missing
        ]
    )
    for name, code, *rest in answer.topic_errors:
        error = for_code(code)
        if code and error is not TopicAlreadyExistsError:  # another process was as fast
            raise _failure(f"{name} could not be made", code, rest[0] if rest else None)
