"""What people say and what of it is a fact: rows of ``tests/data/extract``, one file a theme."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from schemas.conversation import Scope, Turn
from schemas.facts import Extraction, Fact
from streams.extract import extract

FOLDER = Path(__file__).parents[2] / "data" / "extract"
ROWS = [
    (path.stem, row)
    for path in sorted(FOLDER.glob("*.yaml"))
    for row in yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
]
WEDNESDAY = datetime(2025, 6, 4, 12, tzinfo=UTC)


def read(row: dict[str, Any]) -> Extraction:
    """What the last of a row's turns gives; "A: " before a turn is the assistant's."""
    at = datetime.fromisoformat(row["at"]) if "at" in row else WEDNESDAY
    turns = [
        Turn(
            turn_id=f"t{number}",
            scope=Scope(project_id="p", user_id="u"),
            session_id="s",
            role="assistant" if said.startswith("A: ") else "user",
            content=said.removeprefix("A: "),
            timestamp=at - timedelta(minutes=len(row["turns"]) - 1 - number),
        )
        for number, said in enumerate(row["turns"])
    ]
    return extract(turns[-1], turns[:-1], record_id="r", profile=row.get("profile", "all"))


def faults(fact: Fact, wanted: dict[str, Any]) -> list[str]:
    """In what a fact is not as it is wanted."""
    text = fact.text.casefold()
    found = [f"no {word!r} in {fact.text!r}" for word in wanted.get("has", []) if str(word).casefold() not in text]
    found += [f"{word!r} in {fact.text!r}" for word in wanted.get("hasnt", []) if str(word).casefold() in text]
    found += [f"no tag {tag!r}" for tag in wanted.get("tags", []) if tag not in fact.tags]
    if "code" in wanted and wanted["code"] not in (fact.code_pattern or ""):
        found.append(f"code {fact.code_pattern!r}")
    if "command" in wanted and fact.metadata.has_command is not wanted["command"]:
        found.append("command")
    plain = wanted.keys() - {"has", "hasnt", "tags", "code", "command"}
    return found + [f"{name} {getattr(fact, name)!r}" for name in sorted(plain) if getattr(fact, name) != wanted[name]]


@pytest.mark.parametrize(("theme", "row"), ROWS, ids=[f"{theme}: {' / '.join(row['turns'])}" for theme, row in ROWS])
def test_what_is_told_becomes_these_facts_and_no_others(theme: str, row: dict[str, Any]) -> None:
    extraction = read(row)

    assert [fact.text for fact in extraction.facts if not row.get("facts")] == []
    assert len(extraction.facts) == len(row.get("facts", []))
    assert [faults(fact, wanted) for fact, wanted in zip(extraction.facts, row.get("facts", []), strict=True)] == [
        [] for _ in extraction.facts
    ]
    reasons = [skip.reason for skip in extraction.skipped]
    assert [word for word in row.get("skips", []) if not any(word in reason for reason in reasons)] == []
