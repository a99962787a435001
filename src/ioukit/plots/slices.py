"""Numbers of slices as bars with their intervals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._checks import pluralize
from ioukit.plots._drawing import axes_for, dress, legend_beside, letters, shorten, theme_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ioukit.plots._drawing import Theme, ThemeName
    from ioukit.slices import SliceNumbers
    from ioukit.statistics import Interval


def slices_figure(
    numbers: SliceNumbers, *, key: str | None = None, ax: Axes | None = None, theme: ThemeName = "light"
) -> Axes:
    """Draws a number of each slice as a bar, with its interval as a line.

    Args:
        numbers: The result of `ioukit.slices.slice_numbers`.
        key: The number to draw; the first one if ``None``.
        ax: Where to draw; by default axes of a new figure, whose height grows with the number of slices.
        theme: Colours for a light or a dark background; the figure around your own axes keeps its colour.

    Returns:
        The axes. Bars are patches with ``get_gid()`` ``"slice 0"``, ..., and ``"slice 0 of b"``, ... if there is a
        second model. They are hatched where false positives count in every slice of a column. The dashed line
        ``"whole"`` is the number of the whole data set.

    Raises:
        ValueError: If there is no such number.
        ModuleNotFoundError: If matplotlib is not installed.

    Examples:
        >>> from ioukit.slices import slice_numbers
        >>> ax = slices_figure(slice_numbers(evaluation, "size", keys=["AP"], replicates=20))
        >>> [f"{bar.get_width():.3f}" for bar in ax.patches]  # small, medium, large
        ['0.117', '0.371', '0.547']
    """
    key = numbers.keys[0] if key is None else key
    if key not in numbers.keys:
        raise ValueError(f"no number {key!r}; there are {', '.join(numbers.keys)}")
    look, rows, two = theme_of(theme), list(numbers), bool(numbers.whole_of_b)
    height = 1.2 + (0.5 if two else 0.3) * max(len(rows), 3)
    ax = axes_for(ax, needed_by="slices_figure", figsize=(7.2, height), paper=look.paper)
    thick = 0.36 if two else 0.66
    handles: list[Any] = []
    words = []
    for at, one in enumerate(rows):
        hatch = "////" if one.shares_false_positives else ""
        _bar(ax, at - (thick / 2 if two else 0), thick, one.numbers[key], look, look.blue, hatch, f"slice {at}")
        if two:
            _bar(ax, at + thick / 2, thick, one.of_b[key], look, look.bad, hatch, f"slice {at} of b")
    if two:
        handles += [_sample(ax, look.blue), _sample(ax, look.bad)]
        words += ["A", "B"]
    if not math.isnan(numbers.whole[key]):
        handles.append(ax.axvline(numbers.whole[key], color=look.ink, ls="--", lw=1.2, gid="whole"))
        words.append(f"whole data set{', A' if two else ''}: {numbers.whole[key]:.3f}")
    names = [f"{shorten(one.name, 44)}\n{pluralize(one.objects, 'object')}" for one in rows]
    ax.set_yticks(range(len(rows)), names, fontsize=8, **letters())
    legend_beside(ax, handles, words, look, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.1, ncols=3)
    dress(ax, look, grid="x")
    ax.set(xlim=(0, 1), ylim=(max(len(rows), 1) - 0.4, -0.6), xlabel=key, xticks=np.linspace(0, 1, 6))
    ax.tick_params(axis="y", length=0, pad=6)
    return ax


def _bar(
    ax: Axes, place: float, thick: float, number: Interval, look: Theme, colour: str, hatch: str, name: str
) -> None:
    value = 0.0 if math.isnan(number.value) else number.value
    (bar,) = ax.barh(place, value, thick, fc=look.paper if hatch else colour, ec=colour, hatch=hatch, lw=1.2)
    bar.set_gid(name)
    if not math.isnan(number.low):
        ax.plot(
            [number.low, number.high], [place, place], color=look.ink, lw=1.6, marker="|", ms=5, gid=f"{name} limits"
        )
    edge = max(value, 0.0 if math.isnan(number.high) else number.high)
    words = "-" if math.isnan(number.value) else f"{number.value:.3f}"
    ax.annotate(
        words, (edge, place), xytext=(5, 0), textcoords="offset points", va="center", fontsize=8, color=look.ink
    )


def _sample(ax: Axes, colour: str) -> Any:
    (line,) = ax.plot([], [], color=colour, lw=6)
    return line
