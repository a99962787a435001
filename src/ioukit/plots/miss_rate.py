"""How much is missed at how many false alarms? The miss rate over the false positives per image (FPPI)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._optional import import_extra
from ioukit.plots._drawing import axes_for, dress, legend_beside, literal, shorten, theme_of
from ioukit.plots._reading import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ioukit.evaluation import MissRateCurve, MissRateCurves
    from ioukit.plots._drawing import ThemeName
    from ioukit.typing import FloatArray


_LEAST = 1e-3
"""The lowest miss rate that is drawn."""


def miss_rate_figure(
    curves: MissRateCurves | Mapping[str, MissRateCurves],
    *,
    category: int | str | None = None,
    ax: Axes | None = None,
    theme: ThemeName = "light",
) -> Axes:
    """Draws the miss rate over the false positives per image, both logarithmic, with the log-average in the legend.

    Dots mark where the log-average reads the curve. Lower and further to the left is better.

    Args:
        curves: The result of `ioukit.evaluation.miss_rate_curves`, or several by the name of their detector. Up to six
            have colours and dashes of their own.
        category: Id or name of a class; ``None`` for all classes pooled.
        ax: Where to draw; by default axes of a new figure, with the legend to the right.
        theme: Colours for a light or a dark background; the figure around your own axes keeps its colour.

    Returns:
        The axes. Lines have ``get_gid()`` ``"curve 0"``, ``"curve 1"``, ..., and ``"read 0"``, ... for their dots. The
        line begins at miss rate 1 and ends at the last detection. A miss rate below 0.001, and FPPI below the axis, lie
        on the border. Without objects, there is no line.

    Raises:
        ValueError: If there is no such class, or there are more than six curves, or none.
        ModuleNotFoundError: If matplotlib is not installed.

    Examples:
        >>> from ioukit.evaluation import miss_rate_curves
        >>> ax = miss_rate_figure(miss_rate_curves(evaluation.matches), category="person")
        >>> ax.get_legend().get_texts()[0].get_text()
        'person: MR 0.617'
    """
    look = theme_of(theme)
    several = isinstance(curves, Mapping)
    named = dict(curves) if isinstance(curves, Mapping) else {"": curves}
    if not 1 <= len(named) <= len(look.styles):
        raise ValueError(f"expected one to {len(look.styles)} results of miss_rate_curves, got {len(named)}")
    chosen = [_curve(each, category) for each in named.values()]
    first = next(iter(named.values()))
    what = "all classes" if category is None else first.categories.names[first.categories.positions([category])[0]]
    ax = axes_for(ax, needed_by="miss_rate_figure", figsize=(6.4, 4.0), paper=look.paper)
    read = np.array(chosen[0].rule.fppi)
    left = read[0] / 3
    last = max((float(curve.fppi[-1]) for curve in chosen if len(curve.fppi)), default=0.0)
    right = max(read[-1] * 3, min(last, 10.0))
    handles, words = [], []
    for place, (name, curve) in enumerate(zip(named, chosen, strict=True)):
        colour, dashes = look.styles[place] if several else (look.ink, "-")
        style: dict[str, Any] = {"color": colour, "ls": dashes, "lw": 1.8, "drawstyle": "steps-post"}
        words.append(f"{shorten(name if several else what)}: MR {number(curve.log_average)}")
        handles += ax.plot(*_points(curve, left), gid=f"curve {place}", **style)
        at = np.maximum(curve.at(read), _LEAST)
        ax.plot(read, at, gid=f"read {place}", marker="o", ms=5, ls="none", color=colour, mec=look.paper, mew=0.6)
    legend_beside(ax, handles, words, look)
    dress(ax, look, grid="both")
    ax.set(xscale="log", yscale="log", xlim=(left, right), xlabel=f"false positives per image ({shorten(what)})")
    literal(ax.xaxis.label)
    drawn = [curve.miss_rate[curve.fppi <= right] for curve in chosen if curve.num_ground_truth]
    _miss_rate_axis(ax, min((float(rates.min(initial=1.0)) for rates in drawn), default=1.0))
    thresholds, areas = ({getattr(each, of) for each in named.values()} for of in ("iou_threshold", "area_range"))
    label = f"miss rate at IoU {first.iou_threshold:g}" if len(thresholds) == 1 else "miss rate"
    ax.set_ylabel(label if areas != {first.area_range} or "all" in areas else f"{label}, {first.area_range} objects")
    literal(ax.yaxis.label)
    return ax


def _curve(curves: MissRateCurves, category: int | str | None) -> MissRateCurve:
    if category is None:
        return curves.overall
    return curves.per_class[curves.categories.positions([category])[0]]


def _points(curve: MissRateCurve, left: float) -> tuple[FloatArray, FloatArray]:
    """FPPI and miss rate, from miss rate 1 on, within the axes."""
    if not curve.num_ground_truth:
        return np.zeros(0), np.zeros(0)
    fppi = np.maximum(np.concatenate([[0.0], curve.fppi]), left)
    return fppi, np.maximum(np.concatenate([[1.0], curve.miss_rate]), _LEAST)


def _miss_rate_axis(ax: Axes, lowest: float) -> None:
    """Ticks as the benchmarks have them."""
    ticker = import_extra("matplotlib.ticker", extra="plots", needed_by="miss_rate_figure")
    ticks = [1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.64, 0.8, 1.0]
    bottom = min(max(lowest / 1.3, _LEAST), 0.8)
    ax.set_ylim(bottom, 1.04)
    ax.yaxis.set_major_locator(ticker.FixedLocator([tick for tick in ticks if tick >= bottom]))
    ax.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_minor_locator(ticker.NullLocator())
