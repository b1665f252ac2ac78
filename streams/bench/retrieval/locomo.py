"""LoCoMo: long conversations of two people, each question with the turns that hold its answer.

Rule of this file: turns are read as ``memlake publish`` reads them. Labels are taken as they are, but for their
spelling; a turn that the conversation lacks cannot be found by anybody and is left out. Questions that the
conversation does not answer (adversarial) stand apart from the mean.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from schemas.conversation import Turn
from streams.bench.folder import corrected
from streams.bench.quality.memory import scope_of
from streams.bench.retrieval.cases import Question, Unit
from streams.formats import locomo

CATEGORIES: Final = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
"""By their numbers in the file."""
APART: Final = "adversarial"
_LABEL = re.compile(r"D:?(\d+):(\d+)")


def units_of(paths: tuple[Path, ...]) -> Iterator[Unit]:
    """One unit a conversation; where corrected labels lie beside a file, its questions are asked with both."""
    for path in paths:
        samples = json.loads(path.read_text(encoding="utf-8"))
        beside = corrected(path)
        others = json.loads(beside.read_text(encoding="utf-8")) if beside.is_file() else []
        by_name = {name_of(sample, number): sample for number, sample in enumerate(others)}
        for number, sample in enumerate(samples):
            name = name_of(sample, number)
            turns = turns_of(sample, name)
            asked = [*_questions("locomo", sample, turns)]
            if name in by_name:
                asked += _questions("locomo_corrected", by_name[name], turns)
            yield Unit(name, tuple(turns.values()), tuple(asked))


def name_of(sample: dict[str, Any], number: int) -> str:
    """A sample's own name, or its place in the file."""
    return str(sample.get("sample_id") or number)


def turns_of(sample: dict[str, Any], name: str) -> dict[str, Turn]:
    """The turns of a conversation, in order, by their labels."""
    conversation = sample["conversation"]
    sessions = sorted((int(found[1]), key) for key in conversation if (found := locomo.SESSION.fullmatch(key)))
    labels = [message["dia_id"] for _, key in sessions for message in conversation[key]]
    items = locomo.parse([sample], scope_of(name))
    return {label: item for label, item in zip(labels, items, strict=True) if isinstance(item, Turn)}


def labels_of(evidence: list[str]) -> list[str]:
    """The labels that an evidence names: several may stand in one text, and their numbers may have zeros before."""
    return [f"D{int(session)}:{int(turn)}" for told in evidence for session, turn in _LABEL.findall(told)]


def _questions(of: str, sample: dict[str, Any], turns: dict[str, Turn]) -> Iterator[Question]:
    last = max(turn.timestamp for turn in turns.values())
    for told in sample["qa"]:
        gold = frozenset(turns[label].turn_id or "" for label in labels_of(told.get("evidence", [])) if label in turns)
        category = CATEGORIES[told["category"]]
        if gold:
            yield Question(of, told["question"], last, category, gold, counts=category != APART)
