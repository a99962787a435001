"""Figures about intervals and p-values, from what ``coverage.py`` recorded in docs/data."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

__all__ = ["STATISTICS"]

DATA = Path(__file__).parents[1] / "data" / "coverage.json"
POPULATIONS = {"model": "random detector", "coco": "COCO val2017, YOLACT"}
NUMBERS = ("AP", "AP50", "APs", "difference of AP", "difference of AP50", "difference of APs")
WAYS = {
    "bca": ("BCa", "#0072B2", "o", "-"),
    "percentile": ("percentile", "#009E73", "s", "--"),
    "repeats removed": ("repeated images removed", "#D55E00", "^", ":"),
}
Z = 1.96


def wilson(holds: int, count: int) -> tuple[float, float]:
    """The 95 % interval of a share, by Wilson's formula."""
    share = holds / count
    middle = (share + Z**2 / (2 * count)) / (1 + Z**2 / count)
    half = Z / (1 + Z**2 / count) * math.sqrt(share * (1 - share) / count + Z**2 / (4 * count**2))
    return middle - half, middle + half


def coverage() -> Figure:
    """How often 95 % intervals hold the true number, over the number of images."""
    found = json.loads(DATA.read_text(encoding="utf-8"))
    figure = Figure(figsize=(11, 5.2), layout="constrained")
    grid = figure.subplots(len(POPULATIONS), len(NUMBERS), sharex=True, sharey=True)
    for row, (population, title) in zip(grid, POPULATIONS.items(), strict=True):
        samples = found["populations"][population]["samples"]
        for ax, number in zip(row, NUMBERS, strict=True):
            ax.axhspan(93, 97, color="0.9", lw=0)
            ax.axhline(95, color="0.6", lw=0.8)
            for place, way in enumerate(WAYS):
                _series(ax, samples, number, way, 0.15 * (place - 1))
            ax.set(xticks=range(3), ylim=(60, 100.5), xlim=(-0.4, 2.4))
            ax.set_xticklabels(["200", "1,000", "5,000"])
            ax.spines[["top", "right"]].set_visible(False)
        row[0].set_ylabel(f"{title}\nintervals with the true number, %", fontsize=8)
    for ax, number in zip(grid[0], NUMBERS, strict=True):
        ax.set_title(number, fontsize=9)
    for ax in grid[1]:
        ax.set_xlabel("images")
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    return figure


def _series(ax: Any, samples: dict[str, Any], number: str, way: str, shift: float) -> None:
    name, colour, marker, line = WAYS[way]
    places, shares, below, above = [], [], [], []
    for place, size in enumerate(("200", "1000", "5000")):
        if size not in samples:
            continue
        holds, count = samples[size][number][way]["holds"], sum(samples[size][number][way].values())
        low, high = wilson(holds, count)
        share = holds / count
        places.append(place + shift)
        shares.append(100 * share)
        below.append(100 * max(share - low, 0))
        above.append(100 * max(high - share, 0))
    ax.errorbar(
        places, shares, yerr=[below, above], color=colour, marker=marker, ls=line, ms=4, lw=1.1, capsize=2, label=name
    )


def p_values() -> Figure:
    """The distribution of the p-values of two models that are equally good."""
    found = json.loads(DATA.read_text(encoding="utf-8"))
    figure = Figure(figsize=(9.6, 3.1), layout="constrained")
    panels = [(population, size) for population in POPULATIONS for size in ("200", "1000")]
    edges = [0.05 * step for step in range(21)]
    for ax, (population, size) in zip(figure.subplots(1, 4, sharey=True), panels, strict=True):
        samples = found["populations"][population]["samples"][size]
        count = samples["repetitions"]
        band = [
            1.36 / math.sqrt(count)
        ] * 21  # where 95 % of the curves of uniform numbers stay: Kolmogorov and Smirnov
        ax.fill_between(edges, [e - b for e, b in zip(edges, band, strict=True)],
                        [e + b for e, b in zip(edges, band, strict=True)], color="0.9", lw=0)  # fmt: skip
        ax.plot([0, 1], [0, 1], color="0.6", lw=0.8)
        for (key, counts), style in zip(samples["p-values"].items(), ("-", "--", ":"), strict=True):
            ax.plot(edges, [0, *(each / count for each in counts)], style, lw=1.4, label=key)
        ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="p-value", aspect="equal")
        ax.set_title(f"{POPULATIONS[population]}\n{int(size):,} images", fontsize=8)
        ax.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_ylabel("share of samples at most this")
    figure.axes[0].legend(frameon=False, fontsize=8)
    return figure


STATISTICS = {"coverage": coverage, "p_values": p_values}
