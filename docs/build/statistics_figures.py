"""Figures about intervals, from what ``interval_coverage.py`` recorded in docs/data."""

from __future__ import annotations

import json
import math
from pathlib import Path

from matplotlib.figure import Figure

__all__ = ["STATISTICS"]

DATA = Path(__file__).parents[1] / "data" / "coverage.json"
NUMBERS = ("AP", "AP50", "APs", "AR100", "AP of B - A")
WAYS = {
    "interval": ("interval of ioukit", "#0072B2", "o"),
    "percentile": ("percentile bootstrap", "#D55E00", "s"),
}
Z = 1.96


def wilson(holds: int, count: int) -> tuple[float, float]:
    """The 95 % interval of a share, by Wilson's formula."""
    share = holds / count
    middle = (share + Z**2 / (2 * count)) / (1 + Z**2 / count)
    half = Z / (1 + Z**2 / count) * math.sqrt(share * (1 - share) / count + Z**2 / (4 * count**2))
    return middle - half, middle + half


def coverage() -> Figure:
    """How often 95 % intervals hold the true number, for each population and size."""
    found = json.loads(DATA.read_text(encoding="utf-8"))
    rows = [
        (f"{population['title']}, {int(images):,}", made)
        for population in found["populations"].values()
        for images, made in population["images"].items()
    ]
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    for ax, number in zip(figure.subplots(1, len(NUMBERS), sharey=True), NUMBERS, strict=True):
        ax.axvspan(92, 98, color="0.92", lw=0)
        ax.axvline(95, color="0.6", lw=0.8)
        for shift, (way, (name, colour, marker)) in zip((-0.15, 0.15), WAYS.items(), strict=True):
            holds = [made[number][way]["holds"] for _, made in rows]
            counts = [made[number]["samples"] for _, made in rows]
            shares = [100 * one / count for one, count in zip(holds, counts, strict=True)]
            ends = [wilson(one, count) for one, count in zip(holds, counts, strict=True)]
            below = [max(share - 100 * low, 0) for share, (low, _) in zip(shares, ends, strict=True)]
            above = [max(100 * high - share, 0) for share, (_, high) in zip(shares, ends, strict=True)]
            places = [at + shift for at in range(len(rows))]
            ax.errorbar(
                shares,
                places,
                xerr=[below, above],
                color=colour,
                marker=marker,
                ls="",
                ms=4,
                lw=1.1,
                capsize=2,
                label=name,
            )
        ax.set(title=number, xlim=(0, 101), yticks=range(len(rows)), xlabel="intervals that hold, %")
        ax.set_yticklabels([name for name, _ in rows])
        ax.spines[["top", "right"]].set_visible(False)
    figure.axes[0].invert_yaxis()
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    return figure


STATISTICS = {"coverage": coverage}
