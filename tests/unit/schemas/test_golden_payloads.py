"""Payloads as they were once written to topics: each version of each kind is still read, and means what it meant."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

import schemas.knowledge
import schemas.reports
import schemas.retrieval  # noqa: F401 - every module of messages is imported, so that each subclass is known
from lakehouse.versions import Change, fold
from schemas.facts import RECORDS, decode_record
from schemas.memory import MemoryEvent
from schemas.message import Message

GOLDEN = Path(__file__).parents[2] / "data" / "golden"


def subclasses(kind: type[Message]) -> Iterator[type[Message]]:
    for found in kind.__subclasses__():
        if "kind" in vars(found):
            yield found
        yield from subclasses(found)


KINDS = {found.kind: found for found in subclasses(Message) if found.__module__.startswith("schemas.")}
FILES = sorted(GOLDEN.glob("*.json"))


def kind_of(path: Path) -> str:
    return path.name.rpartition(".v")[0]


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_version_of_a_message_has_its_golden_payload(kind: str) -> None:
    written = {path.name for path in FILES}

    assert {f"{kind}.v{number}.json" for number in range(1, KINDS[kind].current_version + 1)} <= written


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_golden_payload_is_read_and_written_again_as_the_same_object(path: Path) -> None:
    value = path.read_bytes()

    message = KINDS[kind_of(path)].decode(value)

    assert json.loads(message.encode()) == json.loads(value)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_the_golden_payloads_of_a_kind_fill_every_field_of_every_part_at_least_once(kind: str) -> None:
    filled: dict[type[BaseModel], set[str]] = defaultdict(set)
    for part in parts([KINDS[kind].decode(path.read_bytes()) for path in FILES if kind_of(path) == kind]):
        filled[type(part)] |= {name for name in type(part).model_fields if getattr(part, name) not in (None, (), {})}

    missing = {found.__name__: set(found.model_fields) - names for found, names in filled.items()}

    assert {name: fields for name, fields in missing.items() if fields} == {}


@pytest.mark.parametrize("kind", sorted(RECORDS))
def test_a_golden_record_is_told_from_the_others_by_its_type(kind: str) -> None:
    value = (GOLDEN / f"{kind}.v1.json").read_bytes()

    record = decode_record(value, [("ce_type", f"memlake.{kind}.v1".encode())])

    assert type(record) is RECORDS[kind]


def test_a_golden_history_still_folds_to_the_same_memory() -> None:
    lines = (GOLDEN / "history.v1.jsonl").read_bytes().splitlines()
    events = [MemoryEvent.decode(line) for line in lines]

    rows = fold(Change(event, "record", offset) for offset, event in enumerate(events))

    assert [(row.event.sequence, row.event.id, row.event.revision, row.status) for row in rows.values()] == [
        (1, 1, 1, "superseded"),
        (2, 1, 2, "current"),
        (3, 1, 3, "historic"),
        (4, 1, None, "none"),
        (5, 2, 1, "superseded"),
        (6, 2, 2, "deleted"),
        (7, 2, 3, "current"),
    ]
    assert [json.loads(row.event.encode()) for row in rows.values()] == [json.loads(line) for line in lines]


def test_the_golden_events_are_part_of_the_golden_history() -> None:
    told = [json.loads(line) for line in (GOLDEN / "history.v1.jsonl").read_bytes().splitlines()]

    for name in ("memory-event.v1.json", "memory-event.v1-restored.json"):
        assert json.loads((GOLDEN / name).read_bytes()) in told


def parts(value: Any) -> Iterator[BaseModel]:
    if isinstance(value, BaseModel):
        yield value
        for name in type(value).model_fields:
            yield from parts(getattr(value, name))
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from parts(inner)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for inner in value:
            yield from parts(inner)
