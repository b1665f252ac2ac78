"""The generated documentation is what the code says now, and every command can be found in it."""

from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import yaml
from jsonschema import Draft202012Validator

from schemas.message import Message
from schemas.topics import TOPICS
from streams.cli import memlake
from streams.reference import MESSAGES, asyncapi, files, json_schema

DOCS = Path(__file__).parents[3] / "docs"


def leaves(path: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            yield from leaves(f"{path} {name}", inner)
    else:
        yield path, command


COMMANDS = dict(leaves("memlake", memlake))


def test_no_generated_file_is_stale() -> None:
    stale = [path.name for path, text in files(DOCS) if not path.exists() or path.read_text("utf-8") != text]

    assert stale == [], "run python -m streams.reference"


@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_has_help_for_itself_and_for_each_option(path: str) -> None:
    command = COMMANDS[path]

    assert command.help
    assert [
        option.name
        for option in command.params
        if isinstance(option, click.Option) and not option.help and not isinstance(option.type, click.Choice)
    ] == []


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.kind)
def test_every_schema_is_a_valid_json_schema(message: type[Message]) -> None:
    Draft202012Validator.check_schema(json_schema(message))


def test_the_asyncapi_document_names_every_topic_that_is_spoken_on_and_only_messages_that_exist() -> None:
    told = yaml.safe_load((DOCS / "asyncapi.yaml").read_text("utf-8"))
    spoken = {message.kind for message in MESSAGES}

    assert told == asyncapi()
    assert set(told["channels"]) == {spec.suffix for spec in TOPICS if spoken & set(spec.messages)}
    assert set(told["components"]["messages"]) == spoken
