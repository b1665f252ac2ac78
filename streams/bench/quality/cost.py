"""What reading and deciding costs in CPU time, without the embedder: ordinary turns, long ones, the longest allowed.

Rule of this file: CPU time of the whole process, never wall time; the baseline of an ordinary turn is one embedding in
the same run. Ordinary turns are those of the golden conversations, each seen for the first time: once beside the
embedder, and once in a process of its own that has read nothing before and holds no model, only the vectors. Memory is
what Python holds at the most while a turn is read, the turn itself left out.
"""

import asyncio
import time
import tracemalloc
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final, NoReturn

from schemas.conversation import Scope, Turn
from schemas.facts import Extraction, Fact
from streams.bench.figures import Figure, figure, percentile
from streams.bench.quality.golden import START, Case, all_cases
from streams.bench.quality.memory import MASKER, Memory
from streams.bench.quality.minds import RULES, Mind
from streams.bench.quality.run import TURNS, Run
from streams.bench.quality.scores import BENCH
from streams.bench.vectors import Vectors
from streams.decide import Decision, DecisionOptions, Neighbour
from streams.extract import extract

LONG: Final = 10_000
"""Characters."""
LONGEST_BYTES: Final = 8 * 1024 * 1024 - 64 * 1024
"""Of text: the topic's limit less what a turn holds beside it."""
WARM: Final = 20
"""Cases that are read first, so that nothing is loaded while the others are measured."""
MEBI: Final = 1024 * 1024
SHAPES: Final[dict[str, str | None]] = {
    "sentences": None,
    "one word": "a",
    "digits": "4111 1111 1111 1112 ",
    "fences": "```\nx = 1\n```\n",
    "assignments": "key=value; ",
    "ideographs": "我住在厦门。",
}
"""What a turn of the longest kind repeats; None is ordinary sentences."""


class Meter:
    """Rules or a model, with the CPU time they took."""

    def __init__(self, mind: Mind) -> None:
        self._mind = mind
        self.spent_ms = 0.0
        self.mind = Mind(self._extract, self._decide)

    async def _extract(self, turn: Turn, context: Sequence[Turn], record_id: str) -> Extraction:
        started = time.process_time_ns()
        found = await self._mind.extract(turn, context, record_id)
        self.spent_ms += _ms_since(started)
        return found

    async def _decide(self, fact: Fact, neighbours: Sequence[Neighbour], options: DecisionOptions) -> Decision:
        started = time.process_time_ns()
        decision = await self._mind.decide(fact, neighbours, options)
        self.spent_ms += _ms_since(started)
        return decision


async def measure(run: Run, paths: tuple[Path, ...]) -> list[Figure]:  # noqa: ARG001 - the texts are ours
    """Ordinary turns beside an embedding, then long ones, then the longest."""
    return [*(await _ordinary(run)), await _long(run), *longest()]


async def _ordinary(run: Run) -> list[Figure]:
    beside = await _all_costs(run.vectors)
    prepared = Prepared(run.vectors.embedder, run.vectors.dimension)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
        rules = await asyncio.wrap_future(alone.submit(_costs_alone, prepared, run.vectors.by_text))
    texts = [said.text for case in all_cases()[:WARM] for said in case.turns]
    embed = figure(BENCH, "embed_cpu_ms", "ms", [await run.vectors.cpu_ms(text) for text in texts])
    median = figure(BENCH, "rules_ms_per_turn", "ms", rules, embed.value)
    p95 = percentile(rules, 0.95)
    ratio = p95 / embed.value
    tail = Figure(BENCH, "rules_p95_ms", p95, "ms", embed.value, ratio, min(rules), max(rules), len(rules))
    return [median, tail, figure(BENCH, "rules_beside_embedding_ms", "ms", beside, embed.value), embed]


@dataclass(frozen=True)
class Prepared:
    """The embedder of vectors that are all there already: it embeds nothing."""

    id: str
    dimension: int

    async def embed(self, texts: Sequence[str]) -> NoReturn:
        """Refuse.

        Raises:
            LookupError: Always: a text was not prepared.
        """
        raise LookupError(f"no vector was prepared for {texts[0]!r}")

    async def close(self) -> None:
        """There is no model to free."""


def _costs_alone(embedder: Prepared, by_text: Mapping[str, Any]) -> list[float]:
    """Milliseconds of each ordinary turn; for a process that does nothing else."""
    vectors = Vectors(embedder)
    vectors.by_text.update(by_text)
    return asyncio.run(_all_costs(vectors))


async def _all_costs(vectors: Vectors) -> list[float]:
    """Milliseconds of each ordinary turn, the first cases left out."""
    costs: list[float] = []
    for number, case in enumerate(all_cases()):
        told = await _costs(vectors, case)
        costs += told if number >= WARM else []
    return costs


async def _costs(vectors: Vectors, case: Case) -> list[float]:
    """Milliseconds of each turn of a case: extraction and all its decisions."""
    meter = Meter(RULES)
    memory = Memory(vectors, meter.mind, TURNS, case.id)
    costs = []
    for said in case.turns:
        record = await memory.hear(said.text, said.at or START, role=said.role)
        await memory.tell(record)
        costs.append(meter.spent_ms)
        meter.spent_ms = 0.0
    return costs


async def _long(run: Run) -> Figure:
    """Turns of 10,000 characters, one a language: extraction and the decisions on all their facts."""
    costs = []
    for language in dict.fromkeys(case.language for case in all_cases()):
        meter = Meter(run.mind)
        memory = Memory(run.vectors, meter.mind, TURNS, language)
        await memory.tell(await memory.read(_prose(language, LONG), START))
        costs.append(meter.spent_ms)
    return figure(BENCH, "rules_10000_characters_ms", "ms", costs)


def _prose(language: str, characters: int) -> str:
    """Sentences of the golden conversations of a language, over and over."""
    texts = " ".join(said.text for case in all_cases() if case.language == language for said in case.turns)
    return _repeated(f"{texts} ", characters)


def _repeated(part: str, characters: int) -> str:
    return (part * (characters // len(part) + 1))[:characters]


def longest(size: int = LONGEST_BYTES, traced: int = MEBI) -> list[Figure]:
    """Turns at the topic's limit, one a shape: masking and extraction.

    Args:
        size: Of the text that is timed, in bytes.
        traced: Of the text whose memory is traced, which takes several times as long; in bytes.
    """
    costs, peaks = [], []
    for part in SHAPES.values():
        turn = _turn_of(part, size)
        started = time.process_time_ns()
        _read(turn)
        costs.append(_ms_since(started))
        turn = _turn_of(part, traced)
        tracemalloc.start()
        try:
            _read(turn)
            peaks.append(tracemalloc.get_traced_memory()[1] / MEBI)
        finally:
            tracemalloc.stop()
    return [
        figure(BENCH, "longest_turn_ms", "ms", costs),
        figure(BENCH, "long_turn_peak_mib", "MiB", peaks, traced / MEBI),
    ]


def _turn_of(part: str | None, size: int) -> Turn:
    """A turn that repeats a text, or ordinary sentences, up to a size in bytes."""
    text = _prose("en", size) if part is None else _repeated(part, size)
    return Turn(
        scope=Scope(project_id="quality", user_id="longest"),
        role="user",
        content=f"I live in Ulm. {_cut(text, size - 20)}",
        timestamp=START,
        turn_id="longest",
    )


def _cut(text: str, limit: int) -> str:
    """The beginning of a text, of so many bytes at most."""
    return text.encode()[:limit].decode(errors="ignore")


def _read(turn: Turn) -> None:
    masked, _ = MASKER.message(turn)
    extract(masked, (), record_id="longest")


def _ms_since(started_ns: int) -> float:
    return (time.process_time_ns() - started_ns) / 1e6
