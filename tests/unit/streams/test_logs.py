"""Logs: on stderr, structured, without secrets and without what somebody said."""

import json
import subprocess
import sys

import pytest

from streams import logs
from streams.masking import Masker

KEY = "AKIA" + "Q7" * 8


def said_by(*arguments: str) -> list[dict[str, str]]:
    """What a process of its own logs, one line for each argument, by our logger and by a library's."""
    program = """
import logging, sys
from streams import logs
from streams.masking import Masker
logs.configure("info", "json", Masker.made())
for text in sys.argv[1:]:
    logs.logger("test").info("told", reason=text)
    logging.getLogger("library").error("refused %s", text)
"""
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    assert done.stdout == ""
    return [json.loads(line) for line in done.stderr.splitlines()]


@pytest.fixture(scope="module")
def lines() -> list[dict[str, str]]:
    """Told of a lake that is away, and of a key."""
    return said_by("the lake is away", f"the key {KEY} is wrong")


def test_every_line_is_a_json_object_on_stderr_that_says_who_spoke(lines: list[dict[str, str]]) -> None:
    ours, theirs = lines[:2]

    assert (ours["event"], ours["reason"], ours["logger"]) == ("told", "the lake is away", "memlake.test")
    assert (theirs["event"], theirs["level"], theirs["logger"]) == ("refused the lake is away", "error", "library")


def test_a_secret_is_masked_whoever_logs_it(lines: list[dict[str, str]]) -> None:
    ours, theirs = lines[2:]

    assert ours["reason"] == "the key [masked:cloud_key] is wrong"
    assert theirs["event"] == "refused the key [masked:cloud_key] is wrong"


def test_whatever_a_line_holds_is_masked() -> None:
    masked = logs.masking(Masker.made())
    told = {
        "event": f"it is {KEY}",
        "password": "swordfish",
        "found": [KEY, 1, None, True],
        "error": ValueError(f"no {KEY}"),
        "_record": KEY,
    }

    assert masked(None, "info", told) == {
        "event": "it is [masked:cloud_key]",
        "password": "[masked:password]",
        "found": ["[masked:cloud_key]", 1, None, True],
        "error": "no [masked:cloud_key]",
        "_record": KEY,
    }


def test_where_an_error_came_from_is_told_without_its_text() -> None:
    try:
        json.loads("{'my name is Ada'")
    except ValueError as error:
        told = logs.trace_of(error)

    assert "raw_decode" in told
    assert "test_where_an_error_came_from_is_told_without_its_text" in told
    assert "Ada" not in told
