"""Figures of data sets: how many objects each class and each image has, and which classes dominate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._checks import check_count
from ioukit.plots._drawing import axes_for, dress, letters, shorten, theme_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from ioukit.inspection import Inspection
    from ioukit.plots._drawing import Theme, ThemeName


def class_counts_figure(
    inspection: Inspection, *, most: int = 30, ax: Axes | None = None, theme: ThemeName = "light"
) -> Axes:
    """Draws the number of objects of each class on a logarithmic axis, the most frequent first.

    Args:
        inspection: The result of `ioukit.inspect`.
        most: How many classes to draw; the axis says how many others there are.
        ax: Where to draw; by default axes of a new figure, whose height grows with the number of classes.
        theme: Colours for a light or a dark background; the figure around your own axes keeps its colour.

    Returns:
        The axes. Bars are patches with ``get_gid()`` ``"class 0"``, ..., the position of the class. The number of
        objects is beside each bar.

    Raises:
        ValueError: If ``most`` is below 1.
        ModuleNotFoundError: If matplotlib is not installed.

    Examples:
        >>> ax = class_counts_figure(inspection, most=3)
        >>> [label.get_text() for label in ax.get_yticklabels()]
        ['person', 'book', 'chair']
    """
    look = theme_of(theme)
    check_count(most=most)
    counts, names = inspection.objects_per_class, inspection.ground_truth.categories.names
    rows = np.argsort(-counts, kind="stable")[:most].tolist()
    ax = axes_for(ax, needed_by="class_counts_figure", figsize=(6.0, 1.0 + 0.21 * max(len(rows), 4)), paper=look.paper)
    bars = ax.barh(range(len(rows)), counts[rows], 0.72, color=look.blue)
    for bar, row in zip(bars, rows, strict=True):
        bar.set_gid(f"class {row}")
    _counts_beside(ax, range(len(rows)), counts[rows].tolist(), look, along="x")
    ax.set_yticks(range(len(rows)), [shorten(names[row]) for row in rows], fontsize=8.5, **letters())
    dress(ax, look, grid="x")
    top = float(counts.max(initial=1))
    ax.set_xscale("symlog", linthresh=1)
    others = len(counts) - len(rows)
    more = f" ({others:,} more classes have {int(counts.sum() - counts[rows].sum()):,})" if others else ""
    ax.set(
        xlim=(0, max(top, 1.0) ** 1.12 + 1), ylim=(max(len(rows), 1) - 0.4, -0.6), xlabel=f"objects, log scale{more}"
    )
    _whole_decades(ax, top)
    ax.tick_params(axis="y", length=0, pad=6)
    return ax


def objects_per_image_figure(inspection: Inspection, *, ax: Axes | None = None, theme: ThemeName = "light") -> Axes:
    """Draws how many images have how many objects: none, 1, 2, 3 to 4, 5 to 8, and so on.

    Args:
        inspection: The result of `ioukit.inspect`.
        ax: Where to draw; by default axes of a new figure.
        theme: Colours for a light or a dark background; the figure around your own axes keeps its colour.

    Returns:
        The axes. Bars are patches with ``get_gid()`` such as ``"0"`` or ``"5-8"``; the bar of images without objects is
        hatched. The number of images is above each bar.

    Raises:
        ModuleNotFoundError: If matplotlib is not installed.

    Examples:
        >>> ax = objects_per_image_figure(inspection)
        >>> [bar.get_gid() for bar in ax.patches]
        ['0', '1', '2', '3-4', '5-8', '9-16', '17-32', '33-64']
    """
    from ioukit.inspection.histograms import (  # noqa: PLC0415 - keeps `import ioukit.plots` fast
        per_image_histogram,
        range_names,
    )

    look, found = theme_of(theme), per_image_histogram(inspection)
    counts = found.counts[0]
    names = range_names(found.edges)
    ax = axes_for(ax, needed_by="objects_per_image_figure", figsize=(6.0, 3.2), paper=look.paper)
    for place, (name, count) in enumerate(zip(names, counts.tolist(), strict=True)):
        empty: dict[str, Any] = (
            {"fc": look.paper, "ec": look.blue, "hatch": "////"} if place == 0 else {"fc": look.blue}
        )
        ax.bar(place, count, 0.8, gid=name, **empty)[0].set_gid(name)
    _counts_beside(ax, range(len(names)), counts.tolist(), look, along="y")
    ax.set_xticks(range(len(names)), names)
    dress(ax, look, grid="y")
    ax.set(ylim=(0, 1.12 * max(float(counts.max()), 1.0)), xlabel="objects on an image", ylabel="images")
    return ax


def _counts_beside(ax: Axes, places: range, counts: Sequence[int], look: Theme, *, along: str) -> None:
    """The counts as texts at the ends of bars that run along an axis."""
    for place, count in zip(places, counts, strict=True):
        across = along == "x"
        ax.annotate(
            f"{count:,}", (count, place) if across else (place, count), xytext=(4, 0) if across else (0, 3),
            textcoords="offset points", ha="left" if across else "center", va="center" if across else "bottom",
            fontsize=8, color=look.ink, gid=f"count {place}",
        )  # fmt: skip


def _whole_decades(ax: Axes, top: float) -> None:
    """Ticks at 0, 1, 10, 100 and so on, as numbers without an exponent."""
    ticks = [0, *(10**k for k in range(int(np.log10(max(top, 1.0))) + 1))]
    ax.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    ax.set_xticks([], minor=True)
