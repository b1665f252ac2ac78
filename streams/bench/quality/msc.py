"""Dialogues of two people with the facts that somebody took from each utterance: is one in it at all, and which.

Rule of this file: both speakers are people, so each utterance is a turn of the role "user" with its speaker's name,
read in the light of the utterances before it. Gold is what was written down for the utterance.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from schemas.conversation import is_blank
from schemas.facts import Extraction
from streams.bench.figures import Figure
from streams.bench.folder import lines_of
from streams.bench.quality import baselines
from streams.bench.quality.memory import Memory
from streams.bench.quality.run import TURNS, Run
from streams.bench.quality.scores import Counts, counted, retrieval

CLOSE: Final = (0.5, 0.6, 0.7)
"""Cosines from which an extracted fact counts as one that a person wrote."""
COMPARED: Final = 60
"""Dialogues whose facts are compared by their vectors; the gate is judged on all."""
START = datetime(2026, 1, 1, tzinfo=UTC)
_SENTENCE = re.compile(r"[^.!?]+[.!?]*")


@dataclass
class Judged:
    """All cases of one dialogue.

    Attributes:
        gate: (a fact was extracted, gold has one) by utterance.
        plain: (a sentence in the first person that is no question, gold has one).
        facts: Extracted facts, facts of the plain rule, and gold facts, by utterance.
    """

    gate: list[tuple[bool, bool]] = field(default_factory=list)
    plain: list[tuple[bool, bool]] = field(default_factory=list)
    facts: list[tuple[list[str], list[str], list[str]]] = field(default_factory=list)


async def measure(run: Run, paths: tuple[Path, ...]) -> list[Figure]:
    """The gate, then the facts; a plain rule beside both."""
    dialogues = [one for path in paths for one in dialogues_of(path) if run.judges(one["initial_data_id"])]
    judged = [await _judged(run, dialogue["dialog"]) for dialogue in dialogues[: run.limit]]
    plain = sum((counted(one.plain) for one in judged), Counts())
    figures = [
        *retrieval("msc_gate", [one.gate for one in judged], plain),
        *retrieval("msc_gate.first_person", [one.plain for one in judged], parts=False),
    ]
    compared = judged[:COMPARED]
    await run.vectors.prepare(text for one in compared for said in one.facts for texts in said for text in texts)
    for close in CLOSE:
        ours = [_matched(run, one, 0, close) for one in compared]
        by_rule = sum((counted(_matched(run, one, 1, close)) for one in compared), Counts())
        figures += retrieval(f"msc_facts_{round(close * 100)}", ours, by_rule)
    return figures


def dialogues_of(path: Path) -> list[dict[str, Any]]:
    """The dialogues of a file; one that has no name goes by its place."""
    return [{"initial_data_id": f"{path.name}/{number}"} | one for number, one in enumerate(lines_of(path))]


async def _judged(run: Run, dialog: Sequence[dict[str, Any]]) -> Judged:
    memory = Memory(run.vectors, run.mind, TURNS)
    judged = Judged()
    before = ""
    for number, said in enumerate(dialog):
        text = said["text"]
        if is_blank(text):
            continue
        at = START + timedelta(minutes=number)
        record = await memory.hear(text, at, name=said["id"])
        wanted = gold_facts(said)
        plain = [part.strip() for part in _SENTENCE.findall(text) if baselines.tells_of_self(part)]
        found = [fact.text for fact in record.extraction.facts]
        judged.gate.append((bool(found), bool(wanted)))
        judged.plain.append((bool(plain), bool(wanted)))
        judged.facts.append((found, plain, wanted))
        if bool(found) != bool(wanted):
            run.note("msc_gate", _case(text, before, wanted, record.extraction))
        before = text
    return judged


def gold_facts(said: dict[str, Any]) -> list[str]:
    """The facts that a person wrote down for an utterance."""
    told = said.get("persona_text") or ""
    return [part.strip() for part in _SENTENCE.findall(told) if not is_blank(part)]


def _matched(run: Run, judged: Judged, which: int, close: float) -> list[tuple[bool, bool]]:
    """Found facts paired with gold facts of the same utterance, one to one, the closest first."""
    answers: list[tuple[bool, bool]] = []
    for texts in judged.facts:
        found, wanted = texts[which], list(texts[2])
        pairs = sorted(
            ((run.vectors.between(one, other), i, j) for i, one in enumerate(found) for j, other in enumerate(wanted)),
            reverse=True,
        )
        used_found: set[int] = set()
        used_wanted: set[int] = set()
        for similarity, i, j in pairs:
            if similarity >= close and i not in used_found and j not in used_wanted:
                used_found.add(i)
                used_wanted.add(j)
        answers += [(True, True)] * len(used_found)
        answers += [(True, False)] * (len(found) - len(used_found))
        answers += [(False, True)] * (len(wanted) - len(used_wanted))
    return answers


def _case(text: str, before: str, wanted: list[str], found: Extraction) -> str:
    told = [f"{'FACT' if wanted else 'NO FACT'} | {text}", f"    before: {before}"]
    told += [f"    gold: {text}" for text in wanted]
    told += [f"    fact: {fact.text} [{fact.subject} | {fact.attribute} | {fact.value}]" for fact in found.facts]
    told += [f"    skipped: {skip.text} ({skip.reason})" for skip in found.skipped]
    return "\n".join(told)
