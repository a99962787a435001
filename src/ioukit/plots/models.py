"""Several models in one figure: AP of each class as dots, and the differences with their intervals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._checks import check_result
from ioukit._words_and_colours import percent, shorten, shorten_apart
from ioukit.plots._drawing import axes_for, dress, legend_above, name_rows, theme_of, write_value
from ioukit.plots._reading import MARKS, average_precision

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from ioukit.comparison import ModelComparison
    from ioukit.evaluation import Curves
    from ioukit.plots._drawing import Theme, ThemeName
    from ioukit.statistics import Difference
    from ioukit.typing import FloatArray


def draw_class_dots(
    ax: Axes,
    models: Mapping[str, Curves],
    rows: NDArray[np.intp],
    at: int | slice,
    area_range: str,
    look: Theme,
    *,
    sort: bool,
    fontsize: float,
) -> None:
    """Draws AP of each class as a dot per model, with a line from the lowest to the highest.

    Args:
        ax: Where to draw.
        models: The curves by the names of the models.
        rows: (K,) the positions of the classes.
        at: The IoU threshold by its position, or all.
        area_range: The label of the area range.
        look: The colours.
        sort: Whether the class with the highest AP of the first model is at the top.
        fontsize: The size of the names, in points.
    """
    found: FloatArray = np.stack([
        np.atleast_2d(average_precision(one, rows, area_range)[at]).mean(axis=0) for one in models.values()
    ])  # fmt: skip
    if sort:
        order = np.argsort(-np.nan_to_num(found[0], nan=-1.0), kind="stable")
        rows, found = rows[order], found[:, order]
    first = next(iter(models.values()))
    places = np.arange(len(rows))
    ax.hlines(places, found.min(axis=0), found.max(axis=0), color=look.soft, lw=0.8, zorder=2)
    handles, words = [], []
    for m, (name, values) in enumerate(zip(models, found, strict=True)):
        colour = look.styles_of_models[m][0]
        style: dict[str, Any] = {"color": colour, "mec": look.paper, "mew": 0.5, "ms": 5, "clip_on": False}
        handles += ax.plot(values, places, MARKS[m], gid=f"model {m}", zorder=3, **style)
        words.append(shorten(name))
    name_rows(ax, [shorten(first.categories.names[row]) for row in rows], fontsize=fontsize)
    legend_above(ax, handles, words, look)
    dress(ax, look, grid="both")


def differences_figure(
    comparison: ModelComparison,
    *,
    keys: Sequence[str] | None = None,
    ax: Axes | None = None,
    theme: ThemeName = "light",
) -> Axes:
    """Draws the differences of the numbers of each model to the first one, with their intervals: a forest plot.

    A filled mark is a difference that the test calls significant; the others are hollow. The p-values are those of the
    test, of each number alone: see :func:`ioukit.statistics.compare`.

    Args:
        comparison: The result of `ioukit.comparison.compare_models`.
        keys: The numbers to draw; the headline numbers of the protocol that are defined if ``None``.
        ax: Where to draw; by default axes of a new figure, whose height grows with the number of rows.
        theme: Colours for a light or a dark background; the figure around your own axes keeps its colour.

    Returns:
        The axes. Marks have ``get_gid()`` such as ``"AP of 1"``: the number, and the place of the model among the
        others. Their intervals are ``"AP of 1 limits"``. The unit is a point, a hundredth of the number.

    Raises:
        ValueError: If there are more than six models.
        KeyError: If the comparison does not have a number.
        ModuleNotFoundError: If matplotlib is not installed.

    Examples:
        >>> import ioukit
        >>> from ioukit.comparison import compare_models
        >>> lower = evaluation.ground_truth, evaluation.detections[::2]
        >>> found = compare_models({"all": evaluation, "half": ioukit.evaluate(*lower)}, replicates=20, permutations=20)
        >>> ax = differences_figure(found, keys=["AP", "AP50"])
        >>> [label.get_text() for label in ax.get_yticklabels()]
        ['AP', 'AP50']
    """
    check_result(comparison, "pairs", "compare_models(...)")
    look, pairs = theme_of(theme), comparison.pairs
    if len(pairs) >= len(MARKS):
        raise ValueError(f"expected at most {len(MARKS)} models, got {len(pairs) + 1}")
    if keys is None:
        headline = [measure.key for measure in comparison.protocol.measures if measure.headline]
        keys = [key for key in headline if not math.isnan(pairs[0].comparison[key].difference)]
    ax = axes_for(
        ax, look, (6.4, 1.2 + (0.12 + 0.16 * len(pairs)) * max(len(keys), 3)), needed_by="differences_figure", rows=True
    )
    handles: list[Any] = []
    for m, pair in enumerate(pairs):
        offset = 0.7 * ((m + 0.5) / len(pairs) - 0.5)
        drawn = [_difference(ax, pair.comparison[key], place + offset, m, look) for place, key in enumerate(keys)]
        handles += drawn[:1]
    ax.axvline(0, color=look.soft, lw=1.0, zorder=1, gid="equal")
    name_rows(ax, list(keys), fontsize=9)
    first = comparison.names[0]
    if len(pairs) > 1:
        legend_above(ax, handles, shorten_apart(comparison.names)[1:], look)
    dress(ax, look, grid="x")
    what = (
        f"{shorten(pairs[0].name_b)} minus {shorten(first)}" if len(pairs) == 1 else f"difference to {shorten(first)}"
    )
    ax.set_xlabel(f"{what}, in points; {percent(pairs[0].difference.level)} intervals")
    return ax


def _difference(ax: Axes, one: Difference, place: float, model: int, look: Theme) -> Any:
    """A mark and its interval; the mark is returned for the legend."""
    colour, _ = look.styles_of_models[model + 1]
    low, high = 100 * one.low, 100 * one.high
    gid = f"{one.key} of {model + 1}"
    ax.plot([low, high], [place, place], color=colour, lw=1.4, marker="|", ms=5, gid=f"{gid} limits", zorder=2)
    fill = colour if one.is_significant else look.paper
    style: dict[str, Any] = {"marker": MARKS[model + 1], "ms": 6, "mfc": fill, "mec": colour, "ls": "none", "zorder": 3}
    (mark,) = ax.plot([100 * one.difference], [place], gid=gid, **style)
    write_value(ax, f"{100 * one.difference:+.1f}", (max(high, 100 * one.difference), place), look, gap=5)
    return mark
