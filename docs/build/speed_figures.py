"""The speed of an evaluation beside other engines, from the tables of benchmarks/README.md."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from ioukit.plots._drawing import THEMES, dress

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["evaluation_speed", "times_of_ioukit"]

BENCHMARKS = Path(__file__).parents[2] / "benchmarks" / "README.md"
SIZES = {
    "small": "36,000 detections",
    "large": "500,000 detections",
}


def times_of_ioukit(size: str) -> dict[str, float]:
    """How many times as long as ioukit each engine needs, by the table of a size in benchmarks/README.md.

    The column "wall / best peer" is used, because an engine may have been measured in another run.
    """
    section = re.search(
        rf"^### {size}:.*?\n(.*?)(?=^##)", BENCHMARKS.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    if section is None:
        raise ValueError(f"benchmarks/README.md has no section {size!r}")
    rows = re.findall(r"^\| ([\w-]+) \| [\d.,]+ s \| [\d,]+ MB \| ([\d.]+) \|", section[1], re.MULTILINE)
    ratios = {engine: float(ratio) for engine, ratio in rows}
    return {engine: ratio / ratios["ioukit"] for engine, ratio in ratios.items()}


def evaluation_speed() -> Figure:
    """One dot per engine on a logarithmic axis; ioukit is 1."""
    figure = Figure(figsize=(8.4, 2.6), layout="constrained")
    for ax, (size, words) in zip(figure.subplots(1, 2), SIZES.items(), strict=True):
        _dots(ax, times_of_ioukit(size))
        ax.set_title(words, fontsize=10)
    figure.supxlabel("time from two COCO files to the twelve numbers, ioukit = 1", fontsize=9)
    return figure


def _dots(ax: Axes, times: dict[str, float]) -> None:
    look = THEMES["light"]
    names = sorted(times, key=lambda name: times[name])
    colours = [look.blue if name == "ioukit" else look.many for name in names]
    # No bars: on a logarithmic axis, their length would depend on where the axis begins.
    values = [times[name] for name in names]
    ax.hlines(names, 1, values, color=colours, lw=2)
    ax.scatter(values, names, color=colours, s=44, zorder=3)
    for place, name in enumerate(names):
        words = f"{times[name]:.0f}" if times[name] >= 10 else f"{times[name]:.1f}"
        ax.annotate(words, (times[name], place), xytext=(8, 0), textcoords="offset points", va="center", fontsize=9)
    dress(ax, look)
    ax.set(xscale="log", xlim=(0.7, 2.5 * max(times.values())), xticks=[1, 10, 100], xticklabels=["1", "10", "100"])
    ax.set_xticks([], minor=True)
    ax.invert_yaxis()
    ax.tick_params(axis="y", length=0, labelsize=9)
