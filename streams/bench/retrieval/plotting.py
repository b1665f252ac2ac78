"""The figures of a run as one picture.

Rule of this file: it draws what the figures say and measures nothing. The drawing library is an extra, asked for only
where a picture is wanted.
"""

import importlib.util
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from schemas.errors import Misconfigured
from streams.bench.figures import Figure
from streams.bench.retrieval.memlake import PRODUCT
from streams.bench.retrieval.tally import CURRENT

_RECALL = re.compile(r"(\w+_recall)_at_(\d+)(?:\.(\w+))?")
_CURRENT = re.compile(rf"{CURRENT}(?:\.(\w+))?")
WIDTH: Final = 5.0
HEIGHT: Final = 4.0
"""Inches of one panel."""
Curves = dict[str, dict[str, list[Figure]]]
"""Figures by panel and system."""


def require_library() -> None:
    """Refuse to begin a run whose picture could not be drawn.

    Raises:
        Misconfigured: The drawing library is not installed; the message names the extra that brings it.
    """
    if importlib.util.find_spec("matplotlib") is None:
        raise Misconfigured("--plot: matplotlib is not installed: pip install 'memlake[bench]'")


def curves_of(figures: Sequence[Figure]) -> Curves:
    """The figures that are drawn: recall of whole sets by depth, and how often the current value is first."""
    panels: Curves = {}
    for figure in figures:
        if found := _RECALL.fullmatch(figure.metric):
            panels.setdefault(found[1], {}).setdefault(found[3] or PRODUCT, []).append(figure)
        elif found := _CURRENT.fullmatch(figure.metric):
            panels.setdefault(CURRENT, {}).setdefault(found[1] or PRODUCT, []).append(figure)
    return panels


def draw(figures: Sequence[Figure], path: Path) -> None:
    """Write a picture: one panel a set, a line or bar a system, with its bounds of 95 %.

    Args:
        figures: Of one run.
        path: Where to; its ending says the format, "png" for one.

    Raises:
        Misconfigured: The drawing library is not installed, or it knows no such format.
        OSError: The file cannot be written.
    """
    require_library()
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 - an extra
    from matplotlib.figure import Figure as Picture  # noqa: PLC0415

    panels = curves_of(figures)
    picture = Picture(figsize=(WIDTH * max(1, len(panels)), HEIGHT), layout="constrained")
    canvas = FigureCanvasAgg(picture)
    if path.suffix.removeprefix(".") not in canvas.get_supported_filetypes():
        raise Misconfigured(f"--plot: {path.name} must end in .png or another format that matplotlib knows")
    for axes, (panel, systems) in zip(picture.subplots(1, max(1, len(panels)), squeeze=False)[0], panels.items()):  # noqa: B905 - without a panel one empty frame is left
        axes.set_title(panel)
        axes.set_ylim(0, 1)
        (_bars if panel == CURRENT else _lines)(axes, systems)
    picture.savefig(path)


def _lines(axes: Any, systems: dict[str, list[Figure]]) -> None:
    for system, told in systems.items():
        depths = [int(_depth(figure)) for figure in told]
        axes.errorbar(
            depths, [figure.value for figure in told], yerr=_errors(told), label=system, marker="o", capsize=2
        )
        axes.set_xticks(depths)
    axes.set_xlabel("results")
    axes.legend(fontsize="small")


def _bars(axes: Any, systems: dict[str, list[Figure]]) -> None:
    told = [figures[0] for figures in systems.values()]
    axes.bar(list(systems), [figure.value for figure in told], yerr=_errors(told), capsize=2)
    axes.tick_params(axis="x", labelrotation=30)


def _depth(figure: Figure) -> str:
    found = _RECALL.fullmatch(figure.metric)
    assert found is not None
    return found[2]


def _errors(told: Sequence[Figure]) -> list[list[float]]:
    """How far the bounds lie below and above."""
    return [
        [max(0.0, figure.value - figure.min) for figure in told],
        [max(0.0, figure.max - figure.value) for figure in told],
    ]
