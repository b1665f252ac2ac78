"""The registry of evaluation sets, and a run over some of them.

Rule of this file: a new set is a module with ``measure`` and a line in ``SETS``; a set that a folder lacks is told and
is no failure.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from schemas.errors import Misconfigured
from streams.bench.figures import Figure
from streams.bench.folder import Sets, sets_in
from streams.bench.quality import (
    beam,
    cost,
    golden,
    halumem_dialogues,
    halumem_points,
    msc,
    preference_events,
    prefeval,
)
from streams.bench.quality.minds import RULES, Mind, ModelMind
from streams.bench.quality.run import Run
from streams.bench.quality.scores import share
from streams.bench.splits import Split
from streams.bench.stage import embedder
from streams.bench.vectors import Vectors
from streams.judging import Judge
from streams.metrics import Metrics
from streams.settings import Settings

Measure = Callable[[Run, tuple[Path, ...]], Awaitable[list[Figure]]]
Kind = Literal["users", "preference_events", "dialogues", "preferences", "chats"]


@dataclass(frozen=True)
class Part:
    """One question asked of the files of one kind.

    Attributes:
        name: The set that it belongs to.
        kind: Which files; see ``Sets``. None where it needs none: what it asks lies beside the code.
    """

    name: str
    kind: Kind | None
    measure: Measure


SETS: tuple[Part, ...] = (
    Part("golden", None, golden.measure),
    Part("halumem", "users", halumem_points.measure),
    Part("halumem", "preference_events", preference_events.measure),
    Part("halumem-dialogues", "users", halumem_dialogues.measure),
    Part("beam", "chats", beam.measure),
    Part("msc", "dialogues", msc.measure),
    Part("prefeval", "preferences", prefeval.measure),
    Part("cost", None, cost.measure),
)
NAMES = tuple(dict.fromkeys(part.name for part in SETS))


async def measure(
    settings: Settings,
    data: Path | None,
    names: Sequence[str],
    *,
    split: Split,
    limit: int | None,
    errors: int,
    llm: bool,
    told: Callable[[str], None],
) -> tuple[list[Figure], dict[str, list[str]]]:
    """The figures of the named sets.

    Args:
        settings: Which embedder.
        data: Folder of evaluation sets; None for those that the product brings along.
        names: Of ``NAMES``.
        split: Which part is judged.
        limit: People, dialogues or chats of each set at most; None for all.
        errors: Wrong cases of each metric to keep.
        llm: Whether the settings' language model extracts and decides, as it does for the worker.
        told: Is told of each named set that has no files.

    Returns:
        Figures, and wrong cases by metric.

    Raises:
        Misconfigured: ``data`` is no folder, there is no embedder, or no model where one is to be asked.
    """
    sets = sets_in(data) if data is not None else Sets()
    async with embedder(settings) as vectors, _mind(settings, llm=llm) as (mind, answered):
        run = Run(Vectors(vectors), mind, split=split, limit=limit, errors=errors)
        figures: list[Figure] = []
        for part in SETS:
            if part.name not in names:
                continue
            paths: tuple[Path, ...] = getattr(sets, part.kind) if part.kind else ()
            if part.kind and not paths:
                told(f"{part.name}: there are no files of {part.kind.replace('_', ' ')}")
                continue
            figures += await part.measure(run, paths)
    return [*figures, *share("llm_answered", [answered])], run.wrong


@asynccontextmanager
async def _mind(settings: Settings, *, llm: bool) -> AsyncIterator[tuple[Mind, list[bool]]]:
    """Who reads and decides, and for each question to a model whether it was answered."""
    if not llm:
        yield RULES, []
        return
    if not settings.llm_url:
        raise Misconfigured("--llm: MEMLAKE_LLM_URL is not set: there is no model to ask")
    judge = Judge(settings.model_copy(update={"llm_use": "both"}), Metrics(), settings.masker().text)
    try:
        asked = ModelMind(judge)
        yield asked.mind, asked.answered
    finally:
        await judge.close()
