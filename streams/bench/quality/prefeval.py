"""Stated preferences: is each taken, as a preference, and without losing a word.

Rule of this file: each is told alone, as a user's turn.
"""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from schemas.facts import Extraction
from streams.bench.figures import Figure
from streams.bench.quality import baselines
from streams.bench.quality.memory import Memory
from streams.bench.quality.run import TURNS, Run
from streams.bench.quality.scores import mean, share
from streams.decide.words import words_of

START = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass
class Judged:
    """All cases of one file.

    Attributes:
        extracted: Whether there is a fact.
        preference: Whether a fact has the mood of a preference.
        whole: Whether the facts hold every word of content, number and negation.
        cipher: Whether Cipher's filter would let it pass.
    """

    extracted: list[bool] = field(default_factory=list)
    preference: list[bool] = field(default_factory=list)
    whole: list[bool] = field(default_factory=list)
    cipher: list[bool] = field(default_factory=list)


async def measure(run: Run, paths: tuple[Path, ...]) -> list[Figure]:
    """Shares of preferences, Cipher's filter beside."""
    judged = []
    for path in paths[: run.limit]:
        one = Judged()
        for row in json.loads(path.read_text(encoding="utf-8")):
            if run.judges(row["preference"]):
                await _judge(run, one, row["preference"])
        judged.append(one)
    by_filter = mean(yes for one in judged for yes in one.cipher)
    return [
        *share("prefeval_extracted", [one.extracted for one in judged], by_filter),
        *share("prefeval_as_preference", [one.preference for one in judged]),
        *share("prefeval_whole", [one.whole for one in judged], by_filter),
    ]


async def _judge(run: Run, judged: Judged, preference: str) -> None:
    record = await Memory(run.vectors, run.mind, TURNS).read(preference, START)
    facts = record.extraction.facts
    wanted = set(words_of(preference).content)
    held = {word for fact in facts for word in words_of(fact.text).content}
    negative = any(words_of(fact.text).negative for fact in facts) or not words_of(preference).negative
    judged.extracted.append(bool(facts))
    judged.preference.append(any(fact.mood == "preference" for fact in facts))
    judged.whole.append(wanted <= held and negative)
    judged.cipher.append(baselines.cipher_keeps(preference))
    for metric, answers in (("prefeval_as_preference", judged.preference), ("prefeval_whole", judged.whole)):
        if not answers[-1]:
            run.note(metric, _case(preference, record.extraction))


def _case(preference: str, found: Extraction) -> str:
    told = [f"PREFERENCE | {preference}"]
    told += [f"    fact: {fact.text} [{fact.attribute} | {fact.value} | {fact.mood}]" for fact in found.facts]
    told += [f"    skipped: {skip.text} ({skip.reason})" for skip in found.skipped]
    return "\n".join(told)
