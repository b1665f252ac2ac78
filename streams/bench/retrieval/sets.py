"""The registry of evaluation sets, and a run of all systems over some of them.

Rule of this file: a new set is a module with ``units_of`` and a line in ``SETS``, a new system a line in ``_systems``;
a set that a folder lacks is told and is no failure. The product answers first, so that its times hold what embedding
the question costs; the others find the vector ready.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Literal

from streams.bench.figures import Figure
from streams.bench.folder import sets_in
from streams.bench.retrieval import beam, golden, locomo, longmemeval
from streams.bench.retrieval.cases import Question, Unit
from streams.bench.retrieval.lance import LanceHybrid
from streams.bench.retrieval.memlake import Kinds, Memlake, Open
from streams.bench.retrieval.scores import recall
from streams.bench.retrieval.systems import Plain, Ranked, System
from streams.bench.retrieval.tally import Outcome, figures_of
from streams.bench.splits import Split, is_in
from streams.bench.stage import embedder
from streams.bench.vectors import Vectors
from streams.settings import Settings

SHOWN: Final = 3
"""Turns found that a wrong case shows."""
DEPTH: Final = 10
"""Up to which rank a question's evidence must be found, or it is a wrong case."""


@dataclass(frozen=True)
class Part:
    """A set.

    Attributes:
        name: As it is chosen by.
        kind: Which files of a folder; None where it lies beside the code.
        units_of: How they are read.
        kinds: What the product searches, where that is not to be chosen.
    """

    name: str
    kind: Literal["conversations", "haystacks", "chats"] | None
    units_of: Callable[[tuple[Path, ...]], Iterator[Unit]]
    kinds: Kinds | None = None


SETS: Final = (
    Part("locomo", "conversations", locomo.units_of),
    Part("longmemeval", "haystacks", longmemeval.units_of),
    Part("beam", "chats", beam.units_of),
    Part("golden", None, golden.units_of, kinds="facts"),
)
NAMES: Final = tuple(part.name for part in SETS)


@dataclass(frozen=True)
class Run:
    """One run.

    Attributes:
        vectors: Of all texts so far.
        kinds: What the product searches.
        opened: How its search is opened; None for the plain systems alone.
        errors: Wrong cases to keep of each set.
        wrong: Those so far, by metric.
    """

    vectors: Vectors
    kinds: Kinds
    opened: Open | None
    errors: int = 0
    wrong: dict[str, list[str]] = field(default_factory=dict)


async def measure(
    settings: Settings,
    data: Path,
    names: Sequence[str],
    *,
    split: Split,
    limit: int,
    kinds: Kinds,
    opened: Open | None,
    errors: int,
    told: Callable[[str], None],
) -> tuple[list[Figure], dict[str, list[str]]]:
    """The figures of the named sets.

    Args:
        settings: Which embedder.
        data: Folder of evaluation sets.
        names: Of ``NAMES``.
        split: Which part is judged.
        limit: Conversations, haystacks or chats of each set at most.
        kinds: What the product searches.
        opened: How its search is opened; None for the plain systems alone.
        errors: Wrong cases of each set to keep.
        told: Is told of each unit, and of each named set that has no files.

    Returns:
        Figures, and wrong cases by metric.

    Raises:
        Misconfigured: ``data`` is no folder, or there is no embedder.
    """
    files = sets_in(data)
    async with embedder(settings) as model:
        run = Run(Vectors(model), kinds, opened, errors)
        outcomes: list[Outcome] = []
        for part in (part for part in SETS if part.name in names):
            paths: tuple[Path, ...] = getattr(files, part.kind) if part.kind else ()
            if part.kind and not paths:
                told(f"{part.name}: there are no files of {part.kind}")
            judged = (unit for unit in part.units_of(paths) if is_in(unit.name, split))
            for unit in itertools.islice(judged, limit if part.kind else None):
                told(f"{part.name}: {unit.name}, {len(unit.turns)} turns, {len(unit.questions)} questions")
                outcomes += await outcomes_of(replace(run, kinds=part.kinds or kinds), unit)
    return figures_of(outcomes), run.wrong


async def outcomes_of(run: Run, unit: Unit) -> list[Outcome]:
    """Let every system take in a unit's turns and answer its questions."""
    if not unit.turns:
        return []
    session_by_turn = {turn.turn_id or "": turn.session_id or "" for turn in unit.turns}
    answered: dict[str, dict[str, Ranked]] = {}
    with TemporaryDirectory(prefix="memlake-bench-") as folder:
        systems = _systems(run, Path(folder))
        for system in systems:
            await system.prepare(unit.turns)
        for question in unit.questions:
            if question.text not in answered:
                answered[question.text] = {
                    system.name: await system.rank(question.text, question.asked_at) for system in systems
                }
    outcomes = [Outcome(question, answered[question.text], session_by_turn) for question in unit.questions]
    for outcome in outcomes:
        _note(run, unit, outcome.question, next(iter(outcome.found.values())))
    return outcomes


def _systems(run: Run, folder: Path) -> list[System]:
    ours = [] if run.opened is None else [Memlake(run.vectors, folder / "lake", run.kinds, run.opened)]
    return [
        *ours,
        Plain("bm25", run.vectors, "bm25"),
        Plain("dense", run.vectors, "dense"),
        Plain("rrf", run.vectors, "bm25", "dense"),
        LanceHybrid(run.vectors, folder / "lancedb"),
    ]


def _note(run: Run, unit: Unit, question: Question, ranked: Ranked) -> None:
    """Keep a question whose evidence the first of the systems has not found, while there is room."""
    metric = f"{question.of}_recall_at_{DEPTH}"
    if not question.turns or len(run.wrong.get(metric, ())) >= run.errors:
        return
    if recall(ranked.turns, question.turns, DEPTH) == 1.0:
        return
    texts = {turn.turn_id: f"{turn.name or turn.role}: {turn.content[:300]}" for turn in unit.turns}
    told = [f"{unit.name} {question.category} | {question.text}"]
    ranks = {turn: rank for rank, turn in enumerate(ranked.turns, 1)}
    gold = (turn.turn_id or "" for turn in unit.turns if turn.turn_id in question.turns)
    told += [f"    gold at {ranks.get(turn, 'no rank')}: {texts[turn]}" for turn in gold]
    told += [f"    found: {texts[turn]}" for turn in ranked.turns[:SHOWN]]
    run.wrong.setdefault(metric, []).append("\n".join(told))
